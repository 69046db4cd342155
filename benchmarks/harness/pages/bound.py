# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/bound-results.md: the suite bound."""

from results import short
from tables import markdown

BUSY = 60  # percent: below, ncu's own rule speaks of latency
ELAPSED = ".avg.pct_of_peak_sustained_elapsed"
ACTIVE = ".avg.pct_of_peak_sustained_active"
# Our unit -> ncu's metrics of the same, in percent of their peak.
UNITS = {
    "issue": ("smsp__issue_active" + ACTIVE,),
    "alu": ("sm__pipe_alu_cycles_active" + ELAPSED,
            "sm__pipe_alu_cycles_active" + ACTIVE,
            "sm__inst_executed_pipe_alu" + ACTIVE),
    "fma": ("sm__pipe_fmaheavy_cycles_active" + ELAPSED,
            "sm__pipe_fmaheavy_cycles_active" + ACTIVE,
            "sm__pipe_fma_cycles_active" + ACTIVE),
    "xu": ("sm__inst_executed_pipe_xu" + ELAPSED,
           "sm__inst_executed_pipe_xu" + ACTIVE),
    "lsu": ("sm__inst_executed_pipe_lsu" + ELAPSED,
            "sm__inst_executed_pipe_lsu" + ACTIVE),
    "l1": ("l1tex__data_pipe_lsu_wavefronts" + ELAPSED,
           "l1tex__data_pipe_lsu_wavefronts" + ACTIVE,
           "l1tex__throughput" + ACTIVE),
    "l2": ("lts__throughput" + ELAPSED,),
    "dram": ("gpu__dram_throughput" + ELAPSED, "dram__throughput" + ELAPSED),
}
WAVES = "launch__waves_per_multiprocessor"
STALLS = ("smsp__average_warps_issue_stalled_", "_per_issue_active.ratio")
NO_STALL = ("selected", "not_selected")
# Where the word is another, why.
CAUSES = {
    "transport": "the model has the ALU at 85 % and issue at 82 %; ptxas makes "
        "multiply-adds (`IMAD`) of many moves and sums, so the ALU is busy for "
        "55 %",
    "xslookup": "the model takes a wavefront of the first cache for each line "
        "that a load touches, 11.6 of them; the hardware brings words of "
        "several lines in one, 3.6 wavefronts a load (of 64,125 loads of "
        "[memory-results.md](memory-results.md)), and then the tags of L2 are "
        "next",
    "lbm": "the model has what other thread blocks have loaded before miss L2 "
        "as far as all that is touched does not fit, and device memory at "
        "95 %; blocks that share lines run at one time, and ncu has device "
        "memory at 61 %. It has L2 at 90 %, by a part of it that it does not "
        "show; what it shows is at 72 % at most",
}
GPU_CAUSES = {
    "kmeans": "probes know what a thread block loads for the first time of "
        "those alone that end in 32768 cycles, and these run longer: all that "
        "is loaded is taken to miss the first cache",
    "lbm": "probes do not count what a grid touches for the first time, so "
        "device memory is asked for nothing",
}


def percents(counters):
    """Our unit -> percent, by the first metric that is there."""
    found = {}
    for unit, metrics in UNITS.items():
        there = [m for m in metrics if m in counters]
        if there:
            found[unit] = counters[there[0]]
    return found


def stall_of(counters):
    before, after = STALLS
    stalls = {name[len(before):-len(after)]: value
              for name, value in counters.items()
              if name.startswith(before) and name.endswith(after)}
    for name in NO_STALL:
        stalls.pop(name, None)
    return max(stalls, key=stalls.get) if stalls else ""


def word_of(counters):
    """What ncu's sections say, in our words."""
    if counters.get(WAVES, 1) < 0.5:
        return "grid"
    units = percents(counters)
    busiest = max(units, key=units.get)
    return busiest if units[busiest] >= BUSY else "latency"


def near(word, counters):
    """Whether ncu has the unit within 5 points of the busiest one. It does not see
    what it takes to start a launch: of launches that take no longer, the grid
    fills little of the GPU."""
    units = percents(counters)
    word = "grid" if word == "launch" else word
    return word == word_of(counters) or (
        word in units and word_of(counters) in units
        and units[word] >= max(units.values()) - 5)


def said(row):
    if row is None:
        return ""
    return row["bound"] + (f" {100 * row['value']:.0f} %"
                           if row["bound"] not in ("grid", "latency", "launch")
                           else "")


def lines(store):
    data = store.of("bound")
    facts = data["environment"]
    kernels = {}
    for r in data["rows"]:
        kernels.setdefault((r["case"], r["params"]["kernel"]), {})[
            r["params"]["by"]] = r
    body, apart, agree, total = [], [], [0, 0], 0
    for (case, kernel), rows in kernels.items():
        if "ncu" not in rows:
            continue
        counters = rows["ncu"]["counters"]
        units = percents(counters)
        total += 1
        for i, by in enumerate(("vm", "gpu")):
            same = by in rows and near(rows[by]["bound"], counters)
            agree[i] += same
            if not same:
                why = (CAUSES, GPU_CAUSES)[i].get(case) or CAUSES.get(case)
                apart.append(f"- `{case} {kernel}`, {('VM', 'GPU')[i]}: {why}.")
        body.append([f"{case} {kernel}", said(rows.get("vm")),
                     said(rows.get("gpu")), word_of(counters),
                     *(f"{units[u]:.0f}" if u in units else "" for u in UNITS),
                     stall_of(counters).replace("_", " ")])
    yield "# What a kernel is bound by: the report and Nsight Compute"
    yield ""
    yield ("Made by `benchmarks/run --page bound` from "
           f"`{data['path']}`, which `benchmarks/run bound` wrote. Not edited "
           "by hand.")
    yield ""
    yield (f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
           f"{facts['date']}, commit {short(facts['commit'])}.")
    yield ""
    yield ("*VM* and *GPU*: what a kernel's line says it is bound by, from "
           "counts on the warp VM and from a GPU profile ([time.md](time.md)), "
           "with the share of the time for which that unit is busy. *ncu*: the "
           "same of ncu's metrics for these launches: the unit that is busiest "
           f"in percent of its peak; `latency` if none is for {BUSY} %, as "
           "ncu's own rule has it; `grid` if the grid fills less than half of "
           "the GPU, which is what our `launch` is to ncu: that it takes as "
           "long to start it. Then these percents, and what warps wait for "
           "most.")
    yield ""
    yield from markdown(["kernel", "VM", "GPU", "ncu", *UNITS, "stall"], body,
                        left=(0, 1, 2, 3, 4 + len(UNITS)))
    yield ""
    yield (f"Of {total} kernels the VM's counts give ncu's word, or that of a "
           f"unit within 5 points of it, in {agree[0]}, a GPU profile in "
           f"{agree[1]}.")
    if apart:
        yield ""
        yield "Where not:"
        yield ""
        yield from apart
