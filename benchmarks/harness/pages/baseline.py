# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/baseline.md: the numbers come from results, why a kernel is slower or
faster is written by hand in baseline/causes.txt. A cause for a kernel that was
not measured is an error; a kernel of ours that is more than 3 % slower than
nvcc's and has no cause is shown as not explained."""

import os

import results
from errors import BenchError
from places import BENCH
from tables import markdown

CAUSES = os.path.join(BENCH, "baseline", "causes.txt")
KINDS = os.path.join(BENCH, "baseline", "kinds.txt")
# Below this, a launch is mostly the cost of launching.
TOO_SHORT = 0.010  # ms

HEAD = """# Unmodified kernels: nvcc, clang and us

The baseline of every speed-up that we report is the faster of nvcc -O3 and clang 19 -O3 on the unmodified kernel. This page is that baseline for all examples, and next to it what `reconverge cc --fatbin` makes of the same sources before any remedy. Written by `benchmarks/run --page baseline` from `{result}`; do not edit.

{machine}. Kernel time in ms, the median of {samples} samples from alternating processes; how it is measured is in [benchmarks/README.md](../benchmarks/README.md). Ratios above 1 are slower than nvcc. clang's own arithmetic is not nvcc's (its square roots are approximate), ours follows nvcc's; where a program's printed result still differs from that of the nvcc build, the time has a star. A kernel that takes less than {short} ms a launch is mostly the cost of launching.
"""
ALIASING = """
## What types would tell

nvcc concludes nothing from the types of two accesses in device code, and neither do we: with clang's default, `-fstrict-aliasing`, `min_element` of Thrust over a class finds the wrong element. Our time as it is over our time with `-fstrict-aliasing`, for the kernels that it moves by more than 3 %: above 1, the price of being right.
"""
TRIALS = """
## What the settings of our pipeline do

Time over nvcc's, one round on the same machine while the settings were chosen, for the kernels that one of them moves by more than 3 % (`{path}`). *arms apart*: SimplifyCFG does not sink what ends of arms share. *few*: loops of at most eight iterations that may leave early are unrolled wholly. *by four*: loops with a count that is dear to compute or a large body; *data too*: also those whose end depends on data. The pipeline has *all*, *data too* only where the loop reads along an array, and eight copies where a load's address comes from a load.
"""
OTHERS = """
## Kinds of kernels that the programs above lack

Over nvcc's time, on kernels of public programs of these kinds on which ours had been slowest, before the pipeline was mended for them and since; how they were measured is in `benchmarks/baseline/kinds.txt`. sb1 above is of that time too: 1.56 before and 0.71 since, at the size of [optimize-results.md](optimize-results.md).
"""
# Of pipeline-trials.json, which no suite writes any more.
SETTINGS = {"base": "before", "nosink": "arms apart", "small": "few",
            "rt4": "by four", "rt4u": "data too", "all": "all"}


def read_causes(path):
    """(program, kernel) to text."""
    causes = {}
    with open(path, encoding="utf-8") as lines_:
        for line in lines_:
            line = line.partition("#")[0].strip()
            if line:
                key, _, text = line.partition(": ")
                causes[tuple(key.split(None, 1))] = text.strip()
    return causes


def by_kernel(rows):
    """(program, kernel as it is called: `blurRows<5>`) to metric to row."""
    return results.by_metric(rows, lambda row: (row["case"], row["kernel"]
                             .partition("(")[0].removeprefix("void ")))


def ratio(ways, way, over):
    return ways[way]["value"] / ways[over]["value"]


def cell(row):
    star = "" if row["verdict"] == "identical" else " *"
    return f"{row['value']:.3f}{star}"


def machine(facts):
    return ", ".join(f"{label}{facts[key]}" for key, label in (
        ("gpu", "NVIDIA "), ("driver", "driver "), ("cuda", "CUDA "),
        ("clang", ""), ("date", "")) if facts.get(key))


