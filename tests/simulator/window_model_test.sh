#!/usr/bin/env bash
# A real window on a virtual display, with a model, driven by a real mouse and keyboard: a number that is held, changed
# and brought back; a whole training step forward, backward and through the update, the next one and back; from the
# whole model down to a number that is explained; closed, and opened again where it was left.
# Usage: window_model_test.sh PROGRAM FOLDER. Ends with 77 (skipped) where Xvfb or xdotool is missing.
set -u
program=$1 folder=$2
# shellcheck source=tests/simulator/window_harness.sh
. "${BASH_SOURCE[0]%/*}/window_harness.sh"

# press KEY TIMES: each press is a step, and a sanitized build under load draws slowly
press() { xdotool key --repeat "$2" --delay 25 "$1"; }
# the pointer is part of the picture: keep it off the stage
park() { xdotool mousemove 1000 30; sleep 0.5; }
# click_into X Y X Y …: where a part of the drawing stands hangs on its layout; clicks until the stage shows another
click_into() {
  local before now
  park
  before=$(settled)
  while [ $# -gt 1 ]; do
    click "$1" "$2"
    shift 2
    park
    now=$(settled)
    [ "$now" != "$before" ] && return 0
  done
  return 1
}

open_window "$program" open sentiment
title_becomes "sentiment, training step 1, 0 of"
n_steps=$(xdotool getwindowname "$window" | grep -o '[0-9]*$')
[ "$n_steps" -gt 100 ] || fail "the title does not say how many steps there are"
xdotool windowfocus --sync "$window"  # without a window manager nobody gives it the keyboard
park
start=$(settled)

# a number of the way forward: held, changed, and brought back
press Right 20
title_becomes "training step 1, 20 of"
press Return 1
sleep 1
number=$(settled)
press e 1
sleep 0.5
xdotool type --delay 20 "0.75"
press Return 1
stage_leaves "$number" || fail "a typed number changed nothing"
press ctrl+z 1
stage_becomes "$number" || fail "Ctrl+Z did not bring the number back"
for _ in 1 2 3 4 5 6; do press Escape 1; done
press Home 1
title_becomes "training step 1, 0 of"
stage_becomes "$start" || fail "Escape did not lead back to the whole model"

# keys: every operation forward, of the loss, backward and of the update
press Right 20
title_becomes "training step 1, 20 of"
stage_leaves "$start" || fail "twenty operations left the stage as it was"
press Right $((n_steps - 20))
title_becomes "training step 1, $n_steps of"
end=$(settled)
press Right 1
title_becomes "training step 2, 0 of"
press Left 1
title_becomes "training step 1, $n_steps of"
stage_becomes "$end" || fail "back from the next training step the stage is another"
press n 1
title_becomes "training step 2, 0 of"
press Left 2
title_becomes "training step 1, $((n_steps - 1)) of"
press Home 1
title_becomes "training step 1, 0 of"
stage_becomes "$start" || fail "back at the beginning the stage is another"

# the mouse: on, to the end, back to the beginning
click 190 846
title_becomes "training step 1, 1 of"
click 234 846
title_becomes "training step 1, $n_steps of"
click 58 846
title_becomes "training step 1, 0 of"

# from the whole model down to a number that is held, and up again
middle=$((n_steps * 52 / 100))  # on the way back through the last block's attention
press Right "$middle"
title_becomes "training step 1, $middle of"
park
model=$(settled)
press Escape 1
stage_becomes "$model" || fail "above the whole model there is something"
held=no
for depth in 1 2 3 4; do
  across=()
  for y in $(seq 240 40 640); do across+=(790 "$y"); done
  across+=(930 345)
  click_into "${across[@]}" || fail "no click opened a part of the model, $depth levels down"
  opened=$(settled)
  press Return 1
  sleep 1
  [ "$(settled)" != "$opened" ] && { held=yes; break; }
done
[ "$held" = yes ] || fail "Enter held no number"
number=$(settled)

# explained: its largest term's own explanation and back
press Return 1
stage_leaves "$number" || fail "Enter did not follow the largest term"
press Escape 1
stage_becomes "$number" || fail "Escape did not lead back to the number"

for _ in 1 2 3 4 5 6 7 8; do press Escape 1; done
title_becomes "training step 1, $middle of"
stage_becomes "$model" || fail "Escape did not lead back to the whole model"

# closed, and opened where it was left
sleep 4  # the session is kept a moment after the last change
close_window
[ -s "$folder/state/last.headscope" ] || fail "the session was not kept"
open_window "$program"
title_becomes "sentiment, training step 1, $middle of"
park
stage_becomes "$model" || fail "the session that was kept shows another stage"
close_window
echo "a whole training step and back by keys and mouse; a number held, followed, changed, brought back; the session kept"
