# What ./run and ./test share: packages, configuring, building. Sourced, never run by itself.
# All it says goes to standard error; standard output belongs to the program that is started.
# Expects: root (the clone's folder), script (how the user called it).
# shellcheck shell=bash
set -u -o pipefail
: "${root:?}" "${script:?}"

assume_yes=no
names=()    # packages asked for
missing=()  # those of them that are not installed
as_root=()  # what makes a command run as root
apt_options=(--no-install-recommends --no-remove --no-upgrade)
declare -A reason_of=()

say() { printf '%s\n' "$*" >&2; }

# fail WHAT HINT: one line each, then the end.
fail() {
  say "$script: $1"
  say "  $2"
  exit 1
}

trap 'say ""; say "$script: stopped. Nothing is lost: the same command goes on from here."; exit 130' INT

# ---- packages -----------------------------------------------------------------------------------------------

# read_packages GROUP…: names and reasons from the list.
read_packages() {
  local group name reason wanted=" $* "
  names=()
  while read -r group name reason; do
    [[ $wanted == *" $group "* ]] || continue
    names+=("$name")
    reason_of[$name]=$reason
  done < "$root/scripts/packages.txt"
}

find_missing() {
  local installed name
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${names[@]}" 2>/dev/null)
  missing=()
  for name in "${names[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$name installed"$'\n'* ]] || missing+=("$name")
  done
}

by_hand() { printf 'apt-get install %s %s' "${apt_options[*]}" "${missing[*]}"; }

# may_install QUESTION: yes by option, yes on a build server, or what the person at the terminal answers.
may_install() {
  local answer
  if [[ $assume_yes == yes ]]; then return 0; fi
  if [[ ${CI:-} == true && $(id -u) == 0 ]]; then return 0; fi
  if [[ ! -t 0 || ! -t 2 ]]; then
    fail "these packages are missing, and there is no terminal to ask whether to install them." \
      "Say '$script --yes', or install them yourself as root: $(by_hand)"
  fi
  read -r -p "$1 [Y/n] " answer || answer=n
  case $answer in
    "" | [yYjJ]*) return 0 ;;
    *) fail "nothing was installed." "To do it by hand, as root: $(by_hand)" ;;
  esac
}

become_root() {
  if [[ $(id -u) == 0 ]]; then
    as_root=()
  elif ! command -v sudo > /dev/null; then
    fail "installing packages needs root, and there is no sudo here." \
      "As root (su -), run: $(by_hand)   then call $script again."
  elif sudo -n true 2> /dev/null; then
    as_root=(sudo -n)
  else
    as_root=(sudo)
  fi
}

apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "$@" < /dev/null >&2; }

update_lists() {
  say "$script: fetching Debian's package lists (apt-get update)"
  apt_get update || fail "apt-get update failed; its own words are above." \
    "Check the network and /etc/apt/sources.list, then call $script again."
}

# What apt would fetch; fails where it cannot tell. Neither locks nor changes anything.
plan_install() { LC_ALL=C apt-get install -y --print-uris "${apt_options[@]}" "${missing[@]}" 2>&1; }

lists_are_lacking() { [[ $1 == *"Unable to locate package"* || $1 == *"no installation candidate"* ]]; }

say_missing() {
  local name
  say "$script: Debian packages that are missing:"
  for name in "${missing[@]}"; do
    printf '  %-20s %s\n' "$name" "${reason_of[$name]}" >&2
  done
}

say_size() {
  local line count download disk
  while IFS= read -r line; do
    case $line in
      *" newly installed, "*) count=${line#*, } count=${count%% *} ;;
      "Need to get "*) download=${line#Need to get } download=${download%% of archives*} ;;
      "After this operation, "*) disk=${line#After this operation, } disk=${disk%% of additional*} ;;
    esac
  done <<< "$1"
  say "With what they need themselves: ${count:-?} packages, ${download:-?} to download, ${disk:-?} on disk."
}

install_missing() {
  local log status
  log=$(mktemp) || fail "no temporary file could be made." "Check that ${TMPDIR:-/tmp} has room and may be written."
  apt_get install -y "${apt_options[@]}" "${missing[@]}" 2>&1 | tee "$log" >&2
  status=$?
  if [[ $status != 0 ]] && grep -q '404 ' "$log"; then
    say "$script: the package lists are older than the mirror"
    update_lists
    apt_get install -y "${apt_options[@]}" "${missing[@]}"
    status=$?
  fi
  rm -f "$log"
  return "$status"
}

