#!/usr/bin/env bash
# Trains the bundled models of assets/models again, each with its task's recipe at the smallest width that keeps the
# recipe's score. Usage: train_models.sh PROGRAM [FOLDER]. The program is one of the `dev` or `ci` preset: not built for
# one processor, so that others get the same bits from it (assets/models/README.md).
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
program=$1
folder=${2:-$root/assets/models}
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

# train TASK OPTIONS…
train() {
  local task=$1
  shift
  local target=$folder/$task
  "$program" train --task "$task" "$@" --threads 1 --out "$work/$task"
  mkdir -p -- "$target"
  for file in config.json model.safetensors vocab.json target_vocab.json; do
    if [[ -e $work/$task/$file ]]; then cp -- "$work/$task/$file" "$target/"; fi
  done
  python3 - "$work/$task" "headscope train --task $task $* --out DIR" > "$target/model.json" << 'PYTHON'
import csv, json, pathlib, sys
run = pathlib.Path(sys.argv[1])
settings = json.loads((run / "run.json").read_text())
with open(run / "history.csv", newline="") as file:
    last = [row for row in csv.DictReader(file) if row["held_out_score"]][-1]
note = {"format": "headscope-model-note", "version": 1, "task": settings["task"], "seed": settings["seed"],
        "steps": int(last["step"]), "score": float(last["held_out_score"]), "n_held_out": settings["n_held_out"],
        "command": sys.argv[2]}
print(json.dumps(note, indent=2))
PYTHON
}

train look-ups --seed 4 --d-model 24
train copying --seed 1 --d-model 24
train translation --seed 1 --d-model 16 --d-ff 32
train sentiment --seed 5 --d-model 24 --d-ff 32
train questions --seed 2 --d-model 16 --d-ff 32
