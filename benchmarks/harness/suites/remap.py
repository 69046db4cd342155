# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Thread-data remapping by the device library: kernels/remap_micro and the
kernels remapped by hand with it. A run has all ways of one case in turns.

Cases of the micro-benchmark (`two-paths`, `four-paths`; params block, length,
even, way, compiler):

  ideal        the original's time over that of the same work undivided
  speedup      the fastest build of the original over this way in this build
  of-ideal     speed-up as a share of the ideal's, of the same build

`round`: cost-of-round, us: a kernel with rounds less the same without, per
round (params: algorithm, paths, blocks-per-sm). Of the other kernels `speedup`,
with way `original`, `library`, `cub` or `collect-T-V-C` (T threads, V items
a thread, chunks of C), and what that build takes: `registers`, `shared` (bytes) and `occupancy`.
Their control-flow efficiency is counted by the suite remap-counts.
"""

import itertools
import re
import statistics

import compare
import processes
import tables
from errors import BenchError
from pages import remap as page
from programs import REMAP_WAYS, REMAPPED, ways_by_hand
from suite import Case, Metric, Page, Suite

MICRO = "remap_micro"
# Instructions of a path: with as many threads of each path, and drawn.
LENGTHS = {1: (50, 200, 500, 1000, 2000), 0: (500, 2000)}
BLOCKS = (128, 256, 512, 1024)
THREADS = 1 << 22
PATHS = {"two-paths": 2, "four-paths": 4}
WAY = re.compile(r"^way (\S+) (right|WRONG):(.*)$", re.MULTILINE)
MS = re.compile(r"^ms (\S+):(.*)$", re.MULTILINE)
USE = re.compile(r"^use (\S+): registers=(\d+) shared=(\d+) blocks-per-sm=\d+ "
                 r"occupancy=(\S+)$", re.MULTILINE)
ROUND = re.compile(r"^round-us (\S+) paths=(\d+) blocks-per-sm=(\d+):(.*)$",
                   re.MULTILINE)


def cases(_):
    yield Case("round", {}, MICRO)
    for name, params in REMAPPED.items():
        yield Case(name, params)
    for name, even, block in itertools.product(PATHS, LENGTHS, BLOCKS):
        for length in LENGTHS[even]:
            yield Case(name, {"block": block, "length": length, "even": even},
                       MICRO)


def small(case):
    """The micro-benchmark has no size of its own."""
    return {"block": 128, "length": 50, "even": 1} if case.name in PATHS else {}


def output_of(bench, case, compiler, params):
    """What the program prints; a wrong result is in it, and no exception."""
    words = [f"{k}={v}" for k, v in params.items()]
    command = [bench.program(case, compiler), *words]
    text = bench.run(command, codes=(0, 1))
    if not text:
        raise BenchError(f"{' '.join(command)}: prints nothing")
    return text


def numbers(text):
    return [float(word) for word in text.split()]


def best_original(bench, times):
    """The compiler whose build is the fastest as it is."""
    return min(bench.ways,
               key=lambda c: statistics.median(times[c, REMAP_WAYS[0]]))


def of_micro(bench, case):
    params, times, right = case.params, {}, {}
    blocks = 16 if bench.small else THREADS // params["block"]
    for compiler in bench.ways:
        text = output_of(bench, case, compiler, {
            "paths": PATHS[case.name], "block": params["block"],
            "blocks": blocks, "length": params["length"],
            "even": params["even"], "clusters": int(not bench.small),
            "rounds": max(bench.rounds, 2)})
        for way, verdict, samples in WAY.findall(text):
            times[compiler, way] = numbers(samples)
            right[compiler, way] = verdict == "right"
    best = best_original(bench, times)
    for (compiler, way), samples in times.items():
        def row(metric, over, **more):
            return bench.row(
                case, metric, [a / b for a, b in zip(over, samples)],
                {**params, "way": way, "compiler": compiler}, **more,
                milliseconds=statistics.median(samples),
                verdict="identical" if right[compiler, way] else "differs")
        if way == "ideal":
            yield row("ideal", times[compiler, "original"])
        elif way != "original":
            yield row("speedup", times[best, "original"], best=best)
            yield row("of-ideal", times[compiler, "ideal"])


def of_kernel(bench, case):
    """Remapped by hand: builds in turns, and in each the ways in turns."""
    times, sums, use = {}, {}, {}
    for _ in range(2):
        for compiler in bench.ways:
            text = output_of(bench, case, compiler, {
                **case.params, "remap": 3, "check": 0,
                "repeat": (bench.rounds + 1) // 2})
            for way, samples in MS.findall(text):
                times.setdefault((compiler, way), []).extend(numbers(samples))
            for way, registers, shared, occupancy in USE.findall(text):
                use[compiler, way] = {"registers": int(registers),
                                      "shared": int(shared),
                                      "occupancy": float(occupancy)}
            # The program itself compares the ways; here, the builds.
            sums[compiler] = (processes.line(text, "checksum"),
                              "other bytes" in text)
    best = best_original(bench, times)
    for compiler, way in itertools.product(bench.ways,
                                            ways_by_hand(case.name)):
        yield bench.row(
            case, "speedup", [a / b for a, b in zip(times[best, REMAP_WAYS[0]],
                                                    times[compiler, way])],
            {**case.params, "way": way, "compiler": compiler}, best=best,
            milliseconds=statistics.median(times[compiler, way]),
            verdict="identical" if sums[compiler] == (sums[best][0], False)
            else "differs", **use.get((compiler, way), {}))


def of_round(bench, case):
    for compiler in bench.ways:
        text = output_of(bench, case, compiler,
                         {"length": 0, "rounds": bench.rounds})
        for name, paths, blocks, samples in ROUND.findall(text):
            yield bench.row(
                case, "cost-of-round", numbers(samples),
                {"algorithm": name, "paths": int(paths), "block": 256,
                 "blocks-per-sm": int(blocks), "compiler": compiler})


def measure(bench, case):
    of = (of_round if case.name == "round" else
          of_micro if case.name in PATHS else of_kernel)
    for row in of(bench, case):
        if row.get("verdict") == "differs":
            bench.fail(f"wrong: {row['case']} {row['params']}")
        yield row


def show(bench):
    """A line for each case and compiler; ways are columns."""
    for metric in bench.suite.metrics:
        rows = [{**r, "metric": r["params"].get("way", metric),
                 "params": {k: v for k, v in r["params"].items()
                            if k != "way"}}
                for r in bench.rows if r["metric"] == metric]
        if rows:
            print(f"\n{metric}, {rows[0]['unit']}")
            tables.show_rows(rows)


SUITES = [Suite(
    name="remap", about="what the device library gains on a GPU",
    cases=cases, ways=compare.UNCHANGED, small=small, measure=measure,
    show=show, rounds=24, page=Page("remap-results.md", page.lines),
    metrics={
        "cost-of-round": Metric("us", "the same kernel without rounds"),
        "speedup": Metric("x", "best-of-" + "-".join(compare.UNCHANGED)),
        "ideal": Metric("x", "the same build"),
        "of-ideal": Metric("x", "the ideal of the same build")})]
