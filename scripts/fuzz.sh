#!/usr/bin/env bash
# Lets a fuzzer look for bytes that break a loader, and says where it left them. CTest runs it.
# Usage: fuzz.sh FUZZER TARGET SECONDS
set -uo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
fuzzer=$1 target=$2 seconds=$3
work=$(dirname -- "$fuzzer")/../fuzzing  # kept: the next run goes on from what this one found
mkdir -p "$work/$target" "$work/findings" || exit 1
work=$(cd -P -- "$work" && pwd -P)

# What a loader may hold is checked by fuzzer_entry.cpp, to the byte, for all that C++ allocates; these two limits are
# for the rest (C libraries, a single huge request), and leave room for the sanitizer's own bookkeeping.
export ASAN_OPTIONS=quarantine_size_mb=32:${ASAN_OPTIONS:-}
"$fuzzer" "$work/$target" "$root/tests/fuzz/corpus/$target" "-artifact_prefix=$work/findings/$target-" \
  "-max_total_time=$seconds" -max_len=65536 -len_control=20 -timeout=10 -rss_limit_mb=768 -malloc_limit_mb=256 \
  -use_value_profile=1 -print_final_stats=1
status=$?
if [[ $status != 0 ]]; then
  echo "fuzz: $target broke; the bytes are in $work/findings/$target-*, named above"
  echo "  See it again: $fuzzer THAT_FILE. Then put the file into tests/fuzz/corpus/$target and mend the loader."
fi
exit "$status"
