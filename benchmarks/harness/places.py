# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where things are, in a checkout and in an unpacked archive: there this folder
is bench/harness, and results go to bench/results."""

import os

BENCH = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(BENCH)
KERNELS = os.path.join(ROOT, "benchmarks", "kernels")
EXAMPLES = os.path.join(ROOT, "examples")
RESULTS = os.path.join(BENCH, "results")
# Nets of programs in kernels/, by case (suites/predict.py).
NETS = os.path.join(BENCH, "nets")
DOCS = os.path.join(ROOT, "docs")


def default_prefix():
    """The folder of bin/reconverge: an archive is its own, a checkout has
    build/."""
    if os.path.exists(os.path.join(ROOT, "bin", "reconverge")):
        return ROOT
    return os.path.join(ROOT, "build")


def machine_file(prefix, name):
    """machines/<name>.json of a checkout, or of an installation."""
    ours = os.path.join(ROOT, "machines", name + ".json")
    return ours if os.path.exists(ours) else os.path.join(
        prefix, "share", "reconverge", "machines", name + ".json")
