#!/usr/bin/env bash
# Holds `headscope trace --backward` against a reference case, in both precisions:
# trace_test.sh PROGRAM CASE_FOLDER WORK_FOLDER.
set -eu
program=$1 case=$2 work=$3
here=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
mkdir -p "$work"
for precision in "" --double; do
  # shellcheck disable=SC2086  # an empty option is none
  "$program" trace --model "$case" --batch "$case/batch.tokens.json" --backward $precision \
    --out "$work/trace.safetensors"
  python3 "$here/compare.py" "$case" "$work/trace.safetensors"
done
