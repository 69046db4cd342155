# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unmodified kernels, built by nvcc -O3, by clang 19 -O3 and by us.

Every folder of examples/ and of kernels/ is a program; sizes are in
baseline/arguments.txt. Round by round each build runs once, so that the
compilers alternate; in a run, each launch is timed alone, by events, REPEAT
times from the same state after one that is not timed (benchmarks/timer). A
sample of a kernel is the sum over its launches in one repetition.

The programs' own output must be the same for all builds, or the row says how it
differs: clang's default arithmetic is not nvcc's, and sums of floats by atomics
depend on order.

--ways nvcc,clang,reconverge,strict-aliasing also measures what device code would
gain if the compiler concluded from types, as clang does and nvcc does not.
"""

import json
import os

import programs
from compare import UNCHANGED
from errors import BenchError
from pages import baseline as page
from places import BENCH
from suite import Build, Case, Metric, Option, Page, Suite

WAYS = {**UNCHANGED, "strict-aliasing": Build(
    "reconverge", ("--fatbin", "-fstrict-aliasing"))}


def sizes():
    """Program to arguments; what is not there runs at its own size."""
    table = {}
    path = os.path.join(BENCH, "baseline", "arguments.txt")
    with open(path, encoding="utf-8") as text:
        for line in text:
            name, *words = line.partition("#")[0].split() or [""]
            if name:
                table[name] = dict(word.split("=", 1) for word in words)
    return table


def cases(_):
    table = sizes()
    return [Case(name, table.get(name, {})) for name in programs.everything()]


def ways(options):
    chosen = options.ways.split(",")
    for way in chosen:
        if way not in WAYS:
            raise BenchError(f"no way '{way}'; there are {', '.join(WAYS)}")
    return {way: WAYS[way] for way in chosen}


def run_once(bench, case, way):
    """Kernels and output of one run."""
    result = bench.path("times.json")
    output = bench.run(
        [bench.program(case, way), *case.words()], LD_PRELOAD=os.path.join(
            bench.options.prefix, "lib", "reconverge",
            "libReconvergeTimer.so"),
        RECONVERGE_TIMER=result, RECONVERGE_TIMER_REPEAT=str(bench.repeat))
    with open(result, encoding="utf-8") as text:
        return json.load(text)["kernels"], output


def measure(bench, case):
    samples, launches, outputs = {}, {}, {}
    for _ in range(bench.rounds):
        for way in bench.ways:
            kernels, outputs[way] = run_once(bench, case, way)
            for kernel in kernels:
                key = kernel["name"]
                samples.setdefault(key, {}).setdefault(way, []).extend(
                    kernel["milliseconds"])
                launches.setdefault(key, (kernel["display"], {}))[1][way] = \
                    kernel["launches"]
    first = next(iter(outputs.values()))
    for key, by_way in samples.items():
        display, counts = launches[key]
        for way, times in by_way.items():
            note = {"note": "too-short"} \
                if min(times) / counts[way] < page.TOO_SHORT else {}
            yield bench.row(
                case, way, times, kernel=display, launches=counts[way],
                verdict="identical" if outputs[way] == first
                else "differs (printed output)", **note)


SUITES = [Suite(
    name="baseline", about="unmodified kernels by nvcc, clang and us",
    cases=cases, ways=ways, metrics=dict.fromkeys(WAYS, Metric("ms")),
    source=lambda name: programs.everything()[name], rounds=3, repeat=8,
    measure=measure, page=Page("baseline.md", page.lines),
    options=(Option("ways", ",".join(UNCHANGED), "of " + ", ".join(WAYS)),))]
