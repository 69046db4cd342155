# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels that are regrouped over the whole grid, counted on the warp VM: as
they are, by the order, and by block_remap. All ways must leave the same bytes.
Rows, with the way in params:

  lanes      at work, weighted by issue slots: control-flow efficiency
  slots      issue slots of the program as it is over this way's
  sectors    32-byte sectors of global memory that requests ask for, over those
             of the program as it is

`regrouped` has keys and sort in it, `ordered` is the kernel alone. Blocks of the
sort wait for others, so that its slots are not the same in every run.
"""

import counts
import processes
from errors import BenchError
from programs import REGROUP_WAYS, REGROUPED
from suite import Build, Case, Metric, Suite

# Enough that a warp of the order is mostly of one key.
SIZES = {
    "pol": {"households": 100000},
    "gdt": {"stocks": 100},
    "contact": {"side": 20},
    "pb": {"channels": 16},
    "mg": {},
    "cvp": {"width": 1040, "height": 780},
    "xslookup": {"particles": 100000, "points": 2048, "binbits": 8},
}


def sectors(kernels):
    return sum(access["sectors"] for kernel in kernels
               for access in kernel.get("accesses", []))


def counted(bench, case, number):
    """The kernels, and the checksum."""
    output, kernels = counts.profile(
        bench, [bench.program(case, "plain")],
        [*case.words(), f"remap={number}", "check=0"])
    return kernels, processes.line(output, "checksum")


def without_order(kernels):
    """Those of `ordered` but keys and sort, which it has made before."""
    return [kernel for kernel in kernels
            if not any(name in kernel["display"] for name in
                       ("findKeys", "reconverge::detail::", "cub::"))]


def measure(bench, case):
    sums = set()
    for way, number in REGROUP_WAYS.items():
        kernels, checksum = counted(bench, case, number)
        sums.add(checksum)
        if way == "ordered":
            kernels = without_order(kernels)
        slots, asked = counts.cost(kernels, "slots"), sectors(kernels)
        if way == "original":
            plain = slots, asked
        row = {"params": {**case.params, "way": way}, "verdict": "identical"}
        yield bench.row(case, "lanes",
                        [counts.cost(kernels, "fullSlots") / slots], **row)
        if way != "original":
            yield bench.row(case, "slots", [plain[0] / slots], **row)
            yield bench.row(case, "sectors", [asked / plain[1]], **row)
    if len(sums) != 1:
        raise BenchError("the ways leave different bytes")


def sized(name, program, params):
    own = {k: v for k, v in params.items() if k in ("levels", "energykey")}
    return Case(name, {**SIZES[program], **own}, program)


SUITES = [Suite(
    name="regroup-counts", where="cpu", timed=False,
    about="lanes at work and sectors, regrouped over the grid, on the warp VM",
    cases=lambda _: [sized(name, *of) for name, of in REGROUPED.items()],
    small=lambda case: case.params,
    ways={"plain": Build("plain", ("-O3", "-std=c++17"))},
    metrics={"lanes": Metric("1"), "slots": Metric("x"),
             "sectors": Metric("x")},
    measure=measure, flags=lambda bench: "-O3")]
