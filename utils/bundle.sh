#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the relocatable archive of a build: what a user downloads, and what
# carries us to a GPU machine that has no LLVM.
#
#   utils/bundle.sh BUILD [LIMIT]     -> BUILD/reconverge-<version>-linux-x86_64.tar.xz
#
# Unpack it anywhere and run bin/reconverge; a CUDA 12 or 13 toolkit and a host
# g++ are found, not bundled (cmake/Bundle.cmake says what is inside). An archive
# of more than LIMIT bytes (66 MB) is an error. The x86 filter and the dictionary
# over the whole of libLLVM save a tenth; order and times of files are fixed, so
# that the same tree gives the same bytes.
set -eu
build=$(cd "$1" && pwd)
limit=${2:-66000000}
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=reconverge-$version-linux-$(uname -m)

stage=$(mktemp -d "$build/bundle.XXXXXX")
trap 'rm -rf "$stage"' EXIT
# What trains nets needs libraries that few machines have.
cmake -DRECONVERGE_TRAIN=OFF "$build" >/dev/null
cmake --build "$build" --target all >/dev/null
cmake --install "$build" --prefix "$stage/$name" >/dev/null
cmake --install "$build" --prefix "$stage/$name" --component Bundle >/dev/null

archive=$build/$name.tar.xz
filter=--x86
[ "$(uname -m)" = x86_64 ] || filter=
tar -C "$stage" --sort=name --owner=0 --group=0 --numeric-owner \
  --mtime=@"${SOURCE_DATE_EPOCH:-0}" -c "$name" |
  xz -T1 $filter --lzma2=preset=7,dict=192MiB >"$archive.new"
size=$(stat -c %s "$archive.new")
if [ "$size" -gt "$limit" ]; then
  echo "reconverge: error: $archive is $size bytes, more than $limit" >&2
  exit 1
fi
mv "$archive.new" "$archive"
echo "$archive: $size bytes"
