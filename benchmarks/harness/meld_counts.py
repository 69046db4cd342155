#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding changes, counted on the warp VM: every program of kernels/ is
built as it is and melded, both run on the same input and must leave the same
bytes, and issue slots, control-flow efficiency and the instructions that warps
execute are put side by side: arithmetic (all but accesses, control flow,
barriers and exchanges within a warp), accesses to global and to shared memory.

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
ROOT = os.path.join(HERE, "..", "..")
KERNELS = os.path.join(HERE, "..", "kernels")
MACHINE = os.path.join(ROOT, "machines", "h200.json")

# Program, and the arguments of each of its rows beside its defaults.
CASES = [
    ("sb1", {}), ("sb1", {"random": 1}), ("sb2", {}), ("sb2", {"random": 1}),
    ("sb3", {}), ("sb3", {"random": 1}),
    ("bitonic", {"block": 64}), ("bitonic", {"block": 256}),
    ("pcm", {"block": 64}), ("mergesort", {"block": 64}),
    ("lud", {"block": 16}), ("lud", {"block": 32}), ("lud", {"block": 64}),
    ("dct", {"block": 8}), ("nqueens", {"block": 64}), ("srad", {"block": 16}),
]


# What a block's instructions are is not in a profile; its latency, their sum by
# the machine file, is. So a machine file whose latencies are digits counts them.
DIGITS = {"arithmetic": 1, "global": 1000, "shared": 1000000}


def kind_of(instruction):
    """Of a machine file's class; None for what is counted nowhere."""
    head, _, space = instruction.partition(".")
    if head in ("ld", "st", "atom"):
        return {"shared": "shared", "const": None}.get(space, "global")
    if head == "tex":
        return "global"
    if head in ("branch", "switch", "ret", "call", "bar", "fence", "shfl",
                "vote", "match", "redux"):
        return None
    return "arithmetic"


def counting_machine(folder):
    """A copy of the machine file; issue costs stay."""
    with open(MACHINE, encoding="utf-8") as file:
        machine = json.load(file)
    for name, costs in machine["classes"].items():
        costs["latency"] = DIGITS.get(kind_of(name), 0)
        costs.pop("latency-spread", None)
    path = os.path.join(folder, "counting.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(machine, file)
    return path


def instructions_of(kernels):
    """Kind -> executed by warps, over all blocks."""
    sums = dict.fromkeys(DIGITS, 0)
    for block in (b for k in kernels for b in k["blocks"]):
        if block["instructions"] > 900:
            sys.exit("meld_counts: a block of "
                     f"{block['instructions']} instructions: DIGITS has three "
                     "places for each kind")
        rest = round(block["latency"])
        for kind, digit in sorted(DIGITS.items(), key=lambda d: -d[1]):
            sums[kind] += rest // digit * block["warps"]
            rest %= digit
    return sums


def profile(options, name, arguments, melded, folder):
    """The program's result and its kernel's counts, summed."""
    out = os.path.join(folder, "run.json")
    command = [os.path.join(options.build, "bin", "reconverge"), "profile",
               os.path.join(KERNELS, name, name + ".cu"), "-o", out,
               "--device", "cpu", "--policy", options.policy,
               "--machine", counting_machine(folder)]
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
        kernels = json.load(file)["kernels"]
    costs = [k["cost"] for k in kernels]
    slots = sum(c["slots"] for c in costs)
    full = sum(c["fullSlots"] for c in costs)
    return checksum, {"slots": slots, "cfe": full / slots if slots else 1.0,
                      "warpInstructions": sum(c["warpInstructions"]
                                              for c in costs),
                      **instructions_of(kernels)}


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
                      f"{b['slots'] / a['slots']:.2f}x",
                      *(f"{a[kind] / b[kind]:.2f}" if b[kind] else "-"
                        for kind in DIGITS)])
        for metric, value, unit in [
                ("cfe-before", b["cfe"], "1"), ("cfe-after", a["cfe"], "1"),
                ("slots", b["slots"] / a["slots"], "x"),
                ("warp-instructions",
                 b["warpInstructions"] / a["warpInstructions"], "x")]:
            rows.append(results.row(name, params, metric, [value], unit,
                                    verdict="identical"))
        for kind in DIGITS:
            if b[kind] and a[kind]:
                rows.append(results.row(
                    name, params, kind + "-instructions", [b[kind] / a[kind]],
                    "x", before=b[kind], after=a[kind], verdict="identical"))
    results.print_table(["case", "CFE", "melded", "slots", "melded", "fewer",
                         *(kind + ", of before" for kind in DIGITS)], table)
    if options.write:
        cpu = environment.slug(environment.cpu()["model"])
        where = environment.describe(
            ROOT, environment.cuda_path(),
            "clang++-19", f"--policy {options.policy} --meld={options.meld}")
        results.write(os.path.join(HERE, "..", "results", cpu,
                                   "meld-counts.json"), "meld", where, rows)


if __name__ == "__main__":
    main()
