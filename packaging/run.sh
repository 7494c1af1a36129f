#!/bin/sh
# run.sh: starts Sayso; on a computer with no display or no microphone it dictates the sample clip instead.
set -eu
cd "$(dirname "$0")/.."
sayso=.venv/bin/sayso

if missing=$($sayso doctor display microphone); then
    exec $sayso listen
fi
echo "This computer can't be dictated to as it is:"
echo "$missing" | grep -A1 PROBLEM
