#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each check of `reconverge test` costs, over the examples.

    check-cost.py build/bin/reconverge [--update] [--gpu] [--only NAME]
                  [--runs N] [CHECK...]

Builds each example and runs it on the warp VM without checks and with each one
(bounds, sync, init, races, all; those named, or every one), three times each
with compiled kernels cached: after a first run and `reconverge cache finish`. Prints the CPU time of the shortest run without,
and how many times as much the shortest with each check takes, as a table with
geometric means. CPU time, so that what else the machine does matters little; the
host's part of each program counts in. --update writes the table into
docs/testing.md.

With --gpu the same of compute-sanitizer's tools, whose name each check bears: the
programs run on the GPU over NVIDIA's runtime, and the time is that on the clock.
"""
import argparse
import math
import os
import pathlib
import subprocess
import tempfile
import time

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
TOOLS = {"bounds": "memcheck", "sync": "synccheck", "init": "initcheck",
         "races": "racecheck"}


class OnVm:
    """Runs of programs on the warp VM, in CPU time."""
    flags = ()
    checks = tuple(SETTINGS)

    def __init__(self, folder):
        self.folder = f"{folder}/cache"

    def seconds(self, program, check):
        vm = f"cache={self.folder}" + ("," + SETTINGS[check] if check else "")
        env = dict(os.environ, RECONVERGE_DEVICE="cpu", RECONVERGE_VM=vm)
        child = subprocess.Popen([program], env=env, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise SystemExit(f"{program} returned {child.returncode}")
        return usage.ru_utime + usage.ru_stime

    def finish(self, reconverge):
        subprocess.run([reconverge, "cache", "finish", "--cache", self.folder],
                       check=True, stdout=subprocess.DEVNULL)


class OnGpu:
    """The same on a GPU, under compute-sanitizer, by the clock."""
    flags = ("-arch=sm_90", "--runtime=nvidia")
    checks = tuple(TOOLS)

    def __init__(self, _):
        pass

    def seconds(self, program, check):
        tool = ["compute-sanitizer", "--tool", TOOLS[check]] if check else []
        begin = time.perf_counter()
        subprocess.run([*tool, program], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return time.perf_counter() - begin

    def finish(self, _):
        pass


def measure(reconverge, where, checks, only, runs):
    """Rows: a name, seconds without checks, the ratio of each check. Of each the
    shortest run, after one that fills the cache."""
    with tempfile.TemporaryDirectory() as folder:
        place = where(folder)

        def shortest(program, check):
            place.seconds(program, check)
            place.finish(reconverge)
            return min(place.seconds(program, check) for _ in range(runs))

        for source in sorted(ROOT.glob("examples/*/*.cu")):
            if only and source.stem != only:
                continue
            program = os.path.join(folder, source.stem)
            subprocess.run([reconverge, "cc", *where.flags, source, "-o",
                            program], check=True)
            plain = shortest(program, None)
            yield source.stem, plain, [shortest(program, check) / plain
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
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--only", help="of all examples, this one")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    where = OnGpu if args.gpu else OnVm
    checks = args.checks or list(where.checks)
    if not set(checks) <= set(where.checks):
        parser.error("compute-sanitizer has one tool at a time: no all")
    lines = []
    for line in table(
            measure(args.reconverge, where, checks, args.only, args.runs),
            checks):
        print(line, flush=True)
        lines.append(line + "\n")
    if args.update:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + "".join(lines) + END + after)


if __name__ == "__main__":
    main()
