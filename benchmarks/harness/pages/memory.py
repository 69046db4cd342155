# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/memory-results.md: the suite memory."""

from results import by_metric, short
from tables import markdown

NEAR = 0.02
# Metric, the table's column.
COLUMNS = {"load-sectors": "sectors a load", "store-sectors": "sectors a store",
           "shared-load-wavefronts": "wavefronts, shared loads",
           "shared-store-wavefronts": "wavefronts, shared stores"}
JOINED = ("our code generator joins loads and stores of neighbours, since it "
          "aligns the arrays for that; the VM sees them before, one by one")
# Why the hardware counts otherwise, read off its other counters, the PTX and
# the machine code of the build that was measured.
CAUSES = {
    "bitonic bitonicSort": "what the hardware computes from the addresses "
        "(`smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st`) is the "
        "VM's number, 1,502,372 in all; its counter of the data stage has "
        "341,520 more, where stores meet other traffic",
    "contact plain": "ptxas leaves out 1,300 of 19,363 loads",
    "fft denoise<10>": "as above",
    "fft spectrum<10>": "ptxas joins two accesses of 8 bytes into one of 16 "
        "(`LDS.128`, `STS.128`)",
    "kmeans gather": "ptxas leaves out 96 of 960 loads",
    "lu luInternal": JOINED,
    "lu luPerimeter": JOINED,
    "lud perimeter<16>": JOINED,
    "nbody step": "a structure that is copied to shared memory as a whole is "
        "not counted on the VM ([memory.md](memory.md#limits)), so its loads "
        "and stores are missing",
    "pcm mergeSplit<8>": "ptxas joins neighbouring loads and leaves out "
        "others: 19,688 of 20,646 are left",
    "smithwaterman alignLong": JOINED,
}


def gap_of(rows):
    """VM over hardware, less one; None where either is missing."""
    if "vm" not in rows or "ncu" not in rows:
        return None
    return rows["vm"]["value"] / rows["ncu"]["value"] - 1


def number(value):
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def cell_of(rows):
    if not rows:
        return ""
    gap = gap_of(rows)
    if gap is None:
        return f"{number(next(iter(rows.values()))['value'])} " + (
            "(VM alone)" if "vm" in rows else "(hardware alone)")
    if abs(gap) <= NEAR:
        return number(rows["vm"]["value"])
    return f"**{number(rows['vm']['value'])}**, {number(rows['ncu']['value'])}"


def table_of(kernels):
    """The lines of the table; kernel -> [(column, gap)], of those that are wide
    or missing; the gaps of all numbers that both have."""
    body, wide, gaps = [], {}, []
    for name, metrics in kernels.items():
        if not any("ncu" in rows for rows in metrics.values()):
            continue
        body.append([name, *(cell_of(metrics.get(m, {})) for m in COLUMNS)])
        for metric, column in COLUMNS.items():
            if metric not in metrics:
                continue
            gap = gap_of(metrics[metric])
            if gap is not None:
                gaps.append(gap)
            if gap is None or abs(gap) > NEAR:
                wide.setdefault(name, []).append((column, gap))
    return body, wide, gaps


WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts"


def wavefronts_of(rows):
    """The lines on wavefronts of global memory."""
    counted, read, order = {}, {}, []
    for r in rows:
        name = f"{r['case']} {r['params']['kernel']}"
        if r["metric"] == "accesses" and r["params"]["by"] == "vm":
            of = [sums for what, sums in r["sums"].items()
                  if not what.startswith("shared")]
            counted[name] = [sum(sums[k] for sums in of)
                             for k in ("requests", "wavefronts")]
            order.append(name)
        elif r["metric"] == "hardware":
            read[name] = (r["counters"][f"{WAVEFRONTS}.sum"]
                          - r["counters"][f"{WAVEFRONTS}_mem_shared.sum"])
    body, near = [], 0
    for name in order:
        if name not in read or not counted[name][0]:
            continue
        requests, wavefronts = counted[name]
        gap = wavefronts / read[name] - 1
        near += abs(gap) <= 0.1
        body.append([name, f"{wavefronts / requests:.2f}",
                     f"{read[name] / requests:.2f}", f"{100 * gap:+.0f} %"])
    yield ""
    yield "## Wavefronts of the first cache"
    yield ""
    yield ("A request of global or local memory on average: what the VM counts "
           "by the rules of [memory.md](memory.md), and what passes the "
           "hardware's data stage, without shared memory but with shuffles and "
           "what a kernel's start takes. More on the hardware: shuffles (the "
           "bitonic sorts, sb1 to sb3, pcm, nbody step), few requests in all, "
           "and loads that miss (spmv). Fewer: where tags take longer than "
           "data, the VM counts tags (xslookup, matching).")
    yield ""
    yield from markdown(["kernel", "VM", "hardware", "difference"], body)
    yield ""
    yield f"Within 10 %: {near} of {len(body)}."


def probes_of(kernels):
    """(equal, of) numbers of probes that are of the VM's launches."""
    pairs = [(rows["vm"], rows["probes"]) for metrics in kernels.values()
             for rows in metrics.values() if {"vm", "probes"} <= set(rows)]
    pairs = [(vm, probes) for vm, probes in pairs
             if vm["launches"] == probes["launches"]
             and vm.get("commit") == probes.get("commit")]
    equal = sum(vm["value"] == probes["value"] for vm, probes in pairs)
    return equal, len(pairs)


def lines(store):
    data = store.of("memory")
    facts = data["environment"]
    kernels = {}
    for metric in COLUMNS:
        rows = [r for r in data["rows"] if r["metric"] == metric]
        for r in rows:
            kernels.setdefault(f"{r['case']} {r['params']['kernel']}", {}) \
                .setdefault(metric, {})[r["params"]["by"]] = r
    order = list(by_metric(data["rows"], lambda r: f"{r['case']} "
                           f"{r['params']['kernel']}"))
    kernels = {name: kernels[name] for name in order if name in kernels}
    body, wide, gaps = table_of(kernels)
    equal, of = probes_of(kernels)
    yield "# Requests to memory: the VM, the probes and the hardware"
    yield ""
    yield ("Made by `benchmarks/run --page memory` from "
           f"`{data['path']}`, which `benchmarks/run memory` wrote. Not edited "
           "by hand.")
    yield ""
    yield (f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
           f"{facts['date']}, commit {short(facts['commit'])}; some rows of the "
           "VM, which are the same on every machine, of later ones.")
    yield ""
    yield ("Each program at a small size, its launches counted by the VM, by "
           "probes in every thread block, and by the hardware's own counters "
           "(ncu) in code without probes. Sectors are those a request of a "
           "warp takes, wavefronts those of a launch ([memory.md](memory.md)). "
           "One number: VM and hardware agree within 2 %. Two: the **VM's**, "
           "and the hardware's.")
    yield ""
    yield from markdown(["kernel", *COLUMNS.values()], body)
    yield ""
    yield (f"Of {len(gaps)} numbers that both have, "
           f"{sum(abs(gap) <= NEAR for gap in gaps)} agree within 2 %. Probes "
           f"on the GPU: {equal} of {of} numbers equal to the VM's.")
    if wide:
        yield ""
        yield "Where they do not agree, and why:"
        yield ""
    for name, found in wide.items():
        what = ", ".join(f"{column} {100 * gap:+.1f} %" if gap is not None else
                         f"{column} in one alone" for column, gap in found)
        yield f"- `{name}` ({what}): {CAUSES.get(name, 'not explained yet')}."
    yield from wavefronts_of(data["rows"])
