# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose threads have a loop in a loop, counted on the warp VM: as they
are, flattened by hand, and with --flatten. All must leave the same bytes. Rows,
with the way in params:

  lanes        at work, weighted by issue slots: control-flow efficiency
  slots        issue slots of the program as it is over this way's: what would
               be gained if nothing but issue counted
"""

import by_hand
from programs import FLATTENED, FLATTEN_WAYS
from suite import Build, Case, Metric, Suite
from suites.flatten import REMEDIES

# A few warps' rounds of everything.
SIZES = {
    "rows": {"rows": 32768},
    "knapsack": {"sacks": 4096, "items": 16},
    "knapsack-even": {"sacks": 4096, "items": 16, "even": 1},
    "occlusion": {"width": 64},
}
# Registers are not what is counted here.
COUNTED = {way: flags for way, flags in REMEDIES.items()
           if "occupancy=0" in flags[0]}
COMMON = ("-O3", "-std=c++17")
WAYS = {"plain": ("plain", {"form": 0}),
        **{way: ("plain", params) for way, params in FLATTEN_WAYS.items()},
        **{way: (way, {"form": 0}) for way in COUNTED}}

SUITES = [Suite(
    name="flatten-counts", where="cpu", timed=False,
    about="lanes at work in loops that became one, on the warp VM",
    cases=lambda _: [Case(name, SIZES[name], program)
                     for name, (program, _) in FLATTENED.items()],
    small=lambda case: case.params,
    ways={"plain": Build("plain", COMMON),
          **{way: Build("plain", (*COMMON, *flags))
             for way, flags in COUNTED.items()}},
    metrics={"lanes": Metric("1"), "slots": Metric("x")},
    measure=by_hand.count(WAYS), flags=lambda bench: "-O3")]
