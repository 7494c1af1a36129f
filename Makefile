# Two commands: `make run` and `make test`. Each does all of its own set-up; the next time it starts at once and needs
# no network. Set-up that is done is remembered by files inside .venv, so that deleting .venv starts from nothing.

VENV := .venv
BIN := $(VENV)/bin
LINUX := packaging/linux
NATIVE := engine/cpu/native
BUILD := pyproject.toml packaging/environment.sh packaging/find-python.sh $(wildcard $(addprefix $(NATIVE)/,*.cpp *.h *.inl CMakeLists.txt))
# where nobody can see windows, `make run` shows the sample clip in one of its own
RUN_PACKAGES := $(LINUX)/apt-run.txt $(if $(DISPLAY)$(WAYLAND_DISPLAY),,$(LINUX)/apt-virtual-display.txt)

.DEFAULT_GOAL := help
.PHONY: help run test test-all check setup screenshots translations package clean

help:
	@echo "make run       set up and start Sayso (where there is no display or microphone: dictate the sample clip)"
	@echo "make test      set up, check the code, run the fast tests"
	@echo "make test-all  the same with the tests that take minutes"
	@echo "make check     ruff, mypy, import-linter"
	@echo "make setup     all of the set-up, nothing else"
	@echo "make screenshots  draw every window and state into build/screenshots"
	@echo "make translations  bring the languages of the interface up to date with the sources"
	@echo "make package   build what people on Linux install: .deb, AppDir, wheel, source, into dist/"
	@echo "make clean     delete the environment; models and settings stay"

run: $(VENV)/.run
	@packaging/run.sh

test: check
	$(BIN)/python -m pytest -m "not slow"

test-all: check
	$(BIN)/python -m pytest

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

setup: $(VENV)/.run $(VENV)/.test

translations: $(VENV)/.test
	$(BIN)/python -m tests.translations

screenshots: $(VENV)/.test
	$(BIN)/python -m tests.screenshots build/screenshots

package:
	@$(LINUX)/system-packages.sh $(LINUX)/apt-run.txt $(LINUX)/apt-package.txt
	@packaging/package.sh

clean:
	rm -rf $(VENV) build dist

$(VENV)/.run: $(BUILD) $(LINUX)/system-packages.sh $(LINUX)/apt-run.txt
	@$(LINUX)/system-packages.sh $(RUN_PACKAGES)
	@packaging/environment.sh starter,server,eval
	@touch $@

$(VENV)/.test: $(BUILD) $(LINUX)/system-packages.sh $(wildcard $(LINUX)/apt-*.txt)
	@$(LINUX)/system-packages.sh $(LINUX)/apt-run.txt $(LINUX)/apt-virtual-display.txt $(LINUX)/apt-test.txt
	@packaging/environment.sh test
	@touch $@ $(VENV)/.run
