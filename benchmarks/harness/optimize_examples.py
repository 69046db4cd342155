#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`reconverge optimize` on every example: right answer, honest table.

    optimize_examples.py [--device gpu|cpu] [--large] [--jobs N]
                         [--output FILE] [name...]

Each example is built as it is and run twice, to know its output and whether
that is the same each time; then optimized with the same words, and the final
program is run. Its output, the exit code and what the user of `optimize` saw of
the first run must be those of the program as it is. The examples check their
own results. --large: the sizes of gpu_bench.py, unchecked by the examples.

Rows, with the example as case: `kept` (kernels of which something other than
our unmodified code is kept), `predicted` and `whole` (seconds from start to end:
the faster of the unmodified programs over the final one, on a GPU). Exit code 1
if anything was not right.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import baseline
import builds
import environment
import gpu_bench
import results
from optimize_bench import predictions_of, words, words_of

EXAMPLES = os.path.join(baseline.ROOT, "examples")


class Example:
    """One of them, and what became of it."""

    def __init__(self, name, args, folder):
        self.name, self.args = name, args
        self.source = os.path.join(EXAMPLES, name, name + ".cu")
        self.params = dict(gpu_bench.LARGE[name], check=0) if args.large else {}
        self.stem = os.path.join(folder, name)
        self.rows, self.wrong, self.table = [], [], None

    def run(self, command):
        run = subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=500,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, CUDA_PATH=self.args.cuda,
                     RECONVERGE_DEVICE=self.args.device))
        return run.returncode, run.stdout, run.stderr

    def expect(self, what, seen, wanted):
        if seen != wanted:
            self.wrong.append(f"{what}: {seen!r}, not {wanted!r}")

    def optimize(self):
        reconverge = os.path.join(self.args.prefix, "bin", "reconverge")
        common = ["-O3", f"-arch=sm_{self.args.arch}",
                  f"--cuda-path={self.args.cuda}"]
        fatbin = ["--fatbin"] if self.args.device == "gpu" else []
        builds.check_call([reconverge, "cc", *common, *fatbin, self.source,
                           "-o", self.stem])
        runs = [self.run([self.stem, *words(self.params)]) for _ in range(2)]
        code, output = runs[0][:2]
        varies = runs[1][1] != output
        if code:
            self.wrong.append(f"ends with {code} as it is: {runs[0][2]}")
        decisions, final = self.stem + ".json", self.stem + "-final"
        status, shown, table = self.run(
            [reconverge, "optimize", *common, "--device", self.args.device,
             self.source, "-o", final, "--decisions", decisions, "--",
             *words(self.params)])
        self.expect("optimize's exit code", status, code)
        if status != 0 or not os.path.exists(final):
            self.wrong.append(table)
            return
        end = self.run([final, *words(self.params)])
        self.expect("the final program's exit code", end[0], code)
        if not varies:
            self.expect("optimize's output", shown, output)
            self.expect("the final program's output", end[1], output)
        with open(decisions, encoding="utf-8") as text:
            self.report(json.load(text), varies)

    def report(self, decisions, varies):
        kernels, whole = decisions["kernels"], decisions["whole"]
        kept = {kernel["display"].split("(")[0]: kernel["keep"]
                for kernel in kernels if kernel["keep"]["remedy"] != "none"}
        verdict = ("differs" if self.wrong else
                   "varies as it is" if varies else "identical")
        self.rows.append(results.row(self.name, self.params, "kept",
                                     [len(kept)], "kernels", of=len(kernels),
                                     keep=kept, verdict=verdict))
        self.rows += predictions_of(self.name, self.params, kernels)
        seconds = [whole[key] for key in ("final", "ours", "nvcc", "clang")]
        if whole["runs"]:
            best = min(s for s in seconds[1:] if s)
            self.rows.append(results.row(
                self.name, self.params, "whole", [best / seconds[0]], "x",
                final=seconds[0], ours=seconds[1], nvcc=seconds[2],
                clang=seconds[3]))
        self.table = [self.name, f"{len(kept)} of {len(kernels)}",
                      ", ".join(sorted({words_of(k) for k in kept.values()}))
                      or "none",
                      *(f"{s:.3f}" if s else "-" for s in seconds), verdict]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--device", default="gpu", choices=["gpu", "cpu"])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() // 2 or 1)
    parser.add_argument("--output",
                        help="default: results/<gpu>/optimize-examples.json")
    parser.add_argument("names", nargs="*", metavar="name")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        examples = [Example(name, args, folder)
                    for name in args.names or sorted(gpu_bench.LARGE)]

        def guarded(example):
            try:
                example.optimize()
            except (builds.BuildError, subprocess.TimeoutExpired, OSError,
                    KeyError) as error:
                example.wrong.append(str(error))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(guarded, examples))
    facts = environment.describe(baseline.ROOT, args.cuda, "clang++-19",
                                 f"-O3 -arch=sm_{args.arch}")
    facts.update(environment.gpu())
    output = args.output or os.path.join(
        baseline.BENCH, "results", environment.slug(facts["gpu"] or
                                                    facts["cpu"]),
        "optimize-examples.json")
    results.write(output, "optimize", facts,
                  [row for example in examples for row in example.rows])
    results.print_table(
        ["example", "kernels kept", "what", "final s", "ours", "nvcc",
         "clang", "result"], [e.table for e in examples if e.table])
    wrong = [e for e in examples if e.wrong]
    for example in wrong:
        for why in example.wrong:
            print(f"optimize_examples: {example.name}: {why}", file=sys.stderr)
    print(f"{len(examples) - len(wrong)} of {len(examples)} right; "
          f"written: {output}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
