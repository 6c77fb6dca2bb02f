#!/usr/bin/env bash
# A user who is not root gets the packages through sudo: without a password first, then with one.
. "$(dirname -- "${BASH_SOURCE[0]}")/harness.sh"

echo cmake > "$fake_state/missing"
call "$clone/run" --yes
expect "sudo is first asked whether it needs no password" "$(calls sudo | head -n 1)" "sudo -n true"
expect_in "if so, it installs without one" "$(calls sudo | tail -n 1)" \
  "sudo -n env DEBIAN_FRONTEND=noninteractive apt-get install -y"

echo cmake > "$fake_state/missing"
: > "$fake_log"
rm -r "$clone/build"
touch "$fake_state/sudo_asks"
call "$clone/run" --yes
expect "sudo is still first asked for no password" "$(calls sudo | head -n 1)" "sudo -n true"
expect_in "if it needs one, it may ask" "$(calls sudo | tail -n 1)" \
  "sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y"
expect "and the program starts" "$output" "program"

echo cmake > "$fake_state/missing"
rm -r "$clone/build"
rm "$fakes/sudo"
mkdir "$sandbox/no_sudo"
for tool in bash dirname mktemp tee grep rm mkdir cat env tail nproc; do
  ln -s "$(command -v "$tool")" "$sandbox/no_sudo/$tool"
done
PATH=$fakes:$sandbox/no_sudo call "$clone/run" --yes
expect "without sudo it ends" "$status" 1
expect_in "without sudo it says what root must do" "$errors" \
  "As root (su -), run: apt-get install --no-install-recommends --no-remove --no-upgrade cmake"
finish
