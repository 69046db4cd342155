# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What foretells the paths of threads, on inputs that nothing was fitted to,
counted on the warp VM: other seeds of the programs' generators. All ways must leave
the same bytes. Rows, params way and seed:

  lanes      of the kernel, at work, weighted by issue slots: control-flow
             efficiency
  slots      issue slots of the kernel as it is over this way's; keys and sort
             are in `whole-slots`
  purity     lanes that take about as long as most of their warp; way `none`: as
             launched, `time`: by what they really took
  accuracy   threads that a net takes for their class; `beyond`: those with an
             input beyond what was fitted

With --nets train the nets of benchmarks/nets are made anew, where this build of
reconverge can; else those that are there are judged.
"""

import os

import counts
import predicting
import processes
import tables
from errors import BenchError
from predicting import HELD_OUT, PROGRAMS
from suite import Build, Case, Metric, Option, Suite

COMMON = ("-O3", "-std=c++17", *predicting.FLAGS)
COUNTED = ("exact", "sum", "tree", "fma", "mma")


def prepare(bench, case):
    program = bench.program(case, "plain")
    found = {"table": predicting.estimate(bench, case, program)}
    other = predicting.rows_of(bench, case, program, HELD_OUT[0])
    if other and bench.options.nets == "train":
        found["other"] = predicting.train(bench, case, program, other)
    elif other and os.path.exists(predicting.net_of(case)):
        found["other"] = predicting.judge(bench, case, other)
    found["built"] = predicting.build(bench, case, found["table"])
    return found


def measure(bench, case, prepared):
    ordered, refused = prepared["built"]
    programs = {"none": bench.program(case, "plain"),
                **{way: ordered[way] for way in COUNTED if way in ordered}}
    for way, why in refused.items():
        yield bench.row(case, "slots", [1.], {**case.params, "way": way},
                        refused=why)
    plain, sums = None, set()
    for way, program in programs.items():
        output, kernels = counts.profile(
            bench, [program], predicting.words(case.params, HELD_OUT[0]))
        sums.add(processes.line(output, "checksum"))
        own = [k for k in kernels if predicting.is_kernel(case, k["display"])]
        slots = [counts.cost(of, "slots") for of in (own, kernels)]
        plain = plain or slots
        params = {**case.params, "way": way, "seed": HELD_OUT[0]}
        yield bench.row(case, "lanes",
                        [counts.cost(own, "fullSlots") / slots[0]], params,
                        verdict="identical")
        yield bench.row(case, "slots", [plain[0] / slots[0]], params)
        yield bench.row(case, "whole-slots", [plain[1] / slots[1]], params)
    if len(sums) != 1:
        raise BenchError("the ways leave different bytes")
    yield from foretold(bench, case, prepared)


def foretold(bench, case, prepared):
    for way, (purity, gain) in predicting.purities(prepared["table"]).items():
        params = {**case.params, "way": way, "seed": HELD_OUT[0]}
        yield bench.row(case, "purity", [purity], params)
        yield bench.row(case, "gain", [gain], params)
    for way in ("fma", "mma") if "other" in prepared else ():
        yield bench.row(case, "accuracy", [prepared["other"][way]],
                        {**case.params, "way": way},
                        beyond=prepared["other"]["beyond"])


SUITES = [Suite(
    name="predict-counts", where="cpu", timed=False,
    about="what foretells paths, on other inputs, on the warp VM",
    cases=lambda _: [Case(name, small, program) for name,
                     (program, _, small, _) in PROGRAMS.items()],
    small=lambda case: case.params, prepare=prepare, measure=measure,
    ways={"plain": Build("plain", COMMON)},
    options=(Option("nets", "there", "nets: those that are there, or trained "
                    "anew", ("there", "train")),),
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"lanes": Metric("1"), "slots": Metric("x"),
             "whole-slots": Metric("x"), "purity": Metric("1"),
             "gain": Metric("1"), "accuracy": Metric("1")}, flags=lambda bench: "-O3")]
