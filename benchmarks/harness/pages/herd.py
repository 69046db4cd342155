# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/herd-results.md: the suites herd-counts (the same on every CPU, so the
newest), herd, once it was measured, and the searches."""

import collections

import plots
from pages import by_hand
from publish import machine, made_by
from results import apart, geomean, short
from tables import markdown
from tolerant import HERDED

PLAIN = ("plain", *by_hand.UNMODIFIED)


def herded(rows):
    """The ways that are not the program as it is."""
    return list(dict.fromkeys(way for _, way in rows if way not in PLAIN))


def percent(value):
    return "-" if value is None else f"{100 * value:.4g} %"


def lost(rows, way):
    return [percent(rows[metric, way]["value"] if (metric, way) in rows
                    else None)
            for metric in ("quality-loss", "held-out-loss")]


def published(name):
    """What the paper lost, by herding branches and by herding data."""
    return [percent(HERDED[name].branches), percent(HERDED[name].data)]


def cell(rows, metric, way, form="{:.2f}x"):
    return (form.format(rows[metric, way]["value"]) if (metric, way) in rows
            else "-")


def counted(cases):
    yield ("Counted on the warp VM at small sizes, on the first input that a "
           "search learns from: lanes at work; *part*, how often a warp parts at "
           "a branch of which the analysis cannot say that it never does (the "
           "paper herds programs in which 0.5 % of all branches part, those "
           "that never do included); and herded, the issue slots saved, the "
           "sectors that loads of global memory save, and the most that is lost, "
           "on inputs learned from and on others that are held out. *Paper*: the "
           "mismatch that it reports, herding branches and herding data. What is "
           "judged and how: "
           "[benchmarks/README.md](../benchmarks/README.md), Herding.")
    yield ""
    yield ("Ways: `herd` is our remedy, one-way, as it is without a word more; "
           "`vm-branch` and `vm-data` are hardware that herds all that is safe, "
           "as [herd.md](herd.md#as-hardware-would) says; `-kept` is what a "
           "search leaves of that within the paper's loss. It learns from the "
           "first inputs alone, so what is held out may lose more: **bold** "
           "then.")
    yield ""
    body = []
    for name, rows in cases.items():
        for way in ["plain", *herded(rows)]:
            body.append([name, way, cell(rows, "lanes", way, "{:.1%}"),
                         cell(rows, "divergent", way, "{:.1%}"),
                         cell(rows, "slots", way),
                         cell(rows, "sectors", way),
                         *judged(rows, way), *published(name)])
    yield from markdown(["case", "way", "lanes at work", "part",
                         "issue slots saved", "sectors saved", "lost",
                         "held out", "paper, branches", "paper, data"], body,
                        (0, 1))
    kept = [(name, rows["lanes", way]["settings"].split(",", 2)[2], way)
            for name, rows in cases.items() for way in KEPT
            if ("lanes", way) in rows]
    if kept:
        yield from ("", "What the search keeps, by the VM's settings:", "")
        yield from markdown(["case", "way", "settings"],
                            [[name, way, f"`{how}`"] for name, how, way in kept],
                            (0, 1, 2))
    yield from as_hardware(cases)


def judged(rows, way):
    """What is lost, where too much of it is bold; what is no number is said."""
    if ("bound", way) not in rows:
        return lost(rows, way)
    bound = rows["bound", way]["value"]
    cells = []
    for metric in ("quality-loss", "held-out-loss"):
        if (metric, way) not in rows:
            cells.append("**all**")
            continue
        value = rows[metric, way]["value"]
        cells.append(percent(value) if value <= bound
                     else f"**{percent(value)}**")
    return cells


HARDWARE = ("vm-branch", "vm-data")
KEPT = tuple(way + "-kept" for way in HARDWARE)


def saved(rows, metric, way):
    """In percent, as the paper's figures have it; None: not counted."""
    found = rows.get((metric, way))
    return 100 * (found["value"] - 1) if found else None


def table(title, name, cases, way, paper):
    """Table II or III: of the paper's programs, what it lost and what we do."""
    yield from ("", f"### {title}", "")
    body = [[case, percent(ORIGINAL[name].get(case)),
             percent(getattr(HERDED[case], paper)), "0 %",
             *(judged(rows, at)[0] if ("bound", at) in rows else none
               for at, none in ((way, "-"), (way + "-kept", "0 %")))]
            for case, rows in cases.items()
            if getattr(HERDED[case], paper) is not None]
    yield from markdown(["case", "paper, as it was", "paper, herded",
                         "ours, as it is", "ours, all that is safe",
                         "ours, within the paper's"], body)


def as_hardware(cases):
    """The paper's tables and figures, for ours."""
    if not any(("slots", way) in rows for rows in cases.values()
               for way in HARDWARE):
        return
    yield from ("", "## The paper's tables and figures", "",
                "The paper judges its programs as they are by references of "
                "their own, and so do its numbers begin above zero; here the "
                "program as it is *is* the reference. On the inputs that were "
                "learned from; what a search keeps nothing of loses nothing.")
    yield from table("Table II: what is lost by herding branches", "branches",
                     cases, "vm-branch", "branches")
    yield from table("Table III: what is lost by herding data", "data", cases,
                     "vm-data", "data")
    yield from (
        "", "### Fig. 12: what herding branches gains", "",
        "Issue slots saved. The paper has times on a GTX 480 (software) and "
        "from an instruction count (hardware): 13 % and 30 % on average. Its "
        "hardware with an overhead takes a cycle a vote: a slot here. Bars below "
        "-40 % are cut.", "",
        "![Fig. 12](plots/herd-12.svg)", "",
        "### Figs. 16 and 17: what herding data gains", "",
        "The VM knows no stalls and no caches, so that Fig. 16, which has times, "
        "and the stalled cycles of Fig. 17 have no counterpart. What Fig. 17 has "
        "of bandwidth are sectors here: that loads of global memory ask for, and "
        "beside them wavefronts, the turns that these loads take. Bars below "
        "-40 % are cut.", "", "![Fig. 17](plots/herd-17.svg)")


