#!/bin/sh
# system-packages.sh LIST…: installs the Debian packages named in the lists that are not there yet.
# Without the right to (root, or sudo that asks nothing) it prints the line to run and lets the caller go on: what
# needs a missing package says so itself. Other systems get the names, to find their own by.
set -eu

wanted=$(cat "$@")

if ! command -v apt-get >/dev/null; then
    [ "$(uname)" = Linux ] || exit 0
    echo "This is not a Debian-like system. Should something be missing, Sayso needs what Debian calls:"
    echo "   " $wanted
    exit 0
fi

missing=
for package in $wanted; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" = 0 ]; then
    as_root=
elif sudo -n true 2>/dev/null; then
    as_root="sudo -n"
else
    echo "Some system packages are missing. Run this line, then start again:"
    echo "    sudo apt-get install --no-install-recommends$missing"
    exit 0
fi

echo "Installing system packages:$missing"
export DEBIAN_FRONTEND=noninteractive
install="$as_root apt-get -o DPkg::Lock::Timeout=120 install -y -qq --no-install-recommends"
# the lists of a fresh machine are old or empty: fetch them first, but an unreachable one must not stop the rest
$as_root apt-get update -qq || echo "apt-get update failed; going on with the package lists that are here."
if ! $install $missing </dev/null >/dev/null; then
    echo "Some system packages could not be installed. Run this line, then start again:"
    echo "    apt-get update && apt-get install --no-install-recommends$missing"
fi
