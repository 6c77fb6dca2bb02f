#!/usr/bin/env bash
# Builds core and lessons with their tests where no graphics package can be found, and looks that none was included
# or linked. Usage: check_layers.sh BUILD_DIRECTORY. CTest runs it.
set -euo pipefail
root=$(cd -P -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
directory=$1
pkgconfig=$directory/pkgconfig  # pkg-config sees what is linked here, and nothing else

rm -rf -- "$pkgconfig"
mkdir -p "$pkgconfig"
for package in libutf8proc md4c tomlplusplus; do
  ln -s "$(pkg-config --variable=pcfiledir "$package")/$package.pc" "$pkgconfig/"
done
hidden=()
for package in CLI11 EGL Freetype glfw3 imgui OpenGL X11; do
  hidden+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=ON")
done

PKG_CONFIG_LIBDIR=$pkgconfig cmake -S "$root" -B "$directory" -G Ninja -DHEADSCOPE_SIMULATOR=OFF \
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 "${hidden[@]}"
ninja -C "$directory"

if ninja -C "$directory" -t deps | grep -E '/(imgui|GLFW|glad|GL|GLES[0-9]?|EGL|KHR|X11|freetype2|CLI|stb)/'; then
  echo "core or lessons include the graphics headers above"
  exit 1
fi
for program in "$directory"/bin/*; do
  if readelf -d "$program" | grep -E 'NEEDED.*lib(GL|EGL|X11|glfw|imgui|freetype|stb)'; then
    echo "$program links the graphics libraries above"
    exit 1
  fi
done
