# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/herd-results.md: the suites herd-counts (the same on every CPU, so the
newest) and, once it was measured, herd."""

from pages import by_hand
from publish import machine, made_by
from results import apart, geomean
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
