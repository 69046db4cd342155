#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding adds to the time to compile: device code of every program of
kernels/ from source to machine code, at -O3 with --meld and without.

usage: meld_time.py --build FOLDER [--runs 7] [--output FILE] [NAME...]

The two take turns; a row is the median of the ratios of neighbouring runs. CPU
time of the process and its children counts, so that other work on the machine
disturbs it less. Writes results/<cpu>/meld-time.json.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import environment
import results

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels")
NAMES = ["bitonic", "dct", "lud", "mergesort", "nqueens", "pcm", "sb1", "sb2",
         "sb3", "srad"]


def compile_once(options, name, extra, folder):
    """CPU seconds from source to PTX, and of ptxas after it."""
    ptx = os.path.join(folder, name + ".ptx")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in (
            [os.path.join(options.build, "bin", "reconverge"), "cc", "-O3",
             "-arch=sm_90", "-std=c++17", f"--cuda-path={options.cuda}",
             "--ptx", *extra, os.path.join(KERNELS, name, name + ".cu"), "-o",
             ptx],
            [os.path.join(options.cuda, "bin", "ptxas"), "-arch=sm_90", ptx,
             "-o", os.path.join(folder, name + ".cubin")]):
        run = subprocess.run(command, capture_output=True, text=True,
                             check=False)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n"
                     f"{run.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--output")
    parser.add_argument("names", nargs="*", metavar="name")
    options = parser.parse_args()

    table, ratios, rows = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or NAMES:
            plain, melded = [], []
            for _ in range(options.runs):
                plain.append(compile_once(options, name, [], folder))
                melded.append(compile_once(options, name, ["--meld"], folder))
            rows += [results.row(name, {}, "plain", plain, "s"),
                     results.row(name, {}, "melded", melded, "s"),
                     results.row(name, {}, "ratio",
                                 [b / a for a, b in zip(plain, melded)], "x")]
            ratio = rows[-1]["value"]
            ratios.append(ratio)
            table.append([name, f"{statistics.median(plain):.3f} s",
                          f"{statistics.median(melded):.3f} s",
                          f"{ratio:.3f}"])
    facts = environment.describe(os.path.join(HERE, "..", ".."), options.cuda,
                                 "clang++-19", "-O3 -arch=sm_90")
    results.write(options.output or os.path.join(
        HERE, "..", "results", environment.slug(facts["cpu"]),
        "meld-time.json"), "meld-time", facts, rows)
    results.print_table(["program", "-O3", "melded", "ratio"], table)
    print(f"mean {statistics.mean(ratios):.3f}, worst {max(ratios):.3f}")


if __name__ == "__main__":
    main()
