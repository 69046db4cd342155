# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of 16 to 256 bytes, of items in order over the grid
(kernels/layout_micro): read where they are, or copied into the order, by hand
and by the remedy. Rows, params bytes, way and compiler:

  time      ms: `original`; `redirected`, with keys and sort, and
            `redirected-ordered`, by an order that is there; `moved` and
            `moved-ordered` likewise; of the remedy, keys and sort included,
            `regroup`, `layout-loads`, `layout-all`
  speedup   over the fastest build of `original`
"""

import statistics

import compare
import processes
from pages import layout as page
from suite import Build, Case, Metric, Page, Suite
from suites import remap

ITEMS = 1 << 22
BYTES = (16, 32, 64, 128, 256)
REMEDY = {"regroup": "least=1", "layout-loads": "least=1;layout=loads",
          "layout-all": "least=1;layout=all"}
IN_TURNS = 5  # as layout_micro.cu has it


def build(parameters):
    return Build("reconverge", ("--fatbin", f"--regroup={parameters}"))


def of_build(bench, case, name):
    """Way -> ms, and what the program says of its result."""
    by_remedy = name in REMEDY
    text = remap.output_of(bench, case, name, {
        **case.params, "way": 0 if by_remedy else IN_TURNS,
        "check": int(bench.small), "repeat": bench.repeat})
    if by_remedy:
        times = {name: remap.numbers(processes.line(text, "kernel-ms"))}
    else:
        times = {way: remap.numbers(ms) for way, ms in remap.MS.findall(text)}
    return times, (processes.line(text, "checksum"), "other bytes" in text)


def measure(bench, case):
    times, said = {}, set()
    for _ in range(bench.rounds):
        for name in bench.ways:
            of, result = of_build(bench, case, name)
            said.add(result)
            for way, samples in of.items():
                times.setdefault((way, name), []).append(samples)
    right = len(said) == 1 and not any(other for _, other in said)
    if not right:
        bench.fail(f"other bytes: {case.name}")
    verdict = "identical" if right else "differs"
    originals = [key for key in times if key[0] == "original"]
    best = min(originals, default=None, key=lambda key: statistics.median(
        compare.flat(times[key])))
    for (way, name), rounds in times.items():
        params = {**case.params, "way": way,
                  "compiler": compare.OURS if name in REMEDY else name}
        yield bench.row(case, "time", compare.flat(rounds), params,
                        verdict=verdict)
        if way != "original" and best:
            yield bench.row(case, "speedup",
                            compare.speedups(times[best], rounds), params,
                            best=best[1], verdict=verdict)


SUITES = [Suite(
    name="layout", about="records in an order, read where they are or copied",
    cases=lambda _: [Case("layout_micro", {"items": ITEMS, "bytes": b})
                     for b in BYTES],
    small=lambda case: {"items": 5000, "bytes": case.params["bytes"]},
    ways={**compare.UNCHANGED,
          **{name: build(parameters) for name, parameters in REMEDY.items()}},
    measure=measure, repeat=12, page=Page("layout-results.md", page.lines),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
