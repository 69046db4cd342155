# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/herd-results.md: the suites herd-counts (the same on every CPU, so the
newest), herd, once it was measured, and the searches."""

import collections

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


def counted(cases):
    yield ("Counted on the warp VM at small sizes, on the first input that a "
           "search learns from: lanes at work; *part*, how often a warp parts at "
           "a branch of which the analysis cannot say that it never does (the "
           "paper herds programs in which 0.5 % of all branches part, those "
           "that never do included); and herded, the issue slots saved and the "
           "most that is lost, on inputs learned from and on others that are held "
           "out. *Paper*: the mismatch that it reports, herding branches and "
           "herding data. What is judged and how: "
           "[benchmarks/README.md](../benchmarks/README.md), Herding.")
    yield ""
    body = []
    for name, rows in cases.items():
        for way in ["plain", *herded(rows)]:
            body.append([name, way, f"{100 * rows['lanes', way]['value']:.1f} %",
                         f"{100 * rows['divergent', way]['value']:.1f} %",
                         f"{rows['slots', way]['value']:.2f}x",
                         *lost(rows, way), *published(name)])
    yield from markdown(["case", "way", "lanes at work", "part",
                         "issue slots saved", "lost", "held out",
                         "paper, branches", "paper, data"], body, (0, 1))


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
