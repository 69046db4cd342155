# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/grouping-results.md and its plots: the suites grouping-counts (the same on
every CPU, so the newest) and, once there is a result of it, grouping. Numbers of
figures and tables are those of paper 1."""

import math
import statistics

import compare
import orders
import plots
from pages import optimize
from pages.paper_1 import (PAPER, PAPER_ERRORS, PAPER_MEAN_ERRORS,
                           PAPER_SPEEDUPS)
from programs import LARGER
from publish import machine
from results import apart
from tables import markdown

# Of the mean speed-up: the kernel alone, and with one order for ten launches.
GOAL_ALONE, GOAL_USED = 2.2, 1.7
COMPUTE_BOUND, MEMORY_BOUND = tuple(PAPER_ERRORS), ("ec", "mum")
GROUPINGS = orders.ALGORITHMS[:3]
NAMES = {"sorting": "Sorting", "greedy": "Greedy", "greedy-max": "Greedy-Max",
         "longest-blocks-first": "longest blocks first"}
MOVED = tuple(way + orders.MOVED for way in GROUPINGS)
NAMES |= {way + orders.MOVED: NAMES[way] + ", data moved" for way in GROUPINGS}
BY_LENGTH = orders.LONGEST_FIRST + orders.MOVED
NAMES[BY_LENGTH] = "longest items first, data moved"
PREDICTIONS = ("weighted", "scheduled", "modelled")
SIZES = {"": "the paper's numbers of threads",
         LARGER: "sizes that fill the GPU"}
# Why an order gains or does not, by what the warp VM counts and the sources say.
WHY = {
    "mc": "Most cubes have nothing to do; in order they fill warps that leave "
          "at once, and sectors hardly grow: nothing that is counted says why "
          "it loses on a GPU. It may be that cubes which write triangles come "
          "all together and wait for their stores, where before others computed "
          "meanwhile.",
    "sw": "A thread's row of the table lies side by side with its neighbours' "
          "(`Row[J * Count]`, 4 bytes a cell). Redirected, the threads of a warp "
          "come from afar and each cell takes a sector of 32 bytes of its own: "
          "17 MB of rows become 134 MB of sectors, which no L2 of 50 MB holds "
          "from one round over the row to the next. The model of time has L2 serve "
          "most of them all the same, and is wrong by a factor of four. With "
          "the data moved, rows lie side by side as before.",
    "nw": "The same with cells of 2 bytes: 16 times the sectors for a row, and "
          "as many for the way back.",
    "ec": "Each read looks up tuples all over a table, in order or not. But in "
          "a launch that is resident all at once, time is that of the longest "
          "warp: a long read among short ones makes a few requests at a time, "
          "32 long ones together make 32.",
    "mum": "The same of a walk through the reference; its steps depend on what "
           "it finds, so that few threads have one vector, and half of the "
           "lanes stay idle.",
    "sl": "The paper's number of threads is about one thread block for each "
          "multiprocessor: the longest one ends when it did, and full warps "
          "wait a little longer for each correlation.",
    "sm": "Nearly every pixel has a vector of its own, so no order fills warps; "
          "and pixels of a warp no longer share the lines that their windows "
          "cover.",
}
BASE = "reconverge"  # the build whose threads are put in order
LOWEST = -100  # % that a plot still shows


class Results:
    """What both suites have found, by case, kernel, order and metric."""

    def __init__(self, store):
        self.counts = store.newest("grouping-counts")
        self.gpu = store.if_there("grouping")
        self.kernels, self.gains = {}, {}
        for row in self.counts["rows"]:
            params = row["params"]
            if "machine" in params:
                self.gains[row["case"], params["by"], params["machine"],
                           row["metric"]] = row["value"]
            elif row["kernel"] not in orders.BEFORE:
                self.kernels.setdefault((row["case"], row["kernel"]), {})[
                    params.get("by"), row["metric"]] = row
        self.times, self.speedups, self.refused = {}, {}, {}
        for row in self.gpu["rows"] if self.gpu else ():
            key = row["case"], row["params"].get("way")
            if row["metric"] == "time":
                self.times[key] = row["value"]
            elif row["metric"] == "speedup":
                self.speedups[key] = row["value"]
            elif row["metric"] == "refused":
                self.refused[row["case"]] = row["codes"]
            else:
                self.gains[(*key, "h200", row["metric"])] = row["value"]

        for case in {case for case, _ in self.times}:
            self.speedups[case, BASE] = min(
                self.times.get((case, way), math.inf)
                for way in compare.UNCHANGED) / self.times[case, BASE]

    def has(self, case):
        return (case, BASE) in self.times

    def actual(self, case, way):
        """What an order gained, the kernel alone, in %."""
        if not self.has(case):
            return None
        return orders.gain(self.times[case, BASE], self.times[case, way])

    def predicted(self, case, way, metric, on="h200"):
        if metric in orders.METRICS:  # which know only who shares a warp
            way = way.removesuffix(orders.MOVED)
        return self.gains.get((case, way, on, metric))

    def fewer(self, case, way, metric):
        """By how many % an order lowers a share, over the kernels together."""
        def total(by):
            return sum(of[by, metric]["value"] for (name, _), of
                       in self.kernels.items() if name == case)
        return orders.gain(total(None), total(way))


def share(value):
    return f"{100 * value:.1f} %"


def cell(value):
    return "" if value is None else f"{value:.1f}"


def pairs(results, cases, size=""):
    """(Case, way) of all groupings that were measured."""
    return [(name + size, way) for name in cases for way in GROUPINGS + MOVED
            if (name + size, way) in results.times]


# ---------------------------------------------------------------------- plots

def plot(title, what, groups):
    """what: (series, value(case, way))."""
    return plots.bars(
        title, [name for name, _ in what],
        [(f"{case.partition('-')[0]} {NAMES[way]}",
          [value(case, way) for _, value in what]) for case, way in groups],
        "%", LOWEST)


def metrics_of(results):
    """Series of figures 8 and 10."""
    return [("measured", results.actual),
            *((metric, lambda case, way, m=metric:
               results.predicted(case, way, m)) for metric in PREDICTIONS)]


def plots_of(store):
    """File in docs/ to its text."""
    results = Results(store)
    made = {}
    if pairs(results, COMPUTE_BOUND + MEMORY_BOUND):
        made["plots/grouping-7.svg"] = plot(
            "Fig. 7: measured, and fewer divergent warps and branches",
            [("measured", results.actual),
             *((label, lambda case, way, m=metric:
                results.fewer(case, way, m)) for label, metric in
               (("divergent warps", "divergent-warps"),
                ("divergent branches", "divergent-branches")))],
            pairs(results, COMPUTE_BOUND + MEMORY_BOUND))
    for figure, cases, bound in (("8", COMPUTE_BOUND, "computing"),
                                 ("10", MEMORY_BOUND, "memory")):
        for size, what in SIZES.items():
            if pairs(results, cases, size):
                made[f"plots/grouping-{figure}{size}.svg"] = plot(
                    f"Fig. {figure}: bound by {bound}, {what}",
                    metrics_of(results), pairs(results, cases, size))
    for size, what in SIZES.items():
        there = [n for n in COMPUTE_BOUND + MEMORY_BOUND
                 if results.has(n + size)]
        if there:
            made[f"plots/grouping-9{size}.svg"] = plots.bars(
                f"Fig. 9: speed-up, {what}",
                [*(NAMES[way] for way in orders.ALGORITHMS), "remedy",
                 "remedy, 10 uses"],
                [(name, [results.speedups.get((name + size, way)) for way in
                         (*orders.ALGORITHMS, "regroup", "used-10-times")])
                 for name in there], "x")
    return made


def shown(store, figure):
    """Lines that show the plots of a figure."""
    for name in plots_of(store):
        if name.removesuffix(".svg").removesuffix(LARGER).endswith(
                f"-{figure}"):
            yield f"![Fig. {figure}]({name})"
    yield ""


# ----------------------------------------------------------------------- page

def divergence(results):
    yield from (
        "## How they diverge", "",
        "Beside it the paper's Table IV, counted by hardware on its programs and "
        "inputs. Its branches are those of the machine code, which in inner "
        "loops has many that never diverge; ours are those that can diverge.",
        "")
    body = []
    for (case, kernel), of in results.kernels.items():
        if case not in PAPER:
            continue
        warps, all_warps, branches, all_branches = PAPER[case]
        body.append([case, kernel, share(of[None, "cfe"]["value"]),
                     share(of[None, "divergent-warps"]["value"]),
                     share(warps / all_warps),
                     share(of[None, "divergent-branches"]["value"]),
                     share(branches / all_branches)])
    yield from markdown(["case", "kernel", "lanes at work", "divergent warps",
                         "paper", "divergent branches", "paper"], body, (0, 1))


def forecasts(results):
    yield from (
        "", "## What an order should gain", "",
        "1 - T/T0 in %, of a launch at the paper's number of threads (of some, "
        f"`{LARGER}`, at a size that fills an H200), counted on the warp VM, "
        f"before anything was timed (`{LARGER}`: while it was). *Weighted* and *scheduled*: the "
        "paper's metrics ([metrics.md](metrics.md#a-grouping)), of the vectors of "
        "all threads, on its GPU (GTX 480) and on an H200. *Modelled*: by [the "
        "model of time](time.md), from what the warp VM counted when the kernel "
        "ran in that order, accesses to memory and the load of the index "
        "included; of some programs also with their data moved into the order and "
        "threads where they were. On an H200 launches of the paper's sizes are resident all at "
        "once, and *scheduled* is the longest thread block: it loses where long "
        "threads come to share one.", "")
    body = [[case, NAMES[way],
             *(cell(results.predicted(case, way, metric, on))
               for on, metric in (("gtx480", "weighted"),
                                  ("gtx480", "scheduled"),
                                  ("h200", "weighted"), ("h200", "scheduled"),
                                  ("h200", "modelled")))]
            for case in dict.fromkeys(c for c, _ in results.kernels)
            for way in orders.ALGORITHMS + MOVED
            if results.predicted(case, way, "modelled") is not None]
    yield from markdown(["case", "order", "weighted, GTX 480", "scheduled",
                         "weighted, H200", "scheduled", "modelled"], body,
                        (0, 1))


def effects(results):
    """What an order does to lanes and to memory: why it gains, or does not."""
    yield from (
        "", "## What an order does", "",
        "Counted on the warp VM, as it is and by Greedy-Max: lanes at work, "
        "sectors of global memory asked for by a thread, and what the model of "
        "time says that the launch is bound by. Where sectors grow by as much as "
        "lanes do, nothing is won: neighbours in the order are no neighbours in "
        "memory.", "")
    body = []
    for (case, kernel), of in results.kernels.items():
        for way in ("greedy-max", "greedy-max" + orders.MOVED):
            if (way, "cfe") not in of:
                continue
            moved = ", data moved" if way in MOVED else ""
            row = [case, kernel + moved]
            for metric, form in (("cfe", share), ("sectors", "{:.0f}".format),
                                 ("cycles", None)):
                for by in (None, way):
                    found = of[by, metric]
                    row.append(form(found["value"]) if form
                               else found["bound"])
            body.append(row)
    yield from markdown(["case", "kernel", "lanes at work", "in order",
                         "sectors a thread", "in order", "bound by",
                         "in order"], body, (0, 1, 6, 7))
    yield ""
    yield from (f"- **{case}**: {why}" for case, why in WHY.items()
                if any(name == case for name, _ in results.kernels))


def figure_7(results, store):
    yield from (
        "", "## Do divergent warps and branches tell? (Fig. 7)", "",
        "By how many % an order lowers the share of divergent warps, of "
        "divergent branches (warp VM), and the time of the kernel alone "
        "(measured), at the paper's numbers of threads. The paper finds that "
        "neither tells: its nw gains 70 % where divergent warps say nothing, "
        "its sl 20 % where branches say that it loses.", "")
    yield from shown(store, "7")
    yield from markdown(
        ["case", "order", "divergent warps", "divergent branches", "measured"],
        [[case, NAMES[way], cell(results.fewer(case, way, "divergent-warps")),
          cell(results.fewer(case, way, "divergent-branches")),
          cell(results.actual(case, way))]
         for case, way in pairs(results, COMPUTE_BOUND + MEMORY_BOUND)],
        (0, 1))


def improvements(results, cases):
    """The table of figures 8 and 10."""
    body = []
    for size in SIZES:
        for case, way in pairs(results, cases, size):
            body.append([case, NAMES[way], cell(results.actual(case, way)),
                         *(cell(results.predicted(case, way, metric))
                           for metric in PREDICTIONS)])
    yield from markdown(["case", "order", "measured", *PREDICTIONS], body,
                        (0, 1))


def error(results, case, way, metric):
    value = results.predicted(case, way, metric)
    return (None if value is None
            else abs(value - results.actual(case, way)))


def table_5(results):
    yield from (
        "", "## Errors of what was predicted (Table V)", "",
        "Points between the gain predicted and the gain measured, of the kernels "
        "that are bound by computing in the paper; in brackets the paper's, on "
        "its GPU, programs and inputs.", "")
    body, columns = [], {}
    for size in SIZES:
        for case, way in pairs(results, COMPUTE_BOUND, size):
            paper = PAPER_ERRORS[case.removesuffix(size)][
                GROUPINGS.index(way.removesuffix(orders.MOVED))]
            row = [case, NAMES[way]]
            for i, metric in enumerate(PREDICTIONS):
                found = error(results, case, way, metric)
                if found is not None:
                    columns.setdefault((size, metric), []).append(found)
                brackets = f" ({paper[i]:.1f})" if not size and i < 2 else ""
                row.append(cell(found) + brackets)
            body.append(row)
    for size, what in SIZES.items():
        if (size, PREDICTIONS[0]) not in columns:
            continue
        row = ["mean, " + what, ""]
        for i, metric in enumerate(PREDICTIONS):
            of = columns.get((size, metric))
            brackets = (f" ({PAPER_MEAN_ERRORS[i]:.1f})"
                        if not size and i < 2 else "")
            row.append((cell(statistics.mean(of)) if of else "") + brackets)
        body.append(row)
    yield from markdown(["case", "order", *PREDICTIONS], body, (0, 1))


def by_anyone(results, case, way):
    """The speed-up of a way, of whoever's build is fastest; or none."""
    return max((value for (name, of), value in results.speedups.items()
                if name == case and str(of).endswith(way)), default=None)


