#!/usr/bin/env bash
# A run that is killed, interrupted or damaged ends with the same bits as one that nobody disturbs.
# Usage: train_stop_test.sh HEADSCOPE
set -u -o pipefail
headscope=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'train_stop_test: %s\n' "$1" >&2
  exit 1
}

# Enough steps that a kill hits the middle, whatever the machine.
steps=1500
run=(--task copying --seed 5 --steps "$steps" --evaluate-every 100 --dropout 0.1 --change 350:lr=0.003)

# same A B: all that a run's directory says of its end.
same() {
  local file
  for file in model.safetensors history.csv "checkpoints/$(printf '%06d' "$steps").safetensors"; do
    cmp "$folder/$1/$file" "$folder/$2/$file" || fail "$2: $file differs from that of the undisturbed run"
  done
}

# wait_for_checkpoint DIR STEP: until the run has written a checkpoint later than that step.
wait_for_checkpoint() {
  local tries name newest
  for ((tries = 0; tries < 600; ++tries)); do
    newest=0
    for name in "$1"/checkpoints/*.safetensors; do
      name=${name##*/}
      name=${name%.safetensors}
      [[ $name =~ ^[0-9]+$ ]] && ((10#$name > newest)) && newest=$((10#$name))
    done
    ((newest > $2)) && return
    sleep 0.05
  done
  fail "no checkpoint after step $2 was written"
}

"$headscope" train "${run[@]}" --out "$folder/calm" 2> /dev/null > "$folder/calm.txt" || fail "the undisturbed run failed"
grep -q "Step $steps was the last one" "$folder/calm.txt" || fail "it does not say that it is at its end"

# Killed three times, each time a little later, with whatever it was writing.
"$headscope" train "${run[@]}" --out "$folder/killed" > /dev/null 2>&1 &
for after in 0 200 600; do
  wait_for_checkpoint "$folder/killed" "$after"
  kill -9 $! 2> /dev/null
  wait $! 2> /dev/null
  if ((after < 600)); then "$headscope" train --resume "$folder/killed" > /dev/null 2>&1 & fi
done
"$headscope" train --resume "$folder/killed" > /dev/null 2> "$folder/errors.txt" || fail "resuming failed: $(cat "$folder/errors.txt")"
same calm killed

# Ctrl-C: everything saved, status 130, a hint how to go on.
"$headscope" train "${run[@]}" --out "$folder/interrupted" > /dev/null 2> "$folder/out.txt" &
wait_for_checkpoint "$folder/interrupted" 0
kill -INT $!
wait $!
status=$?
[[ $status == 130 ]] || fail "interrupted: status $status, not 130"
grep -q -- "--resume $folder/interrupted" "$folder/out.txt" || fail "it does not say how to go on"
# the newest checkpoint is damaged: it is named, set aside, and the one before serves
newest=$(find "$folder/interrupted/checkpoints" -name '*.safetensors' | sort | tail -n 1)
head -c 1000 "$newest" > "$folder/cut" && cp "$folder/cut" "$newest"
"$headscope" train --resume "$folder/interrupted" > /dev/null 2> "$folder/errors.txt" || fail "resuming failed: $(cat "$folder/errors.txt")"
grep -q "${newest##*/}" "$folder/errors.txt" || fail "the damaged checkpoint is not named"
[[ -e $newest.damaged ]] || fail "the damaged checkpoint was not set aside"
same calm interrupted

# Two in one folder: the second is refused, a look is not, and the first goes on.
"$headscope" train "${run[@]}" --out "$folder/shared" > /dev/null 2>&1 &
wait_for_checkpoint "$folder/shared" 0
"$headscope" train --resume "$folder/shared" > /dev/null 2> "$folder/errors.txt" && fail "two trained in one folder"
grep -q "another headscope is training" "$folder/errors.txt" || fail "it does not say that the folder is in use"
"$headscope" history "$folder/shared" --step 1 > /dev/null 2>&1 || fail "a run that goes on cannot be looked at"
wait $! || fail "the first of two failed"
same calm shared

# What is there already is not overwritten.
"$headscope" train "${run[@]}" --out "$folder/calm" > /dev/null 2> "$folder/errors.txt" && fail "a run was overwritten"
[[ $(wc -l < "$folder/errors.txt") == 1 ]] || fail "more than one line about a run that is there already"
same calm killed
echo "killed, interrupted, damaged: the same bits"
