#!/usr/bin/env bash
# ./run --help and ./test --help explain the scripts without doing anything.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

echo g++ > "$fake_state/missing"
call "$clone/run" --help
expect "help succeeds" "$status" 0
expect_in "help names the options" "$output" "--yes"
expect_in "help says that the program is not built" "$output" "not built yet"
expect "help installs and builds nothing" "$(cat "$fake_log")" ""

call "$clone/test" --help
expect "the help of ./test succeeds" "$status" 0
expect_in "the help of ./test names the long tests" "$output" "--long"
expect "the help of ./test does nothing" "$(cat "$fake_log")" ""

rm "$fake_state/missing"
call "$clone/run"
call "$clone/run" --help
expect_in "help ends with the program's own" "$output" "program <--help>"
finish
