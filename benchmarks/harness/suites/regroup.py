# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs whose items the device library puts in order over the whole grid
(reconverge::regroup), built by each compiler; a run has all ways of a program
in turns. Rows, params way and compiler; ratios are over the fastest build of
the program as it is, `best`:

  time      ms, of a launch as it is (`original`), of keys and sort and kernel
            (`regrouped`), of the kernel alone with an order that is there
            (`ordered`), by block_remap (`library`)
  speedup   of these, and of `used-10-times`: one order for ten launches

`ordered` and `original` also say what the kernel takes: `registers`, `shared`
(bytes), `occupancy`.
"""

import statistics

import compare
import processes
import tables
from pages import regroup as page
from programs import REGROUP_WAYS, REGROUPED
from suite import Case, Metric, Page, Suite
from suites import remap

USES = 10  # as page.USED_AGAIN says


def run_of(bench, case, compiler):
    """Way -> ms; way -> what its kernel takes; the checksum; all the same?"""
    text = remap.output_of(bench, case, compiler, {
        **case.params, "remap": 12, "check": 0, "repeat": bench.repeat})
    times = {way: remap.numbers(samples)
             for way, samples in remap.MS.findall(text)}
    use = {way: {"registers": int(registers), "shared": int(shared),
                 "occupancy": float(occupancy)}
           for way, registers, shared, occupancy in remap.USE.findall(text)}
    return (times, use, processes.line(text, "checksum"),
            "other bytes" not in text)


def amortised(times):
    """A launch of those for which one order is used."""
    return [(regrouped + (USES - 1) * ordered) / USES for regrouped, ordered
            in zip(times["regrouped"], times["ordered"])]


def measure(bench, case):
    times, use, sums, same = {}, {}, {}, {}
    for _ in range(bench.rounds):
        for compiler in bench.ways:
            new, own, sums[compiler], same[compiler] = run_of(bench, case,
                                                              compiler)
            new[page.USED_AGAIN] = amortised(new)
            for way, samples in new.items():
                times.setdefault((way, compiler), []).append(samples)
                use[way, compiler] = own.get(way, {})
    best = min(bench.ways, key=lambda c: statistics.median(
        compare.flat(times["original", c])))
    for (way, compiler), rounds in times.items():
        right = same[compiler] and sums[compiler] == sums[best]
        if not right:
            bench.fail(f"other bytes: {case.name} {compiler}")
        verdict = "identical" if right else "differs"
        params = {**case.params, "way": way, "compiler": compiler}
        if way in REGROUP_WAYS:
            yield bench.row(case, "time", compare.flat(rounds), params,
                            verdict=verdict, **use[way, compiler])
        if way != "original":
            yield bench.row(case, "speedup", compare.speedups(
                times["original", best], rounds), params, best=best,
                verdict=verdict)


def show(bench):
    """A line for each case and compiler; ways are columns."""
    for metric in bench.suite.metrics:
        rows = [{**r, "metric": r["params"]["way"],
                 "params": {"compiler": r["params"]["compiler"]}}
                for r in bench.rows if r["metric"] == metric]
        if rows:
            print(f"\n{metric}, {rows[0]['unit']}")
            tables.show_rows(rows)


SUITES = [Suite(
    name="regroup", about="what an order over the whole grid gains on a GPU",
    cases=lambda _: [Case(name, params, program)
                     for name, (program, params) in REGROUPED.items()],
    ways=compare.UNCHANGED, measure=measure, show=show, repeat=12,
    page=Page("regroup-results.md", page.lines),
    small=lambda case: {k: v for k, v in case.params.items()
                        if k in ("energykey", "levels")},
    metrics={"time": Metric("ms"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