def data_moved(results, case):
    """Rows of the table of speed-ups."""
    found = [by_anyone(results, case, way) for way in MOVED]
    if None not in found:
        yield [case + ", data moved", "", *(f"{value:.2f}x" for value in found),
               *[""] * 5]
    longest = by_anyone(results, case, BY_LENGTH)
    if longest:
        yield [f"{case}, {NAMES[BY_LENGTH]}", "", f"{longest:.2f}x", *[""] * 7]


def speed_ups(results, store):
    yield from (
        "", "## What was gained (Fig. 9)", "",
        "Speed-up over the fastest build of the program as it is. Orders: the "
        "kernel alone, by an order that is there; nothing of what making one "
        "takes is in it, which the paper has in its figures. *Remedy*: `cc "
        "--regroup` as it is, keys and sort included; *10 uses*: one order for "
        "ten launches (`reuse=on`). A program switches it off where it is "
        "slower; a kernel that it refuses is launched as it is, so that it is as "
        "fast as our build of the program, *ours as it is*.", "")
    yield from shown(store, "9")
    columns = (*orders.ALGORITHMS, BASE, "regroup", "used-10-times")
    body = []
    for size, what in SIZES.items():
        there = [name for name in PAPER if results.has(name + size)]
        for name in there:
            refused = ", ".join(f"{kernel} {code}" for kernel, code in
                                results.refused.get(name + size, {}).items()
                                if kernel not in orders.BEFORE)
            body.append([
                name + size, f"{results.times[name + size, BASE]:.3f}",
                *(f"{results.speedups[name + size, way]:.2f}x"
                  for way in columns), refused])
            body += data_moved(results, name + size)
        of = [name + size for name in COMPUTE_BOUND if name in there]
        if of:
            body.append([f"mean of {len(of)} bound by computing, {what}", "", *(
                f"{statistics.mean(results.speedups[case, way] for case in of):.2f}x"
                for way in columns), ""])
    for what, i in (("best", 0), ("mean", 1)):
        body.append([f"the paper's, {what}", "", *(
            f"{PAPER_SPEEDUPS[way][i]:.1f}x" for way in GROUPINGS),
            *[""] * 5])
    yield from markdown(["case", "ms as it is", *(NAMES[way] for way in
                                                 orders.ALGORITHMS),
                         "ours as it is", "remedy", "10 uses", "refused"], body,
                        (0, 9))


