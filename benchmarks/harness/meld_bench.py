#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `meld`: the programs of benchmarks/kernels on a GPU, melded and not.

    meld_bench.py [--rounds 2] [--repeat 12] [--jobs N] [--output FILE] [name...]

Each program is built by nvcc -O3, clang 19 -O3, by us, and by us with --meld.
Case by case the builds run in turns (rounds.py), and a run times REPEAT launches
by events. The baseline of a speed-up is the fastest
of the three unmelded builds, as `reconverge optimize` would keep it. All builds
must print the same checksum, or the row says that they do not.

Writes results/<gpu>/meld.json and prints a table.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

import baseline
import builds
import environment
import results
import rounds

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
KERNELS = os.path.join(ROOT, "benchmarks", "kernels")

WAYS = {"nvcc": ("nvcc", []), "clang": ("clang", []),
        "reconverge": ("reconverge", []),
        "melded": ("reconverge", ["--meld"])}
UNMELDED = [way for way in WAYS if way != "melded"]


def cases():
    """Program and arguments: block sizes as the paper varies them, at sizes
    that fill the GPU."""
    for name in ("sb1", "sb2", "sb3"):
        for random in (0, 1):
            for block in (32, 64, 128, 256, 512, 1024):
                yield name, {"blocks": (1 << 20) // block, "block": block,
                             "outer": 8, "inner": 16, "random": random}
    for block in (32, 64, 128, 256, 512, 1024):
        yield "bitonic", {"blocks": (1 << 23) // block, "block": block}
    for block in (32, 64, 128, 256, 512):
        yield "pcm", {"blocks": (1 << 20) // (block * block) or 8,
                      "block": block}
    # In the last launch a single thread merges all keys: 16 ms.
    for block in (64, 128, 256, 512):
        yield "mergesort", {"count": 1 << 17, "block": block}
    for block in (16, 32, 64, 128):
        yield "lud", {"tiles": 4096 * 4 // block, "block": block}
    for block in (8, 16, 32):
        yield "dct", {"width": 4096, "height": 4096, "block": block}
        yield "srad", {"width": 4096, "height": 4096, "block": block}
    for block in (64, 128, 256):
        yield "nqueens", {"queens": 13, "block": block}


def measure(name, params, program, args):
    """The rows of one case."""
    times, sums = rounds.alternate(
        WAYS, lambda way, repeat: rounds.run_once(program(name, way), params,
                                                  repeat, args.cuda),
        args.rounds, args.repeat)
    same = len({sums[way] for way in ("reconverge", "melded")}) == 1
    verdict = "identical" if same else "differs"
    rows = [results.row(name, params, way, rounds.flat(times[way]), "ms",
                        rounds=len(times[way]),
                        verdict="identical" if sums[way] == sums["nvcc"]
                        else "differs (checksum)") for way in WAYS]
    best = rounds.fastest(UNMELDED, times)
    rows.append(results.row(name, params, "speedup",
                            rounds.speedups(times[best], times["melded"]), "x",
                            baseline="best-of-nvcc-clang-reconverge",
                            best=best, verdict=verdict))
    rows.append(results.row(
        name, params, "speedup-over-own",
        rounds.speedups(times["reconverge"], times["melded"]), "x",
        baseline="the same build without melding", verdict=verdict))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=12)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--output", help="default: results/<gpu>/meld.json")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("names", nargs="*", metavar="name")
    args = parser.parse_args()
    wanted = [(n, p) for n, p in cases() if not args.names or n in args.names]
    with tempfile.TemporaryDirectory() as folder:
        compilers = builds.Compilers(args.prefix, args.cuda, args.arch)

        def program(name, way):
            return os.path.join(folder, f"{name}-{way}")

        def build(task):
            name, way = task
            how, extra = WAYS[way]
            compilers.build(how, os.path.join(KERNELS, name, name + ".cu"),
                            program(name, way), extra)
        tasks = [(n, w) for n in dict.fromkeys(n for n, _ in wanted)
                 for w in WAYS]
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            list(pool.map(build, tasks))
        if args.build_only:
            return 0
        facts = environment.describe(ROOT, args.cuda, compilers.clang,
                                     compilers.flags())
        facts.update(environment.gpu())
        output = args.output or os.path.join(
            BENCH, "results", facts["gpu"].lower(), "meld.json")
        rows, table = [], []
        for name, params in wanted:
            new = measure(name, params, program, args)
            rows += new
            by = {row["metric"]: row for row in new}
            size = params["block"]
            table.append([f"{name}{'-R' if params.get('random') else ''} {size}",
                          *(f"{by[w]['value']:.4f}" for w in WAYS),
                          by["speedup"]["best"],
                          f"{by['speedup']['value']:.3f}",
                          f"{by['speedup-over-own']['value']:.3f}",
                          by["speedup"]["verdict"]])
            results.write(output, "meld", facts, rows)
        results.print_table(["case", *WAYS, "best", "speedup", "over own",
                             "result"], table)
        print("geomean over the best: "
              f"{results.geomean([float(line[6]) for line in table]):.3f}x; "
              "over our own: "
              f"{results.geomean([float(line[7]) for line in table]):.3f}x")
    return 0


if __name__ == "__main__":
    sys.exit(main())
