# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of a program's threads that `reconverge predict --orders` has made on
the warp VM, and what each should gain by the metrics of paper 1."""

import glob
import os

import processes
from errors import BenchError

# As predict names them.
ALGORITHMS = ("sorting", "greedy", "greedy-max", "longest-blocks-first")
NOW = "as-launched"
# Programs whose data may be moved into an order, by this variable; and what a
# way is then called. Of some the length of an item is a key that a user knows.
MOVABLE = ("sw", "nw", "ec", "mum")
MOVED_BY, MOVED = "ITEM_ORDER", "-moved"
BY_LENGTH, LONGEST_FIRST = ("sw", "nw", "mum"), "longest-first"
METRICS = ("weighted", "scheduled")
GIVEN = "--permute=order=given"  # how a program is built that runs by one
VARIABLE = "RECONVERGE_ORDERS"
# Kernels that prepare what those under test read, outside of what is timed.
BEFORE = ("classify", "correlate")


def make(bench, program, arguments, folder, machine="h200"):
    """Has the VM run the program and write its orders to the folder. Returns
    what cycles() reads there."""
    processes.call([bench.compilers.reconverge, "predict", "--device", "cpu",
                    "--groupings", "--machine", machine, "--orders", folder,
                    program, "--", *arguments])
    return cycles(folder)


def moved(case, folder):
    """Way -> environment, of a program whose data are moved into each order."""
    if case.source_name() not in MOVABLE:
        return {}
    files = {way: glob.glob(os.path.join(folder, way, "*.order"))
             for way in ALGORITHMS[:3]}
    ways = {way + MOVED: {MOVED_BY: of[0]} for way, of in files.items()}
    if case.source_name() in BY_LENGTH:
        ways[LONGEST_FIRST + MOVED] = {MOVED_BY: LONGEST_FIRST}
    return ways


def cycles(folder):
    """(Algorithm or NOW, metric) -> cycles, of all kernels that are timed."""
    found = {}
    path = os.path.join(folder, "times")
    with open(path, encoding="utf-8") as text:
        for line in text:
            kernel, _, way, *values = line.split()
            if any(name in kernel for name in BEFORE):
                continue
            for metric, value in zip(METRICS, values, strict=True):
                found[way, metric] = found.get((way, metric), 0) + float(value)
    if not found:
        raise BenchError(f"{path} has no kernel that is timed")
    return found


def gain(before, after):
    """1 - T/T0 in %, as in the paper's figures."""
    return 100 * (1 - after / before) if before else 0.0


def gains(found):
    """(Algorithm, metric) -> what it should gain, of what make() returned."""
    return {(way, metric): gain(found[NOW, metric], value)
            for (way, metric), value in found.items() if way != NOW}
