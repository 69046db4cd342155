# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that tolerate small errors, counted on the warp VM: as they are and
with --herd. Rows, with the way in params:

  lanes          at work, weighted by issue slots: control-flow efficiency
  divergent      how often a warp parts at a branch that may part: uniform ones
                 are not counted
  slots          issue slots of the program as it is over this way's
  quality-loss, held-out-loss, bound   as in the suite herd
"""

import by_hand
import counts
import tables
import tolerant
from suite import Build, Case, Metric, Suite
from suites.herd import METRICS, REMEDIES
from tolerant import HERDED

COMMON = ("-O3", "-std=c++17")


def divergent(kernels):
    branches = [b for kernel in kernels for b in kernel["branches"]]
    met = sum(branch["warps"] for branch in branches)
    return sum(branch["splits"] for branch in branches) / met if met else 0.


def measure(bench, case):
    programs = bench.programs(case)
    tolerates = HERDED[case.name]
    lost = (tolerant.losses(bench, case, case.params, programs, "plain")
            if len(programs) > 1 else {})
    plain = None
    for way, program in programs.items():
        first = {**case.params, **tolerates.training[0]}
        _, kernels = counts.profile(bench, [program], [
            f"{k}={v}" for k, v in {**first, "check": 0}.items()])
        slots = counts.cost(kernels, "slots")
        plain = plain or slots
        found = {"lanes": counts.cost(kernels, "fullSlots") / slots,
                 "divergent": divergent(kernels), "slots": plain / slots}
        if way in lost:
            found |= {**lost[way], "bound": tolerates.bound()}
        for metric, value in found.items():
            yield bench.row(case, metric, [value], {**first, "way": way},
                            judge=tolerates.judge.metric)


SUITES = [Suite(
    name="herd-counts", where="cpu", timed=False,
    about="programs that tolerate errors: how they diverge, on the warp VM",
    cases=lambda _: [Case(name, tolerates.small, tolerates.program)
                     for name, tolerates in HERDED.items()],
    small=lambda case: case.params,
    ways=lambda _: {"plain": Build("plain", (*COMMON, "-DONLY_PLAIN")),
                    **{way: Build("plain", (*COMMON, *flags))
                       for way, flags in REMEDIES.items()}},
    start=by_hand.without_unknown("herd-counts", REMEDIES),
    measure=measure, show=lambda bench: tables.show_ways(bench.rows),
    metrics={"lanes": Metric("1"), "divergent": Metric("1"),
             "slots": Metric("x"), **METRICS},
    flags=lambda bench: "-O3")]
