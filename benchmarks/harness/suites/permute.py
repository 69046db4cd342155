# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What it costs that a thread finds out by an index who it is: kernels of
kernels/ whose threads may change places, as they are and permuted, in turns.

  reconverge, same, random   ms: as it is; each thread in its place, by the
                             index; at random over all warps and blocks
  slowdown-same              the time of `same` over `reconverge`'s: kernel
  slowdown-random            before, scratch and all; of `random` likewise

Blocks are as large as 256 threads at most. All must print one checksum."""

import compare
from programs import REMAPPED
from suite import Build, Case, Metric, Suite

# Of these, the kernel of remap=0 is tied to nothing.
FREE = ("bp", "contact", "cvp", "gdt", "lbm", "pol", "sad", "xslookup")
ORDERS = ("same", "random")
WAYS = {"reconverge": compare.UNCHANGED["reconverge"],
        **{order: Build("reconverge",
                        ("--fatbin", f"--permute=order={order};block=256"))
           for order in ORDERS}}


def measure(bench, case):
    programs = bench.programs(case)
    times, sums = compare.alternate(
        programs, lambda way, repeat: compare.run_once(
            bench, programs[way], case.params, repeat),
        bench.rounds, bench.repeat)
    for way in programs:
        same = compare.verdict(sums[way] == sums["reconverge"])
        yield bench.row(case, way, compare.flat(times[way]),
                        rounds=len(times[way]), verdict=same)
        if way in ORDERS:
            yield bench.row(case, f"slowdown-{way}", compare.speedups(
                times[way], times["reconverge"]), verdict=same)


SUITES = [Suite(
    name="permute", about="what it costs to launch threads by an index",
    cases=lambda _: [Case(name, REMAPPED[name]) for name in FREE],
    ways=WAYS,
    metrics={**dict.fromkeys(WAYS, Metric("ms")),
             **{f"slowdown-{order}": Metric("x", "reconverge")
                for order in ORDERS}},
    measure=measure)]
