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

import by_hand
import compare
import tables
from pages import refill as page
from programs import REFILLED, REFILL_WAYS
from suite import Case, Metric, Page, Suite


def refill_like(params):
    """The option that has --refill do what is done by hand with these: slices
    of 16 items a lane where nothing is said, and from the counter as few at a
    time as can be. Whatever the registers are, as there."""
    source, items = (("slice", params.get("slice", 16)) if params["form"] == 1
                     else ("counter", 1))
    return (f"--refill=threshold={params['threshold']};source={source};"
            f"slice={items};occupancy=0")


# The sets of parameters worth a trial.
REMEDIES = {
    **{"refill-" + way: (refill_like(params),)
       for way, params in REFILL_WAYS.items()},
    "refill": ("--refill",),
    "collect": ("--collect",),
}
WAYS = by_hand.ways(REMEDIES)
without_unknown = by_hand.without_unknown("refill", REMEDIES)


def small(case):
    """What makes it another case than the one before."""
    return {k: v for k, v in case.params.items()
            if k in ("float", "length", "nodes")}


SUITES = [Suite(
    name="refill", about="what it gains on a GPU that lanes take new work",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in REFILLED.items()],
    ways=lambda _: dict(WAYS), small=small, start=without_unknown,
    measure=by_hand.measure(REFILL_WAYS), repeat=6, page=Page("refill-results.md", page.lines),
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
