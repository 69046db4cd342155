# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""keep.py FILE KERNEL=REMEDY...: a file of decisions that keeps these."""
import json
import sys

with open(sys.argv[1], encoding="utf-8") as text:
    decisions = json.load(text)
wanted = dict(word.split("=") for word in sys.argv[2:])
for decided in decisions["kernels"]:
    if decided["name"] in wanted:
        decided["keep"]["remedy"] = wanted.pop(decided["name"])
if wanted:
    sys.exit(f"no such kernels: {wanted}")
json.dump(decisions, sys.stdout)