# ensure_packages GROUP…: installs what is missing, after asking.
ensure_packages() {
  local plan
  read_packages "$@"
  if ! command -v dpkg-query > /dev/null || ! command -v apt-get > /dev/null; then
    say "$script: this is no Debian; the libraries of scripts/packages.txt must be installed already."
    return
  fi
  find_missing
  if [[ ${#missing[@]} == 0 ]]; then return; fi
  say_missing
  if plan=$(plan_install); then
    say_size "$plan"
    may_install "Install them now?"
    become_root
  elif lists_are_lacking "$plan"; then
    may_install "Their size is known once Debian's package lists (about 10 MB) are here. Fetch the lists?"
    become_root
    update_lists
    plan=$(plan_install) || fail "apt-get cannot install them: $(tail -n 3 <<< "$plan")" \
      "Headscope is made for Debian 12 and newer. See what /etc/apt/sources.list names."
    say_size "$plan"
    may_install "Install them now?"
  else
    say "$plan"
    fail "apt-get cannot install them; its own words are above." \
      "Mend that (often: sudo dpkg --configure -a, or sudo apt-get -f install), then call $script again."
  fi
  install_missing || fail "apt-get could not install them; its own words are above." \
    "Mend that (the network? a full disk? another apt still running?), then call $script again."
  find_missing
  if [[ ${#missing[@]} != 0 ]]; then
    fail "still missing after the installation: ${missing[*]}" "Look at apt's words above."
  fi
}

# ---- building -----------------------------------------------------------------------------------------------

# As many compilers as there are processors, but one for each 1.2 GB of memory at most.
n_jobs() {
  local jobs memory key value _
  jobs=$(nproc 2> /dev/null || echo 2)
  while read -r key value _; do
    if [[ $key == MemAvailable: ]]; then memory=$((value / 1200000)); fi
  done < /proc/meminfo
  if ((${memory:-jobs} < jobs)); then jobs=$memory; fi
  echo $((jobs > 0 ? jobs : 1))
}

# A build folder made for another place (the clone was moved or copied) cannot be used.
drop_moved_build() {
  local directory=$1 home='' line
  if [[ -f $directory/CMakeCache.txt ]]; then
    while IFS= read -r line; do
      if [[ $line == CMAKE_HOME_DIRECTORY:INTERNAL=* ]]; then home=${line#*=}; fi
    done < "$directory/CMakeCache.txt"
    if [[ $home == "$root" ]]; then return; fi
    say "$script: ${directory#"$root"/} was made for ${home:-another place}; starting it afresh"
    rm -rf -- "$directory" || fail "$directory cannot be removed." "Remove it yourself, then call $script again."
  fi
}

# The stamp says: packages were there and CMake succeeded, with this list, these presets, at this place.
is_ready() {
  local stamp=$1/.ready
  [[ -f $stamp && -f $1/build.ninja && ! $root/scripts/packages.txt -nt $stamp &&
    ! $root/CMakePresets.json -nt $stamp && $(< "$stamp") == "$root" ]]
}

configure() {
  local preset=$1 directory=$root/build/$1
  if ! mkdir -p "$directory" || [[ ! -w $directory ]]; then
    fail "$directory cannot be written." "Does it belong to another user (root, perhaps)? Remove it, or run as that user."
  fi
  say "$script: configuring build/$preset"
  if ! cmake -S "$root" --preset "$preset" > "$directory/configure.log" 2>&1; then
    cat "$directory/configure.log" >&2
    return 1
  fi
  printf '%s' "$root" > "$directory/.ready"
}

# run_ninja PRESET TARGET…: silent where nothing is to do.
run_ninja() {
  local directory=$root/build/$1 plan
  shift
  plan=$(ninja -C "$directory" -n "$@" 2> /dev/null)
  if [[ $plan == *"no work to do"* ]]; then return 0; fi
  say "$script: building ${directory#"$root"/} (the first time takes minutes)"
  ninja -C "$directory" -j "$(n_jobs)" "$@" >&2
}

# build PRESET "GROUP…" TARGET…: packages, configuration and targets are there afterwards.
build() {
  local preset=$1 groups directory=$root/build/$1
  read -r -a groups <<< "$2"
  shift 2
  drop_moved_build "$directory"
  if is_ready "$directory"; then
    if run_ninja "$preset" "$@"; then return; fi
    rm -f "$directory/.ready"
    # A package may have gone since the last time; if none has, the error above is the sources'.
    read_packages "${groups[@]}"
    if command -v dpkg-query > /dev/null; then find_missing; fi
    if [[ ${#missing[@]} == 0 ]]; then build_failed "$preset"; fi
  fi
  ensure_packages "${groups[@]}"
  configure "$preset" || fail "CMake could not configure build/$preset; its own words are above." \
    "If they name a package, see scripts/packages.txt; otherwise remove build/$preset and call $script again."
  run_ninja "$preset" "$@" || build_failed "$preset"
}

build_failed() {
  fail "build/$1 could not be built; the first error above says where." \
    "Killed for lack of memory, or a full disk? Call $script again, it goes on from there. An error in sources that you did not touch is a bug: please report it."
}
