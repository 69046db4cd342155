# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it gains that lanes take new work: programs as they are by each
compiler, refilled by hand (the argument form) by nvcc and clang, and as they are
with the remedies that do so. All in turns; all must print the checksum of our
unmodified build. Rows, with the way in params:

  time      ms a launch
  speedup   the fastest unmodified build over this way, `best` says which

A remedy that this build of reconverge does not know is skipped, and said so.
Lanes at work are counted by the suite refill-counts.
"""

import os
import sys

import compare
import processes
import tables
from pages import refill as page
from programs import REFILLED, REFILL_WAYS
from suite import Build, Case, Metric, Page, Suite


def refill_like(params):
    """The option that has --refill do what is done by hand with these: slices
    of 16 items a lane where nothing is said, and from the counter as few at a
    time as can be. Whatever the registers are, as there."""
    source, items = (("slice", params.get("slice", 16)) if params["form"] == 1
                     else ("counter", 1))
    return (f"--refill=threshold={params['threshold']};source={source};"
            f"slice={items};occupancy=0")


# Way to the option of `reconverge cc`: the sets of parameters worth a trial.
REMEDIES = {
    **{"refill-" + way: refill_like(params)
       for way, params in REFILL_WAYS.items()},
    "refill": "--refill",
    "collect": "--collect",
}
COMPILERS = ("nvcc", "clang")  # of what is refilled by hand
WAYS = {**compare.UNCHANGED,
        **{way: Build("reconverge", ("--fatbin", flag))
           for way, flag in REMEDIES.items()}}


def name_of(flag):
    return flag.partition("=")[0]


def without_unknown(bench):
    """Leaves the builds that the tool can make."""
    text = processes.call([os.path.join(bench.options.prefix, "bin",
                                        "reconverge"), "cc", "--help"])
    there = {word.partition("=")[0] for word in text.split()}
    unknown = [way for way in bench.ways
               if way in REMEDIES and name_of(REMEDIES[way]) not in there]
    for way in unknown:
        del bench.ways[way]
    for name in dict.fromkeys(name_of(REMEDIES[way]) for way in unknown):
        print(f"refill: skipped: builds with {name}, which this reconverge "
              "does not know", file=sys.stderr)


def runs_of(bench, case):
    """Way to a program and its arguments."""
    runs = {way: (bench.program(case, way), case.params) for way in bench.ways}
    compilers = [c for c in COMPILERS if c in bench.ways] or [compare.OURS]
    for compiler in compilers:
        for way, params in REFILL_WAYS.items():
            runs[f"{compiler}-{way}"] = (bench.program(case, compiler),
                                         {**case.params, **params})
    return runs


def measure(bench, case):
    return compare.rows_of_runs(bench, case, runs_of(bench, case))


def small(case):
    """What makes it another case than the one before."""
    return {k: v for k, v in case.params.items()
            if k in ("float", "length", "nodes")}


SUITES = [Suite(
    name="refill", about="what it gains on a GPU that lanes take new work",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in REFILLED.items()],
    ways=lambda _: dict(WAYS), small=small, start=without_unknown,
    measure=measure, repeat=6, page=Page("refill-results.md", page.lines),
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
