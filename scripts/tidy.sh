#!/usr/bin/env bash
# clang-tidy for CMake (CMAKE_CXX_CLANG_TIDY), which remembers what it found clean: the same text after the
# preprocessor, comments included, under the same checks is not analysed twice. Results are kept as ccache keeps
# objects, for every clone.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/headscope-tidy

# CMake calls: tidy.sh [OPTION…] SOURCE -- COMPILER FLAG… -o OBJECT -c SOURCE
preprocess=()
before_dashes=yes
skip=no
for word in "$@"; do
  if [[ $before_dashes == yes ]]; then
    [[ $word != -- ]] || before_dashes=no
  elif [[ $skip == yes ]]; then
    skip=no
  elif [[ $word == -o || $word == -MF || $word == -MT ]]; then
    skip=yes
  elif [[ $word != -MD ]]; then
    preprocess+=("$word")
  fi
done

key=$({ cat "$root/.clang-tidy" "${BASH_SOURCE[0]}" && clang-tidy --version &&
  "${preprocess[@]}" -E -P -C; } | sha256sum)
mark=$cache/${key%% *}
if [[ -f $mark ]]; then
  touch "$mark"
  exit 0
fi
clang-tidy --quiet "$@"
mkdir -p "$cache"
touch "$mark"
find "$cache" -type f -mtime +30 -delete
