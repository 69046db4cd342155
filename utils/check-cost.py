#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each check of `reconverge test` costs, over the examples.

    check-cost.py build/bin/reconverge [--update] [--only NAME] [--runs N]
                  [CHECK...]

Builds each example and runs it on the warp VM without checks and with each one
(bounds, sync, init, races, all; those named, or every one), three times each
with compiled kernels cached. Prints the CPU time of the shortest run without,
and how many times as much the shortest with each check takes, as a table with
geometric means. CPU time, so that what else the machine does matters little; the
host's part of each program counts in. --update writes the table into
docs/testing.md.
"""
import argparse
import math
import os
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/testing.md"
BEGIN, END = "<!-- cost -->\n", "<!-- /cost -->"
SETTINGS = {
    "bounds": "check=bounds",
    "sync": "check=sync",
    "init": "check=init",
    "races": "races=on",
    "all": "check=bounds:sync:init,races=on",
}


def shortest(program, vm, runs):
    """Seconds of CPU time of the shortest run, after one that fills the cache."""
    env = dict(os.environ, RECONVERGE_DEVICE="cpu", RECONVERGE_VM=vm)
    times = []
    for _ in range(runs + 1):
        child = subprocess.Popen([program], env=env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{program} returned {child.returncode}")
        times.append(usage.ru_utime + usage.ru_stime)
    return min(times[1:])


def measure(reconverge, checks, only, runs):
    """Rows: a name, seconds without checks, the ratio of each check."""
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(ROOT.glob("examples/*/*.cu")):
            if only and source.stem != only:
                continue
            program = os.path.join(folder, source.stem)
            subprocess.run([reconverge, "cc", source, "-o", program], check=True)
            cache = f"cache={folder}/cache"
            plain = shortest(program, cache, runs)
            yield source.stem, plain, [
                shortest(program, f"{cache},{SETTINGS[check]}", runs) / plain
                for check in checks]


def table(rows, checks):
    yield "| example | without | " + " | ".join(checks) + " |"
    yield "| --- |" + " ---: |" * (len(checks) + 1)
    ratios = []
    for name, plain, row in rows:
        ratios.append(row)
        yield (f"| {name} | {plain:.2f} s | "
               + " | ".join(f"{ratio:.1f}x" for ratio in row) + " |")
    if len(ratios) > 1:
        means = [math.exp(sum(map(math.log, column)) / len(column))
                 for column in zip(*ratios)]
        yield (f"| geometric mean of {len(ratios)} | | "
               + " | ".join(f"{mean:.1f}x" for mean in means) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("reconverge", type=os.path.abspath)
    parser.add_argument("checks", nargs="*", choices=[[], *SETTINGS])
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--only", help="of all examples, this one")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    checks = args.checks or list(SETTINGS)
    lines = []
    for line in table(
            measure(args.reconverge, checks, args.only, args.runs), checks):
        print(line, flush=True)
        lines.append(line + "\n")
    if args.update:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + "".join(lines) + END + after)


if __name__ == "__main__":
    main()
