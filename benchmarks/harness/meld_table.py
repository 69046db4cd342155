#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/meld-results.md from results/h200/meld.json and the newest of
results/*/meld-counts.json, of the warp VM (counts are the same on every CPU),
and of results/*/meld-time.json; --check: is it up to date?"""

import glob
import os

from results import apart, geomean, publish, read

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
RAW = os.path.join(ROOT, "benchmarks", "results", "h200", "meld.json")
WAYS = ("nvcc", "clang", "reconverge", "melded")
COUNTS = os.path.join(ROOT, "benchmarks", "results", "*", "meld-counts.json")
TIMES = os.path.join(ROOT, "benchmarks", "results", "*", "meld-time.json")
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


def date_of(path):
    return read(path)["environment"]["date"]


def percent(metrics, kind):
    """What is left of them, with melding."""
    row = metrics.get(kind + "-instructions")
    return f"{100 / row['value']:.0f} %" if row else "-"


def counts_of(path):
    """The part of the page that a file of counts makes."""
    result = read(path)
    found = {}
    for row in result["rows"]:
        key = " ".join([row["case"], *(f"{k}={v}" for k, v
                                       in row["params"].items())])
        found.setdefault(key, {})[row["metric"]] = row
    lines = [
        "", "## Instructions, counted on the warp VM", "",
        "Made from `benchmarks/results/"
        f"{os.path.basename(os.path.dirname(path))}/meld-counts.json`, which "
        "`benchmarks/harness/meld_counts.py` wrote: exact counts at the "
        "programs' own small sizes, lanes meeting again as with a "
        "reconvergence stack. *CFE*: control-flow efficiency, before and "
        "after. *Fewer slots*: issue slots by the machine file, before over "
        "after. The last three: instructions that warps execute after melding, "
        "of those before (the paper's Fig. 9 and 10); arithmetic has the "
        "selects that melding adds.", "",
        "| program | CFE | melded | fewer slots | arithmetic | global accesses "
        "| shared accesses |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for name, metrics in found.items():
        lines.append(
            f"| {name} | {100 * metrics['cfe-before']['value']:.1f} % | "
            f"{100 * metrics['cfe-after']['value']:.1f} % | "
            f"{metrics['slots']['value']:.2f}x | "
            + " | ".join(percent(metrics, kind) for kind in
                         ("arithmetic", "global", "shared")) + " |")
    return lines


def times_of(path):
    """The part of the page on the time to compile."""
    result = read(path)
    facts, found = result["environment"], {}
    for row in result["rows"]:
        found.setdefault(row["case"], {})[row["metric"]] = row["value"]
    ratios = [metrics["ratio"] for metrics in found.values()]
    runs = result["rows"][0]["count"]
    return [
        "", "## Time to compile", "",
        f"On an {facts['cpu']}, {facts['date'][:10]}, by `meld_time.py`: CPU "
        "seconds from source to machine code of the device, at -O3 and with "
        f"melding, medians of {runs} runs in turns; ratios below 1 show how "
        f"much of it is noise. Mean of the ratios "
        f"{sum(ratios) / len(ratios):.3f}, worst {max(ratios):.3f}.", "",
        "| program | -O3 | melded | ratio |", "| --- | ---: | ---: | ---: |",
        *(f"| {name} | {m['plain']:.2f} | {m['melded']:.2f} | "
          f"{m['ratio']:.3f} |" for name, m in found.items())]


def page():
    result = read(RAW)
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
        *(line for text in apart(result) for line in (text, "")),
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
    for files, part in ((COUNTS, counts_of), (TIMES, times_of)):
        newest = max(glob.glob(files), key=date_of, default=None)
        if newest:
            lines += part(newest)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    publish(page(), "meld-results.md", "meld_table.py")
