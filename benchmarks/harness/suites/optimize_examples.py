# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`reconverge optimize` on every example: right answer, honest table.

Each example is built as it is and run twice, to know its output and whether
that is the same each time; then optimized with the same words, and the final
program is run. Its output, the exit code and what the user of `optimize` saw of
the first run must be those of the program as it is. The examples check their
own results. --large: the sizes of programs.LARGE, unchecked by the examples.

Rows: `kept` (kernels of which something other than our unmodified code is
kept), `predicted` and `whole` (seconds from start to end: the faster of the
unmodified programs over the final one, on a GPU).
"""

import json
import os

import decided
import processes
import programs
from errors import BenchError
from suite import Case, Metric, Option, Suite


def cases(options):
    return [Case(name, dict(size, check=0) if options.large else {})
            for name, size in sorted(programs.LARGE.items())]


def run(bench, command):
    done = processes.run(command, 500, CUDA_PATH=bench.options.cuda,
                         RECONVERGE_DEVICE=bench.device)
    return done.returncode, done.stdout, done.stderr


def prepare(bench, case):
    """The decisions, whether the output varies, and what is wrong."""
    wrong = []

    def expect(what, seen, wanted):
        if seen != wanted:
            wrong.append(f"{what}: {seen!r}, not {wanted!r}")

    tool, source = bench.compilers.reconverge, bench.source(case)
    program, final = bench.path(case.name), bench.path(case.name, "final")
    decisions = program + ".json"
    common = ["-O3", f"-arch=sm_{bench.options.arch}",
              f"--cuda-path={bench.options.cuda}"]
    fatbin = ["--fatbin"] if bench.device == "gpu" else []
    processes.call([tool, "cc", *common, *fatbin, source, "-o", program])
    (code, output, errors), again = (run(bench, [program, *case.words()])
                                     for _ in range(2))
    varies = again[1] != output
    if code:
        wrong.append(f"ends with {code} as it is: {errors}")
    status, shown, table = run(
        bench, [tool, "optimize", *common, "--device", bench.device, source,
                "-o", final, "--decisions", decisions, "--", *case.words()])
    expect("optimize's exit code", status, code)
    if status != 0 or not os.path.exists(final):
        raise BenchError("\n".join([*wrong, table]))
    end = run(bench, [final, *case.words()])
    expect("the final program's exit code", end[0], code)
    if not varies:
        expect("optimize's output", shown, output)
        expect("the final program's output", end[1], output)
    with open(decisions, encoding="utf-8") as text:
        return json.load(text), varies, wrong


def measure(bench, case, prepared):
    decisions, varies, wrong = prepared
    for why in wrong:
        bench.fail(f"{case.name}: {why}")
    kernels, whole = decisions["kernels"], decisions["whole"]
    kept = decided.kept(kernels)
    yield bench.row(
        case, "kept", [len(kept)], of=len(kernels), keep=kept,
        verdict="differs" if wrong else
        "varies as it is" if varies else "identical")
    yield from decided.predictions(bench, case, kernels, {})
    if whole["runs"]:
        seconds = {key: whole[key] for key in ("final", "ours", "nvcc",
                                               "clang")}
        best = min(seconds[key] for key in ("ours", "nvcc", "clang")
                   if seconds[key])
        yield bench.row(case, "whole", [best / seconds["final"]], **seconds)


SUITES = [Suite(
    name="optimize-examples", about="`reconverge optimize` on every example",
    source=programs.example, cases=cases, prepare=prepare, measure=measure,
    threads=2, flags=lambda bench: f"-O3 -arch=sm_{bench.options.arch}",
    metrics={"kept": Metric("kernels"), "predicted": Metric("x"),
             "whole": Metric("x")},
    options=(Option("large", False, "at sizes that fill a GPU"),))]
