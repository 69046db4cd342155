#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes docs/baseline.md from the results of the suite `baseline`.

    baseline_table.py [RESULT]      default: benchmarks/results/h200/baseline.json

The numbers come from the file; why a kernel is slower or faster is written by
hand in baseline/causes.txt. A cause for a kernel that was not measured is an
error; a kernel of ours that is more than 3 % slower than nvcc's and has no cause
is shown as not explained.
"""

import os
import sys

import baseline
import results

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CAUSES = os.path.join(ROOT, "benchmarks", "baseline", "causes.txt")

HEAD = """# Unmodified kernels: nvcc, clang and us

The baseline of every speed-up that we report is the faster of nvcc -O3 and clang 19 -O3 on the unmodified kernel. This page is that baseline for all examples, and next to it what `reconverge cc --fatbin` makes of the same sources before any remedy. Written by `benchmarks/harness/baseline_table.py` from `{result}`; do not edit.

{machine}. Kernel time in ms, the median of {samples} samples from {runs}; how it is measured is in [benchmarks/README.md](../benchmarks/README.md). Ratios above 1 are slower than nvcc. clang's own arithmetic is not nvcc's (its square roots are approximate), ours follows nvcc's; where a program's printed result still differs from that of the nvcc build, the time has a star. A kernel that takes less than {short} ms a launch is mostly the cost of launching.

| program | kernel | nvcc | clang | ours | ours / nvcc | why |
| --- | --- | ---: | ---: | ---: | ---: | --- |
"""


def read_causes(path):
    """(program, kernel) to text."""
    causes = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.partition("#")[0].strip()
            if line:
                key, _, text = line.partition(": ")
                causes[tuple(key.split(None, 1))] = text.strip()
    return causes


def short(display):
    """The kernel's name, as it is called: `blurRows<5>`."""
    name = display.partition("(")[0]
    return name.removeprefix("void ")


def cell(row):
    star = "" if row["verdict"] == "identical" else " *"
    return f"{row['value']:.3f}{star}"


TRIALS = """
## What the settings of our pipeline do

Time over nvcc's, one round on the same machine while the settings were chosen, for the kernels that one of them moves by more than 3 % (`{path}`). *arms apart*: SimplifyCFG does not sink what ends of arms share. *few*: loops of at most eight iterations that may leave early are unrolled wholly. *by four*: loops with a count that is dear to compute or a large body; *data too*: also those whose end depends on data. The pipeline has *all*, *data too* only where the loop reads along an array, and eight copies where a load's address comes from a load.

| program | kernel | before | arms apart | few | by four | data too | all |
| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |
"""
ALIASING = """
## What types would tell

nvcc concludes nothing from the types of two accesses in device code, and neither do we: with clang's default, `-fstrict-aliasing`, `min_element` of Thrust over a class finds the wrong element. Our time as it is over our time with `-fstrict-aliasing`, for the kernels that it moves by more than 3 %: above 1, the price of being right.

| program | kernel | as it is / `-fstrict-aliasing` |
| --- | --- | ---: |
"""
SETTINGS = ("base", "nosink", "small", "rt4", "rt4u", "all")


def trials(path):
    """The second table, or nothing where there were none."""
    if not os.path.exists(path):
        return ""
    kernels = by_kernel(results.read(path)["rows"])
    lines = [TRIALS.format(path=shown(path))]
    for key, ways in kernels.items():
        ratios = [ways[way]["value"] / ways["nvcc"]["value"]
                  for way in SETTINGS]
        if max(abs(r / ratios[0] - 1) for r in ratios) > 0.03:
            lines.append(f"| {key[0]} | `{key[1]}` | " + " | ".join(
                f"{r:.2f}" for r in ratios) + " |\n")
    means = [results.geomean([w[way]["value"] / w["nvcc"]["value"]
                              for w in kernels.values()]) for way in SETTINGS]
    lines.append("| geomean | of all | " + " | ".join(
        f"{m:.3f}" for m in means) + " |\n")
    return "".join(lines)


def aliasing(kernels):
    """The table of that, or nothing where it was not measured."""
    ratios = {key: ways["reconverge"]["value"] / ways["strict-aliasing"]["value"]
              for key, ways in kernels.items() if "strict-aliasing" in ways}
    if not ratios:
        return ""
    moved = [f"| {key[0]} | `{key[1]}` | {ratio:.2f} |\n"
             for key, ratio in ratios.items() if abs(ratio - 1) > 0.03]
    return "".join([ALIASING, *moved, f"| geomean | of all {len(ratios)} | "
                    f"{results.geomean(list(ratios.values())):.3f} |\n"])


def by_kernel(rows):
    """(program, kernel) to metric to row."""
    kernels = {}
    for row in rows:
        kernels.setdefault((row["case"], short(row["kernel"])), {})[
            row["metric"]] = row
    return kernels


def shown(path):
    """A path as the page names it."""
    path = os.path.abspath(path)
    return os.path.relpath(path, ROOT) if path.startswith(ROOT) else "a file"


def page(result, causes_path):
    """The whole page as text."""
    content = results.read(result)
    facts, causes = content["environment"], read_causes(causes_path)
    kernels = by_kernel(content["rows"])
    gone = [" ".join(key) for key in causes if key not in kernels]
    if gone:
        raise ValueError(f"causes for what was not measured, gone or renamed: "
                         f"{', '.join(gone)}")
    machine = ", ".join(
        f"{label}{facts[key]}" for key, label in (
            ("gpu", "NVIDIA "), ("driver", "driver "), ("cuda", "CUDA "),
            ("clang", ""), ("date", "")) if facts.get(key))
    first = content["rows"][0]
    lines = [HEAD.format(
        machine=machine, samples=first["count"],
        runs="alternating processes", result=shown(result),
        short=baseline.TOO_SHORT)]
    ours, clang, long = [], [], []
    for key, ways in kernels.items():
        ratio = ways["reconverge"]["value"] / ways["nvcc"]["value"]
        ours.append(ratio)
        clang.append(ways["clang"]["value"] / ways["nvcc"]["value"])
        why = causes.get(key, "")
        if not why and ratio > 1.03:
            why = "not yet explained"
        if not any(row.get("note") == "too-short" for row in ways.values()):
            long.append(ratio)
        else:
            why = "; ".join(filter(None, [why, "a launch takes microseconds"]))
        lines.append(f"| {key[0]} | `{key[1]}` | {cell(ways['nvcc'])} | "
                     f"{cell(ways['clang'])} | {cell(ways['reconverge'])} | "
                     f"{ratio:.2f} | {why} |\n")
    lines.append(f"| geomean | | | | | {results.geomean(ours):.3f} | clang / "
                 f"nvcc is {results.geomean(clang):.3f} |\n")
    notes = [f"\n{text}\n" for text in results.apart(content)]
    if long and len(long) < len(ours):
        lines.append(f"| geomean | of launches that take longer | | | | "
                     f"{results.geomean(long):.3f} | |\n")
    return "".join(lines + notes) + aliasing(kernels) + trials(
        os.path.join(os.path.dirname(result), "pipeline-trials.json"))


def main():
    result = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        ROOT, "benchmarks", "results", "h200", "baseline.json")
    text = page(result, CAUSES)
    with open(os.path.join(ROOT, "docs", "baseline.md"), "w",
              encoding="utf-8") as out:
        out.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
