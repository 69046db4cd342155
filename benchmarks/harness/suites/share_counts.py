# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose lanes have loops of unlike lengths, counted on the warp VM: as
they are, dealt out by hand, and with --share. All must leave the same bytes.
Rows, with the way in params:

  lanes        at work, weighted by issue slots: control-flow efficiency
  slots        issue slots of the program as it is over this way's: what would
               be gained if nothing but issue counted
"""

import by_hand
from programs import SHARED, SHARE_WAYS
from suite import Build, Case, Metric, Suite
from suites.share import REMEDIES

COMMON = ("-O3", "-std=c++17")
WAYS = {"plain": ("plain", {"form": 0}),
        **{way: ("plain", params) for way, params in SHARE_WAYS.items()},
        **{way: (way, {"form": 0}) for way in REMEDIES}}

SUITES = [Suite(
    name="share-counts", where="cpu", timed=False,
    about="lanes at work in loops that are shared, on the warp VM",
    cases=lambda _: [Case(name, {**params, "vertices": 20000}, program)
                     for name, (program, params) in SHARED.items()],
    small=lambda case: case.params,
    ways={"plain": Build("plain", COMMON),
          **{way: Build("plain", (*COMMON, *flags))
             for way, flags in REMEDIES.items()}},
    metrics={"lanes": Metric("1"), "slots": Metric("x")},
    measure=by_hand.count(WAYS), flags=lambda bench: "-O3")]
