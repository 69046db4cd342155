# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: parted.py BEFORE AFTER [KERNEL [MOST]] - fails unless KERNEL (mangled, its
beginning) executes at most MOST (three quarters) of the warp instructions in AFTER
that it does in BEFORE, reports of reconverge profile."""
import json
import sys

kernel = sys.argv[3] if len(sys.argv) > 3 else "_Z6differ"
most = float(sys.argv[4]) if len(sys.argv) > 4 else 3 / 4


def warps(path):
    with open(path) as file:
        kernels = json.load(file)["kernels"]
    return sum(block["warps"] for each in kernels
               if each["name"].startswith(kernel)
               for block in each["blocks"])


before, after = warps(sys.argv[1]), warps(sys.argv[2])
print(before, after)
sys.exit(after > before * most)
