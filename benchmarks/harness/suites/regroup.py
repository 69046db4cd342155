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

Cases `order` (kernels/regroup_micro; params items, bits): `cost-of-order`, us,
of the order (way `order`), with its inverse and offsets, and of CUB's sort
alone.
"""

import statistics

import compare
import processes
import tables
from pages import regroup as page
from programs import REGROUP_WAYS, REGROUPED
from suite import Case, Metric, Page, Suite
from suites import remap

ORDER = "order"
ORDERS = ((1 << 20, 8), (1 << 22, 3), (1 << 22, 16), (1 << 24, 2))
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


def of_order(bench, case):
    sums = set()
    for compiler in bench.ways:
        text = remap.output_of(bench, case, compiler, {
            **case.params, "way": 3, "check": int(bench.small),
            "repeat": bench.repeat})
        sums.add((processes.line(text, "checksum"), "other bytes" in text))
        for way, samples in remap.MS.findall(text):
            yield bench.row(
                case, "cost-of-order",
                [1000 * ms for ms in remap.numbers(samples)],
                {**case.params, "way": way, "compiler": compiler},
                verdict="identical" if len(sums) == 1 and not any(
                    other for _, other in sums) else "differs")


def of_program(bench, case):
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


def measure(bench, case):
    yield from (of_order if case.name == ORDER else of_program)(bench, case)


def cases(_):
    for items, bits in ORDERS:
        yield Case(ORDER, {"items": items, "bits": bits}, "regroup_micro")
    for name, (program, params) in REGROUPED.items():
        yield Case(name, params, program)


def small(case):
    return {k: v for k, v in case.params.items()
            if k in ("bits", "energykey", "levels")}


def show(bench):
    """A line for each case and compiler; ways are columns."""
    for metric in bench.suite.metrics:
        rows = [{**r, "metric": r["params"]["way"],
                 "params": {k: v for k, v in r["params"].items()
                            if k in ("items", "bits", "compiler")}}
                for r in bench.rows if r["metric"] == metric]
        if rows:
            print(f"\n{metric}, {rows[0]['unit']}")
            tables.show_rows(rows)


SUITES = [Suite(
    name="regroup", about="what an order over the whole grid gains on a GPU",
    cases=cases, small=small,
    ways=compare.UNCHANGED, measure=measure, show=show, repeat=12,
    page=Page("regroup-results.md", page.lines),
    metrics={"time": Metric("ms"),
             "cost-of-order": Metric("us"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
