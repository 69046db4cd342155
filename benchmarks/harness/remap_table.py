#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/remap-results.md from results/h200/remap.json and, counted on the warp
VM, results/<cpu>/remap-counts.json; --check: is it up to date?"""

import glob
import os
import statistics

from remap_bench import BLOCKS, CASES, COMPILERS, KERNELS, LENGTHS, WAYS
from results import apart, publish, read

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RESULTS = os.path.join(ROOT, "benchmarks", "results")
TITLES = {"head_or_tail": "head or tail", "data_group_indexing": "DGI",
          "warp_aggregated": "warp-aggregated", "automatic": "automatic",
          "cluster": "cluster of 8", "cub": "CUB radix sort"}

# The paper's benchmarks that are others' programs.
THIRD_PARTY = ("bp", "histo", "lbm", "pb", "sad", "mg", "nqueens")


def of_ideal(rows, case, even, compiler):
    """Lines of one case's table: block and length, the ideal, what can be
    reached of it, each way."""
    paths = next(p for p, name in CASES.items() if name == case)
    values = {(r["metric"], r["params"]["block"], r["params"]["length"],
               r["params"]["way"]): r["value"] for r in rows
              if r["case"] == case and r["params"]["compiler"] == compiler
              and r["params"]["even"] == even}
    ways = [w for w in TITLES if any(k[3] == w for k in values)]
    yield ("| threads | instructions a path | ideal | at best | " +
           " | ".join(TITLES[w] for w in ways) + " |")
    yield "| ---: | ---: | ---: | ---: |" + " ---: |" * len(ways)
    for block in BLOCKS:
        warps = block // 32
        best = 100 if even else 100 * warps / (warps + paths - 1)
        for length in LENGTHS[even]:
            cells = [f"{100 * values['of-ideal', block, length, w]:.1f}"
                     for w in ways]
            yield (f"| {block} | {length} | "
                   f"{values['ideal', block, length, 'ideal']:.2f}x | "
                   f"{best:.1f} | " +
                   " | ".join(cells) + " |")


def speedups(by_hand):
    """Lines of the table of kernels: efficiency, speed-up, share of what was
    there to win."""
    counts = {}
    for path in sorted(glob.glob(os.path.join(RESULTS, "*",
                                              "remap-counts.json"))):
        counts.update({(r["case"], r["params"]["way"]): r["value"]
                       for r in read(path)["rows"]})
    yield ("| kernel | lanes at work | library | CUB | potential | " +
           " | ".join(f"library, {c}" for c in COMPILERS) +
           " | CUB, best | share won |")
    yield "| --- |" + " ---: |" * (6 + len(COMPILERS))
    shares = {}
    for name in KERNELS:
        before, after, cub = (counts[name, way] for way in WAYS)
        library = [by_hand[name, "library", c]["value"] for c in COMPILERS]
        best = max(by_hand[name, "cub", c]["value"] for c in COMPILERS)
        shares[name] = (max(library) - 1) / (1 / before - 1)
        yield (f"| {name} | {100 * before:.1f} % | {100 * after:.1f} % | "
               f"{100 * cub:.1f} % | {1 / before:.2f}x | " +
               " | ".join(f"{value:.2f}x" for value in library) +
               f" | {best:.2f}x | {100 * shares[name]:.0f} % |")
    mean = statistics.mean(shares[name] for name in THIRD_PARTY)
    yield ""
    yield (f"Mean share of {', '.join(THIRD_PARTY)}: {100 * mean:.0f} % (the "
           "paper's, of its own versions and on a GPU of 2014: 71 %).")


def resources(by_hand):
    yield ("| kernel | ms | registers | library | CUB | shared bytes | CUB | "
           "occupancy | library | CUB |")
    yield "| --- |" + " ---: |" * 9
    for name in KERNELS:
        plain, library, cub = (by_hand[name, w, "nvcc"] for w in WAYS)
        yield (f"| {name} | {plain['milliseconds']:.2f} | " + " | ".join(
            str(r["registers"]) for r in (plain, library, cub)) +
               f" | {library['shared']} | {cub['shared']} | " + " | ".join(
            f"{100 * r['occupancy']:.0f} %" for r in (plain, library, cub)) +
               " |")


def counters():
    """Lines of the table of hardware counters; none where there are none."""
    path = os.path.join(RESULTS, "h200", "remap-counters.json")
    if not os.path.exists(path):
        return
    values = {(r["case"], r["metric"], r["params"]["way"]): r["value"]
              for r in read(path)["rows"]}
    yield ("And what they wait for, by hardware counters of nvcc's builds as "
           "they are and with the library: *issue*, warp instructions a cycle "
           "and scheduler, of at most 1; *lanes*, active threads per "
           "instruction; *sectors* of 32 bytes that a warp's global load "
           "takes; device memory. Where lanes rise and issue falls as much, "
           "the kernel waits for memory, and fuller warps wait as long.")
    yield ""
    yield ("| kernel | issue | library | lanes | library | sectors | library | "
           "GB/s | library |")
    yield "| --- |" + " ---: |" * 8
    for name in KERNELS:
        cells = [form.format(values[name, metric, way])
                 for metric, form in (("issue", "{:.2f}"), ("lanes", "{:.1%}"),
                                      ("sectors", "{:.1f}"), ("dram", "{:.0f}"))
                 for way in WAYS[:2]]
        yield f"| {name} | " + " | ".join(cells) + " |"


def page():
    result = read(os.path.join(RESULTS, "h200", "remap.json"))
    facts, rows = result["environment"], result["rows"]
    rounds = {(r["params"]["algorithm"], r["params"]["paths"],
               r["params"]["compiler"]): r["value"] for r in rows
              if r["case"] == "round" and r["params"]["blocks-per-sm"] == 1}
    by_hand = {(r["case"], r["params"]["way"], r["params"]["compiler"]): r
               for r in rows if r["case"] in KERNELS}
    lines = [
        "# The device library on a GPU", "",
        "Made by `benchmarks/harness/remap_table.py` from "
        "`benchmarks/results/h200/remap.json`, which "
        "`benchmarks/harness/remap_bench.py` wrote. Not edited by hand.", "",
        f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
        f"{facts['date'][:10]}. All overhead included; medians of alternating "
        "runs. The micro-benchmark checks its first blocks against the CPU; of "
        "the kernels all ways and builds must leave the same bytes, and the "
        "tests check them against the CPU at smaller sizes.", "",
        *(line for text in apart(result) for line in (text, "")),
        "## Kernels remapped by hand with it", "",
        "*Lanes at work* is the control-flow efficiency of the kernel as it "
        "was, with the library and with CUB, counted on the warp VM at a small "
        "size (`remap_counts.py`); *potential* is one over the first. "
        "Speed-ups are over the fastest build (nvcc -O3, clang 19 -O3, ours) "
        "of the kernel as it was; *share won* is the best of the library's "
        "less one, over the potential less one. What each kernel is, where it "
        "diverges, and what it is bad at: its folder in "
        "`benchmarks/kernels/`.", "",
        *speedups(by_hand), "", "What nvcc's builds take:", "",
        *resources(by_hand), "", *counters()]
    lines += ["", "## One round", "",
              "Microseconds that a round adds to a block of 256 threads alone "
              "on its multiprocessor.", "",
              "| algorithm | paths | " + " | ".join(COMPILERS) + " |",
              "| --- | ---: |" + " ---: |" * len(COMPILERS)]
    lines += [f"| {TITLES[algorithm]} | {paths} | " + " | ".join(
                  f"{rounds[algorithm, paths, c]:.2f}" for c in COMPILERS) +
              " |" for algorithm, paths in dict.fromkeys(
                  key[:2] for key in rounds)]
    lines += ["", "## Share of the ideal", "",
              "Each thread takes one of the paths, from its own data; *ideal* "
              "is the same work with nothing divided, over the original; the "
              "other columns are the share of that, in %, of the same build "
              "(nvcc's). *Even*: each block has as many threads of each path, "
              "in random order. *Drawn*: every thread's path is drawn; then one "
              "warp fewer than there are paths stays mixed, whatever the "
              "method, and takes twice as long. *At best* is what that leaves "
              "in a block of W warps with P paths, W / (W + P - 1), before the "
              "round costs anything. A cluster has more threads to choose "
              "from."]
    for case in CASES.values():
        for even in LENGTHS:
            lines += ["", f"### {case.replace('-', ' ').capitalize()}, "
                      f"{'even' if even else 'drawn'}", "",
                      *of_ideal(rows, case, even, "nvcc")]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    publish(page(), "remap-results.md", "remap_table.py")
