# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of a program's threads that `reconverge predict --orders` has made on
the warp VM, and what each should gain by the metrics of paper 1."""

import os

import processes
from errors import BenchError

# As predict names them.
ALGORITHMS = ("sorting", "greedy", "greedy-max", "longest-blocks-first")
NOW = "as-launched"
GIVEN = "--permute=order=given"  # how a program is built that runs by one
VARIABLE = "RECONVERGE_ORDERS"
# Kernels that prepare what those under test read, outside of what is timed.
BEFORE = ("classify", "correlate")


def make(bench, program, arguments, folder, machine="h200"):
    """Has the VM run the program and write its orders to the folder. Returns
    (algorithm or NOW, metric) -> cycles, of all kernels that are timed."""
    processes.call([bench.compilers.reconverge, "predict", "--device", "cpu",
                    "--groupings", "--machine", machine, "--orders", folder,
                    program, "--", *arguments])
    cycles = {}
    with open(os.path.join(folder, "times"), encoding="utf-8") as text:
        for line in text:
            kernel, _, way, weighted, scheduled = line.split()
            if not any(name in kernel for name in BEFORE):
                for metric, value in (("weighted", weighted),
                                      ("scheduled", scheduled)):
                    key = way, metric
                    cycles[key] = cycles.get(key, 0) + float(value)
    if not cycles:
        raise BenchError(f"{folder}/times says nothing of {program}")
    return cycles


def gain(before, after):
    """1 - T/T0 in %, as in the paper's figures."""
    return 100 * (1 - after / before) if before else 0.0


def gains(cycles):
    """(Algorithm, metric) -> what it should gain, of what make() returned."""
    return {(way, metric): gain(cycles[NOW, metric], value)
            for (way, metric), value in cycles.items() if way != NOW}
