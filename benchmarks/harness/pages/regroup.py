# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/regroup-results.md: the suites regroup and regroup-counts (of any CPU)."""

from programs import REGROUPED
from publish import machine, made_by
from results import apart
from tables import markdown

USED_AGAIN = "used-10-times"
TIMED = ("original", "regrouped", "ordered", "library")
GAINS = ("regrouped", "ordered", USED_AGAIN, "library")
# Speed-ups on an H200, written before the first measurement: from counts on the
# warp VM, and what a prototype's sort took.
PREDICTED = {
    "pol": (5.2, 6.0, 5.9),
    "gdt": (2.1, 3.2, 3.0),
    "contact": (1.2, 1.8, 1.7),
    "pb": (.75, 1.5, 1.4),
    "mg": (.6, 1.1, 1.0),
    "cvp": (.70, .75, .75),
    "xslookup": (2.6, 2.9, 2.9),
    "mg-smoother": (.5, 1.1, 1.0),
    "xslookup-material": (.90, .93, .93),
}


def by_case(rows):
    """Case to (metric, way) to the row of the fastest compiler."""
    found = {name: {} for name in REGROUPED}
    for row in rows:
        if row["case"] not in found:
            continue
        of, key = found[row["case"]], (row["metric"], row["params"]["way"])
        better = min if row["metric"] == "time" else max
        of[key] = better(of.get(key, row), row, key=lambda r: r["value"])
    return found


def predicted(name):
    return [f"{value:.2f}x" for value in PREDICTED[name]]


def measured(result):
    cases = by_case(result["rows"])
    wrong = sorted({row["case"] for row in result["rows"]
                    if row["verdict"] != "identical"})
    builds = list(dict.fromkeys(row["params"]["compiler"]
                                for row in result["rows"]))
    yield (machine(result["environment"]) + ". Milliseconds a launch, of the "
           f"fastest of the builds by {' and '.join(builds)}: as it is; keys, "
           "sort and kernel; the kernel alone, by an order that is there; by "
           "`block_remap`. Results are "
           + (f"the same bytes, but not of {', '.join(wrong)}." if wrong
              else "the same bytes."))
    yield ""
    for text in apart(result):
        yield from (text, "")
    yield from markdown(
        ["case", "as it is", "regrouped", "kernel alone", "`block_remap`"],
        [[name, *(f"{cases[name]['time', way]['value']:.4f}"
                  for way in TIMED)] for name in REGROUPED])
    yield from ("", "Speed-up over the fastest build of the program as it is, "
                "predicted before the first measurement and measured:", "")
    body = []
    for name in REGROUPED:
        cells = [f"{cases[name]['speedup', way]['value']:.2f}x"
                 for way in GAINS]
        body.append([name, *(cell for pair in zip(predicted(name), cells)
                             for cell in pair), cells[-1]])
    yield from markdown(
        ["case", "with the sort, predicted", "measured",
         "kernel alone, predicted", "measured", "ten uses, predicted",
         "measured", "`block_remap`"], body)


def orders(result):
    """What an order costs, of the faster build."""
    found = {}
    for row in result["rows"]:
        if row["metric"] == "cost-of-order":
            of = found.setdefault((row["params"]["items"],
                                   row["params"]["bits"]), {})
            way = row["params"]["way"]
            of[way] = min(of.get(way, row["value"]), row["value"])
    if not found:
        return
    yield from ("", "What an order costs, microseconds of an idle device's time "
                "(`kernels/regroup_micro`):", "")
    yield from markdown(
        ["items", "bits", "the order", "with inverse and offsets",
         "CUB's sort alone"],
        [[f"{items:,}", bits, *(f"{of[way]:.1f}" for way in
                                ("order", "order-inverse-offsets", "cub"))]
         for (items, bits), of in found.items()])


def expected():
    yield ("Not measured on a GPU yet. Speed-up expected on an H200 over the "
           "fastest build of the program as it is:")
    yield ""
    yield from markdown(["case", "with the sort", "kernel alone", "ten uses"],
                        [[name, *predicted(name)] for name in REGROUPED])


def counted(result):
    rows = {(row["case"], row["metric"], row["params"]["way"]): row["value"]
            for row in result["rows"]}
    yield (f"Counted on the warp VM at small sizes (`{result['path']}`, by "
           "`benchmarks/run regroup-counts`): lanes at work; issue slots of the "
           "program as it is over those of the kernel by the order, alone and "
           "with keys and sort; sectors of global memory that the kernel alone "
           "asks for, over those of the program as it is. At such sizes the "
           "sort, whose blocks also wait for each other, is a large part.")
    yield ""
    yield from markdown(
        ["case", "lanes, as it is", "`block_remap`", "regrouped",
         "slots, kernel alone", "with the sort", "sectors, kernel alone"],
        [[name, *(f"{100 * rows[name, 'lanes', way]:.1f} %"
                  for way in ("original", "library", "ordered")),
          f"{rows[name, 'slots', 'ordered']:.2f}x",
          f"{rows[name, 'slots', 'regrouped']:.2f}x",
          f"{rows[name, 'sectors', 'ordered']:.2f}x"] for name in REGROUPED])


def lines(store):
    yield from ("# An order over the grid, on a GPU", "",
                made_by("regroup", "benchmarks/results/h200/regroup.json"), "",
                "Programs whose items the device library puts in order over "
                "the whole grid: [regroup.md](regroup.md). The key is the path "
                "of an item; of `xslookup` the material and 12 bits of the "
                "energy, of `xslookup-material` the material alone. Of `mg`, "
                "the smoother is regrouped on the two finest levels; "
                "`mg-smoother` is that alone.", "")
    result = store.if_there("regroup")
    if result:
        yield from measured(result)
        yield from orders(result)
    else:
        yield from expected()
    if newest := store.newest("regroup-counts"):
        yield ""
        yield from counted(newest)
