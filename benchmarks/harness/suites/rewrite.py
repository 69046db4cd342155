# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is a round that `reconverge rewrite` has written as fast as the pass's?

The kernels that are remapped by hand, those of them whose source gets a round:
each as it is, by three compilers; with the pass's rounds (`pass`); and rewritten,
by nvcc (`rewritten-nvcc`) and by us (`rewritten`). All with blocks of 256, as the
programs launch them. A build whose checksum differs fails. Metrics, with the way in
params:

  time     of the kernels' launches
  speedup  the fastest unchanged build over this way

`rewrite-counts` counts the same on the warp VM: `slots`, the issue slots of the
program as it is over those of this way, whose bytes must be the same.
"""

import os

import compare
import counts
import processes
import tables
from errors import BenchError
from programs import REMAPPED
from suite import Build, Case, Metric, Suite

# The others have no round, or none of the pass's: docs/rewrite.md says why.
WRITTEN = ("bp", "contact", "cvp", "gdt", "lbm", "mg", "pb", "pol", "sad")
ONLY_PLAIN = "-DONLY_PLAIN"
ROUND = "--remap=threads=256;occupancy=0"
WAYS = {**{way: how._replace(flags=(*how.flags, ONLY_PLAIN))
           for way, how in compare.UNCHANGED.items()},
        "pass": Build("reconverge", ("--fatbin", ONLY_PLAIN, ROUND))}
COUNTED = ("-O3", "-std=c++17", ONLY_PLAIN)


def rewritten(bench, case):
    """The source with a round, and the flags that it needs elsewhere."""
    text = bench.path(case.name, "rewritten") + ".cu"
    processes.call([bench.compilers.reconverge, "rewrite", "-std=c++17",
                    f"--cuda-path={bench.options.cuda}", ONLY_PLAIN,
                    "--kernel=plain", ROUND, bench.source(case), "-o", text])
    with open(text, encoding="utf-8") as after:
        if "block_remap<" not in after.read():
            raise BenchError(f"{case.name}: no round is written")
    return text, (ONLY_PLAIN, "-I", os.path.dirname(bench.source(case)))


def prepare(bench, case):
    """Builds of the rewritten source, by the names of their ways."""
    text, flags = rewritten(bench, case)
    ways = {"rewritten": Build("reconverge", ("--fatbin", *flags))}
    if bench.device == "gpu":
        ways["rewritten-nvcc"] = Build("nvcc", flags)
    made = {way: bench.path(case.name, way) for way in ways}
    for way, how in ways.items():
        bench.compilers.build(how, text, made[way])
    return made


def measure(bench, case, made):
    programs = {**bench.programs(case), **made}
    yield from compare.rows_of_runs(
        bench, case,
        {way: (program, case.params) for way, program in programs.items()})


def prepare_counted(bench, case):
    text, flags = rewritten(bench, case)
    program = bench.path(case.name, "counted")
    bench.compilers.build(Build("plain", (*COUNTED[:2], *flags)), text, program)
    return program


def count(bench, case, program):
    sums, slots = {}, {}
    for way in ("plain", "pass", "rewritten"):
        output, kernels = counts.profile(
            bench, [program if way == "rewritten" else bench.program(case, way)],
            case.words())
        sums[way] = processes.line(output, "checksum")
        slots[way] = counts.cost(kernels, "slots")
    if len(set(sums.values())) != 1:
        raise BenchError(f"{case.name}: the ways leave different bytes")
    for way in ("pass", "rewritten"):
        yield bench.row(case, "slots", [slots["plain"] / slots[way]],
                        {**case.params, "way": way}, verdict="identical")


def show(bench):
    tables.show_rows([row for row in bench.rows
                      if row["metric"] in ("speedup", "slots")])


SUITES = [
    Suite(name="rewrite", about="rounds in the source beside the pass's, on a GPU",
          cases=lambda _: [Case(name, REMAPPED[name]) for name in WRITTEN],
          ways=WAYS, prepare=prepare, measure=measure, show=show,
          metrics={"time": Metric("ms"), "speedup": Metric(
              "x", "best-of-" + "-".join(compare.UNCHANGED))}),
    Suite(name="rewrite-counts", where="cpu", timed=False,
          about="rounds in the source beside the pass's, on the warp VM",
          cases=lambda _: [Case(name, {}) for name in WRITTEN],
          small=lambda case: case.params,
          ways={"plain": Build("plain", COUNTED),
                "pass": Build("plain", (*COUNTED, ROUND))},
          prepare=prepare_counted, measure=count, show=show,
          metrics={"slots": Metric("x")}, flags=lambda bench: "-O3")]
