#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/meld-results.md from results/h200/meld.json; --check: is it up to date?"""

import json
import os

from results import geomean, publish

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RAW = os.path.join(ROOT, "benchmarks", "results", "h200", "meld.json")
WAYS = ("nvcc", "clang", "reconverge", "melded")
SYNTHETIC = ("sb1", "sb2", "sb3")


def cases(rows):
    """(program, block, variant) -> metric -> row."""
    found = {}
    for row in rows:
        params = row["params"]
        key = (row["case"], params["block"], params.get("random", 0))
        found.setdefault(key, {})[row["metric"]] = row
    return found


def summary(found, chosen, name):
    speedups = [m["speedup"]["value"] for key, m in found.items()
                if chosen(key[0])]
    own = [m["speedup-over-own"]["value"] for key, m in found.items()
           if chosen(key[0])]
    return (f"| {name} | {len(speedups)} | {geomean(speedups):.3f} | "
            f"{min(speedups):.3f} | {geomean(own):.3f} | "
            f"{geomean([max(1.0, s) for s in speedups]):.3f} |")


def page():
    with open(RAW, encoding="utf-8") as text:
        result = json.load(text)
    facts, found = result["environment"], cases(result["rows"])
    lines = [
        "# Melding on a GPU", "",
        "Made by `benchmarks/harness/meld_table.py` from "
        "`benchmarks/results/h200/meld.json`, which "
        "`benchmarks/harness/meld_bench.py` wrote. Not edited by hand.", "",
        f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
        f"{facts['date'][:10]}. Milliseconds of kernel time, medians of "
        "alternating runs; *speed-up* is over the fastest of the three "
        "unmelded builds (nvcc -O3, clang 19 -O3, ours), *over own* over our "
        "own build without melding. All melded programs print the checksum of "
        "our unmelded build"
        + ("." if all(m["speedup"]["verdict"] == "identical"
                      for m in found.values())
           else ", but where the table says otherwise."), "",
        "| set | cases | speed-up, geomean | worst | over own, geomean | "
        "speed-up if melding is dropped where it loses |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
        summary(found, lambda n: n in SYNTHETIC, "SB1 to SB3 and -R"),
        summary(found, lambda n: n not in SYNTHETIC, "programs"),
        summary(found, lambda n: True, "all"), "",
        "| program | block | nvcc | clang | ours | melded | speed-up | "
        "over own |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for (name, block, random), metrics in found.items():
        cells = [f"{metrics[way]['value']:.4f}" for way in WAYS]
        lines.append(
            f"| {name}{'-R' if random else ''} | {block} | " + " | ".join(cells)
            + f" | {metrics['speedup']['value']:.3f} | "
            f"{metrics['speedup-over-own']['value']:.3f} |")
    lost = [f"{name}{'-R' if random else ''} {block} "
            f"({metrics['speedup']['value']:.3f})"
            for (name, block, random), metrics in found.items()
            if metrics["speedup"]["value"] < 0.99]
    lines += [
        "",
        f"Below 0.99: {', '.join(lost) or 'none'}. `meld` is one candidate of "
        "`optimize`; these are the cases in which it has to be dropped.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    publish(page(), "meld-results.md", "meld_table.py")
