# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that tolerate small errors, counted on the warp VM: as they are,
with --herd, and as they are on a VM that herds as hardware would. Rows, with
the way in params:

  lanes          at work, weighted by issue slots: control-flow efficiency
  divergent      how often a warp parts at a branch that may part: uniform ones
                 are not counted
  slots          issue slots of the program as it is over this way's
  vote-slots     ... if each vote of hardware took one more
  sectors        sectors that loads of global memory ask for, as it is, over
                 this way's; load-wavefronts: the turns that they take
  quality-loss, held-out-loss, bound   as in the suite herd; a program whose
                 output has values that are no numbers has no such row

Ways of the VM: vm-branch and vm-data herd all that is safe as the paper does,
vm-branch-kept and vm-data-kept what a search leaves of it (herding.py); such a
row says the VM's settings.
"""

import by_hand
import counts
import herding
import tables
import tolerant
from errors import BenchError
from suite import Build, Case, Metric, Suite
from suites.herd import METRICS, REMEDIES
from tolerant import HERDED

COMMON = ("-O3", "-std=c++17")


def divergent(kernels):
    branches = [b for kernel in kernels for b in kernel["branches"]]
    met = sum(branch["warps"] for branch in branches)
    return sum(branch["splits"] for branch in branches) / met if met else 0.


def runs_of(bench, case):
    """Way to its program and the VM's settings."""
    programs = bench.programs(case)
    found = {way: (program, "") for way, program in programs.items()}
    for way, settings in herding.ways(bench, case, programs["plain"]).items():
        if settings is not None:
            found[way] = (programs["plain"], settings)
    return found


def measure(bench, case):
    runs = runs_of(bench, case)
    tolerates = HERDED[case.name]
    policies = {way: vm for way, (_, vm) in runs.items() if vm}
    lost = tolerant.losses(
        bench, case, case.params,
        {way: program for way, (program, _) in runs.items()}, "plain", policies)
    first = {**case.params, **tolerates.training[0]}
    plain = None
    for way, (program, vm) in runs.items():
        try:
            _, profile = counts.whole(bench, [program], [
                f"{k}={v}" for k, v in {**first, "check": 0}.items()],
                **({"RECONVERGE_VM": vm} if vm else {}))
        except BenchError:
            if not vm:
                raise
            # Herded, it fails: all is lost, and nothing else to say.
            yield bench.row(case, "bound", [herding.bound(way, tolerates)],
                            {**first, "way": way}, settings=vm)
            continue
        kernels = profile["kernels"]
        slots = counts.cost(kernels, "slots")
        loads = {metric: herding.loads_of(kernels, what) for metric, what in
                 (("sectors", "sectors"), ("load-wavefronts", "wavefronts"))}
        plain = plain or {"slots": slots, **loads}
        found = {"lanes": counts.cost(kernels, "fullSlots") / slots,
                 "divergent": divergent(kernels),
                 "slots": plain["slots"] / slots,
                 **{metric: plain[metric] / value
                    for metric, value in loads.items() if value}}
        if vm and herding.votes(profile):
            found["vote-slots"] = plain["slots"] / (
                slots + herding.votes(profile))
        if way in lost:
            found |= {**herding.finite(lost[way]), "bound": herding.bound(way, tolerates)}
        says = {"settings": vm} if vm else {}
        for metric, value in found.items():
            yield bench.row(case, metric, [value], {**first, "way": way},
                            judge=tolerates.judge.metric, **says)


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
             "slots": Metric("x"), "vote-slots": Metric("x"),
             "sectors": Metric("x"), "load-wavefronts": Metric("x"), **METRICS},
    flags=lambda bench: "-O3")]
