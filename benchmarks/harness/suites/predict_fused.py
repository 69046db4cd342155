# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classes of a batch that are foretold while the batch before is worked on
(kernels/predict_micro), of two programs. Rows, params compiler and way:

  part    ms; `blocks`, `threads`, `registers`, `at-once` (blocks that run at once)
          and `local` (bytes of a thread that registers had no room for) of ways
          that are one kernel
  rate    of the overlap as the paper has it, (Tcd + Ttc - T) / (Tcd + Ttc)
  hidden  the same over the shorter of the two
"""

import re

import compare
import predicting
import processes
import tables
from suite import Case, Metric, Suite

PROGRAMS = {"gdt": {"pol": 0, "stocks": 4096, "days": 512},
            "pol": {"pol": 1, "households": 1 << 21, "years": 40}}
SMALL = {"gdt": {"stocks": 20}, "pol": {"households": 5000}}


def measure(bench, case, _):
    for compiler in bench.ways:
        output = bench.run(
            [bench.program(case, compiler), *predicting.words(
                case.params, predicting.HELD_OUT[0]), "cpu=1",
             f"repeat={bench.repeat}"], timeout=300)
        used = {}
        for way, numbers in re.findall(r"^use (\S+): (.+)$", output,
                                       re.MULTILINE):
            used[way] = {key: int(value) for key, value in
                         re.findall(r"(\S+)=(\d+)", numbers)}
        for way, samples in re.findall(r"^ms (\S+): (.+)$", output,
                                       re.MULTILINE):
            yield bench.row(case, "part", [float(x) for x in samples.split()],
                            {**case.params, "compiler": compiler, "way": way},
                            **used.get(way, {}))
        yield bench.row(case, "part", [
            float(x) for x in processes.line(output, "kernel-ms").split()],
            {**case.params, "compiler": compiler, "way": "plain"})
        for way, rate, hidden in re.findall(
                r"^overlap (\S+): rate=(\S+) hidden=(\S+)$", output,
                re.MULTILINE):
            params = {**case.params, "compiler": compiler, "way": way}
            yield bench.row(case, "rate", [float(rate)], params)
            yield bench.row(case, "hidden", [float(hidden)], params)


SUITES = [Suite(
    name="predict-fused", about="classes foretold while the batch before is "
    "worked on",
    cases=lambda _: [Case(name, params, "predict_micro")
                     for name, params in PROGRAMS.items()],
    small=lambda case: {**case.params, **SMALL[case.name]},
    prepare=lambda *_: None, measure=measure, repeat=30,
    ways={way: how for way, how in compare.UNCHANGED.items()
          if way != "clang"},
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"part": Metric("ms"), "rate": Metric("1"),
             "hidden": Metric("1")})]
