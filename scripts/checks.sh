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

check_threads() {
  stage "the tests that start threads, under ThreadSanitizer"
  build tsan "build test" training_tests
  "$root/build/tsan/bin/training_tests" "[threads]" >&2 || exit 1
}

# check_variants ARGUMENTS…: the vectors are the compiler's, so each width is another program. The arguments may choose
# no test of these.
check_variants() {
  local preset
  for preset in plain native scalar; do
    stage "core and lessons, $preset"
    build "$preset" "build test" all
    run_tests "$preset" --no-tests=ignore -L '^quick$' "$@" || exit 1
  done
}

check_fuzzing() {
  stage "fuzzing the loaders"
  build fuzz "build test long" all
  run_tests fuzz --no-tests=ignore "$@" || exit 1
}

check_walks() {
  stage "200,000 random actions under AddressSanitizer and UndefinedBehaviorSanitizer"
  build asan-ubsan "build test" simulator_tests
  run_tests asan-ubsan --no-tests=ignore -R 'random actions' || exit 1
}

fetch_web_sources() {
  stage "sources of the libraries that have to be compiled for WebAssembly"
  "$root/scripts/web_sources.sh" "$root/build/sources" >&2 ||
    fail "the sources of md4c and utf8proc could not be fetched; apt's words are above." \
      "Put them by hand into build/sources/md4c and build/sources/utf8proc, then call $script again."
}

# run_tests PRESET ARGUMENTS…: the summary is the last that is printed.
run_tests() {
  local directory=$root/build/$1
  shift
  ctest --test-dir "$directory" --output-on-failure --no-tests=error -j "$(nproc 2> /dev/null || echo 2)" "$@"
}
