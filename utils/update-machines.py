#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the tables of docs/machines.md and the machine files behind them.

  update-machines.py          files from benchmarks/results/*/micro.json and
                              of benchmarks/micro/published.py, then the tables
                              from machines/*.json
  update-machines.py --check  fails where a file or a table is not what its
                              source says
"""
import glob
import json
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCS = os.path.join(ROOT, "docs", "machines.md")
sys.path[:0] = [os.path.join(ROOT, "benchmarks", folder)
                for folder in ("micro", "harness")]
sys.dont_write_bytecode = True

import machine  # noqa: E402
import published  # noqa: E402
import results  # noqa: E402


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def ranged(number, ends):
    """A number, and how far it varies if that shows."""
    return str(number) if ends[0] == ends[1] else (
        f"{number} ({ends[0]} to {ends[1]})")


def machine_path(name):
    return os.path.join(ROOT, "machines", name + ".json")


def class_table():
    """Every class of every machine that was measured: the paper's first."""
    derived = {machine_path(gpu.name) for gpu in published.GPUS}
    files = [json.loads(read(path)) for path in sorted(
        glob.glob(machine_path("*"))) if path not in derived]
    lines = ["| class | " + " | ".join(
        f"{f['name']}: latency | issue" for f in files) + " |",
        "| --- |" + " ---: | ---: |" * len(files)]
    for name in files[0]["classes"]:
        cells = []
        for entry in (f["classes"][name] for f in files):
            mark = "" if entry["measured"] else " *"
            for key in ("latency", "issue"):
                ends = entry.get(key + "-spread", [0, 0])
                cells.append(ranged(entry[key], ends) +
                             (mark if key == "latency" else ""))
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def detail_table(result):
    lines = ["| h200 | latency | issue |", "| --- | ---: | ---: |"]
    for name, *numbers in machine.details(result):
        cells = ["" if n is None else ranged(
            machine.rounded(n[0], kind), machine.spread(n[1:], kind))
            for n, kind in zip(numbers, (machine.LATENCY, machine.ISSUE))]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def replace(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, rest = text.split(begin, 1)
    return head + begin + content + "\n" + end + rest.split(end, 1)[1]


def settle(path, content, check):
    """Writes the file, or with check says that it is stale."""
    if os.path.exists(path) and read(path) == content:
        return
    if check:
        sys.exit(f"{os.path.relpath(path, ROOT)}: not what its source says; "
                 "run utils/update-machines.py")
    with open(path, "w", encoding="utf-8") as out:
        out.write(content)


def main():
    check = "--check" in sys.argv
    for samples in sorted(glob.glob(os.path.join(
            ROOT, "benchmarks", "results", "*", "micro.json"))):
        result = results.read(samples)
        name = os.path.basename(os.path.dirname(samples))
        text, refused = machine.machine_file(
            result, f"benchmarks/results/{name}/micro.json")
        if refused:
            sys.exit(f"{samples}: " + "; ".join(refused))
        settle(machine_path(name), text, check)
    for name, text in published.machine_files(
            json.loads(read(machine_path("h200")))):
        settle(machine_path(name), text, check)
    docs = replace(read(DOCS), "classes", class_table())
    h200 = os.path.join(ROOT, "benchmarks", "results", "h200", "micro.json")
    docs = replace(docs, "details", detail_table(results.read(h200)))
    settle(DOCS, docs, check)


if __name__ == "__main__":
    main()
