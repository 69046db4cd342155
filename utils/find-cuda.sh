#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Prints the folder of the CUDA toolkit, or says where it looked: exit code 2.
# The order is the tool's own (src/frontend/Toolchain.h), and as there, one that
# is named but is none is refused and not passed over.
set -u

nvcc=$(command -v nvcc || true)
if [ -n "$nvcc" ]; then
  nvcc=$(dirname "$(dirname "$(readlink -f "$nvcc")")")
fi
for root in "${CUDA_PATH:-}" "${CUDA_HOME:-}" "$nvcc" /usr/local/cuda; do
  [ -n "$root" ] && break
done

header=$root/include/cuda_runtime_api.h
if [ -f "$header" ]; then
  version=$(sed -n 's/^#define *CUDART_VERSION *\([0-9]*\).*/\1/p' "$header")
  case $version in
  12??? | 13???)
    echo "$root"
    exit 0
    ;;
  esac
  why="$root is CUDA $((${version:-0} / 1000)); 12 or 13 is needed."
else
  why="$root has no include/cuda_runtime_api.h."
fi
cat >&2 <<END
reconverge: error: no CUDA 12 or 13 toolkit was found: $why
  Looked at, in this order: CUDA_PATH (${CUDA_PATH:-not set}), CUDA_HOME (${CUDA_HOME:-not set}), nvcc on PATH (${nvcc:-none}), /usr/local/cuda.
  Install one, or point to it: CUDA_PATH=/path/to/cuda make run
END
exit 2
