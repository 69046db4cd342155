#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `optimize`: does `reconverge optimize` leave every program at least
as fast as the best build of it?

    optimize_bench.py [--sizes 2] [--rounds 2] [--repeat 12] [--jobs N]
                      [--device gpu|cpu] [--output FILE] [name...]

The cases are those of meld_bench.py, of each program the first and the last
block size, or --sizes 3, 4, ... or 0 for all; and the kernels of remap_bench.py
as they are. Each case is decided by
`reconverge optimize` on its own launches and built by `reconverge cc
--runtime=nvidia --decisions`. As many cases as there are cores are under way at
once: they compile, and what runs on the GPU waits for its turn (the tool has a
lock). Then, alone on the GPU, case by case, the builds run in turns
(rounds.py): nvcc -O3, clang 19 -O3, ours unmodified, the final one. A run times
REPEAT launches by events; all builds must print our checksum, or the row says
that they do not.

Metrics: `speedup` (the fastest of the three unmodified builds over the final
one), `kept` (kernels of which something other than our unmodified code is
kept), and `predicted`, of each candidate that was tried and timed: issue slots
of the kernel as it is over the candidate's, with `achieved`, the same of their
times.

--device cpu decides on the warp VM at the programs' own sizes and times nothing
but ours and the final one: it proves this script, not a number.
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
import meld_bench
import remap_bench
import results
import rounds

BASELINES = {"gpu": ("nvcc", "clang", "reconverge"), "cpu": ("reconverge",)}


