# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/grouping-results.md: the suite grouping-counts (the same on every CPU, so
the newest; the first of them had no forecasts)."""

from publish import made_by
from tables import markdown

# Paper 1, Table IV: divergent warps of all, divergent branches of all.
PAPER = {
    "mc": (8192, 8192, 47380, 151820),
    "sw": (1024, 1024, 29783, 83517722),
    "ec": (768, 768, 603954, 52079573),
    "nw": (1024, 1024, 97049370, 1094483922),
    "mum": (2048, 2048, 371967, 1640166),
    "sl": (36, 560, 102, 163624),
    "sm": (4760, 6080, 258875, 3570480),
}
# They prepare what the kernels under test read, and hardly diverge.
BEFORE = ("classify", "correlate")
ALGORITHMS = ("Sorting", "Greedy", "Greedy-Max", "longest blocks first")


def share(value):
    return f"{100 * value:.1f} %"


def by_kernel(rows):
    """(Case, kernel) to (metric, algorithm, machine) to value."""
    found = {}
    for row in rows:
        if row["kernel"] in BEFORE:
            continue
        params = row["params"]
        found.setdefault((row["case"], row["kernel"]), {})[
            row["metric"], params.get("by"), params.get("machine")
        ] = row["value"]
    return found


def lines(store):
    result = store.newest("grouping-counts")
    kernels = by_kernel(result["rows"])
    machines = list(dict.fromkeys(row["params"]["machine"]
                                  for row in result["rows"]
                                  if "machine" in row["params"]))
    yield from (
        "# Kernels to regroup", "",
        made_by("grouping-counts", result["path"]), "",
        "The kernels of Liang et al., *An Accurate GPU Performance Model for "
        "Effective Control Flow Divergence Optimization*, as "
        "`benchmarks/kernels` has them: written from the algorithms, on "
        "generated inputs, at the paper's numbers of threads. Counted on the "
        "warp VM; what was regrouped on a GPU is not here yet.", "",
        "## How they diverge", "",
        "Beside it the paper's Table IV, counted by hardware on its programs and "
        "inputs. Its branches are those of the machine code, which in inner "
        "loops has many that never diverge; ours are those that can diverge.",
        "")
    body = []
    for (case, kernel), value in kernels.items():
        warps, all_warps, branches, all_branches = PAPER[case]
        body.append([case, kernel, share(value["cfe-before", None, None]),
                     share(value["divergent-warps", None, None]),
                     share(warps / all_warps),
                     share(value["divergent-branches", None, None]),
                     share(branches / all_branches)])
    yield from markdown(["case", "kernel", "lanes at work", "divergent warps",
                         "paper", "divergent branches", "paper"], body, (0, 1))
    if not machines:
        return
    yield from (
        "", "## What regrouping should gain", "",
        "1 - T/T0 by the two metrics (weighted, scheduled; "
        "[metrics.md](metrics.md#a-grouping)), in %, by `reconverge predict "
        "--groupings`: written before anything is measured. The metrics know "
        "nothing of memory; ec and mum are bound by it.", "")
    body = [[case, kernel, machine,
             *(f"{value['weighted', by, machine]:.1f}, "
               f"{value['scheduled', by, machine]:.1f}" for by in ALGORITHMS)]
            for (case, kernel), value in kernels.items()
            for machine in machines]
    yield from markdown(["case", "kernel", "machine", *ALGORITHMS], body,
                        (0, 1, 2))
