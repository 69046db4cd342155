#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles a program and compares its counts with those derived by hand.

    check_counts.py --reconverge build/bin/reconverge --expect shapes.json
    check_counts.py --profile divergence.json --expect shapes.json

The expected file names a source (relative to itself), arguments and, for each
kernel, what docs/by-hand.md derives: of every divergent branch the warps that
reach it, how many split and the lanes each way; of every block the warps and
lanes that run it. Lines are named by a piece of their text ("at"), which must
occur on exactly one line of the source.

The control-flow efficiency is then a matter of arithmetic: the sum over blocks
of (lanes by hand) * n over 32 * (warps by hand) * n, where n, the number of
instructions of a block, is the compiler's doing and read from the profile. It
must equal the efficiency that the profile reports, to the last digit printed.

A count that depends on where warps reconverge is written as an object with one
number for each policy.

Order of the two sides of a branch is the compiler's choice, so lanes are
compared as sorted lists without zeroes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile


class Checker:
    def __init__(self, source, policy):
        self.policy = policy
        self.name = os.path.basename(source)
        with open(source, encoding="utf-8") as text:
            self.lines = text.read().split("\n")
        self.failures = []

    def fail(self, message):
        self.failures.append(message)

    def equal(self, what, got, want):
        if got != want:
            self.fail(f"{what}: {got}, by hand {want}")

    def number(self, count):
        """A count by hand, under the policy in force."""
        return count[self.policy] if isinstance(count, dict) else count

    def line_of(self, fragment):
        """The number of the one line that holds the fragment; of the line N
        below it if the fragment ends with ' @+N'."""
        fragment, _, offset = fragment.partition(" @")
        found = [i + 1 for i, line in enumerate(self.lines) if fragment in line]
        if len(found) != 1:
            sys.exit(f"check_counts: '{fragment}' is on {len(found)} lines of "
                     f"{self.name}, must be on one")
        return found[0] + int(offset or 0)

    def place_of(self, where):
        """The line of this source through which a place was reached, or 0."""
        for loc in where:
            if os.path.basename(loc["file"]) == self.name:
                return loc["line"]
        return 0

    def branches(self, kernel, wanted):
        by_line = {}
        for branch in kernel["branches"]:
            by_line.setdefault(self.place_of(branch["where"]), []).append(
                (branch["warps"], branch["splits"],
                 sorted(n for n in branch["lanesTo"] if n)))
        for want in wanted:
            line = self.line_of(want["at"])
            what = f"{kernel['display']}, line {line} ({want['at']})"
            expected = (want["warps"], want["splits"],
                        sorted(n for n in want["lanes"] if n))
            got = by_line.get(line, [])
            if expected in got:
                got.remove(expected)
            else:
                self.fail(f"{what}: (warps, splits, lanes) {got or 'none'}, "
                          f"by hand {expected}")
        for line, rest in sorted(by_line.items()):
            for branch in rest:
                if branch[1]:  # one that never split may be left out
                    self.fail(f"{kernel['display']}, line {line}: a branch "
                              f"that nobody derived: {branch}")

    def blocks(self, kernel, wanted):
        """Checks each block; returns the efficiency that the hand counts give,
        or None if some block is not covered."""
        by_line = {}
        for want in wanted:
            for fragment in want["at"]:
                by_line.setdefault(self.line_of(fragment), []).append(
                    (self.number(want["warps"]), want["lanes"]))
        seen, lanes, warps, covered = set(), 0, 0, True
        for number, block in enumerate(kernel["blocks"]):
            n = block["instructions"]
            got = (block["warps"], block["lanes"])
            line = self.place_of(block["where"])
            if n == 0:
                continue
            if got in by_line.get(line, []):
                seen.add((line, got))
                lanes += n * got[1]
                warps += n * got[0]
            else:
                covered = False
                self.fail(f"{kernel['display']}, block {number} at line {line}:"
                          f" (warps, lanes) {got}, by hand "
                          f"{by_line.get(line, 'nothing')}")
        for want in wanted:
            counts = (self.number(want["warps"]), want["lanes"])
            if not any((self.line_of(f), counts) in seen for f in want["at"]):
                self.fail(f"{kernel['display']}: no block ran {want}")
        return lanes / (32 * warps) if covered and warps else None

    def kernel(self, kernel, want):
        name = kernel["display"]
        for key in ("launches", "threads", "warps", "divergentWarps"):
            if key in want:
                self.equal(f"{name}, {key}", kernel[key], want[key])
        self.branches(kernel, want["branches"])
        cfe = self.blocks(kernel, want["blocks"])
        if cfe is not None and "cost" in kernel:
            got = kernel["cost"]["cfe"]
            if abs(got - cfe) > 1e-12:
                self.fail(f"{name}, cfe: {got}, by hand {cfe}")
            else:
                print(f"check_counts: {name}: cfe {got:.6f} as derived")


def profile(args, source, arguments):
    """Runs the tool as the options say; returns its divergence.json."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "divergence.json")
        options = ["--device", "cpu", "--tier", args.tier, "--policy",
                   args.policy]
        command = [args.reconverge, "profile", *options, source, "-o", out,
                   "--", *arguments]
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode != 0:
            sys.exit(f"check_counts: {' '.join(command)}: exit code "
                     f"{run.returncode}\n{run.stdout}{run.stderr}")
        with open(out, encoding="utf-8") as text:
            return json.load(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge", help="profile with this tool")
    parser.add_argument("--profile", help="or read this divergence.json")
    parser.add_argument("--expect", required=True)
    parser.add_argument("--tier", default="fused")
    parser.add_argument("--policy", default="frontier")
    args = parser.parse_args()
    if bool(args.reconverge) == bool(args.profile):
        parser.error("give one of --reconverge and --profile")

    with open(args.expect, encoding="utf-8") as text:
        expect = json.load(text)
    source = os.path.normpath(
        os.path.join(os.path.dirname(args.expect), expect["source"]))
    if args.profile:
        with open(args.profile, encoding="utf-8") as text:
            run = json.load(text)
    else:
        run = profile(args, source, expect["arguments"])

    checker = Checker(source, args.policy)
    kernels = {k["display"].split("(")[0]: k for k in run["kernels"]}
    for name, want in expect["kernels"].items():
        if name in kernels:
            checker.kernel(kernels[name], want)
        else:
            checker.fail(f"{name}: did not run; these did: {sorted(kernels)}")
    for failure in checker.failures:
        print(f"check_counts: FAILED: {failure}")
    return 1 if checker.failures else 0


if __name__ == "__main__":
    sys.exit(main())
