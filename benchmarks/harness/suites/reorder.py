# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it gains that long thread blocks start first: a program whose blocks are
uneven, as it is by each compiler, with an index by hand (the argument form) by
nvcc and clang, and as it is with --reorder-blocks. All in turns; all must print
the checksum of our unmodified build. Rows, with the way in params:

  time      ms a launch
  speedup   the fastest unmodified build over this way, `best` says which

With order=last some of the launches that are timed take the blocks' times and
make the order; with order=slice each makes its own; with order=reversed none has
anything to make.
"""

import by_hand
import compare
import tables
from programs import REORDERED, REORDER_WAYS
from suite import Case, Metric, Suite

REMEDIES = {
    "reversed": ("--reorder-blocks=order=reversed",),
    "last": ("--reorder-blocks=order=last",),
    "slice": ("--reorder-blocks=order=slice",),
}
SUITES = [Suite(
    name="reorder", about="what it gains on a GPU that long blocks start first",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in REORDERED.items()],
    ways=lambda _: by_hand.ways(REMEDIES),
    small=lambda case: {k: v for k, v in case.params.items()
                        if k in ("even", "rising")},
    start=by_hand.without_unknown("reorder", REMEDIES),
    measure=by_hand.measure(REORDER_WAYS), repeat=20,
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
