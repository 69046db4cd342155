# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/validation.md: the suites validation and overhead."""

import statistics

from results import apart, by_metric, geomean, short
from tables import markdown

LARGE_GAP = 0.03

# Why the hardware's efficiency is another, read off the machine code of the
# build that was measured (nvdisasm, sm_90).
CAUSES = {
    "convolution blurRows<5>": "the second round of the loop that fills the "
        "tile runs with 10 lanes of 32, and takes 18 machine instructions; the "
        "weights, loads in the IR of the full warps after it, are operands",
    "kmeans move": "a division of 64 bits is a test, and then 20 instructions "
        "for operands that fit into 32 bits or a routine of 62; lanes of a "
        "warp go both ways. It is counted as 26 of all lanes",
    "smithwaterman alignLong": "in each step lane 0 loads and lane 31 stores a "
        "cell: blocks of one lane in the IR, predicated instructions of all "
        "lanes in the machine code",
    "spmv multiplyScalar<float>": "the row's loop is unrolled by eight, its "
        "remainder is not: there ptxas moves each pointer by two instructions "
        "an element, 15 in all, where the unrolled loop takes 7",
    "spmv multiplyScalar<double>": "as with float",
    "stencil heatStep": "four copies of the tile's border (address, load, "
        "store), each for the lanes or the warp at that side, are predicated "
        "instructions of all lanes in the machine code",
}
# Why vectors may differ at all.
UNEQUAL = {
    "bfs expand": "which thread finds a vertex first is a race",
    "blackscholes imply": "its loop ends when a value computed with "
        "approximate intrinsics is small enough",
}


def efficiency(data):
    kernels = by_metric(
        [row for row in data["rows"] if "kernel" in row["params"]],
        lambda row: row["case"] + " " + row["params"]["kernel"])
    body, gaps, unexplained = [], [], []
    for name, rows in kernels.items():
        equal = "equal" if rows["bbv-equal"]["value"] else \
            UNEQUAL.get(name, "**differ**")
        cells = [name] + [f"{100 * rows[m]['value']:.1f}"
                          for m in ("cfe-vm", "cfe-probes")]
        if "cfe-gpu" in rows:
            gap = rows["cfe-gpu"]["value"] - rows["cfe-vm"]["value"]
            gaps.append((name, gap))
            if abs(gap) > LARGE_GAP and name not in CAUSES:
                unexplained.append(name)
            cells += [f"{100 * rows['cfe-gpu']['value']:.1f}",
                      f"{100 * rows['cfe-gpu']['predicated']:.1f}",
                      f"{100 * gap:+.1f}"]
        else:
            cells += ["", "", ""]
        body.append(cells + [equal])
    yield from markdown(["kernel", "VM", "probes", "hardware", "predicated",
                      "gap", "vectors"], body)
    sizes = [100 * abs(gap) for _, gap in gaps]
    small = [size for size in sizes if size <= 100 * LARGE_GAP]
    yield ""
    if not sizes:
        yield "The hardware's counters were not read."
        return
    yield (f"The gap is hardware less VM, in points. Over {len(sizes)} kernels "
           f"it is {statistics.mean(sizes):.1f} in the mean and "
           f"{statistics.median(sizes):.1f} in the median; over the "
           f"{len(small)} of at most {100 * LARGE_GAP:.0f} points, "
           f"{statistics.mean(small or [0]):.1f} in the mean.")
    yield ""
    yield "Gaps of more than 3 points, with what the machine code shows:"
    yield ""
    for name, gap in gaps:
        if abs(gap) > LARGE_GAP and name in CAUSES:
            yield f"- `{name}` ({100 * gap:+.1f}): {CAUSES[name]}."
    for name in unexplained:
        yield f"- `{name}`: not explained yet."


