# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose threads have a loop in a loop, or one whose rounds skip some
work, counted on the warp VM: as they are, flattened by hand, and with --flatten.
All must leave the same bytes. Rows, with the way in params:

  lanes        at work, weighted by issue slots: control-flow efficiency
  slots        issue slots of the program as it is over this way's: what would
               be gained if nothing but issue counted
"""

import by_hand
from programs import FLATTENED
from suite import Build, Case, Metric, Suite
from suites.flatten import REMEDIES, of_case

# A few warps' rounds of everything.
SIZES = {
    "rows": {"rows": 32768},
    "knapsack": {"sacks": 4096, "items": 16},
    "knapsack-even": {"sacks": 4096, "items": 16, "even": 1},
    "occlusion": {"width": 64},
    "neighbours": {"particles": 4096},
    "neighbours-few": {"particles": 4096, "near": 2},
}
# Registers are not what is counted here.
COUNTED = {way: flags for way, flags in REMEDIES.items()
           if "occupancy=0" in flags[0]}
COMMON = ("-O3", "-std=c++17")


def measure(bench, case):
    hand, remedies = of_case(case)
    yield from by_hand.count({
        "plain": ("plain", {"form": 0}),
        **{way: ("plain", params) for way, params in hand.items()},
        **{way: (way, {"form": 0}) for way in COUNTED if way in remedies}})(
            bench, case)



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
    measure=measure, flags=lambda bench: "-O3")]
