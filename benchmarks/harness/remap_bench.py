#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `remap`: thread-data remapping by the device library, on a GPU.

    remap_bench.py [--rounds 24] [--jobs N] [--output FILE]

benchmarks/kernels/remap_micro and the kernels remapped by hand with it, built
by nvcc -O3, clang 19 -O3 and us. A run of the micro-benchmark has all ways of
one case in turns. Rows of a case (`two-paths`, `four-paths`; params block,
length, way, compiler):

  ideal        the original's time over that of the same work undivided
  speedup      the fastest build of the original over this way in this build
  of-ideal     speed-up as a share of the ideal's, of the same build
  cost-of-round   us: a kernel with rounds less the same without, per round
               (params: algorithm, paths, blocks-per-sm)

Of the other kernels only `speedup`, with way `by-hand`.

Writes results/<gpu>/remap.json and prints the tables. Exit code 1 if a result
was wrong.
"""

import argparse
import concurrent.futures
import os
import re
import statistics
import subprocess
import sys
import tempfile

import baseline
import builds
import environment
import results

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
MICRO = "remap_micro"
# Programs with remap=0 and remap=1, at sizes that fill the GPU.
KERNELS = {
    "gdt": {"stocks": 8192, "days": 512},
    "pol": {"households": 1 << 22, "years": 40},
}
COMPILERS = ("nvcc", "clang", "reconverge")
LENGTHS = (50, 100, 200, 500, 1000, 2000, 4000)  # instructions
BLOCKS = (128, 256, 512, 1024)
THREADS = 1 << 22
CASES = {2: "two-paths", 4: "four-paths"}
WAY = re.compile(r"^way (\S+) (right|WRONG):(.*)$", re.MULTILINE)
ROUND = re.compile(r"^round-us (\S+) paths=(\d+) blocks-per-sm=(\d+):(.*)$",
                   re.MULTILINE)


def output_of(program, params, cuda):
    """What the program prints; a wrong result is in it, and no exception."""
    command = [program, *(f"{k}={v}" for k, v in params.items())]
    run = subprocess.run(command, capture_output=True, text=True, check=False,
                         timeout=120, env=dict(os.environ, CUDA_PATH=cuda,
                                               RECONVERGE_DEVICE="gpu"))
    if run.returncode not in (0, 1) or not run.stdout:
        raise builds.BuildError(f"{' '.join(command)}: exit code "
                                f"{run.returncode}\n{run.stdout}{run.stderr}")
    return run.stdout


def measure(paths, block, length, programs, args):
    """The rows of one case."""
    times, right = {}, {}
    for compiler in COMPILERS:
        text = output_of(programs[compiler, MICRO], {
            "paths": paths, "block": block, "blocks": THREADS // block,
            "length": length, "clusters": 1, "rounds": args.rounds}, args.cuda)
        for way, verdict, samples in WAY.findall(text):
            times[compiler, way] = [float(ms) for ms in samples.split()]
            right[compiler, way] = verdict == "right"
    median = {key: statistics.median(value) for key, value in times.items()}
    best = min(COMPILERS, key=lambda c: median[c, "original"])
    original = times[best, "original"]
    rows = []
    for (compiler, way), samples in times.items():
        def row(metric, values, **more):
            params = {"block": block, "length": length, "way": way,
                      "compiler": compiler}
            rows.append(results.row(
                CASES[paths], params, metric, values, "x", **more,
                milliseconds=median[compiler, way],
                verdict="identical" if right[compiler, way] else "differs"))
        if way == "original":
            continue
        ratios = [a / b for a, b in zip(original, samples)]
        if way == "ideal":
            row("ideal", [a / b for a, b in
                          zip(times[compiler, "original"], samples)],
                baseline="the same build")
            continue
        row("speedup", ratios, baseline="best-of-" + "-".join(COMPILERS),
            best=best)
        row("of-ideal", [a / b for a, b in
                         zip(times[compiler, "ideal"], samples)],
            baseline="the ideal of the same build")
    return rows


def measure_kernel(name, params, programs, args):
    """The rows of a kernel remapped by hand: builds and both ways in turns."""
    times, sums = {}, {}
    for _ in range(2):
        for compiler in COMPILERS:
            for remap in (0, 1):
                text = output_of(programs[compiler, name], {
                    **params, "remap": remap, "check": 0,
                    "repeat": (args.rounds + 1) // 2}, args.cuda)
                lines = dict(line.split(": ", 1) for line in text.splitlines())
                times.setdefault((compiler, remap), []).extend(
                    float(ms) for ms in lines["kernel-ms"].split())
                sums[compiler, remap] = lines["checksum"]
    best = min(COMPILERS, key=lambda c: statistics.median(times[c, 0]))
    return [results.row(
        name, {**params, "way": "by-hand", "compiler": compiler}, "speedup",
        [a / b for a, b in zip(times[best, 0], times[compiler, 1])], "x",
        baseline="best-of-" + "-".join(COMPILERS), best=best,
        milliseconds=statistics.median(times[compiler, 1]),
        verdict="identical" if sums[compiler, 1] == sums[best, 0]
        else "differs") for compiler in COMPILERS]


def costs(programs, args):
    rows = []
    for compiler in COMPILERS:
        text = output_of(programs[compiler, MICRO],
                         {"length": 0, "rounds": args.rounds}, args.cuda)
        for name, paths, blocks, samples in ROUND.findall(text):
            rows.append(results.row(
                "round", {"algorithm": name, "paths": int(paths), "block": 256,
                          "blocks-per-sm": int(blocks), "compiler": compiler},
                "cost-of-round", [float(us) for us in samples.split()], "us",
                baseline="the same kernel without rounds"))
    return rows


def print_tables(rows):
    ways = ["head_or_tail", "data_group_indexing", "warp_aggregated",
            "automatic", "cub", "cluster"]
    for compiler in COMPILERS:
        table = []
        for case in CASES.values():
            for block in BLOCKS:
                for length in LENGTHS:
                    by = {(r["metric"], r["params"]["way"]): r["value"]
                          for r in rows if r["case"] == case
                          and r["params"].get("block") == block
                          and r["params"].get("length") == length
                          and r["params"].get("compiler") == compiler}
                    if not by:
                        continue
                    table.append(
                        [f"{case} {block} x {length}",
                         f"{by['ideal', 'ideal']:.3f}",
                         *(f"{100 * by['of-ideal', way]:.1f}"
                           if ("of-ideal", way) in by else "" for way in ways)])
        print(f"\n{compiler}: share of the ideal, %")
        results.print_table(["case", "ideal x", *ways], table)
    print("\nremapped by hand, over the fastest build as it is")
    results.print_table(
        ["kernel", *COMPILERS],
        [[name, *(f"{r['value']:.3f}" for c in COMPILERS for r in rows
                  if r["case"] == name and r["params"]["compiler"] == c)]
         for name in KERNELS])
    print("\none round of 256 threads, us")
    # As many blocks an SM as fit, which is not the same for every compiler.
    rounds = {(r["params"]["algorithm"], r["params"]["paths"],
               r["params"]["blocks-per-sm"], r["params"]["compiler"]):
              f"{r['value']:.4f}" for r in rows if r["case"] == "round"}
    results.print_table(
        ["algorithm", "paths", "blocks an SM", *COMPILERS],
        [[*key, *(rounds.get((*key, c), "") for c in COMPILERS)]
         for key in dict.fromkeys(k[:3] for k in rounds)])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output", help="default: results/<gpu>/remap.json")
    parser.add_argument("--build-only", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
        programs = {(c, name): os.path.join(folder, f"{name}-{c}")
                    for name in (MICRO, *KERNELS) for c in COMPILERS}

        def build(task):
            compiler, name = task
            source = os.path.join(ROOT, "benchmarks", "kernels", name,
                                  name + ".cu")
            compilers.build(compiler, source, programs[task])
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(build, programs))
        if args.build_only:
            return 0
        facts = environment.describe(ROOT, args.cuda, compilers.clang,
                                     compilers.flags())
        facts.update(environment.gpu())
        output = args.output or os.path.join(
            BENCH, "results", environment.slug(facts["gpu"]), "remap.json")
        rows = costs(programs, args)
        for name, params in KERNELS.items():
            rows += measure_kernel(name, params, programs, args)
        for paths in CASES:
            for block in BLOCKS:
                for length in LENGTHS:
                    rows += measure(paths, block, length, programs, args)
                    results.write(output, "remap", facts, rows)
        print_tables(rows)
    wrong = [r for r in rows if r.get("verdict") == "differs"]
    for row in wrong:
        print(f"wrong: {row['case']} {row['params']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
