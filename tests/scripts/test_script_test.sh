#!/usr/bin/env bash
# ./test builds the dev preset and hands its arguments to ctest; --long and --web build others as well.
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
for preset in plain native scalar fuzz; do
  expect_in "--long tests $preset" "$(calls ctest)" "ctest --test-dir $clone/build/$preset "
done
expect_in "the dev preset comes last, with its summary" "$(calls ctest | tail -n 1)" "ctest --test-dir $clone/build/dev "

: > "$fake_log"
mkdir -p "$clone/build/sources/md4c/src" "$clone/build/sources/utf8proc"
touch "$clone/build/sources/md4c/src/md4c.c" "$clone/build/sources/utf8proc/utf8proc.c"
call "$clone/test" --web -R softmax
expect "--web configures and tests the web preset alone" "$(calls cmake)" "cmake -S $clone --preset web"
expect_in "arguments go to its ctest" "$(calls ctest)" "ctest --test-dir $clone/build/web "
expect "sources that are there are not fetched again" "$(calls apt-get)" ""

: > "$fake_log"
rm -r "$clone/build/sources"
call "$clone/test" --web
expect "without the sources nothing is built" "$status$(calls cmake)" 1
expect_in "it says which are missing" "$errors" "md4c and utf8proc could not be fetched"
expect_in "apt is asked for them" "$(calls apt-get)" " source --download-only --tar-only md4c utf8proc"
while read -r line; do
  expect_in "apt's own set-up is left alone" "$line" "Dir::State::Lists=$clone/build/sources/"
done < <(calls apt-get)

echo catch2 > "$fake_state/missing"
rm -r "$clone/build"
call "$clone/test"
expect "a missing test package is not installed unasked" "$status" 1
expect_in "it is named" "$errors" "catch2               test framework"
call "$clone/run"
expect "./run does not ask for it" "$output" "program"
finish
