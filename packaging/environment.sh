#!/bin/sh
# environment.sh [EXTRAS]: the virtual environment .venv with Sayso in it, editable, with extras of pyproject.toml (a,b).
set -eu
cd "$(dirname "$0")/.."

# an environment whose making was interrupted has no pip
if ! PYTHON=.venv/bin/python packaging/find-python.sh 2>/dev/null | grep -qx .venv/bin/python ||
    ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    python=$(packaging/find-python.sh)
    echo "Making .venv with $("$python" --version)"
    "$python" -m venv --clear .venv
fi

if ! command -v c++ >/dev/null && ! command -v g++ >/dev/null && ! command -v clang++ >/dev/null; then
    echo "No C++ compiler: Sayso will work, but much slower. Install one (Debian: g++), then: make clean setup"
fi

install() { .venv/bin/python -m pip install $quiet --disable-pip-version-check "$@" </dev/null; }

[ -t 1 ] && quiet= || quiet=-q
[ -t 1 ] || echo "Installing Sayso and what it needs into .venv (some minutes the first time)"
# The build tools stay in .venv: a native library that changed is built again without a network, and only what changed.
install "scikit-build-core>=0.11" cmake ninja
install --no-build-isolation -e ".${1:+[$1]}"
