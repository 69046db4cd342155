# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does `reconverge optimize` leave every program at least as fast as the best
build of it?

The cases are melding's, of each program the first and the last block size, or
--sizes 3, 4, ... or 0 for all; remapping's kernels as they are; those of paper
1 (-large) at sizes that fill a GPU; and a program with virtual functions. Each
case is decided by `reconverge optimize` on its own launches and built by `reconverge
cc --runtime=nvidia --decisions`. As many cases as there are cores are under way
at once: they compile, and what runs on the GPU waits for its turn (the tool has
a lock). Then, alone on the GPU, case by case, the builds run in turns
(compare.py): nvcc -O3, clang 19 -O3, ours unmodified, the final one.

Metrics: `speedup` (the fastest of the three unmodified builds over the final
one), `kept` (kernels of which something other than our unmodified code is
kept), and `predicted`, of each candidate that was tried and timed: the time of
the kernel as it is over the candidate's, as the model makes it of counts, with
`achieved`, the same of times taken, the `forecast` of before it was built, and
with what both ask of the GPU on their longest launch (docs/time.md). `trials`
is how long the launches took that were timed for the decision, with the number
of candidates that ran; --try-all 1 also tries what forecasts leave out.
"""

import json

import compare
import decided
import processes
import programs
import tables
from pages import forecast, optimize as page
from suite import Case, Metric, Option, Page, Part, Suite


# A program has the kernels that it launches, and no forms made by hand.
ONLY_PLAIN = "-DONLY_PLAIN"
WAYS = {way: how._replace(flags=(*how.flags, ONLY_PLAIN))
        for way, how in compare.UNCHANGED.items()}


def cases(options):
    """Of each program (and variant) some block sizes, spread over all."""
    groups = {}
    for name, params in programs.melded():
        groups.setdefault((name, params.get("random")), []).append(params)
    for name, params in programs.REMAPPED.items():
        groups.setdefault((name, "remap"), []).append(params)
    chosen = []
    for (name, _), sizes in groups.items():
        if options.sizes and len(sizes) > options.sizes:
            last = max(options.sizes - 1, 1)
            sizes = [sizes[i * (len(sizes) - 1) // last]
                     for i in range(options.sizes)]
        chosen += [Case(name, params) for params in sizes
                   if Case(name, params) not in chosen]
    chosen += [Case(name + programs.LARGER,
                    {**params, "seed": programs.TEST_SEEDS[0]}, name)
               for name, params in programs.GROUPED.items()]
    return chosen + [Case(name, params)
                     for name, params in programs.VIRTUAL.items()]


def final(bench, case):
    sizes = (f"{key}{value}" for key, value in case.params.items())
    return bench.path("final", case.name, *sizes)


def prepare(bench, case):
    """Returns the decisions of a case; its program is built by them."""
    program, tool = final(bench, case), bench.compilers.reconverge
    common = ["-O3", f"-arch=sm_{bench.options.arch}", "-std=c++17",
              f"--cuda-path={bench.options.cuda}", ONLY_PLAIN]
    decisions = program + ".json"
    every = ["--try-all"] if bench.options.try_all else []
    processes.call([tool, "optimize", *common, *every, "--device", bench.device,
                    bench.source(case), "--decisions", decisions,
                    "--log", program + ".log", "--",
                    *case.words(), "check=0"], timeout=400)
    runtime = ["--runtime=nvidia"] if bench.device == "gpu" else []
    processes.call([tool, "cc", *common, *runtime, "--decisions", decisions,
                    bench.source(case), "-o", program])
    with open(decisions, encoding="utf-8") as text:
        kernels = json.load(text)["kernels"]
    log = program + ".log"
    return kernels, decided.asked(log), decided.trials(log)


def measure(bench, case, prepared):
    kernels, asked, (milliseconds, candidates) = prepared
    kept = decided.kept(kernels)
    yield from compare.rows(
        bench, case, {**bench.programs(case), "final": final(bench, case)},
        "final", keep=kept)
    yield bench.row(case, "kept", [len(kept)], of=len(kernels))
    yield bench.row(case, "trials", [milliseconds], candidates=candidates)
    yield from decided.predictions(bench, case, kernels, asked)


def show(bench):
    by_case = {}
    for row in bench.rows:
        by_case.setdefault((row["case"], json.dumps(row["params"])),
                           []).append(row)
    tables.show(page.HEAD, [page.line_of(rows) for rows in by_case.values()])
    tables.show_rows([row for row in bench.rows if row["metric"] == "speedup"])


SUITES = [Suite(
    name="optimize", about="what `reconverge optimize` gains on a GPU",
    cases=cases, ways=WAYS, prepare=prepare, measure=measure,
    metrics=compare.metrics("final", kept=Metric("kernels"),
                            predicted=Metric("x"), trials=Metric("ms")),
    show=show, page=Page("optimize-results.md", page.lines,
                          (Part("time.md", "errors", page.errors),
                           Part("time.md", "forecasts", forecast.lines))),
    options=(Option("sizes", 2, "block sizes of each program, 0 for all"),
             Option("try-all", 0, "1: try what forecasts leave out, too")))]
