# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control-flow efficiency of the kernels that are remapped by hand, counted on
the warp VM: as they are, remapped with the library and with CUB, collected with
it and by the remedy `collect`.

Each program runs at its own small size, checked against its CPU reference; all
ways must leave the same bytes. Efficiency is the paper's: active threads per
instruction, over 32; `slots` are issue slots, before over after.
"""

import counts
import processes
from errors import BenchError
from programs import REMAPPED, REMAP_WAYS, ways_by_hand
from suite import Build, Case, Metric, Suite

FLAGS = ("-O3", "-std=c++17")
# Where a program's own size will not do.
SIZES = {"nqueens": {"queens": 10, "block": 128, "placed": 4}}


def measure(bench, case):
    sums = set()
    ways = {way: ("plain", number)
            for way, number in ways_by_hand(case.name).items()}
    for way, (build, number) in {**ways, "collect": ("collect", 0)}.items():
        output, kernels = counts.profile(
            bench, [bench.program(case, build)],
            [f"remap={number}", *case.words()])
        sums.add(processes.line(output, "checksum"))
        same = {"params": {"way": way}, "verdict": "identical"}
        yield bench.row(
            case, "cfe-before" if way == REMAP_WAYS[0] else "cfe-after",
            [counts.cost(kernels, "instructions")
             / counts.cost(kernels, "warpInstructions") / 32], **same)
        slots = counts.cost(kernels, "slots")
        if way == REMAP_WAYS[0]:
            before = slots
        else:
            yield bench.row(case, "slots", [before / slots], **same)
    if len(sums) != 1:
        raise BenchError("the ways leave different bytes")


SUITES = [Suite(
    name="remap-counts",
    about="lanes at work, remapped and collected, on the warp VM",
    where="cpu", timed=False,
    cases=lambda _: [Case(name, SIZES.get(name, {})) for name in REMAPPED],
    small=lambda case: case.params,
    ways={"plain": Build("plain", FLAGS),
          "collect": Build("plain", (*FLAGS, "--collect=ids=1;occupancy=0"))},
    metrics={"cfe-before": Metric("1"), "cfe-after": Metric("1"),
             "slots": Metric("x")},
    measure=measure, flags=lambda bench: "-O3")]
