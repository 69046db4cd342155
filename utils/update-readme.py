#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the parts of README.md that are measured.

  update-readme.py          table from benchmarks/results, output of `make run`
  update-readme.py --check  fails if the table is not what the results say
"""
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
README = os.path.join(ROOT, "README.md")


def value(rows, metric, case, **params):
    """The rows' value for a case; the parameters named must agree."""
    for row in rows:
        if (row["metric"] == metric and row["case"] == case and
                all(row["params"].get(k) == v for k, v in params.items())):
            return row["value"]
    return None


def vm_table():
    lines = []
    for path in sorted(glob.glob(os.path.join(
            ROOT, "benchmarks", "results", "*", "vm.json"))):
        with open(path, encoding="utf-8") as text:
            result = json.load(text)
        rows, environment = result["rows"], result["environment"]
        cases = list(dict.fromkeys(
            row["case"] for row in rows
            if row["metric"] == "thread-instructions-per-second"))
        isas = list(dict.fromkeys(row["params"].get("isa") for row in rows
                                  if row["metric"] == "time-vs-scalar"))
        lines.append("| kernel | " + " | ".join(
            f"{isa}: G thread instructions/s | x of scalar C++ -O3"
            for isa in isas) + " |")
        lines.append("| --- |" + " ---: | ---: |" * len(isas))
        for case in cases:
            cells = []
            for isa in isas:
                rate = value(rows, "thread-instructions-per-second", case, isa=isa)
                ratio = value(rows, "time-vs-scalar", case, isa=isa)
                cells.append(f"{rate / 1e9:.1f} | {ratio:.2f}")
            lines.append(f"| {case} | " + " | ".join(cells) + " |")
        lines.append("")
        lines.append(f"({environment['cpu']}, one core, block and branch counters "
                     f"on, {environment['date'][:10]}; time below 1 is faster than "
                     "the same kernel as C++ loops, which clang partly vectorises. "
                     f"Raw data: `{os.path.relpath(path, ROOT)}`, by `make bench`.)")
    return "\n".join(lines)


def run_output():
    command = ["build/bin/reconverge", "profile", "examples/bitonic/bitonic.cu",
               "-o", os.devnull]
    done = subprocess.run(command, cwd=ROOT, check=True, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    lines = (line.rstrip() for line in done.stderr.strip().split("\n"))
    return "```\n" + "\n".join(lines) + "\n```"


def replace(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, rest = text.split(begin, 1)
    return head + begin + content + "\n" + end + rest.split(end, 1)[1]


def main():
    with open(README, encoding="utf-8") as text:
        old = text.read()
    new = replace(old, "vm-table", vm_table())
    if "--check" in sys.argv:
        if new != old:
            sys.exit("README.md: the table is not what benchmarks/results says; "
                     "run utils/update-readme.py")
        return
    new = replace(new, "run", run_output())
    with open(README, "w", encoding="utf-8") as text:
        text.write(new)


if __name__ == "__main__":
    main()
