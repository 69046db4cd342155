# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The numbers of the time model that were chosen by candidates, chosen anew.

src/model/Time.cpp makes a launch's time of how long each unit is busy, of the
latency of its warps, and of what a launch of nothing takes:

    T = (norm_p(units)^q + latency^q)^(1/q) + launch

p and q are no measurement: they are those that predict best. So a candidate of a
kernel has to be judged by p and q that were chosen without that kernel. The rows
`predicted` of the suite optimize have the units' times of both sides, on the
longest launch; nothing is measured again. How full caches are taken to be is in
these times already, and is not chosen anew.
"""

import json
import os
import statistics

import places

UNITS = ("issue", "alu", "fma", "fp64", "xu", "tex", "control", "l2", "dram",
         "atomics", "start")
PATHS = ("lsu", "l1")  # one way: the busier counts
NORMS = (3, 4, 6, 8, 12, 16)
JOINS = (1, 1.5, 2, 3, 4)


def cycles(time, norm, join, launch):
    """Of one launch: its units' times, as a log of trials has them."""
    busy = [time.get(unit, 0) for unit in UNITS]
    busy.append(max(time.get(unit, 0) for unit in PATHS))
    most = max(busy)
    if most:
        most *= sum((t / most) ** norm for t in busy) ** (1 / norm)
    return (most ** join + time["latency"] ** join) ** (1 / join) + launch


def launch_cycles(gpu):
    """Of the machine file of a GPU."""
    path = os.path.join(places.ROOT, "machines", gpu.lower() + ".json")
    with open(path, encoding="utf-8") as text:
        return json.load(text)["limits"]["launch-cycles"]["value"]


def error(row, norm, join, launch):
    """Of the speed-up that these numbers predict, of what was achieved."""
    predicted = (cycles(row["originalTime"], norm, join, launch)
                 / cycles(row["variantTime"], norm, join, launch))
    return predicted / row["achieved"] - 1


def best(rows, launch):
    """The numbers with the least mean error; of equals the first."""
    return min(((norm, join) for norm in NORMS for join in JOINS),
               key=lambda by: statistics.mean(
                   abs(error(row, *by, launch)) for row in rows))


def without_each(rows, launch):
    """[(kernel, (norm, join), errors of its rows)], the numbers chosen by the
    other kernels' rows. A kernel in two forms or sizes is one."""
    rows = [row for row in rows if "originalTime" in row]
    kernels = list(dict.fromkeys(row["case"] for row in rows))
    found = []
    for kernel in kernels:
        others = [row for row in rows if row["case"] != kernel]
        if not others:
            continue
        by = best(others, launch)
        found.append((kernel, by, [error(row, *by, launch) for row in rows
                                   if row["case"] == kernel]))
    return found


def sentence(rows, gpu):
    """What docs/time.md says of it; empty where nothing can be left out."""
    found = without_each(rows, launch_cycles(gpu))
    if not found:
        return ""
    errors = [abs(e) * 100 for _, _, of in found for e in of]
    chosen = sorted({by for _, by, _ in found})
    words = ", ".join(f"{norm:g} and {join:g} for "
                      f"{sum(by == (norm, join) for _, by, _ in found)}"
                      for norm, join in chosen)
    return ("With `norm` and the power by which T_lat is added chosen anew for "
            f"each of {len(found)} kernels by the others alone (`benchmarks/"
            "harness/refit.py`, from what the rows say of the units): "
            f"{statistics.mean(errors):.1f} % on average, {max(errors):.0f} % "
            f"at worst. They come out as {words} kernels.")
