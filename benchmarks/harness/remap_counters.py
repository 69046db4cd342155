#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware counters of the kernels that are remapped by hand: what they wait
for, as they are and with the library, in nvcc's builds.

    remap_counters.py [--output FILE] [kernel...]

Rows: per kernel and way (`original`, `library`), over the checked launch:

  issue        warp instructions issued a cycle of a scheduler, of at most 1
  lanes        active threads per instruction, over 32
  sectors      of 32 bytes, that a global load of a warp takes from L1
  dram         GB/s of device memory

Writes results/<gpu>/remap-counters.json, where remap_table.py finds it. Exit
code 1 if counters may not be read.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile

import baseline
import builds
import environment
import ncu
import results
from remap_bench import BENCH, KERNELS, ROOT, WAYS

INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed.sum"
CYCLES = "smsp__cycles_active.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
BYTES = "dram__bytes.sum"
NANOSECONDS = "gpu__time_duration.sum"
METRICS = (INSTRUCTIONS, LANES, CYCLES, SECTORS, REQUESTS, BYTES, NANOSECONDS)


def ratios(sums):
    """Metric of ours -> value and unit."""
    return {
        "issue": (sums[INSTRUCTIONS] / sums[CYCLES], "1/cycle"),
        "lanes": (sums[LANES] / sums[INSTRUCTIONS] / 32, "1"),
        "sectors": (sums[SECTORS] / max(sums[REQUESTS], 1), "1/load"),
        "dram": (sums[BYTES] / sums[NANOSECONDS], "GB/s"),
    }


def measure(name, way, program):
    """Rows of one kernel and way; only the slowest of a program's kernels."""
    command = [program, f"remap={way}", "check=0",
               *(f"{k}={v}" for k, v in KERNELS[name].items())]
    kernels, why = ncu.sums(command, METRICS, 20)
    if not kernels:
        raise builds.BuildError(f"{name}: {why}")
    slowest = max(kernels.values(), key=lambda sums: sums[NANOSECONDS])
    return [results.row(name, {**KERNELS[name], "way": WAYS[way]}, metric,
                        [value], unit)
            for metric, (value, unit) in ratios(slowest).items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--output",
                        help="default: results/<gpu>/remap-counters.json")
    parser.add_argument("names", nargs="*", metavar="kernel")
    args = parser.parse_args()
    names = args.names or list(KERNELS)
    with tempfile.TemporaryDirectory() as folder:
        compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
        programs = {name: os.path.join(folder, name) for name in names}

        def build(name):
            compilers.build("nvcc", os.path.join(
                ROOT, "benchmarks", "kernels", name, name + ".cu"),
                programs[name])
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(build, names))
        facts = environment.describe(ROOT, args.cuda, compilers.clang,
                                     compilers.flags())
        facts.update(environment.gpu())
        rows = []
        for name in names:
            for way in (0, 1):
                rows += measure(name, way, programs[name])
        results.write(args.output or os.path.join(
            BENCH, "results", environment.slug(facts["gpu"]),
            "remap-counters.json"), "remap-counters", facts, rows)
    for row in rows:
        print(f"{row['case']:10} {row['params']['way']:10} {row['metric']:8} "
              f"{row['value']:10.3f} {row['unit']}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except builds.BuildError as error:
        sys.exit(f"remap_counters: {error}")
