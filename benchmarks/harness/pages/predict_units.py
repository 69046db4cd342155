# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Of docs/predict-results.md: how much of the classes' time the GPU's units let
hide behind the kernel of the batch before."""

import itertools

from publish import machine
from tables import markdown


def by_case_and_way(rows):
    return {(row["case"], row["params"]["way"]): row for row in rows}


def busiest(*kernels):
    """The unit that kernels keep busy longest if all run, and how long, in ms: a
    unit's work is the same whoever works beside it."""
    sums = {unit: sum(k["units"][unit] * k["value"] for k in kernels)
            for unit in kernels[0]["units"]}
    unit = max(sums, key=sums.get)
    return unit, sums[unit]


def most_hidden(work, foretell):
    """The share of the shorter that costs no time if both end when the busiest
    unit has done the work of both, or the longer has run."""
    shorter, longer = sorted((work["value"], foretell["value"]))
    together = max(longer, busiest(work, foretell)[1])
    return (longer + shorter - together) / shorter


def measured(store):
    """(case, source) -> the best hidden share and its way, of nvcc's build."""
    result, best = store.newest("predict-fused"), {}
    for row in result["rows"] if result else ():
        p = row["params"]
        if row["metric"] != "hidden" or p["compiler"] != "nvcc":
            continue
        way, _, source = p["way"].rpartition("-")
        if "whole" not in way and way != "sequential":
            key = row["case"], source
            best[key] = max(best.get(key, (-1.0, "")), (row["value"], way))
    return best


def lines(store):
    result = store.newest("predict-units")
    if not result:
        return
    yield from ("", "## How much could be hidden", "",
                machine(result["environment"]) + f" (`{result['path']}`): counters "
                "of Nsight Compute, of nvcc's build. Both kernels together need each "
                "unit for as long as each of them needs it alone. So they take at "
                "least as long as the unit that they need longest, and at least as "
                "long as the longer of them. *Limit* is the hidden share if they take "
                "no longer than that. *Best* is the greatest share that was measured "
                "(the table above), with its way. *Warps*: share of the warps that fit "
                "a multiprocessor, on average, and registers of a thread; *clock*: of "
                "the kernel that foretells, in MHz.", "")
    kernels, best = by_case_and_way(result["rows"]), measured(store)
    cases = dict.fromkeys(case for case, _ in kernels)
    body = []
    for case, source in itertools.product(cases, ("mma", "fma", "condition")):
        work, foretell = (kernels.get((case, f"{part}-{source}"))
                          for part in ("work", "foretell"))
        if not work or not foretell:
            continue
        unit, busy = busiest(work, foretell)
        share, way = best.get((case, source), (None, ""))
        body.append([
            case, source,
            *(f"{k['value']:.4f}, {busiest(k)[0]} "
              f"{100 * max(k['units'].values()):.0f} %" for k in (work, foretell)),
            f"{unit} {busy:.4f}", f"{100 * most_hidden(work, foretell):.0f} %",
            "-" if share is None else f"{100 * share:.0f} %, {way}",
            *(f"{100 * k['warps']:.0f} %, {k['registers']}"
              for k in (work, foretell)), str(foretell["mhz"])])
    yield from markdown(
        ["case", "classes by", "work alone, ms, busiest unit",
         "classes alone", "both: busiest unit, ms", "limit", "best",
         "warps of the work, registers", "of the classes", "clock"], body, (0, 1))
