# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it gains that two loops become one: programs whose threads have a loop
in a loop, or one whose rounds skip some work, as they are by each compiler,
flattened by hand (the argument form) by nvcc and clang, and as they are with
--flatten. All in turns; all must print the
checksum of our unmodified build. Rows, with the way in params:

  time      ms a launch
  speedup   the fastest unmodified build over this way, `best` says which

With the remedy the inner loop is not unrolled (-DROLLED). What becomes of lanes
and issue slots is counted by the suite flatten-counts.
"""

import by_hand
import compare
import tables
from pages import flatten as page
from programs import FLATTENED, FLATTEN_WAYS, SKIPPING, SKIP_WAYS
from suite import Case, Metric, Page, Suite


def flatten(parameters):
    """Whatever the registers are, as by hand."""
    return (f"--flatten={parameters};occupancy=0", "-DROLLED")


LOOPS = {
    "flatten-0": flatten("threshold=0"),
    "flatten-0-4": flatten("threshold=0;rounds=4"),
    "flatten-8": flatten("threshold=8"),
    "flatten-8-4": flatten("threshold=8;rounds=4"),
    "flatten-as-many-warps": ("--flatten=threshold=8;rounds=4", "-DROLLED"),
}
SKIPS = {
    "flatten-16-4": flatten("threshold=16;rounds=4"),
    "flatten-24-8": flatten("threshold=24;rounds=8"),
    "flatten-ahead": flatten("ahead=1"),
}
REMEDIES = {**LOOPS, **SKIPS}


def of_case(case):
    """What is done by hand, and the remedies that are for its loops."""
    return ((SKIP_WAYS, SKIPS) if case.program in SKIPPING else
            (FLATTEN_WAYS, LOOPS))


def measure(bench, case):
    hand, remedies = of_case(case)
    yield from by_hand.measure(hand, REMEDIES.keys() - remedies)(bench, case)


SUITES = [Suite(
    name="flatten", about="what it gains on a GPU that two loops become one",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in FLATTENED.items()],
    ways=lambda _: by_hand.ways(REMEDIES),
    small=lambda case: {k: v for k, v in case.params.items() if k == "even"},
    start=by_hand.without_unknown("flatten", REMEDIES),
    measure=measure, repeat=6,
    page=Page("flatten-results.md", page.lines),
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
