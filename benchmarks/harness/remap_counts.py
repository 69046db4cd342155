#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Control-flow efficiency of the kernels that are remapped by hand, counted on
the warp VM: as they are, with the library and with CUB.

    remap_counts.py --build FOLDER [--write] [KERNEL...]

Each program runs at its own small size, checked against its CPU reference.
Efficiency is the paper's: active threads per instruction, over 32. With --write
the rows go to results/<cpu>/remap-counts.json, where remap_table.py finds them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import environment
import results
from remap_bench import BENCH, KERNELS, ROOT, WAYS

# Where a program's own size will not do.
SIZES = {"nqueens": ["queens=10", "block=128", "placed=4"]}


def call(*command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n"
                 f"{run.stdout}{run.stderr}")
    return run.stdout


def efficiency(tool, name, folder):
    """Of each way; all must leave the same bytes."""
    program, counts = os.path.join(folder, name), os.path.join(folder, "counts")
    call(tool, "cc", "-O3", "-std=c++17", "-o", program,
         os.path.join(BENCH, "kernels", name, name + ".cu"))
    values, sums = [], set()
    for way in range(len(WAYS)):
        output = call(tool, "profile", "--device", "cpu", "-o", counts, program,
                      "--", f"remap={way}", *SIZES.get(name, ()))
        sums.add([line for line in output.splitlines()
                  if line.startswith("checksum:")][0])
        with open(counts, encoding="utf-8") as text:
            costs = [k["cost"] for k in json.load(text)["kernels"]]
        values.append(sum(c["instructions"] for c in costs) /
                      sum(c["warpInstructions"] for c in costs) / 32)
    if len(sums) != 1:
        sys.exit(f"{name}: the ways leave different bytes")
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("kernels", nargs="*")
    args = parser.parse_args()
    rows, table = [], []
    tool = os.path.join(args.build, "bin", "reconverge")
    with tempfile.TemporaryDirectory() as folder:
        for name in args.kernels or KERNELS:
            values = efficiency(tool, name, folder)
            table.append([name, *(f"{100 * v:.1f}%" for v in values)])
            for way, value in zip(WAYS, values):
                metric = "cfe-before" if way == WAYS[0] else "cfe-after"
                rows.append(results.row(name, {"way": way}, metric, [value],
                                        "1", verdict="identical"))
    results.print_table(["kernel", *WAYS], table)
    if args.write:
        cpu = environment.slug(environment.cpu()["model"])
        where = environment.describe(ROOT, environment.cuda_path(),
                                     "clang++-19", "-O3")
        results.write(os.path.join(BENCH, "results", cpu, "remap-counts.json"),
                      "remap", where, rows)


if __name__ == "__main__":
    main()
