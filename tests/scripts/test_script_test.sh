#!/usr/bin/env bash
# ./test builds the dev preset and hands its arguments to ctest; the long tests run only when asked for.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

cd / || exit 1
call "$clone/test"
expect "it ends on ctest's summary" "$(tail -n 1 <<< "$output")" "100% tests passed"
expect "the dev preset is configured" "$(calls cmake)" "cmake -S $clone --preset dev"
expect_in "ctest runs in its folder" "$(calls ctest)" "ctest --test-dir $clone/build/dev"
expect_in "the long tests are left out" "$(calls ctest)" " -LE ^long\$"
expect_in "no test at all is a failure" "$(calls ctest)" "--no-tests=error"

: > "$fake_log"
call "$clone/test" --long -R softmax
expect_not_in "--long leaves nothing out" "$(calls ctest)" "-LE"
expect_in "other arguments go to ctest" "$(calls ctest)" " -R softmax"

echo catch2 > "$fake_state/missing"
rm -r "$clone/build"
call "$clone/test"
expect "a missing test package is not installed unasked" "$status" 1
expect_in "it is named" "$errors" "catch2               test framework"
call "$clone/run"
expect "./run does not ask for it" "$output" "program"
finish