def is_short(ways):
    return any(row.get("note") == "too-short" for row in ways.values())


def table(kernels, causes):
    for key, ways in kernels.items():
        ours = ratio(ways, "reconverge", "nvcc")
        why = causes.get(key, "not yet explained" if ours > 1.03 else "")
        if is_short(ways):
            why = "; ".join(filter(None, [why, "a launch takes microseconds"]))
        yield [key[0], f"`{key[1]}`", *(cell(ways[way]) for way in (
            "nvcc", "clang", "reconverge")), f"{ours:.2f}", why]


def means(kernels):
    """The last lines of that table."""
    ours, clang = ([ratio(ways, way, "nvcc") for ways in kernels.values()]
                   for way in ("reconverge", "clang"))
    yield (f"| geomean | | | | | {results.geomean(ours):.3f} | clang / nvcc is "
           f"{results.geomean(clang):.3f} |")
    long = [ratio(ways, "reconverge", "nvcc") for ways in kernels.values()
            if not is_short(ways)]
    if long and len(long) < len(ours):
        yield ("| geomean | of launches that take longer | | | | "
               f"{results.geomean(long):.3f} | |")


def aliasing(kernels):
    """The table of that, or nothing where it was not measured."""
    ratios = {key: ratio(ways, "reconverge", "strict-aliasing")
              for key, ways in kernels.items() if "strict-aliasing" in ways}
    if not ratios:
        return
    yield ALIASING
    yield from markdown(
        ["program", "kernel", "as it is / `-fstrict-aliasing`"],
        [[key[0], f"`{key[1]}`", f"{moved:.2f}"]
         for key, moved in ratios.items() if abs(moved - 1) > 0.03], (0, 1))
    yield (f"| geomean | of all {len(ratios)} | "
           f"{results.geomean(ratios.values()):.3f} |")


def trials(result):
    ratios = {key: [ratio(ways, way, "nvcc") for way in SETTINGS]
              for key, ways in by_kernel(result["rows"]).items()}
    yield TRIALS.format(path=result["path"])
    yield from markdown(
        ["program", "kernel", *SETTINGS.values()],
        [[key[0], f"`{key[1]}`", *(f"{r:.2f}" for r in own)]
         for key, own in ratios.items()
         if max(abs(r / own[0] - 1) for r in own) > 0.03], (0, 1))
    means_ = [results.geomean(column) for column in zip(*ratios.values())]
    yield "| geomean | of all | " + " | ".join(
        f"{mean:.3f}" for mean in means_) + " |"


def others(path):
    yield OTHERS
    rows = []
    with open(path, encoding="utf-8") as text:
        for line in text:
            if not line.startswith("#"):
                kind, kernel, time, ratios, why = map(str.strip,
                                                      line.split("|"))
                rows.append([kind, kernel, time, *(
                    f"{float(ratio_):.2f}" for ratio_ in ratios.split()), why])
    yield from markdown(["kind", "kernel", "nvcc, ms", "clang", "ours before",
                         "ours since", "cause"], rows, (0, 1, 6))


def lines(store, causes_path=CAUSES):
    result, causes = store.of("baseline"), read_causes(causes_path)
    kernels = by_kernel(result["rows"])
    gone = [" ".join(key) for key in causes if key not in kernels]
    if gone:
        raise BenchError("causes for what was not measured, gone or renamed: "
                         + ", ".join(gone))
    yield HEAD.format(machine=machine(result["environment"]),
                      samples=result["rows"][0]["count"], short=TOO_SHORT,
                      result=result["path"])
    yield from markdown(["program", "kernel", "nvcc", "clang", "ours",
                         "ours / nvcc", "why"], table(kernels, causes),
                        (0, 1, 6))
    yield from means(kernels)
    for text in results.apart(result):
        yield "\n" + text
    yield from others(KINDS)
    yield from aliasing(kernels)
    if tried := store.if_there("pipeline-trials"):
        yield from trials(tried)
