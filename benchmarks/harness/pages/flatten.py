# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/flatten-results.md: the suites flatten-counts (the same on every CPU, so
the newest) and, once it was measured, flatten."""

from pages import by_hand
from publish import machine, made_by
from results import apart, geomean
from tables import markdown


def counted(result, measured):
    yield ("Counted on the warp VM at small sizes: lanes at work, and what would be "
           "gained if nothing but issue slots counted. By hand: *merged* is one "
           "loop in which each lane goes on at once, *voted* lanes go on when "
           "so many of 32 are through (`kernels/common/nest.h`); *noted* looks "
           "ahead in a loop whose rounds skip some work. By the remedy: "
           "*flatten*, with its threshold and its rounds from vote to vote; "
           "there the inner loop is not "
           "unrolled, and with 0 lanes go on at once; *ahead* needs no votes. "
           "*-even*: all lanes have as "
           "many rounds, so that there is nothing to gain." +
           (" *Measured*: on the GPU, below." if measured else ""))
    yield ""
    body = []
    for name, rows in by_hand.by_case(result["rows"]).items():
        for metric, way in rows:
            if metric != "lanes":
                continue
            times = [rows_of["speedup", key]["value"]
                     for rows_of in [measured.get(name, {})]
                     for key in (way, "nvcc-" + way, "clang-" + way)
                     if ("speedup", key) in rows_of]
            body.append([name, way, f"{100 * rows['lanes', way]['value']:.1f} %",
                         f"{rows['slots', way]['value']:.2f}x",
                         *([f"{max(times):.2f}x" if times else "-"]
                           if measured else [])])
    yield from markdown(["case", "way", "lanes at work", "issue slots saved",
                         *(["measured"] if measured else [])], body, (0, 1))


def timed(result, cases):
    best = {by: [rows["speedup", way]["value"] for rows in cases.values()
                 if (way := by_hand.best(rows, by))] for by in (True, False)}
    wrong = [f"{row['case']} {row['params']['way']}" for row in result["rows"]
             if row["metric"] == "time" and row["verdict"] != "identical"]
    yield from ("", "## On a GPU", "", made_by("flatten", result["path"]), "")
    yield (machine(result["environment"]) + ". Milliseconds a launch, medians "
           "of alternating runs; *speed-up* is over the fastest of the three "
           "unmodified builds; *of by hand*: the best remedy's over the best by "
           "hand. Checksums are "
           + (f"those of our unmodified build, but not of {', '.join(wrong)}."
              if wrong else "the same for all."))
    yield ""
    for text in apart(result):
        yield from (text, "")
    yield from markdown(by_hand.HEAD, [by_hand.summary(name, rows)
                                       for name, rows in cases.items()],
                        (0, 4, 7))
    yield from ("", f"Geomean by hand: {geomean(best[True]):.2f}x; by the "
                f"remedy: {geomean(best[False]):.2f}x.", "", "## Every way", "")
    yield from by_hand.every_way(cases)


def lines(store):
    counts, result = store.newest("flatten-counts"), store.if_there("flatten")
    cases = by_hand.by_case(result["rows"]) if result else {}
    yield from ("# Two loops that become one", "",
                made_by("flatten", counts["path"], "flatten-counts"), "")
    yield from counted(counts, cases)
    if result:
        yield from timed(result, cases)
    else:
        yield from ("", "No time on a GPU has been taken: `benchmarks/run "
                    "flatten` takes them.")
