#!/usr/bin/env bash
# When configuring or building fails, ./run shows why, says what to do, and goes on from there the next time.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

touch "$fake_state/cmake_breaks"
call "$clone/run"
expect "a failed configuration ends it" "$status" 1
expect_in "CMake's own words are shown" "$errors" "CMake says why"
expect_in "the failure names the step" "$errors" "could not configure build/release"
expect "nothing is built after it" "$(calls ninja)" ""
rm "$fake_state/cmake_breaks"

touch "$fake_state/ninja_breaks"
call "$clone/run"
expect "a failed build ends it" "$status" 1
expect_in "the compiler's own words are shown" "$errors" "compiler says why"
expect_in "the failure names the step" "$errors" "build/release could not be built"
expect "nothing is started after it" "$output" ""
rm "$fake_state/ninja_breaks"

touch "$fake_state/ninja_stopped"
call "$clone/run"
rm "$fake_state/ninja_stopped"
expect "Ctrl-C ends it with the usual status" "$status" 130
expect_in "Ctrl-C is answered with what to do" "$errors" "the same command goes on from here"
expect "Ctrl-C starts nothing" "$output" ""

call "$clone/run" again
expect "the next call goes on" "$output" "program <again>"
finish
