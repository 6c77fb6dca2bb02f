#!/usr/bin/env bash
# Holds the losses of `headscope train --full-batch` against a reference case's 20 steps:
# train_test.sh PROGRAM CASE_FOLDER WORK_FOLDER.
set -eu
program=$1 case=$2 work=$3
here=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
mkdir -p "$work"
number() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$case/training.json" "$1"; }
"$program" train --from "$case" --data "$case/batch.tokens.json" --full-batch --steps "$(number steps)" \
  --lr "$(number lr)" --weight-decay "$(number weight_decay)" --replace --out "$work/trained"
python3 "$here/compare.py" --losses "$case" "$work/trained/history.csv"
