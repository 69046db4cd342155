# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose lanes wait for their warp's slowest, counted on the warp VM:
as they are and refilled by hand. All must leave the same bytes. Rows, with the
way in params:

  lanes        at work, weighted by issue slots: control-flow efficiency
  slots        issue slots of the program as it is over this way's: what would
               be gained if nothing but issue counted
"""

import by_hand
from programs import REFILLED, REFILL_WAYS
from suite import Build, Case, Metric, Suite

# Enough that the end of slices is a small part, few enough to count soon.
SIZES = {
    **{f"walk-{length}": {"walkers": 32768, "length": length}
       for length in (200, 50, 10, 2)},
    "ode": {"probes": 8000},
    "ode-float": {"probes": 8000, "float": 1},
    "montecarlo": {"histories": 20000},
    "pathtracer": {"width": 120, "height": 72},
    "pathtracer-bounces": {"width": 120, "height": 72, "nodes": 0},
}
WAYS = {"plain": {"form": 0},
        **{way: {"slice": 32, **params} for way, params in REFILL_WAYS.items()}}


SUITES = [Suite(
    name="refill-counts", where="cpu", timed=False,
    about="lanes at work, refilled by hand, on the warp VM",
    cases=lambda _: [Case(name, SIZES[name], program)
                     for name, (program, _) in REFILLED.items()],
    small=lambda case: case.params,
    ways={"plain": Build("plain", ("-O3", "-std=c++17"))},
    metrics={"lanes": Metric("1"), "slots": Metric("x")},
    measure=by_hand.count({way: ("plain", params)
                           for way, params in WAYS.items()}),
    flags=lambda bench: "-O3")]
