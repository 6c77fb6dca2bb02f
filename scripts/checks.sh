# The checks of ./test, each a function. Sourced after common.sh.
# shellcheck shell=bash
: "${root:?}" "${script:?}"

# Objects are the same in every clone: ccache may reuse them from a clone at another path.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

# The project's own files with one of the endings; a source archive has no git to ask.
own_files() {
  if git -C "$root" rev-parse --is-inside-work-tree > /dev/null 2>&1; then
    git -C "$root" ls-files -- "$@"
  else
    local pattern
    for pattern in "$@"; do
      (cd "$root" && find . -path ./build -prune -o -name "$pattern" -type f -print)
    done
  fi
}

stage() { say "$script: $1"; }

check_scripts() {
  stage "checking the scripts (shellcheck)"
  local files
  mapfile -t files < <(own_files '*.sh')
  (cd "$root" && shellcheck run test .ci/run "${files[@]}" >&2) ||
    fail "shellcheck found something; see above." "Mend it, or say in a comment why it is right."
}

check_format() {
  stage "checking the format (clang-format)"
  local files
  mapfile -t files < <(own_files '*.cpp' '*.h')
  (cd "$root" && clang-format --dry-run -Werror "${files[@]}" >&2) ||
    fail "the format differs; see above." "Run: clang-format -i on the files named."
}

check_statically() {
  stage "static analysis (clang-tidy)"
  build tidy "build ci" all
}

check_sanitized() {
  stage "the quick tests under AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan-ubsan "build test" all
  run_tests asan-ubsan -L '^quick$' || exit 1
}

# run_tests PRESET ARGUMENTS…: the summary is the last that is printed.
run_tests() {
  local directory=$root/build/$1
  shift
  ctest --test-dir "$directory" --output-on-failure --no-tests=error -j "$(nproc 2> /dev/null || echo 2)" "$@"
}