# Metric, the table's column, and what it is in a sentence.
OVERHEADS = [
    ("branch-counters", "branch counters", "with branch counters"),
    ("accesses", "and accesses", "with accesses to memory too"),
    ("all-blocks", "in every block", "with them in every thread block"),
    ("block-vectors", "and block vectors",
     "with all that and block vectors of the sampled launches and thread "
     "blocks")]


def overhead(data):
    cases = by_metric(
        [row for row in data["rows"] if "kernel" not in row["params"]],
        lambda row: row["case"])
    body, ratios = [], {}
    there = [o for o in OVERHEADS
             if any(o[0] in rows for rows in cases.values())]
    for case, rows in cases.items():
        line = [case, f"{rows['plain']['value']:.2f}"]
        for metric, _, _ in there:
            # Not measured where every thread block counts in any case.
            row = rows.get(metric)
            ratios.setdefault(metric, []).append(
                (row or rows["branch-counters"])["value"])
            line.append(f"{row['value']:.2f}x ({row['spread'][0]:.2f} to "
                        f"{row['spread'][1]:.2f})" if row else "the same")
        body.append(line + [rows["block-vectors"]["verdict"]])
    yield from markdown(["example", "kernels, ms", *(o[1] for o in there),
                      "output"], body)
    yield ""
    yield ("Geometric mean: " +
           ", ".join(f"{geomean(ratios[metric]):.2f}x {words}"
                     for metric, _, words in there) + ".")
    for text in apart(data):
        yield ""
        yield text
    if any(metric == "all-blocks" for metric, _, _ in there):
        yield ""
        yield ("Of large grids a sample of the thread blocks counts, one of "
               "each 2, 4, 8, ... ([gpu.md](gpu.md)). *In every block* is "
               "`RECONVERGE_GPU=blocks=all`; *the same* where the example has "
               "no such grid.")


def sanitizers(data):
    rows = [r for r in data["rows"] if r["metric"] == "sanitizer"]
    dirty = [r for r in rows if not r["value"]]
    yield (f"compute-sanitizer (memcheck, racecheck) on code with probes: "
           f"{len(rows) - len(dirty)} of {len(rows)} runs clean.")
    for row in dirty:
        yield f"- {row['case']}, {row['params']['tool']}: {row['verdict']}"
    outputs = [r for r in data["rows"] if r["metric"] == "output"]
    same = sum(r["value"] for r in outputs)
    yield (f"Output with and without probes: identical for {same} of "
           f"{len(outputs)} examples.")
    for row in outputs:
        if not row["value"]:
            yield f"- {row['case']}: {row['verdict']}"


def lines(store):
    validation, cost = store.of("validation"), store.of("overhead")
    facts = validation["environment"]
    yield "# Validation: the VM, the probes and the hardware"
    yield ""
    yield ("Made by `benchmarks/run --page validation` from "
           f"`{validation['path']}` and `{cost['path']}`, which "
           "`benchmarks/run validation overhead` wrote. Not edited by hand.")
    yield ""
    yield (f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
           f"{facts['date']}, commit {short(facts['commit'])}.")
    yield ""
    yield "## Control-flow efficiency and block vectors"
    yield ""
    yield ("Each example at its own size, the same bitcode everywhere. *VM* and "
           "*probes* weigh blocks by n(b) ([metrics.md](metrics.md)), on the "
           "warp VM and on the GPU. *hardware* is ncu's average of active "
           "threads per instruction, over 32, of code without probes; "
           "*predicated* counts only threads whose predicate is on. *vectors*: "
           "whether the block vectors of all sampled threads are the same on VM "
           "and GPU.")
    yield ""
    yield from efficiency(validation)
    yield ""
    yield "## Overhead of counting"
    yield ""
    yield ("Time of all kernels of an example with probes over that without "
           "(the same bitcode and tools), at sizes that fill the GPU, in turns. "
           "Kernel time by events; what the host does around a launch is not in "
           "it.")
    yield ""
    yield from overhead(cost)
    yield ""
    yield "## Results with probes"
    yield ""
    yield from sanitizers(validation)
