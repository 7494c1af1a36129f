#!/bin/bash
# program.sh: the wheel, the source distribution and the self-contained build of this system, in build/package and dist.
# The environment is its own, so that nothing of a developer's gets in.
set -eu
cd "$(dirname "$0")/.."
work=build/package
# what is packed comes from the wheel, never from the folder that this runs in
export PYTHONPATH=packaging PYTHONSAFEPATH=1 PYTHONDONTWRITEBYTECODE=1
mkdir -p $work

find_env_python() { [ -d $work/env/Scripts ] && echo $work/env/Scripts/python || echo $work/env/bin/python; }
install() { "$(find_env_python)" -m pip install -q --disable-pip-version-check "$@" </dev/null; }

echo "== The environment of the build"
"$(find_env_python)" -c 'import pip' 2>/dev/null || "$(packaging/find-python.sh)" -m venv --clear $work/env
python=$(find_env_python)
$python - >$work/tools.txt <<'END'
import tomllib
print("\n".join(tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["package"]))
END
install -r $work/tools.txt

echo "== The source distribution, and the wheel from it"
rm -rf $work/wheel dist
mkdir dist
$python -m build --no-isolation -o $work/wheel . >$work/wheel.log 2>&1 || { cat $work/wheel.log; exit 1; }
mv $work/wheel/*.tar.gz dist/
if [ "$(uname)" = Linux ]; then
    PATH="$PWD/$work/env/bin:$PATH" $python -m auditwheel repair --plat auto -w dist $work/wheel/*.whl
else
    mv $work/wheel/*.whl dist/
fi
wheel=$(echo dist/*.whl)
install "${wheel}[server,eval]" # with what it needs
install --no-deps --force-reinstall dist/*.whl

echo "== The self-contained build"
rm -rf $work/frozen
$python -m shipping.icons $work/icons
$python -m PyInstaller --noconfirm --log-level WARN --distpath $work/frozen --workpath $work/pyinstaller \
    packaging/sayso.spec
if [ "$(uname)" = Linux ]; then
    # Python's own files are built with symbols; libraries out of wheels are stripped or must not be
    find $work/frozen/sayso/_internal \( -name 'libpython3*' -o -path '*/lib-dynload/*' \) -type f \
        -exec strip --strip-unneeded {} +
fi
