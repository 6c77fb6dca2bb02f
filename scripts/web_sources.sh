#!/usr/bin/env bash
# Fetches the sources of md4c and utf8proc, which have to be compiled for WebAssembly, from this machine's own package
# mirror: DIRECTORY/md4c and DIRECTORY/utf8proc. apt's set-up stays as it is: the list of sources and all that apt
# downloads stay in DIRECTORY. Usage: web_sources.sh DIRECTORY
set -euo pipefail
directory=$1
apt=$directory/apt
options=(-o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$apt/parts" -o "Dir::State::Lists=$apt/lists"
  -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User= -q)

has_all() { [[ -f $directory/md4c/src/md4c.c && -f $directory/utf8proc/utf8proc.c ]]; }

# This machine's lists of packages, as lists of sources.
list_sources() {
  local file
  mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ ! -f $file ]] || sed -n 's/^deb /deb-src /p' "$file" > "$apt/parts/${file##*/}.list"
  done
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ ! -f $file ]] || sed 's/^Types:.*/Types: deb-src/' "$file" > "$apt/parts/${file##*/}"
  done
}

# unpack LIBRARY: of the one archive that apt has fetched and checked.
unpack() {
  local archives=("$apt/$1"_*.orig.tar.*)
  rm -rf -- "${directory:?}/$1"
  mkdir "$directory/$1"
  tar -x -f "${archives[0]}" -C "$directory/$1" --strip-components=1
}

if has_all; then exit 0; fi
list_sources
apt-get "${options[@]}" update || echo "some lists could not be fetched; going on with the others"
# the authors' archives are enough: the distribution's changes to these two concern their packaging and tests
(cd "$apt" && apt-get "${options[@]}" source --download-only --tar-only md4c utf8proc)
unpack md4c
unpack utf8proc
has_all