def best_order(results, case):
    """The kernel alone, by the best of the orders, whoever built it."""
    return max(filter(None, (by_anyone(results, case, way) for way in
                             (*GROUPINGS, *MOVED, BY_LENGTH))))


def goals(results):
    """What was wanted, and what was reached."""
    yield from (
        "", "### Compared with the goals", "",
        "The goals for the kernels that are bound by computing in the paper: a "
        f"mean of {GOAL_ALONE:.1f}x for the kernel alone, and {GOAL_USED:.1f}x "
        "with one order for ten launches. *Best order*: the best of those above, "
        "with data where they are or moved. *Applied*: the same as `optimize` "
        "keeps it, which is 1.00x where it is not faster than the fastest build "
        "of the program as it is.", "")
    body = []
    for size, what in SIZES.items():
        there = [name + size for name in COMPUTE_BOUND
                 if results.has(name + size)]
        if not there:
            continue
        for name, values, goal in (
                ("best order, kernel alone",
                 [best_order(results, case) for case in there], GOAL_ALONE),
                ("remedy, 10 uses",
                 [results.speedups[case, "used-10-times"] for case in there],
                 GOAL_USED)):
            for applied in (False, True):
                if applied:
                    name += ", applied"
                    values = [max(value, 1.0) for value in values]
                mean = statistics.mean(values)
                body.append([name, f"{what} ({len(there)})", *(
                    f"{value:.2f}x" for value in
                    (mean, min(values), max(values))),
                    f"{goal:.1f}x" if applied else "",
                    ("yes" if mean >= goal else "no") if applied else ""])
    yield from markdown(["what", "sizes (cases)", "mean", "least", "best",
                         "goal", "reached"], body, (0, 1, 6))


