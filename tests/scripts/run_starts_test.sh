#!/usr/bin/env bash
# ./run builds what has changed and starts the program: from anywhere, in any locale, in a moved clone.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

cd / || exit 1
call "$clone/run" lesson list "two words"
expect "arguments reach the program, and nothing else is on standard output" "$output" \
  "program <lesson> <list> <two words>"
expect "the program's status is passed on" "$status" 0
expect "the release preset is configured in the clone" "$(calls cmake)" "cmake -S $clone --preset release"
expect_in "the program alone is built" "$(calls ninja)" " headscope"
expect "no package tool is asked to install" "$(calls apt-get)" ""

: > "$fake_log"
call "$clone/run"
expect "a second call starts the program" "$output" "program"
expect "a second call says nothing" "$errors" ""
expect "a second call configures and builds nothing" "$(cat "$fake_log")" ""

touch "$fake_state/dirty"
call "$clone/run"
expect_in "a changed source is built" "$(calls ninja)" " headscope"
expect "a changed source needs no new configuration" "$(calls cmake)" ""

: > "$fake_log"
sleep 0.01
touch "$clone/CMakePresets.json"
call "$clone/run"
expect "changed presets are configured again" "$(calls cmake)" "cmake -S $clone --preset release"

: > "$fake_log"
call "$clone/run" --yes -- --help
expect "after -- even --help goes to the program" "$output" "program <--help>"

for locale in C de_DE.UTF-8; do
  touch "$fake_state/dirty"
  LC_ALL=$locale call "$clone/run" lesson list
  expect "it works under $locale" "$output" "program <lesson> <list>"
done

moved="$sandbox/moved clone"
mv "$clone" "$moved"
: > "$fake_log"
call "$moved/run" here
expect "a moved clone starts" "$output" "program <here>"
expect_in "a moved clone says that it starts afresh" "$errors" "was made for $clone"
expect "a moved clone is configured again" "$(calls cmake)" "cmake -S $moved --preset release"

rm "$moved/build/release/build.ninja"
: > "$fake_log"
call "$moved/run"
expect "an interrupted configuration is made again" "$(calls cmake)" "cmake -S $moved --preset release"

ln -s "$moved" "$sandbox/link"
: > "$fake_log"
call "$sandbox/link/run"
expect "through a symbolic link nothing is built anew" "$(cat "$fake_log")" ""
finish
