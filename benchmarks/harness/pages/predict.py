# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/predict-results.md: the suites predict, of whichever GPU was last, and
predict-counts, the same on every CPU."""

import json
import os

from pages import predict_units
from places import NETS
from predicting import HELD_OUT, PROGRAMS, SOURCES, TRAINED_ON
from publish import machine, made_by
from tables import markdown

# Tables 1 and 2 of the paper and its text: case, board, CFE as it is and in the
# order, speed-up of the kernel, overlap rate; what it has no number for is None.
PAPER = [("gdt", "Xavier", .630, .906, 1.7, .491),
         ("gdt", "Orin", .636, .958, None, .452),
         ("ec", "Xavier", .129, .469, None, .269),
         ("ec", "Orin", .127, .466, 1.8, .153),
         ("lbm", "Xavier", .789, .758, None, None),
         ("lbm", "Orin", .835, .896, None, None)]
NETS_OF = ("fma", "mma")
ONE_KERNEL = ("fused", "both", "mixed")


def by_case(rows):
    """Case -> (metric, way) -> row, in the order of the file."""
    found = {}
    for row in rows:
        found.setdefault(row["case"], {})[row["metric"],
                                          row["params"].get("way")] = row
    return found


def percent(row):
    return f"{100 * row['value']:.1f} %" if row else "-"


def held_out(name):
    """What the file of a net says of the thread blocks that it was not trained
    on."""
    with open(os.path.join(NETS, name + ".json"), encoding="utf-8") as net:
        return f"{100 * json.load(net)['trained']['accuracy']:.1f} %"


def times(row, form="{:.2f}x"):
    return form.format(row["value"]) if row else "-"


def counted(store):
    result = store.newest("predict-counts")
    yield from ("## On other inputs, counted", "",
                f"The warp VM, small sizes (`{result['path']}`, by `benchmarks/run "
                "predict-counts`). Everything that can be fitted was fitted to "
                f"seed {TRAINED_ON} of a program's generator; these are of seed "
                f"{HELD_OUT[0]}. *CFE*: lanes at work in the kernel, as it is and "
                "in the order (Table 1 of the paper); *slots*: issue slots of the "
                "kernel as it is over those in the order, and with keys and sort; "
                "*purity*: lanes that take about as long as most of their warp; "
                "*right*: threads that a net takes for their class, of blocks of "
                "the same run that were held out, and of the other seed.", "")
    body = []
    for name, rows in by_case(result["rows"]).items():
        before = rows.get(("lanes", "none"))
        for way, called in SOURCES.items():
            after = rows.get(("lanes", way))
            if not after:
                continue
            body.append([
                name, called, percent(before), percent(after),
                f"{after['value'] / before['value']:.2f}x",
                times(rows.get(("slots", way))),
                times(rows.get(("whole-slots", way))),
                percent(rows.get(("purity", way))),
                held_out(name) if way == "fma" else "-",
                percent(rows.get(("accuracy", way)))])
        gains = {way: rows["whole-slots", way]["value"] for way in SOURCES
                 if ("whole-slots", way) in rows}
        best = max(gains, key=gains.get, default="none")
        if gains.get(best, 0) <= 1:
            best = "none"
        body.append([name, "**fewest slots**", percent(before), "", "", "",
                     SOURCES.get(best, "none"), "", "", ""])
    yield from markdown(["case", "order by", "CFE, as it is", "CFE, in order",
                         "", "slots", "with keys and sort", "purity",
                         "right, held out", "right, other seed"], body, (0, 1))
    yield ""
    yield from refusals(result["rows"])


def refusals(rows):
    none = {row["case"]: row["refused"] for row in rows
            if row.get("refused") and row["params"]["way"] == "exact"}
    for case, why in none.items():
        yield f"- `{case}`, the condition: {why}."
    if none:
        yield ""


def of_programs(rows):
    body = []
    for name, own in by_case(rows).items():
        if name not in PROGRAMS:
            continue
        best = next(row for (metric, _), row in own.items() if metric == "best")
        for way, called in SOURCES.items():
            time = own.get(("time", way)) or own.get(("alone", way))
            if not time:
                continue
            kept = own.get(("kept", way))
            body.append([name, called, f"{time['value']:.4f}",
                         times(own[("speedup", way)]),
                         percent(own[("spread", way)]),
                         "" if not kept or kept["value"] else "off"])
        plain = min((own["time", way] for way in ("nvcc", "reconverge")
                     if ("time", way) in own), key=lambda row: row["value"])
        body.append([name, "as it is", f"{plain['value']:.4f}", "1.00x",
                     percent(own["spread", plain["params"]["way"]]), ""])
        body.append([name, "**what is taken**", "", times(best), "",
                     SOURCES.get(best["params"]["way"], "none")])
    yield from markdown(["case", "order by", "ms", "speed-up",
                         "spread over seeds", ""], body, (0, 1, 5))


def fused(store):
    result = store.newest("predict-fused")
    if not result:
        return
    yield from ("", "## Predicted while the batch before is worked on", "",
                machine(result["environment"]) + f" (`{result['path']}`). "
                "`kernels/predict_micro`: batches of `gdt` and `pol`, by hand. "
                "*work*: the kernel of one batch in its order; *foretell*: the "
                "classes of the next; then both one after the other, in two streams "
                "or by programmatic dependent launch, with 1, 2 or 4 thread blocks a "
                "multiprocessor for the classes, and in one kernel: *fused*, of whose "
                "blocks 2 or 4 warps foretell and eight work (the paper's); *both*, "
                "whose threads foretell and then work; *mixed*, whose blocks do the "
                "one or the other; with registers for at least 4, 6 or 8 blocks a "
                "multiprocessor. *whole*: with the sort. *overlap* is (Tcd + Ttc - T) "
                "/ (Tcd + Ttc), as the paper has it (Table 2), *hidden* the same over "
                "the shorter of the two.", "")
    own = {}
    for row in result["rows"]:
        p = row["params"]
        own[row["case"], p["compiler"], row["metric"], p["way"]] = row
    body = []
    for (case, compiler, metric, way), row in own.items():
        if metric != "part":
            continue
        body.append([case, compiler, way, f"{row['value']:.4f}",
                     *(row.get(use, "") for use in
                       ("blocks", "threads", "registers", "at-once")),
                     percent(own.get((case, compiler, "rate", way))),
                     percent(own.get((case, compiler, "hidden", way)))])
    yield from markdown(["case", "built by", "way", "ms", "blocks", "threads",
                         "registers", "at once", "overlap", "hidden"], body,
                        (0, 1, 2))


def greatest(rows):
    return max((row["value"] for row in rows), default=None)


def of_fused(store):
    """Case -> its speed-up by a net's order, without what makes the order, and the
    best rate and hidden share of the ways that are one kernel; by the compiler that
    does best at each."""
    result, found = store.newest("predict-fused"), {}
    rows = result["rows"] if result else ()
    for case in dict.fromkeys(row["case"] for row in rows):
        def values(metric, ways, end=NETS_OF):
            return [row["value"] for row in rows
                    if (row["case"], row["metric"]) == (case, metric)
                    and row["params"]["way"].startswith(ways)
                    and row["params"]["way"].endswith(end)]
        plain, work = values("part", "plain", "plain"), values("part", "work-")
        found[case] = (min(plain) / min(work) if plain and work else None,
                       max(values("rate", ONE_KERNEL), default=None),
                       max(values("hidden", ONE_KERNEL), default=None))
    return found


def beside_paper(store):
    """Tables 1 and 2 of the paper, with ours below."""
    shares = by_case(store.newest("predict-counts")["rows"])
    gpu = store.newest("predict")
    whole = by_case(gpu["rows"]) if gpu else {}
    alone = of_fused(store)

    def share(value):
        return "-" if value is None else f"{100 * value:.1f} %"

    def factor(value, digits=2):
        return "-" if value is None else f"{value:.{digits}f}x"

    body = []
    for case in dict.fromkeys(line[0] for line in PAPER):
        for _, board, before, after, faster, overlap in (
                line for line in PAPER if line[0] == case):
            body.append([case, f"the paper, {board}", share(before), share(after),
                         factor(after / before), factor(faster, 1), "-",
                         share(overlap), "-"])
        own = shares.get(case, {})
        before = own["lanes", "none"]["value"] if ("lanes", "none") in own else None
        after = greatest(own["lanes", way] for way in NETS_OF
                         if ("lanes", way) in own)
        kernel, rate, hidden = alone.get(case, (None,) * 3)
        body.append([case, "**ours, by a net**", share(before), share(after),
                     factor(after and before and after / before), factor(kernel),
                     factor(greatest(whole[case]["speedup", way] for way in NETS_OF
                                     if ("speedup", way) in whole.get(case, {}))),
                     share(rate), share(hidden)])
    yield from ("", "## Beside the paper", "",
                "Tables 1 and 2 of \"Control Flow Divergence Optimization by Exploiting "
                "Tensor Cores\", of two small GPUs, and what it says of times. The programs "
                "are ours, of the same kind, with other data: what compares is by how "
                "much the share rises. Ours: *CFE* counted, as above; *kernel*: in "
                "the order, without what makes it; *whole*: with keys and sort; "
                "*overlap*: of foretelling and work in one kernel, the best way; "
                "*hidden*: the same over the shorter of the two, which the paper does "
                "not have. `-`: not measured, or not said.", "")
    yield from markdown(["case", "whose", "CFE, as it is", "CFE, in order", "",
                         "kernel", "whole", "overlap", "hidden"], body, (0, 1))


def measured(store):
    result = store.newest("predict")
    if not result:
        return
    seeds = ", ".join(map(str, HELD_OUT))
    yield from ("## On a GPU", "", machine(result["environment"]) +
                f" (`{result['path']}`). Seeds {seeds}; milliseconds a launch, keys "
                "and sort included, medians; *speed-up* over the faster of nvcc's "
                "and our build as it is; *off*: the final program has measured that "
                "the order does not pay, and switches it off; *the kernel alone*: in "
                "an order that an earlier launch has made.", "")
    yield from of_programs(result["rows"])


def lines(store):
    newest = store.newest("predict") or store.newest("predict-counts")
    yield from ("# Orders by what foretells paths", "",
                made_by("predict", newest["path"], newest["suite"]), "",
                "Sources of an order, compared on inputs to which nothing was "
                "fitted: [predict-paths.md](predict-paths.md) says what they are.",
                "")
    yield from counted(store)
    yield from measured(store)
    yield from fused(store)
    yield from predict_units.lines(store)
    yield from beside_paper(store)
