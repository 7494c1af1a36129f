#!/bin/sh
# run.sh: starts Sayso; on a computer with no display or no microphone it dictates the sample clip instead.
set -eu
cd "$(dirname "$0")/.."
sayso=.venv/bin/sayso

$sayso models import starter

if missing=$($sayso doctor display microphone); then
    exec .venv/bin/sayso-app
fi
echo "Sayso can't listen to you on this computer yet:"
echo "$missing" | grep -A1 PROBLEM
echo
exec packaging/linux/sample-clip.sh
