#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the floating-point instructions in nvcc's PTX with those in ours.

    compare_forms.py <reconverge> <source.cu> [flags for both]

Kernels named exact_* must have the same multiset of instructions, library_*
the same forms that decide precision: divisions, roots, approximations, and
whether anything flushes denormals.

nvcc leaves part of the fusing to ptxas, which takes mul.f32 and add.f32 without
a rounding as permission to fuse (mul.rn and add.rn forbid it). Before the
comparison such pairs are fused here, by the rule that FormFma.cpp's banner
states. Negations are left out: they are operand modifiers of the machine.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

ARITHMETIC = re.compile(
    r"\s*(?:@!?%p\d+\s+)?"
    r"((?:fma|mul|add|sub|div|sqrt|rsqrt|rcp|ex2|lg2|sin|cos|tanh)"
    r"\.(?:[a-z]+\.)*f(?:32|64)|cvt\.(?:[a-z]+\.)*(?:f\d+\.[usf]\d+|"
    r"[us]\d+\.f\d+))\s+(.*);")
REGISTER = re.compile(r"%[a-z]+\d+")
PRECISION = re.compile(r"div|sqrt|rcp|approx|ftz")


def kernels(ptx):
    """name -> [(instruction, result, operands)], in order."""
    found, name = {}, None
    for line in ptx.split("\n"):
        entry = re.search(r"\.entry\s+(\w+)", line)
        if entry:
            name = entry.group(1)
            found[name] = []
        match = ARITHMETIC.match(line)
        if name and match:
            registers = [word.strip() for word in match.group(2).split(",")]
            found[name].append((match.group(1), registers[0], registers[1:]))
    return found


def uses(ptx_kernel, register):
    return [row for row in ptx_kernel if register in row[2]]


def fused(rows, text):
    """rows with what ptxas may fuse fused."""
    free_sum = re.compile(r"(add|sub)\.f(32|64)$")
    result, gone = [], set()
    for op, target, operands in rows:
        new = op
        if free_sum.match(op):
            for operand in operands:
                product = [r for r in rows
                           if r[1] == operand and re.match(r"mul\.f\d\d$", r[0])]
                every_use = len(re.findall(re.escape(operand) + r"\b", text)) - 1
                sums = [r for r in uses(rows, operand) if free_sum.match(r[0])]
                if product and len(sums) == every_use:
                    new = "fma.rn." + op.split(".")[-1]
                    gone.add(operand)
                    break
        result.append((new, target, operands))
    return [row for row in result if row[1] not in gone]


def forms(rows):
    def rounded(op):
        return re.sub(r"^(mul|add|sub)\.(?=f|ftz)", r"\1.rn.", op)
    return Counter(rounded(op) for op, _, _ in rows)


def nvcc():
    for folder in [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")]:
        if folder:
            return os.path.join(folder, "bin", "nvcc")
    return shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def body(ptx, name):
    start = ptx.index(".entry " + name)
    return ptx[start:ptx.index("\n}", start)]


def main():
    reconverge, source, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        theirs, ours = (os.path.join(folder, n) for n in ("nvcc.ptx", "ours.ptx"))
        # 177, 550: a variable that a kernel does not need.
        subprocess.run([nvcc(), "-ptx", "-arch=sm_90", "-diag-suppress=177,550",
                        *flags, source, "-o", theirs], check=True)
        subprocess.run([reconverge, "cc", "--emit-ptx", "-arch=sm_90", *flags,
                        source, "-o", ours], check=True)
        theirs, ours = (open(f, encoding="utf-8").read() for f in (theirs, ours))

    expected, got = kernels(theirs), kernels(ours)
    different = 0
    for name, rows in expected.items():
        want, have = forms(fused(rows, body(theirs, name))), forms(got[name])
        if name.startswith("library_"):
            # Once each: how often is a matter of which tails are shared.
            want, have = (Counter(f for f in c if PRECISION.search(f))
                          for c in (want, have))
        if want != have:
            different += 1
            print(f"{name}: only nvcc {dict(want - have)}, "
                  f"only ours {dict(have - want)}")
    print(f"{len(expected)} kernels, {different} differ")
    sys.exit(bool(different) or not expected)


if __name__ == "__main__":
    main()
