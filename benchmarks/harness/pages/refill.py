# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/refill-results.md: the suites refill and refill-counts (the same on every
CPU but for which warp the counter serves first, so the newest)."""

from pages import by_hand
from programs import REFILL_WAYS
from publish import machine, made_by
from results import apart, geomean
from tables import markdown


def of_source(cases, source):
    """The geomean of the best by hand with items from there."""
    return geomean([max(rows["speedup", way]["value"]
                        for way in by_hand.ways_of(rows, True) if source in way)
                    for rows in cases.values()])


def counted(measured, result):
    """What the counts predict, beside what was measured."""
    yield (f"Counted on the warp VM at small sizes, 32 items a lane and slice "
           f"(`{result['path']}`, by `benchmarks/run refill-counts`): lanes at "
           "work, and what refilling by hand would gain if nothing but issue "
           "slots counted; beside it what was measured, of nvcc's and clang's "
           "better build of that way over the fastest unmodified one.")
    yield ""
    body = []
    for name, rows in by_hand.by_case(result["rows"]).items():
        for way in REFILL_WAYS:
            best = [measured[name]["speedup", f"{c}-{way}"]["value"]
                    for c in ("nvcc", "clang") if name in measured]
            body.append([name, way,
                         f"{100 * rows['lanes', 'plain']['value']:.1f} %",
                         f"{100 * rows['lanes', way]['value']:.1f} %",
                         f"{rows['slots', way]['value']:.2f}x",
                         f"{max(best):.2f}x" if best else "-"])
    yield from markdown(["case", "way", "lanes, as it is", "refilled",
                         "predicted", "measured"], body, (0, 1))


def lines(store):
    result = store.of("refill")
    cases = by_hand.by_case(result["rows"])
    body = [by_hand.summary(name, rows) for name, rows in cases.items()]
    hand = geomean([rows["speedup", by_hand.best(rows, True)]["value"]
                    for rows in cases.values()])
    wrong = [f"{row['case']} {row['params']['way']}" for row in result["rows"]
             if row["metric"] == "time" and row["verdict"] != "identical"]
    yield from (
        "# Lanes that take new work, on a GPU", "",
        made_by("refill", result["path"]), "",
        machine(result["environment"]) + ". Each program as it is, a thread an "
        "item; by hand with persistent warps whose idle lanes take the next "
        "items (`kernels/common/refill.h`), from slices (of 16 items a lane, "
        "short ones of 4) or from a counter, when as many lanes are idle as the "
        "way's last number says; and, where the tool has them, with the "
        "remedies that do so. Milliseconds a launch, medians of alternating "
        "runs; *speed-up* is over the fastest of the three unmodified builds; *of by "
        "hand*: the best remedy's over the best by hand. Checksums are "
        + (f"those of our unmodified build, but not of {', '.join(wrong)}."
           if wrong else "the same for all."), "")
    for text in apart(result):
        yield from (text, "")
    yield from markdown(by_hand.HEAD, body, (0, 4, 7))
    remedied = [rows["speedup", way]["value"] for rows in cases.values()
                if (way := by_hand.best(rows, False))]
    yield from ("", f"By hand, geomean: {hand:.2f}x." +
                (f" By a remedy, of the {len(remedied)} that have one: "
                 f"{geomean(remedied):.2f}x." if remedied else ""), "")
    yield (f"Geomean of the best way by hand with items from the counter: "
           f"{of_source(cases, 'counter'):.2f}x, from slices: "
           f"{of_source(cases, 'slice'):.2f}x. Where items differ in cost by "
           "place, as pixels do, a warp with a dear slice works alone at the "
           "end.")
    yield ""
    if newest := store.newest("refill-counts"):
        yield from counted(cases, newest)
    yield from ("", "## Every way", "")
    yield from by_hand.every_way(cases)
