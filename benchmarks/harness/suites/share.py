# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it gains that lanes of a warp run one another's iterations: programs as
they are by each compiler, dealt out by hand (the argument form) by nvcc and
clang, and as they are with --share. All in turns; all must print the checksum of
our unmodified build. Rows, with the way in params:

  time      ms a launch
  speedup   the fastest unmodified build over this way, `best` says which

Without -DROLLED what is shared is copies of the loop's body that the compiler
has made of several iterations. What becomes of lanes, issue slots and memory is
counted by the suite share-counts.
"""

import by_hand
import compare
import tables
from programs import SHARED, SHARE_WAYS
from suite import Case, Metric, Suite

REMEDIES = {
    "share": ("--share=occupancy=0",),
    "share-rolled": ("--share=occupancy=0", "-DROLLED"),
    "share-always": ("--share=occupancy=0;threshold=0", "-DROLLED"),
}
SUITES = [Suite(
    name="share", about="what it gains on a GPU that lanes share iterations",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in SHARED.items()],
    ways=lambda _: by_hand.ways(REMEDIES),
    small=lambda case: {k: v for k, v in case.params.items()
                        if k in ("even", "step")},
    start=by_hand.without_unknown("share", REMEDIES),
    measure=by_hand.measure(SHARE_WAYS), repeat=20,
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
