# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the remedy `collect` gains: the kernels that are collected by hand, as
they are by each compiler, as they are with the remedy, and by the device
library (argument remap, nvcc's and clang's builds). All in turns; all must print the
checksum of our unmodified build. Rows, with the way in params:

  time      ms a launch
  speedup   the fastest unmodified build over this way, `best` says which
"""

import compare
import tables
from programs import COLLECT_WAYS, COLLECTED, REMAPPED, ways_by_hand
from suite import Build, Case, Metric, Suite

# Way to the option of `reconverge cc`: items a thread, at any cost in registers,
# as `optimize` tries them; and without what is done in the sort.
ALL = "ids=1;occupancy=0"
REMEDIES = {
    **{f"collect-{items}": f"--collect=items={items};{ALL}"
       for items in (2, 4, 8)},
    "collect-4-all-sorted": f"--collect=items=4;short=0;{ALL}",
}
BY_HAND = COLLECT_WAYS[1:3]  # what the remedy is held against
COMPILERS = ("nvcc", "clang")  # of these forms
WAYS = {**compare.UNCHANGED,
        **{way: Build("reconverge", ("--fatbin", flag))
           for way, flag in REMEDIES.items()}}


def runs_of(bench, case):
    """Way to a program and its arguments."""
    runs = {way: (bench.program(case, way), case.params) for way in bench.ways}
    numbers = ways_by_hand(case.name)
    compilers = [c for c in COMPILERS if c in bench.ways] or [compare.OURS]
    for compiler in compilers:
        for way in BY_HAND:
            runs[f"{compiler}-{way}"] = (
                bench.program(case, compiler),
                {**case.params, "remap": numbers[way]})
    return runs


def measure(bench, case):
    return compare.rows_of_runs(bench, case, runs_of(bench, case))


SUITES = [Suite(
    name="collect", about="what it gains on a GPU that blocks sort their items",
    cases=lambda _: [Case(name, REMAPPED[name]) for name in COLLECTED],
    ways=lambda _: dict(WAYS), measure=measure, rounds=3, repeat=6,
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
