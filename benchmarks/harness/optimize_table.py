#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/optimize-results.md from results/h200/optimize.json; --check: is it up to
date?"""

import json
import os

from optimize_bench import line_of
from results import geomean, publish

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RAW = os.path.join(ROOT, "benchmarks", "results", "h200", "optimize.json")


def page():
    with open(RAW, encoding="utf-8") as text:
        result = json.load(text)
    facts, cases = result["environment"], {}
    for row in result["rows"]:
        key = (row["case"], json.dumps(row["params"]))
        cases.setdefault(key, []).append(row)
    table = [line_of(name, json.loads(params), rows)
             for (name, params), rows in cases.items()]
    speedups = [float(line[6]) for line in table]
    predicted = [row for row in result["rows"] if row["metric"] == "predicted"]
    lines = [
        "# Optimised programs on a GPU", "",
        "Made by `benchmarks/harness/optimize_table.py` from "
        "`benchmarks/results/h200/optimize.json`, which "
        "`benchmarks/harness/optimize_bench.py` wrote. Not edited by hand.",
        "",
        f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
        f"{facts['date'][:10]}. Each case was decided by `reconverge optimize` "
        "on its own launches, with nvcc's code, ours and every remedy among "
        "the candidates. Milliseconds of kernel time, medians of alternating "
        "runs; *speed-up* is the fastest of the three unmodified builds (nvcc "
        "-O3, clang 19 -O3, ours) over the final program. *identical*: the "
        "final program prints the checksum of our unmodified build.", "",
        f"{len(table)} cases: geomean {geomean(speedups):.3f}x, worst "
        f"{min(speedups):.3f}x, {sum(s < 0.99 for s in speedups)} below "
        "0.99x; something is kept in "
        f"{sum(line[7] != 'none' for line in table)}.", "",
    ]
    if predicted:
        errors = [abs(row["value"] / row["achieved"] - 1) * 100
                  for row in predicted if row.get("achieved")]
        lines += [f"Predicted and achieved speed-up of what is kept differ by "
                  f"{sum(errors) / len(errors):.1f} % on average, "
                  f"{max(errors):.1f} % at worst.", ""]
    lines += ["| program | nvcc | clang | ours | final | best | speed-up | "
              "kept | result |",
              "| --- | ---: | ---: | ---: | ---: | --- | ---: | --- | --- |"]
    lines += ["| " + " | ".join(line) + " |" for line in table]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    publish(page(), "optimize-results.md", "optimize_table.py")
