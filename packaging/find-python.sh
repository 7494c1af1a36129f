#!/bin/sh
# find-python.sh: prints the name or path of a Python that Sayso can be installed into, or says what is missing.
set -eu
for python in ${PYTHON:-} python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    if "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        echo "$python"
        exit 0
    fi
done
echo "Sayso needs Python 3.11 or newer, with venv. On Debian and Ubuntu: sudo apt-get install python3 python3-venv" >&2
echo "If yours has another name: make PYTHON=/path/to/python3.12" >&2
exit 1
