#!/usr/bin/env bash
# ./run installs what is missing only when somebody agreed, and calls apt with exactly the options promised.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

promised="install -y --no-install-recommends --no-remove --no-upgrade cmake libglfw3-dev"
lack() {
  printf '%s\n' cmake libglfw3-dev > "$fake_state/missing"
  : > "$fake_log"
}

lack
call "$clone/run"
expect "without a terminal it refuses" "$status" 1
expect_in "the refusal names the package and its reason" "$errors" "libglfw3-dev         the window itself"
expect_in "the refusal gives the size" "$errors" "12 packages, 34.5 MB to download, 120 MB on disk"
expect_in "the refusal says what to do" "$errors" "--yes"
expect "the refusal starts nothing" "$output" ""
expect "the refusal changes nothing" "$(calls 'sudo|apt-get install -y --no|apt-get update|cmake|ninja')" ""

CI=true call "$clone/run"
expect "CI=true is not enough for a user who is not root" "$status" 1

lack
LC_ALL=de_DE.UTF-8 call "$clone/run" --yes lesson
expect "with --yes it installs and starts" "$output" "program <lesson>"
expect_in "the size is known in a German locale" "$errors" "34.5 MB to download"
expect "apt gets the promised options, once" "$(calls 'apt-get' | grep -v print-uris)" "apt-get $promised"
expect "the lists are not fetched without need" "$(calls 'apt-get update')" ""

lack
rm -r "$clone/build"
echo 0 > "$fake_state/uid"
call "$clone/run"
expect "root without CI=true and without a terminal is refused" "$status" 1
CI=true call "$clone/run"
expect "root with CI=true installs" "$output" "program"
expect "root needs no sudo" "$(calls sudo)" ""
rm "$fake_state/uid"

lack
rm -r "$clone/build"
touch "$fake_state/no_lists"
call "$clone/run" --yes
expect "missing lists are fetched" "$(calls 'apt-get' | grep -v print-uris)" $'apt-get update\n'"apt-get $promised"

lack
rm -r "$clone/build"
touch "$fake_state/old_lists"
call "$clone/run" --yes
expect "lists older than the mirror are fetched, and apt tries again" "$(calls 'apt-get' | grep -v print-uris)" \
  "apt-get $promised"$'\napt-get update\n'"apt-get $promised"

lack
rm -r "$clone/build"
touch "$fake_state/apt_breaks"
call "$clone/run" --yes
rm "$fake_state/apt_breaks"
expect "a failing apt ends it" "$status" 1
expect_in "apt's own words are shown" "$errors" "the disk is full, says apt"
expect_in "the failure says what failed" "$errors" "apt-get could not install them"
expect "nothing is built after a failing apt" "$(calls 'cmake|ninja')" ""

if command -v script > /dev/null; then
  lack
  at_terminal n "$clone/run"
  expect_in "at a terminal it asks" "$output" "Install them now? [Y/n]"
  expect_in "no is respected" "$output" "nothing was installed"
  expect "no installs nothing" "$(calls 'apt-get install -y --no|sudo')" ""
  at_terminal y "$clone/run"
  expect "yes installs" "$(calls 'apt-get install -y --no')" "apt-get $promised"
fi

rm -f "$fake_state/missing"
call "$clone/run"
lack
touch "$fake_state/dirty" "$fake_state/ninja_breaks"
call "$clone/run"
expect_in "a package that went away is noticed when the build fails" "$errors" "libglfw3-dev"
rm "$fake_state/ninja_breaks"
finish
