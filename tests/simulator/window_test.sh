#!/usr/bin/env bash
# A real window on a display of its own: it opens, sleeps while idle, steps by real keys and real clicks, and ends when
# it is closed. Usage: window_test.sh PROGRAM LESSON FOLDER. Ends with 77 (skipped) where Xvfb or xdotool is missing.
set -u
program=$1 lesson=$2 folder=$3
# shellcheck source=tests/simulator/window_harness.sh
. "${BASH_SOURCE[0]%/*}/window_harness.sh"
open_window "$program" --lesson "$lesson"
title_becomes "step 1 of 2"
xdotool mousemove 1000 30  # the pointer is part of the picture: keep it off the stage
sleep 0.5
first=$(settled)
[ "${first#* }" = many ] || fail "the stage is empty"

# asleep: at most a tenth of a second of work in two seconds
ticks() { awk '{ print $14 + $15 }' "/proc/$window_program/stat"; }
before=$(ticks)
sleep 2
worked=$(($(ticks) - before))
[ "$worked" -le 10 ] || fail "an idle window worked for $worked hundredths of a second"

# keys: PageDown and PageUp, as a presenter's clicker sends them
xdotool windowfocus --sync "$window"  # without a window manager nobody gives it the keyboard
xdotool key Next
title_becomes "step 2 of 2"
stage_leaves "$first" || fail "PageDown did not change the stage"
xdotool key Prior
title_becomes "step 1 of 2"
stage_becomes "$first" || fail "PageUp did not bring the first step's stage back"

# clicks: the transport's next and previous operation
click 198 856
stage_leaves "$first" || fail "a click on \"next\" did not change the stage"
click 110 856
stage_becomes "$first" || fail "a click on \"previous\" did not bring the stage back"

# a sentence typed over the old one (Ctrl+A), and taken back (Ctrl+Z), as quickly as a hand can
click 760 26
xdotool key ctrl+a
sleep 0.5
xdotool type --delay 20 "a dog"
xdotool key Return
sleep 1
xdotool mousemove 1000 30
stage_leaves "$first" || fail "a typed sentence did not change the stage"
click 970 26  # beside the field: the keyboard is the stage's again
xdotool key ctrl+z
xdotool mousemove 1000 30
stage_becomes "$first" || fail "Ctrl+Z did not bring the old sentence's stage back"

close_window
echo "the window opened, slept, stepped by keys and clicks, and took a typed sentence and its undo"
