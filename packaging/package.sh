#!/bin/bash
# package.sh: everything that people on Linux install, made from this tree into dist/.
set -eu
cd "$(dirname "$0")/.."
work=build/package
python=$work/env/bin/python
# what is built from the same commit has the same dates
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
packaging/program.sh
export PYTHONPATH=packaging PYTHONSAFEPATH=1

echo "== The packages"
$python -m shipping.stage $work/frozen/sayso $work/icons $work/stage
$python -m shipping.deb $work/stage $work/inventory.json dist
name=Sayso-$($python packaging/shipping/notes.py --version)-$(uname -m)
rm -rf $work/Sayso.AppDir
cp -a $work/stage $work/Sayso.AppDir
cp packaging/linux/AppRun packaging/linux/sayso.desktop $work/icons/hicolor/256x256/apps/sayso.png $work/Sayso.AppDir/
ln -s sayso.png $work/Sayso.AppDir/.DirIcon
tar -C $work --sort=name --owner=0 --group=0 --mtime="@$SOURCE_DATE_EPOCH" -c Sayso.AppDir |
    zstd -q -12 -T0 >"dist/$name.AppDir.tar.zst"
$python -m shipping.sbom $work/inventory.json "dist/$name.cdx.json"
(cd dist && sha256sum -- * >SHA256SUMS)
du -sh $work/frozen/sayso
ls -lh dist
