# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the programs of benchmarks/kernels that are named as one source, each in
a namespace of its own: clang reads CUDA's headers once for all."""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
INCLUDE = re.compile(r'#include ([<"])(.*)[>"]')
above, texts = {}, []


def read(path):
    """Its lines; what it includes of others goes above."""
    for line in path.read_text().splitlines():
        found = INCLUDE.match(line)
        if found and found[1] == '"' and "common" not in found[2]:
            yield from read(path.parent / found[2])  # its own header
        elif found:
            above[line.replace('"..', f'"{folder}')] = None
        else:
            yield line


for name in sys.argv[2:]:
    texts += [f"namespace {name} {{", *read(folder / name / f"{name}.cu"),
              f"}} // namespace {name}"]
print("\n".join([*above, *texts]))
