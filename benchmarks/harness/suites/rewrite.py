# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Is what `reconverge rewrite` has written as fast as the pass's?

The kernels that are remapped and collected by hand, those of them whose source
gets a round, or whose threads become items: each as it is, by three compilers;
with the pass's remedy (`pass`, `collect-pass`); and with what is written, by nvcc
(`rewritten-nvcc`, `collected-nvcc`) and by us (`rewritten`, `collected`). All with
blocks of 256, and as many of them as the programs launch; collected, also with a
quarter of them (`...-fewer`). A build whose checksum differs fails. Metrics, with the way in params:

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

ONLY_PLAIN = "-DONLY_PLAIN"
# Who takes what: docs/rewrite.md says why not the others.
REMAPPED_TEXT = ("bp", "contact", "cvp", "gdt", "lbm", "mg", "pb", "pol", "sad")
COLLECTED_TEXT = ("contact", "cvp", "gdt", "lbm", "mg", "pb", "pol")


class Text:
    """A remedy as a patch."""

    def __init__(self, way, by_pass, kernels, flag, header, launches):
        self.way, self.by_pass, self.kernels = way, by_pass, kernels
        self.flag, self.header = flag, header
        self.launches = launches  # what ways' names end in, to flags

    def write(self, bench, case):
        """The source with it, and the flags that it needs elsewhere."""
        text = bench.path(case.name, self.way) + ".cu"
        processes.call([bench.compilers.reconverge, "rewrite", "-std=c++17",
                        f"--cuda-path={bench.options.cuda}", ONLY_PLAIN,
                        "--kernel=plain", self.flag, bench.source(case), "-o",
                        text])
        with open(text, encoding="utf-8") as after:
            if self.header not in after.read():
                raise BenchError(f"{case.name}: {self.way}: nothing is written")
        return text, (ONLY_PLAIN, "-I", os.path.dirname(bench.source(case)))


TEXTS = (
    Text("rewritten", "pass", REMAPPED_TEXT,
         "--remap=threads=256;occupancy=0", "block_remap<", {"": ()}),
    Text("collected", "collect-pass", COLLECTED_TEXT,
         "--collect=threads=256;occupancy=0", "block_collect<",
         {"": (), "-fewer": ("-DEACH=4",)}))
WAYS = {**{way: how._replace(flags=(*how.flags, ONLY_PLAIN))
           for way, how in compare.UNCHANGED.items()},
        **{text.by_pass: Build("reconverge",
                               ("--fatbin", ONLY_PLAIN, text.flag))
           for text in TEXTS}}
COUNTED = ("-O3", "-std=c++17", ONLY_PLAIN)


def texts_of(case):
    return [text for text in TEXTS if case.name in text.kernels]


def ways_of(case, ways):
    """Those of the suite's ways that this case has."""
    left = {text.by_pass for text in TEXTS} - {
        text.by_pass for text in texts_of(case)}
    return [way for way in ways if way not in left]


def prepare(bench, case):
    """Builds of the rewritten sources, by the names of their ways."""
    made = {}
    for text in texts_of(case):
        source, flags = text.write(bench, case)
        ways = {}
        for end, more in text.launches.items():
            ways[text.way + end] = Build("reconverge",
                                         ("--fatbin", *flags, *more))
            if bench.device == "gpu":
                ways[f"{text.way}-nvcc{end}"] = Build("nvcc", (*flags, *more))
        for way, how in ways.items():
            made[way] = bench.path(case.name, way)
            bench.compilers.build(how, source, made[way])
    return made


def measure(bench, case, made):
    programs = {way: bench.program(case, way)
                for way in ways_of(case, bench.ways)}
    yield from compare.rows_of_runs(
        bench, case,
        {way: (program, case.params)
         for way, program in {**programs, **made}.items()})


def prepare_counted(bench, case):
    made = {}
    for text in texts_of(case):
        source, flags = text.write(bench, case)
        for end, more in text.launches.items():
            way = text.way + end
            made[way] = bench.path(case.name, way + "-counted")
            bench.compilers.build(
                Build("plain", (*COUNTED[:2], *flags, *more)), source, made[way])
    return made


def count(bench, case, made):
    sums, slots = {}, {}
    unchanged = {way: bench.program(case, way)
                 for way in ways_of(case, bench.ways)}
    for way, program in {**unchanged, **made}.items():
        output, kernels = counts.profile(bench, [program], case.words())
        sums[way] = processes.line(output, "checksum")
        slots[way] = counts.cost(kernels, "slots")
    if len(set(sums.values())) != 1:
        raise BenchError(f"{case.name}: the ways leave different bytes")
    for way in [way for way in slots if way != "plain"]:
        yield bench.row(case, "slots", [slots["plain"] / slots[way]],
                        {**case.params, "way": way}, verdict="identical")


def show(bench):
    tables.show_rows([row for row in bench.rows
                      if row["metric"] in ("speedup", "slots")])


SUITES = [
    Suite(name="rewrite", about="patches beside what the pass makes, on a GPU",
          cases=lambda _: [Case(name, REMAPPED[name]) for name in REMAPPED_TEXT],
          ways=WAYS, prepare=prepare, measure=measure, show=show,
          metrics={"time": Metric("ms"), "speedup": Metric(
              "x", "best-of-" + "-".join(compare.UNCHANGED))}),
    Suite(name="rewrite-counts", where="cpu", timed=False,
          about="patches beside what the pass makes, on the warp VM",
          cases=lambda _: [Case(name, {}) for name in REMAPPED_TEXT],
          small=lambda case: case.params,
          ways={"plain": Build("plain", COUNTED),
                **{text.by_pass: Build("plain", (*COUNTED, text.flag))
                   for text in TEXTS}},
          prepare=prepare_counted, measure=count, show=show,
          metrics={"slots": Metric("x")}, flags=lambda bench: "-O3")]
