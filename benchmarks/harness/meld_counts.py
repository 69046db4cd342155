#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding changes, counted on the warp VM: every program of kernels/ is
built as it is and melded, both run on the same input and must leave the same
bytes, and issue slots and control-flow efficiency are put side by side.

usage: meld_counts.py --build FOLDER [--policy ipdom|frontier] [--meld OPTIONS]
                      [--write] [CASE...]

Lanes meet again as on a GPU with a reconvergence stack (ipdom); `frontier`
lets them meet earlier, in code that both sides of a branch share. With --write
the rows go to results/<cpu>/meld-counts.json.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import environment
import results

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "kernels")

# Program, and the arguments of each of its rows beside its defaults.
CASES = [
    ("sb1", {}), ("sb1", {"random": 1}), ("sb2", {}), ("sb2", {"random": 1}),
    ("sb3", {}), ("sb3", {"random": 1}),
    ("bitonic", {"block": 64}), ("bitonic", {"block": 256}),
    ("pcm", {"block": 64}), ("mergesort", {"block": 64}),
    ("lud", {"block": 16}), ("lud", {"block": 32}), ("lud", {"block": 64}),
    ("dct", {"block": 8}), ("nqueens", {"block": 64}), ("srad", {"block": 16}),
]


def profile(options, name, arguments, melded, folder):
    """The program's result and its kernel's counts, summed."""
    out = os.path.join(folder, "run.json")
    command = [os.path.join(options.build, "bin", "reconverge"), "profile",
               os.path.join(KERNELS, name, name + ".cu"), "-o", out,
               "--device", "cpu", "--policy", options.policy]
    if melded:
        command.append("--meld=" + options.meld)
    run = subprocess.run([*command, "--", *arguments], capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {run.returncode}\n"
                 f"{run.stdout}{run.stderr}")
    checksum = [line for line in run.stdout.splitlines()
                if line.startswith("checksum:")]
    with open(out, encoding="utf-8") as file:
        costs = [k["cost"] for k in json.load(file)["kernels"]]
    slots = sum(c["slots"] for c in costs)
    full = sum(c["fullSlots"] for c in costs)
    return checksum, {"slots": slots, "cfe": full / slots if slots else 1.0,
                      "warpInstructions": sum(c["warpInstructions"]
                                              for c in costs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True)
    parser.add_argument("--policy", default="ipdom",
                        choices=["ipdom", "frontier"])
    parser.add_argument("--meld", default="", help="options of the pass")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()

    rows, table = [], []
    for name, params in CASES:
        if options.cases and name not in options.cases:
            continue
        arguments = [f"{key}={value}" for key, value in params.items()]
        with tempfile.TemporaryDirectory() as folder:
            before = profile(options, name, arguments, False, folder)
            after = profile(options, name, arguments, True, folder)
        if before[0] != after[0] or not before[0]:
            sys.exit(f"{name} {' '.join(arguments)}: the melded program's "
                     "result differs")
        b, a = before[1], after[1]
        table.append([" ".join([name, *arguments]),
                      f"{100 * b['cfe']:.1f}%", f"{100 * a['cfe']:.1f}%",
                      f"{b['slots']:.0f}", f"{a['slots']:.0f}",
                      f"{b['slots'] / a['slots']:.2f}x"])
        for metric, value, unit in [
                ("cfe-before", b["cfe"], "1"), ("cfe-after", a["cfe"], "1"),
                ("slots", b["slots"] / a["slots"], "x"),
                ("warp-instructions",
                 b["warpInstructions"] / a["warpInstructions"], "x")]:
            rows.append(results.row(name, params, metric, [value], unit,
                                    verdict="identical"))
    results.print_table(["case", "CFE", "melded", "slots", "melded", "fewer"],
                        table)
    if options.write:
        cpu = environment.slug(environment.cpu()["model"])
        where = environment.describe(
            os.path.join(HERE, "..", ".."), environment.cuda_path(),
            "clang++-19", f"--policy {options.policy} --meld={options.meld}")
        results.write(os.path.join(HERE, "..", "results", cpu,
                                   "meld-counts.json"), "meld", where, rows)


if __name__ == "__main__":
    main()
