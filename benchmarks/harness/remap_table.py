#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/remap-results.md from results/h200/remap.json; --check: is it up to
date?"""

import json
import os

from remap_bench import BLOCKS, CASES, COMPILERS, KERNELS, LENGTHS
from results import publish

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RAW = os.path.join(ROOT, "benchmarks", "results", "h200", "remap.json")
WAYS = {"head_or_tail": "head or tail", "data_group_indexing": "DGI",
        "warp_aggregated": "warp-aggregated", "automatic": "automatic",
        "cluster": "cluster of 8", "cub": "CUB radix sort"}


def of_ideal(rows, case, compiler):
    """Lines of one case's table: block and length, the ideal, each way."""
    values = {(r["metric"], r["params"]["block"], r["params"]["length"],
               r["params"]["way"]): r["value"] for r in rows
              if r["case"] == case and r["params"]["compiler"] == compiler}
    ways = [w for w in WAYS if any(k[3] == w for k in values)]
    yield ("| threads | instructions a path | ideal | " +
           " | ".join(WAYS[w] for w in ways) + " |")
    yield "| ---: | ---: | ---: |" + " ---: |" * len(ways)
    for block in BLOCKS:
        for length in LENGTHS:
            cells = [f"{100 * values['of-ideal', block, length, w]:.1f}"
                     for w in ways]
            yield (f"| {block} | {length} | "
                   f"{values['ideal', block, length, 'ideal']:.2f}x | " +
                   " | ".join(cells) + " |")


def page():
    with open(RAW, encoding="utf-8") as text:
        result = json.load(text)
    facts, rows = result["environment"], result["rows"]
    rounds = {(r["params"]["algorithm"], r["params"]["paths"],
               r["params"]["compiler"]): r["value"] for r in rows
              if r["case"] == "round" and r["params"]["blocks-per-sm"] == 1}
    by_hand = {(r["case"], r["params"]["compiler"]): r["value"] for r in rows
               if r["case"] in KERNELS and r["metric"] == "speedup"}
    lines = [
        "# The device library on a GPU", "",
        "Made by `benchmarks/harness/remap_table.py` from "
        "`benchmarks/results/h200/remap.json`, which "
        "`benchmarks/harness/remap_bench.py` wrote. Not edited by hand.", "",
        f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
        f"{facts['date'][:10]}. All overhead included; medians of alternating "
        "runs; every result is checked against the CPU's.", "",
        "## Kernels remapped by hand with it", "",
        "Speed-up over the fastest build (nvcc -O3, clang 19 -O3, ours) of "
        "the kernel as it was.", "",
        "| kernel | " + " | ".join(f"by {c}" for c in COMPILERS) + " |",
        "| --- |" + " ---: |" * len(COMPILERS)]
    lines += [f"| {name} | " +
              " | ".join(f"{by_hand[name, c]:.2f}x" for c in COMPILERS) + " |"
              for name in KERNELS]
    lines += ["", "## One round", "",
              "Microseconds that a round adds to a block of 256 threads alone "
              "on its multiprocessor.", "",
              "| algorithm | paths | " + " | ".join(COMPILERS) + " |",
              "| --- | ---: |" + " ---: |" * len(COMPILERS)]
    lines += [f"| {WAYS[algorithm]} | {paths} | " + " | ".join(
                  f"{rounds[algorithm, paths, c]:.2f}" for c in COMPILERS) +
              " |" for algorithm, paths in dict.fromkeys(
                  key[:2] for key in rounds)]
    lines += ["", "## Share of the ideal", "",
              "Each thread takes one of the paths at random, from its own "
              "data; *ideal* is the same work with nothing divided, over the "
              "original; the other columns are the share of that, in %, of "
              "the same build (nvcc's). Of a block's warps up to one fewer than "
              "there are paths stay mixed, whatever the method: with W warps "
              "and two paths that leaves W / (W + 1), 88.9 % with 256 threads "
              "and 97.0 % with 1024, less what the round costs. A cluster has "
              "more threads to choose from."]
    for case in CASES.values():
        lines += ["", f"### {case.replace('-', ' ').capitalize()}", "",
                  *of_ideal(rows, case, "nvcc")]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    publish(page(), "remap-results.md", "remap_table.py")
