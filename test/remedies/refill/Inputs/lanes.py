# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says whether the second report's kernel needs little more than half of the first one's slots."""

import json
import sys


def slots(path):
    with open(path, encoding="utf-8") as text:
        return sum(kernel["cost"]["slots"] for kernel in json.load(text)["kernels"])


before, after = (slots(path) for path in sys.argv[1:])
print("nearly twice as full" if 1.9 * after < before else f"{before} and {after} slots")
