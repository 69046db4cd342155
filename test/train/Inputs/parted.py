# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: parted.py BEFORE AFTER - fails unless kernel differ executes at most
three quarters of the warp instructions in AFTER that it does in BEFORE, reports of
reconverge profile."""
import json
import sys


def warps(path):
    with open(path) as file:
        kernels = json.load(file)["kernels"]
    return sum(block["warps"] for kernel in kernels
               if kernel["name"].startswith("_Z6differ")
               for block in kernel["blocks"])


before, after = warps(sys.argv[1]), warps(sys.argv[2])
print(before, after)
sys.exit(after > before * 3 / 4)
