#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `remap`: thread-data remapping by the device library, on a GPU.

    remap_bench.py [--rounds 24] [--jobs N] [--output FILE] [kernel...]

benchmarks/kernels/remap_micro and the kernels remapped by hand with it, built
by nvcc -O3, clang 19 -O3 and us. A run has all ways of one case in turns. Rows
of the micro-benchmark (`two-paths`, `four-paths`; params block, length, even,
way, compiler):

  ideal        the original's time over that of the same work undivided
  speedup      the fastest build of the original over this way in this build
  of-ideal     speed-up as a share of the ideal's, of the same build
  cost-of-round   us: a kernel with rounds less the same without, per round
               (params: algorithm, paths, blocks-per-sm)

Of the other kernels `speedup`, with way `original`, `library` or `cub`, and
what that build takes: `registers`, `shared` (bytes) and `occupancy`. Their
control-flow efficiency is counted by remap_counts.py.

Writes results/<gpu>/remap.json and prints the tables. Exit code 1 if a result
was wrong.
"""

import argparse
import concurrent.futures
import itertools
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
# Programs with the argument remap, at sizes that fill the GPU.
KERNELS = {
    "cvp": {"width": 8192, "height": 4096},
    "gdt": {"stocks": 8192, "days": 512},
    "pol": {"households": 1 << 22, "years": 40},
    "xslookup": {"particles": 1 << 22, "points": 1 << 15, "binbits": 12},
    "contact": {"side": 100},
    "bp": {"side": 2048, "angles": 180},
    "histo": {"blocks": 8192},
    "lbm": {"width": 2048, "height": 2048, "steps": 4},
    "mg": {"side": 256},
    "nqueens": {"queens": 15, "placed": 5, "block": 128},
    "pb": {"side": 52, "channels": 2048},
    "sad": {"frames": 64},
}
WAYS = ("original", "library", "cub")
COMPILERS = ("nvcc", "clang", "reconverge")
# Instructions of a path: with as many threads of each path, and drawn.
LENGTHS = {1: (50, 200, 500, 1000, 2000), 0: (500, 2000)}
BLOCKS = (128, 256, 512, 1024)
THREADS = 1 << 22
CASES = {2: "two-paths", 4: "four-paths"}
WAY = re.compile(r"^way (\S+) (right|WRONG):(.*)$", re.MULTILINE)
MS = re.compile(r"^ms (\S+):(.*)$", re.MULTILINE)
USE = re.compile(r"^use (\S+): registers=(\d+) shared=(\d+) blocks-per-sm=\d+ "
                 r"occupancy=(\S+)$", re.MULTILINE)
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


def measure(paths, block, length, even, programs, args):
    """The rows of one case."""
    times, right = {}, {}
    for compiler in COMPILERS:
        text = output_of(programs[compiler, MICRO], {
            "paths": paths, "block": block, "blocks": THREADS // block,
            "length": length, "even": even, "clusters": 1, "rounds": args.rounds}, args.cuda)
        for way, verdict, samples in WAY.findall(text):
            times[compiler, way] = [float(ms) for ms in samples.split()]
            right[compiler, way] = verdict == "right"
    median = {key: statistics.median(value) for key, value in times.items()}
    best = min(COMPILERS, key=lambda c: median[c, "original"])
    original = times[best, "original"]
    rows = []
    for (compiler, way), samples in times.items():
        def row(metric, values, **more):
            params = {"block": block, "length": length, "even": even,
                      "way": way, "compiler": compiler}
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
    """The rows of a kernel remapped by hand: builds in turns, and in each the
    ways in turns."""
    times, sums, use = {}, {}, {}
    for _ in range(2):
        for compiler in COMPILERS:
            text = output_of(programs[compiler, name], {
                **params, "remap": 3, "check": 0,
                "repeat": (args.rounds + 1) // 2}, args.cuda)
            for way, samples in MS.findall(text):
                times.setdefault((compiler, way), []).extend(
                    float(ms) for ms in samples.split())
            for way, registers, shared, occupancy in USE.findall(text):
                use[compiler, way] = {"registers": int(registers),
                                      "shared": int(shared),
                                      "occupancy": float(occupancy)}
            # The program itself compares the ways; here, the builds.
            sums[compiler] = (re.search("^checksum: .*$", text, re.M)[0],
                              "other bytes" in text)
    best = min(COMPILERS, key=lambda c: statistics.median(times[c, WAYS[0]]))
    return [results.row(
        name, {**params, "way": way, "compiler": compiler}, "speedup",
        [a / b for a, b in zip(times[best, WAYS[0]], times[compiler, way])],
        "x", baseline="best-of-" + "-".join(COMPILERS), best=best,
        milliseconds=statistics.median(times[compiler, way]),
        verdict="identical" if sums[compiler] == (sums[best][0], False)
        else "differs", **use[compiler, way])
        for compiler in COMPILERS for way in WAYS]


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


def print_tables(rows, args):
    ways = ["head_or_tail", "data_group_indexing", "warp_aggregated",
            "automatic", "cub", "cluster"]
    for compiler in COMPILERS:
        table = []
        for case, even, block in itertools.product(CASES.values(), LENGTHS,
                                                   BLOCKS):
            for length in LENGTHS[even]:
                by = {(r["metric"], r["params"]["way"]): r["value"]
                      for r in rows if r["case"] == case
                      and r["params"].get("block") == block
                      and r["params"].get("length") == length
                      and r["params"].get("even") == even
                      and r["params"].get("compiler") == compiler}
                if not by:
                    continue
                table.append(
                    [f"{case} {'even' if even else 'drawn'} {block} x {length}",
                     f"{by['ideal', 'ideal']:.3f}",
                     *(f"{100 * by['of-ideal', way]:.1f}"
                       if ("of-ideal", way) in by else "" for way in ways)])
        print(f"\n{compiler}: share of the ideal, %")
        results.print_table(["case", "ideal x", *ways], table)
    print("\nremapped by hand, over the fastest build as it is")
    results.print_table(
        ["kernel", *(f"{way} {c}" for way in WAYS for c in COMPILERS)],
        [[name, *(f"{r['value']:.3f}" for way in WAYS for c in COMPILERS
                  for r in rows if r["case"] == name
                  and r["params"]["way"] == way
                  and r["params"]["compiler"] == c)]
         for name in args.names or KERNELS])
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
    parser.add_argument("names", nargs="*", metavar="kernel",
                        help="these alone, not the micro-benchmark")
    args = parser.parse_args()
    if unknown := set(args.names) - set(KERNELS):
        parser.error(f"no kernel {', '.join(sorted(unknown))}; there are "
                     f"{', '.join(KERNELS)}")
    names = args.names or [MICRO, *KERNELS]
    with tempfile.TemporaryDirectory() as folder:
        compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
        programs = {(c, name): os.path.join(folder, f"{name}-{c}")
                    for name in names for c in COMPILERS}

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
        rows = [] if args.names else costs(programs, args)
        for name in args.names or KERNELS:
            rows += measure_kernel(name, KERNELS[name], programs, args)
        for paths, even, block in itertools.product(
                () if args.names else CASES, LENGTHS, BLOCKS):
            for length in LENGTHS[even]:
                rows += measure(paths, block, length, even, programs, args)
        results.write(output, "remap", facts, rows)
        print_tables(rows, args)
    wrong = [r for r in rows if r.get("verdict") == "differs"]
    for row in wrong:
        print(f"wrong: {row['case']} {row['params']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