def by_all_remedies(store):
    """What `optimize` makes of the same programs."""
    result = store.if_there("optimize")
    cases = {}
    for row in result["rows"] if result else ():
        if row["case"].endswith(LARGER):
            cases.setdefault(row["case"], []).append(row)
    if not cases:
        return
    table = [optimize.line_of(rows) for rows in cases.values()]
    yield from (
        "", "### By all remedies", "",
        "What `reconverge optimize` makes of the programs at sizes that fill "
        "the GPU, with all remedies and compilers to choose from: milliseconds "
        "of the fastest unmodified build and of the final program "
        "([all cases](optimize-results.md)).", "")
    # HEAD: case, nvcc, clang, ours, final, best, speed-up, kept, result.
    yield from markdown(
        ["case", "as it is", "by", "optimised", "speed-up", "kept"],
        [[line[0], min(line[1:4], key=float), line[5], line[4], line[6] + "x",
          line[7]] for line in table], (0, 2, 5))


def measured(results, store):
    same = all(row.get("verdict", "identical") == "identical"
               for row in results.gpu["rows"])
    yield from (
        "", "## On a GPU", "", machine(results.gpu["environment"])
        + ". An order is made of the very launch's block vectors, so nothing is "
        "learned from inputs: it says what its algorithm is worth where the "
        "vectors are known. "
        + ("All programs print what they print as they are." if same
           else "**Some programs print other bytes.**"), "",
        "Threads are redirected to data that stay where they are. The paper does "
        "that with mc and sm; the data of the others it moves into the order."
        + ("" if any(way in MOVED for _, way in results.times) else
           " What that gains is predicted above, and not measured yet."))
    for text in apart(results.gpu):
        yield from ("", text)
    yield from figure_7(results, store)
    yield from ("", "## Do block vectors tell? (Fig. 8)", "",
                "Gain measured and predicted, in %, of the kernels that are "
                "bound by computing in the paper.", "")
    yield from shown(store, "8")
    yield from improvements(results, COMPUTE_BOUND)
    yield from table_5(results)
    yield from speed_ups(results, store)
    yield from goals(results)
    yield from by_all_remedies(store)
    yield from ("", "## Bound by memory (Fig. 10)", "",
                "The same of the two that are bound by memory, of which the "
                "paper's metrics know nothing.", "")
    yield from shown(store, "10")
    yield from improvements(results, MEMORY_BOUND)


def lines(store):
    results = Results(store)
    sources = [f"`{found['path']}`" for found in (results.counts, results.gpu)
               if found]
    yield from (
        "# Kernels to regroup", "",
        f"Made by `benchmarks/run --page grouping` from {' and '.join(sources)}, "
        "which the suites `grouping-counts` and `grouping` wrote. Not edited by "
        "hand.", "",
        "The kernels of Liang et al., *An Accurate GPU Performance Model for "
        "Effective Control Flow Divergence Optimization*, as "
        "`benchmarks/kernels` has them: written from the algorithms, on "
        "generated inputs; and their threads [in the orders](permute.md#an-order-"
        "of-your-own) that the paper's algorithms make."
        + ("" if results.gpu else " What these orders gain on a GPU is not here "
           "yet."), "")
    yield from divergence(results)
    yield from forecasts(results)
    yield from effects(results)
    if results.gpu:
        yield from measured(results, store)