# The paper's tables: what its programs lost as they were.
ORIGINAL = {
    "branches": {"mandelbrot": .0003, "julia": .0003, "sobel": 0,
                 "sobel-tiled": 0, "histogram-64": 0, "histogram-256": 0,
                 "volume": .0672, "particles": .1824, "ocean": .0003,
                 "sad": 0, "lbm": 6.7e-9},
    "data": {"mandelbrot": .0002, "julia": .0002, "histogram-64": 0,
             "histogram-256": 0, "nbody": 0, "binomial": 3.8e-7, "sobel": 0,
             "sobel-tiled": 0, "dxt": .00019, "gaussian": 0}}
LOWEST = -40  # percent


def plots_of(store):
    """File in docs/ to its text."""
    cases = by_hand.by_case(store.newest("herd-counts")["rows"])
    charts = {
        "plots/herd-12.svg": (
            "Fig. 12: issue slots saved by herding branches",
            (("software", "slots", "herd"), ("hardware", "slots", "vm-branch"),
             ("a slot a vote", "vote-slots", "vm-branch"),
             ("within the paper's loss", "slots", "vm-branch-kept"))),
        "plots/herd-17.svg": (
            "Fig. 17: traffic of loads saved by herding data",
            (("sectors", "sectors", "vm-data"),
             ("wavefronts", "load-wavefronts", "vm-data"),
             ("sectors, within the paper's loss", "sectors", "vm-data-kept")))}
    made = {}
    for name, (title, series) in charts.items():
        groups = [(case, [saved(rows, metric, way)
                          for _, metric, way in series])
                  for case, rows in cases.items()]
        groups = [(case, of) for case, of in groups
                  if any(value is not None for value in of)]
        if groups:
            made[name] = plots.bars(title, [label for label, _, _ in series],
                                    groups, "%", LOWEST)
    return made


def timed(result):
    cases = by_hand.by_case(result["rows"])
    yield from ("", "## On a GPU", "", made_by("herd", result["path"]), "",
                machine(result["environment"]) + ". Milliseconds a run of the "
                "program's kernels, medians of alternating runs; *speed-up* is "
                "over the fastest of the three unmodified builds.", "")
    for text in apart(result):
        yield from (text, "")
    body, gains = [], []
    for name, rows in cases.items():
        times = [f"{rows['time', way]['value']:.3f}"
                 if ("time", way) in rows else "-"
                 for way in by_hand.UNMODIFIED]
        for way in herded(rows) or [None]:
            if way:
                gains.append(rows["speedup", way]["value"])
            body.append([name, *times, way or "-",
                         by_hand.value(rows, "time", way, "{:.3f}"),
                         by_hand.value(rows, "speedup", way, "{:.2f}x"),
                         rows["speedup", way]["verdict"] if way else "-"])
    yield from markdown(["case", "nvcc", "clang", "ours", "way", "ms",
                         "speed-up", "what is lost"], body, (0, 4, 7))
    if gains:
        yield from ("", f"Geomean: {geomean(gains):.2f}x.")


def searched(result):
    """What `optimize --quality` came to, case by case."""
    timed = collections.defaultdict(list)
    for row in result["rows"]:
        if row["metric"] == "speedup":
            timed[row["case"], row["params"]["bound"]].append(row["value"])
    body = []
    for row in result["rows"]:
        if row["metric"] != "set":
            continue
        times = timed[row["case"], row["params"]["bound"]]
        herds = ", ".join(c["parameters"] or "all branches"
                          for c in row.get("candidates", ()))
        body.append([row["case"], percent(row["params"]["bound"]), row["sets"],
                     herds or "-", f"{row['value']:.2f}x" if herds else "-",
                     f"{min(times):.2f}x to {max(times):.2f}x" if times else "-",
                     row["verdict"].partition(";")[0].removeprefix("within (")])
    yield from markdown(["case", "bound", "sets run", "kept", "by the search",
                         "timed", "outcome"], body, (0, 3, 6))


def searches(store):
    """Of the warp VM and of each GPU."""
    yield from ("", "## As far as outputs allow", "",
                "What `optimize --quality` ([quality.md](quality.md)) keeps where "
                "a program may lose what the paper's lost, or 0.1 % where that is "
                "nothing, and where it may lose a fifth. *By the search*: what "
                "the set gains on the input where it gains least, of those that "
                "are learned from. *Timed*: the fastest unmodified build over the "
                "final program, over all inputs.")
    for suite, of in (("herd-search-counts", "on the warp VM, in issue slots"),
                      ("herd-search", "on a GPU")):
        for result in store.all(suite):
            facts = result["environment"]
            where = f"{facts['gpu']}, " if facts.get("gpu") else ""
            yield from ("", f"`benchmarks/run {suite}`, {of}: {where}"
                        f"{facts['date'][:10]}, commit {short(facts['commit'])}.",
                        "")
            yield from searched(result)


def lines(store):
    counts, result = store.newest("herd-counts"), store.if_there("herd")
    yield from ("# Programs that tolerate small errors", "",
                made_by("herd", counts["path"], "herd-counts"), "")
    yield from counted(by_hand.by_case(counts["rows"]))
    if result:
        yield from timed(result)
    else:
        yield from ("", "No time on a GPU has been taken: `benchmarks/run "
                    "herd` takes them.")
    yield from searches(store)