def wanted_cases(args):
    """Of each program (and variant) some block sizes, spread over all."""
    groups = {}
    for name, params in meld_bench.cases():
        groups.setdefault((name, params.get("random")), []).append(params)
    for name, params in remap_bench.KERNELS.items():
        groups.setdefault((name, "remap"), []).append(params)
    chosen = []
    for (name, _), sizes in groups.items():
        if args.names and name not in args.names:
            continue
        if args.device == "cpu":
            sizes = [{}]
        elif args.sizes and len(sizes) > args.sizes:
            last = max(args.sizes - 1, 1)
            sizes = [sizes[i * (len(sizes) - 1) // last]
                     for i in range(args.sizes)]
        chosen += [(name, params) for params in sizes
                   if (name, params) not in chosen]
    return chosen


def predictions_of(name, params, kernels):
    """A row for each candidate that was timed and has a prediction."""
    return [results.row(name, params, "predicted", [tried["predicted"]], "x",
                        kernel=kernel["display"].split("(")[0],
                        candidate=tried["candidate"], outcome=tried["outcome"],
                        achieved=kernel["milliseconds"] / tried["milliseconds"])
            for kernel in kernels for tried in kernel["tried"]
            if tried["predicted"] and tried["milliseconds"]]


def words(params):
    return [f"{key}={value}" for key, value in params.items()]


class Suite:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
        self.common = ["-O3", f"-arch=sm_{args.arch}", "-std=c++17",
                       f"--cuda-path={args.cuda}"]
        self.ways = [*BASELINES[args.device], "final"]

    def program(self, name, way):
        return os.path.join(self.folder, f"{name}-{way}")

    def source(self, name):
        return os.path.join(meld_bench.KERNELS, name, name + ".cu")

    def build(self, task):
        name, way = task
        options = ["--fatbin"] if self.args.device == "gpu" else []
        if way == "reconverge":
            builds.check_call([self.compilers.reconverge, "cc", *self.common,
                               *options, self.source(name), "-o",
                               self.program(name, way)])
        else:
            self.compilers.build(way, self.source(name),
                                 self.program(name, way))

    def decide(self, task):
        """Returns the decisions of a case; its program is built by them."""
        index, (name, params) = task
        stem = os.path.join(self.folder, f"case-{index}")
        builds.check_call(
            [self.compilers.reconverge, "optimize", *self.common,
             "--device", self.args.device, self.source(name),
             "--decisions", stem + ".json", "--", *words(params), "check=0"],
            stdin=subprocess.DEVNULL, timeout=400)
        runtime = ["--runtime=nvidia"] if self.args.device == "gpu" else []
        builds.check_call([self.compilers.reconverge, "cc", *self.common,
                           *runtime, "--decisions", stem + ".json",
                           self.source(name), "-o", stem])
        with open(stem + ".json", encoding="utf-8") as text:
            return json.load(text)

    def measure(self, index, name, params, decisions):
        """The rows of one case."""
        def run(way, repeat):
            program = (os.path.join(self.folder, f"case-{index}")
                       if way == "final" else self.program(name, way))
            return rounds.run_once(program, params, repeat, self.args.cuda,
                                   self.args.device)
        times, sums = rounds.alternate(self.ways, run, self.args.rounds,
                                       self.args.repeat)
        rows = [results.row(name, params, way, rounds.flat(times[way]), "ms",
                            rounds=len(times[way]),
                            verdict="identical"
                            if sums[way] == sums["reconverge"]
                            else "differs (checksum)") for way in self.ways]
        best = rounds.fastest(self.ways[:-1], times)
        kept = {kernel["display"].split("(")[0]: kernel["keep"]
                for kernel in decisions["kernels"]
                if kernel["keep"]["remedy"] != "none"}
        rows.append(results.row(
            name, params, "speedup",
            rounds.speedups(times[best], times["final"]), "x",
            baseline="best-of-nvcc-clang-reconverge", best=best, keep=kept,
            verdict=rows[-1]["verdict"]))
        rows.append(results.row(name, params, "kept", [len(kept)], "kernels",
                                of=len(decisions["kernels"])))
        rows += predictions_of(name, params, decisions["kernels"])
        return rows


def label(name, params):
    return (f"{name}{'-R' if params.get('random') else ''} "
            f"{params.get('block', '')}").strip()


def words_of(candidate):
    return candidate["remedy"] + (f" ({candidate['parameters']})"
                                  if candidate["parameters"] else "")


def line_of(name, params, rows):
    by = {row["metric"]: row for row in rows}
    keep = ", ".join(sorted({words_of(k)
                             for k in by["speedup"]["keep"].values()}))
    return [label(name, params),
            *(f"{by[way]['value']:.4f}" if way in by else "-"
              for way in (*BASELINES["gpu"], "final")),
            by["speedup"]["best"], f"{by['speedup']['value']:.3f}",
            keep or "none", by["speedup"]["verdict"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--sizes", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device", default="gpu", choices=["gpu", "cpu"])
    parser.add_argument("--output", help="default: results/<gpu>/optimize.json")
    parser.add_argument("names", nargs="*", metavar="name")
    args = parser.parse_args()
    cases = wanted_cases(args)
    failed, rows, table = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        suite = Suite(args, folder)

        def guarded(function, task):
            try:
                return function(task)
            except (builds.BuildError, subprocess.TimeoutExpired,
                    OSError, KeyError) as error:
                failed.append(f"{task}: {error}")
                return None
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            unmodified = [pool.submit(guarded, suite.build, (name, way))
                          for name in dict.fromkeys(n for n, _ in cases)
                          for way in BASELINES[args.device]]
            decided = list(pool.map(lambda task: guarded(suite.decide, task),
                                    enumerate(cases)))
            concurrent.futures.wait(unmodified)
        facts = environment.describe(
            baseline.ROOT, args.cuda, suite.compilers.clang,
            suite.compilers.flags())
        facts.update(environment.gpu())
        output = args.output or os.path.join(
            baseline.BENCH, "results",
            environment.slug(facts["gpu"] or facts["cpu"]), "optimize.json")
        for index, (name, params) in enumerate(cases):
            if decided[index] is None:
                continue
            new = guarded(lambda i: suite.measure(i, *cases[i], decided[i]),
                          index)
            if new:
                rows += new
                table.append(line_of(name, params, new))
                results.write(output, "optimize", facts, rows)
    if table:
        results.print_table(["case", *BASELINES["gpu"], "final", "best",
                             "speedup", "kept", "result"], table)
        speedups = [float(line[6]) for line in table]
        print(f"geomean over the best: {results.geomean(speedups):.3f}x; "
              f"worst: {min(speedups):.3f}x\nwritten: {output}")
    for why in failed:
        print(f"optimize_bench: failed: {why}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
