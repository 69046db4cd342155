# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that tolerate small errors, as they are by each compiler and with
--herd, all in turns. Rows, with the way in params:

  time           ms a run of the program's kernels
  speedup        the fastest unmodified build over this way, `best` says which
  quality-loss   the most that is lost on an input that a search may learn from,
                 by the metric that the row names
  held-out-loss  and on one that is held out
  bound          what may be lost

The unmodified builds must leave the same bytes. What becomes of lanes and issue
slots is counted by the suite herd-counts.
"""

import by_hand
import compare
import tables
import tolerant
from pages import herd as page
from suite import Case, Metric, Page, Suite
from tolerant import HERDED

# lbm and sad without the forms of their kernels that were made by hand.
REMEDIES = {"herd": ("--herd", "-DONLY_PLAIN")}


def ways(_):
    return {way: how if way in REMEDIES else
            how._replace(flags=(*how.flags, "-DONLY_PLAIN"))
            for way, how in by_hand.ways(REMEDIES).items()}


def measure(bench, case):
    programs = bench.programs(case)
    first = {**case.params, **HERDED[case.name].training[0]}
    times, sums = compare.alternate(
        programs, lambda way, repeat: compare.run_once(
            bench, programs[way], first, repeat), bench.rounds, bench.repeat)
    plain = [way for way in compare.UNCHANGED if way in programs]
    best = compare.fastest(plain, times)
    lost = tolerant.losses(bench, case, case.params,
                           {way: program for way, program in programs.items()
                            if way == compare.OURS or way not in plain},
                           compare.OURS)
    for way in programs:
        params = {**first, "way": way}
        same = way not in plain or sums[way] == sums[compare.OURS]
        if not same:
            bench.fail(f"other bytes: {case.name} {way}")
        yield bench.row(case, "time", compare.flat(times[way]), params,
                        verdict=compare.verdict(same))
        if way in plain:
            continue
        tolerates, worst = HERDED[case.name], max(lost[way].values())
        metric, bound = tolerates.judge.metric, tolerates.bound()
        verdict = (f"{'within' if worst <= bound else 'beyond'} ({metric} "
                   f"{worst:.4g}, bound {bound}, {len(tolerates.training)} "
                   f"inputs, {len(tolerates.held_out)} held out)")
        yield bench.row(case, "speedup",
                        compare.speedups(times[best], times[way]), params,
                        best=best, verdict=verdict)
        for name, value in {**lost[way], "bound": bound}.items():
            yield bench.row(case, name, [value], params, judge=metric)


METRICS = {"quality-loss": Metric("1"), "held-out-loss": Metric("1"),
           "bound": Metric("1")}
SUITES = [Suite(
    name="herd", about="programs that tolerate errors, herded, on a GPU",
    cases=lambda _: [Case(name, tolerates.params, tolerates.program)
                     for name, tolerates in HERDED.items()],
    small=lambda case: HERDED[case.name].small,
    ways=ways, start=by_hand.without_unknown("herd", REMEDIES),
    measure=measure, repeat=20,
    page=Page("herd-results.md", page.lines, plots=page.plots_of),
    show=lambda bench: tables.show_ways(bench.rows),
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED)), **METRICS})]
