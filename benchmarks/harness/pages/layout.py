# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/layout-results.md: the suites layout-counts, layout, and, of programs whose
rows lie side by side, grouping-counts and grouping."""

import orders
from pages import grouping
from publish import machine
from tables import markdown

WAYS = ("redirected", "moved")
USES = {"": "an order for each launch", "-ordered": "an order that is there"}
ORDER = "greedy-max"  # which of grouping's


def fastest(rows):
    """(Bytes, way) -> milliseconds of whoever's build is fastest."""
    found = {}
    for row in rows:
        params = row["params"]
        if row["metric"] == "time":
            key = params["bytes"], params["way"]
            found[key] = min(row["value"], found.get(key, row["value"]))
    return found


def of_records(counted, timed):
    """(Case, predicted and measured time of moved over redirected)."""
    cycles = {(r["params"]["bytes"], r["params"]["way"]): r["value"]
              for r in counted["rows"]}
    ms = fastest(timed["rows"])
    for size in sorted({size for size, _ in cycles}):
        for use, what in USES.items():
            before, after = ((size, way + use) for way in WAYS)
            if before in ms:
                yield (f"{size} bytes, {what}", cycles[after] / cycles[before],
                       ms[after] / ms[before])


def of_rows(store):
    """The same of programs in orders by block vectors, the kernel alone."""
    results = grouping.Results(store)
    for case in dict.fromkeys(case for case, _ in results.kernels):
        gains = [results.predicted(case, way, "modelled") for way in
                 (ORDER, ORDER + orders.MOVED)]
        times = [results.times.get((case, way)) for way in
                 (ORDER, ORDER + orders.MOVED)]
        if None not in gains + times:
            yield (case, (100 - gains[1]) / (100 - gains[0]),
                   times[1] / times[0])


def table(cases):
    """Lines, and in how many cases the model is right."""
    body, right = [], 0
    for case, predicted, measured in cases:
        picked, best = (WAYS[ratio < 1] for ratio in (predicted, measured))
        right += picked == best
        body.append([case, f"{predicted:.2f}", f"{measured:.2f}", picked, best])
    return list(markdown(["case", "moved over redirected, modelled", "measured",
                          "the model's choice", "faster"], body, (0, 3, 4))), (
                              right, len(body))


def lines(store):
    counted, timed = store.newest("layout-counts"), store.of("layout")
    records, of = table(of_records(counted, timed))
    yield from (
        "# Data where they are, or in the order", "",
        f"Made by `benchmarks/run --page layout` from `{counted['path']}` and "
        f"`{timed['path']}`, which the suites `layout-counts` and `layout` wrote, "
        "and from what [grouping-results.md](grouping-results.md) is made of. "
        "Not edited by hand.", "",
        "Threads are in order over the grid ([regroup.md](regroup.md)). Then a "
        "thread reads its data where they are (*redirected*), or a kernel before "
        "has copied them into the order and one behind puts results back "
        "(*moved*). The model of time says from counts of the warp VM alone which "
        "is faster on an H200. Nothing in it was fitted to these programs, but it "
        "was asked after they had been measured.", "",
        f"**Records** of {min(r['params']['bytes'] for r in counted['rows'])} to "
        f"{max(r['params']['bytes'] for r in counted['rows'])} bytes, each read "
        "by one thread (`kernels/layout_micro`; counted with "
        f"{counted['rows'][0]['params']['items']:,} items, measured with "
        f"{timed['rows'][0]['params']['items']:,} on an "
        f"{machine(timed['environment'])}; by hand, the fastest of the builds): "
        f"the model's choice is the faster way in {of[0]} of {of[1]}.", "",
        *records, "")
    rows, of = table(of_rows(store))
    yield from (
        "**Rows that lie side by side**, which a thread reads and writes at "
        "each step (sw, nw), and inputs that it reads once or seldom (ec, mum): "
        "programs of [grouping-results.md](grouping-results.md), the kernel "
        "alone in the order of Greedy-Max, our builds. The model's choice is "
        f"the faster way in {of[0]} of {of[1]}.", "", *rows)
