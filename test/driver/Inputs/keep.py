# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""keep.py FILE KERNEL REMEDY: a file of decisions that keeps that."""
import json
import sys

path, kernel, remedy = sys.argv[1:]
with open(path, encoding="utf-8") as text:
    decisions = json.load(text)
for decided in decisions["kernels"]:
    if decided["name"] == kernel:
        decided["keep"]["remedy"] = remedy
json.dump(decisions, sys.stdout)
