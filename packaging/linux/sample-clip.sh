#!/bin/sh
# sample-clip.sh: dictates the sample clip into a terminal window on a display that exists in memory only, and prints
# what arrived in that window. Everything that it starts ends with it.
set -eu
cd "$(dirname "$0")/../.."
sayso=.venv/bin/sayso
clip=resources/sample.wav

echo "Dictating $clip in the microphone's place."
packaging/linux/system-packages.sh packaging/linux/apt-virtual-display.txt
for program in Xvfb openbox xterm xprop; do
    if ! command -v $program >/dev/null; then
        echo "There is no $program to make a virtual display with, so the text comes here:"
        exec $sayso replay $clip
    fi
done

work=$(mktemp -d)
trap 'kill $started 2>/dev/null || :; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
started=

wait_for() { # wait_for SENTENCE COMMAND…: until the command succeeds, 15 s at most
    sentence=$1 tries=150
    shift
    until "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] || { echo "$sentence" >&2; exit 1; }
        sleep 0.1
    done
}

Xvfb -displayfd 3 -screen 0 1280x800x24 -nolisten tcp 3>"$work/display" 2>"$work/xvfb.log" &
started="$started $!"
wait_for "The virtual display did not start." test -s "$work/display"
DISPLAY=:$(cat "$work/display")
export DISPLAY
unset WAYLAND_DISPLAY
LC_ALL=C openbox --sm-disable >"$work/openbox.log" 2>&1 &
started="$started $!"
wait_for "The window manager did not start." sh -c 'xprop -root _NET_SUPPORTING_WM_CHECK | grep -q "window id"'
# without line editing, so that each character is in the file as soon as it has arrived
xterm -e sh -c "stty -icanon -echo; touch '$work/ready'; exec cat >'$work/typed.txt'" 2>"$work/xterm.log" &
started="$started $!"
wait_for "The terminal window did not open." test -e "$work/ready"
wait_for "The terminal window got no focus." sh -c 'xprop -root _NET_ACTIVE_WINDOW | grep -q "0x[1-9a-f]"'

$sayso replay $clip --type
echo "Read back from the window: $(cat "$work/typed.txt")"
