# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the warp VM counts of a program."""

import json
import os
import tempfile

import processes


def whole(bench, words, arguments, codes=(0,), **environment):
    """What the program prints, and its profile. words: the program or its
    source, and options of `reconverge profile`."""
    handle, path = tempfile.mkstemp(dir=bench.folder, suffix=".json")
    os.close(handle)
    output = processes.call(
        [bench.compilers.reconverge, "profile", "--device", "cpu", *words, "-o",
         path, "--", *arguments], codes, **environment)
    with open(path, encoding="utf-8") as text:
        return output, json.load(text)


def profile(bench, words, arguments, **environment):
    """What the program prints, and the kernels of its profile."""
    output, found = whole(bench, words, arguments, **environment)
    return output, found["kernels"]


def same_checksum(before, after):
    """The verdict on what two runs have printed."""
    same = (processes.line(before, "checksum")
            == processes.line(after, "checksum"))
    return "identical" if same else "differs (checksum)"


def cost(kernels, what):
    """A sum over all kernels."""
    return sum(kernel["cost"][what] for kernel in kernels)


def cfe(kernel):
    """Control-flow efficiency of one kernel, from its blocks."""
    lanes = sum(b["lanes"] * b["instructions"] for b in kernel["blocks"])
    warps = sum(b["warps"] * b["instructions"] for b in kernel["blocks"])
    return lanes / (kernel["warpSize"] * warps) if warps else 1.0
