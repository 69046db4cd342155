#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/optimize-results.md from results/h200/optimize.json and
optimize-examples.json; --check: is it up to date?"""

import json
import os

import remap_bench
from optimize_bench import label, line_of, words_of
from results import apart, geomean, publish, read

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RESULTS = os.path.join(ROOT, "benchmarks", "results", "h200")


def error_of(row):
    """Of the prediction, in % of what was achieved."""
    return (row["value"] / row["achieved"] - 1) * 100


def errors_of(rows):
    errors = [abs(error_of(row)) for row in rows]
    if not errors:
        return "nothing: there are none"
    return (f"{sum(errors) / len(errors):.1f} % on average, "
            f"{max(errors):.1f} % at worst")


def load(name):
    return read(os.path.join(RESULTS, name))


def summary(what, table):
    speedups = [float(line[6]) for line in table]
    return (f"| {what} | {len(table)} | {geomean(speedups):.3f} | "
            f"{min(speedups):.3f} | {sum(s < 0.99 for s in speedups)} | "
            f"{sum(line[7] != 'none' for line in table)} |")


def kept_in(row):
    """What is kept of a program's kernels, a word each."""
    return ", ".join(sorted(f"{kernel}: {words_of(keep)}"
                            for kernel, keep in row["keep"].items())) or "none"


def examples():
    """The section of the examples."""
    result = load("optimize-examples.json")
    facts, cases = result["environment"], {}
    for row in result["rows"]:
        cases.setdefault(row["case"], {})[row["metric"]] = row
    lines = [
        "", "## The examples", "",
        "From `optimize-examples.json`, which `optimize_examples.py` wrote on "
        f"{facts['date'][:10]}, commit {facts['commit'][:12]}: each example at "
        "its own small size, which it checks against the CPU. What `optimize` "
        "let through of its first run, and the final program's output and exit "
        "code, are those of the program as it is. *Seconds* are whole runs, "
        "from start to end, while other examples compile; most of that is the "
        "start of the driver and the check, which the CPU runs: there they "
        "compare host compilers (clang's in the final program, g++ with nvcc), "
        "not kernels. `-`: that compiler's program was not made or did not pass "
        "the example's check.", "",
        "| example | kernels | kept | result | final, s | ours | nvcc | clang |",
        "| --- | ---: | --- | --- | ---: | ---: | ---: | ---: |"]
    for name, rows in cases.items():
        whole = rows.get("whole", {})
        seconds = [f"{whole[k]:.3f}" if whole.get(k) else "-"
                   for k in ("final", "ours", "nvcc", "clang")]
        lines.append(f"| {name} | {rows['kept']['of']} | "
                     f"{kept_in(rows['kept'])} | {rows['kept']['verdict']} | "
                     + " | ".join(seconds) + " |")
    return lines


def page():
    result = load("optimize.json")
    facts, cases = result["environment"], {}
    for row in result["rows"]:
        key = (row["case"], json.dumps(row["params"]))
        cases.setdefault(key, []).append(row)
    table = [line_of(name, json.loads(params), rows)
             for (name, params), rows in cases.items()]
    remapped = [line_of(name, json.loads(params), rows)
                for (name, params), rows in cases.items()
                if remap_bench.KERNELS.get(name) == json.loads(params)]
    melded = [line for line in table if line not in remapped]
    # Where our build was the fastest and nothing is kept.
    same = [float(line[6]) for line in table
            if line[5] == "reconverge" and line[7] == "none"]
    predicted = [row for row in result["rows"] if row["metric"] == "predicted"]
    lines = [
        "# Optimised programs on a GPU", "",
        "Made by `benchmarks/harness/optimize_table.py` from "
        "`benchmarks/results/h200/optimize.json`, which "
        "`benchmarks/harness/optimize_bench.py` wrote. Not edited by hand.",
        "",
        f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
        f"{facts['date'][:10]}. Each case was decided by `reconverge optimize` "
        "on its own launches, with nvcc's and clang's code, ours and every "
        "remedy among the candidates. Milliseconds of kernel time, medians of "
        "alternating runs; *speed-up* is the fastest of the three unmodified builds (nvcc "
        "-O3, clang 19 -O3, ours) over the final program. *identical*: the "
        "final program prints the checksum of our unmodified build.", "",
        "| set | cases | geomean | worst | below 0.99 | something is kept in |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        *(summary(what, part) for what, part in (
            ("melding's programs", melded),
            ("remapping's kernels, as they are", remapped)) if part), "",
    ]
    for text in apart(result):
        lines += [text, ""]
    if same:
        lines += ["Where our build is the fastest and nothing is kept "
                  f"({len(same)} of them), the final program has the same "
                  "device code, byte for byte: what the ratio differs from 1 "
                  f"there is noise, {min(same):.3f}x to {max(same):.3f}x.", ""]
    if predicted:
        lines += [f"{len(predicted)} candidates were timed. Predicted (issue "
                  "slots of the kernel as we build it over the candidate's, "
                  "counted) and achieved (the same of their times) differ by "
                  f"{errors_of(predicted)}; of those that are kept by "
                  f"{errors_of([r for r in predicted if r['outcome'] == 'kept'])}"
                  ".", ""]
    lines += ["| program | nvcc | clang | ours | final | best | speed-up | "
              "kept | result |",
              "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- | --- |"]
    lines += ["| " + " | ".join(line) + " |" for line in table]
    if predicted:
        lines += ["", "## Predicted and achieved", "",
                  "Over our own build of the kernel as it is.", "",
                  "| program | kernel | candidate | predicted | achieved | error "
                  "| outcome |",
                  "| --- | --- | --- | ---: | ---: | ---: | --- |"]
        lines += [f"| {label(row['case'], row['params'])} | `{row['kernel']}` | "
                  f"{words_of(row['candidate'])} | {row['value']:.3f} | "
                  f"{row['achieved']:.3f} | {error_of(row):+.1f} % | "
                  f"{row['outcome']} |" for row in predicted]
    return "\n".join(lines + examples()) + "\n"


if __name__ == "__main__":
    publish(page(), "optimize-results.md", "optimize_table.py")
