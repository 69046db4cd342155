# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of paper 1 on a GPU, in the orders that its algorithms make, at
its numbers of threads and at sizes that fill a GPU (cases ...-large). Rows, with
the way in params:

  weighted, scheduled   what an order should gain by the paper's metrics,
                        1 - T/T0 in %: the warp VM ran the launch, and
                        `reconverge predict` wrote it, before anything was timed
  time                  ms a launch: as it is by each compiler; by us in each
                        order, the kernel alone; with the remedy regroup, keys
                        and sort included, and with reuse=on by the order of an
                        earlier launch; and of sw, nw, ec and mum, by each
                        compiler, with the data in the order (...-moved)
  speedup               over the fastest build of the program as it is, `best`;
                        also of `used-10-times`: one order for ten launches
  refused               kernels that the remedy leaves alone, `codes` says why

All must print the checksum of our unmodified build. Nothing is learned from
inputs: an order is made of the very launch's block vectors, so the seed is one of
those kept for tests.
"""

import re
import statistics

import compare
import orders
import processes
import tables
from pages import grouping as page
from programs import (GROUPED, GROUPED_AS_PUBLISHED, LARGER, TEST_SEEDS,
                      words)
from suite import Build, Case, Metric, Page, Suite

USES = 10
REMEDY = {"regroup": "--regroup", "regroup-reuse": "--regroup=reuse=on"}


def build(flag):
    return Build("reconverge", ("--fatbin", flag))


def ways(_):
    return {**compare.UNCHANGED, "given": build(orders.GIVEN),
            **{way: build(flag) for way, flag in REMEDY.items()}}


def cases(_):
    for sizes, more in ((GROUPED_AS_PUBLISHED, ""), (GROUPED, LARGER)):
        for name, params in sizes.items():
            yield Case(name + more, {**params, "seed": TEST_SEEDS[0]}, name)


def refusals(bench, case):
    """Kernel -> code, of those that the remedy leaves alone."""
    done = processes.run([bench.compilers.reconverge, "cc", "-O3", "-std=c++17",
                          f"--cuda-path={bench.options.cuda}",
                          REMEDY["regroup"], bench.source(case), "-o",
                          bench.path(case.name, "refusals")])
    return dict(re.findall(r"warning: (\w+)\(.*\) is launched as it is: .*"
                           r"\[(RC\d+)\]", done.stderr))


def prepare(bench, case):
    """Makes the orders of a case; what they should gain, and what is refused."""
    folder = bench.path(case.name, "orders")
    cycles = orders.make(bench, bench.program(case, compare.OURS),
                         [*words(case.params), "check=0"], folder)
    return folder, orders.gains(cycles), refusals(bench, case)


def measure(bench, case, prepared):
    folder, gains, refused = prepared
    for (way, metric), gain in gains.items():
        yield bench.row(case, metric, [gain], {**case.params, "way": way})
    yield bench.row(case, "refused", [len(refused)], codes=refused)
    runs = {way: (bench.program(case, way), case.params)
            for way in bench.ways if way != "given"}
    for way in orders.ALGORITHMS:
        runs[way] = (bench.program(case, "given"), case.params,
                     {orders.VARIABLE: f"{folder}/{way}"})
    for compiler in compare.UNCHANGED:
        for way, environment in orders.moved(case, folder).items():
            if compiler in bench.ways:
                name = way if compiler == compare.OURS else f"{compiler}-{way}"
                runs[name] = (bench.program(case, compiler), case.params,
                              environment)
    rows = list(compare.rows_of_runs(bench, case, runs))
    yield from rows
    yield from amortised(bench, case, rows)


def amortised(bench, case, rows):
    """One order for ten launches, from what was timed."""
    time = {row["params"]["way"]: row["value"] for row in rows
            if row["metric"] == "time"}
    best = min((time[way], way) for way in compare.UNCHANGED if way in time)
    once, again = (time[way] for way in REMEDY)
    yield bench.row(case, "speedup",
                    [best[0] * USES / (once + (USES - 1) * again)],
                    {**case.params, "way": "used-10-times"}, best=best[1],
                    verdict="identical")


def show(bench):
    tables.show_ways([row for row in bench.rows if "way" in row["params"]])
    found = [row["value"] for row in bench.rows if row["metric"] == "speedup"
             and row["params"]["way"] == "greedy-max"]
    if found:
        print(f"mean, greedy-max alone: {statistics.mean(found):.2f}x")


SUITES = [Suite(
    name="grouping", about="what orders by block vectors gain on a GPU",
    cases=cases, ways=ways, small=lambda case: {"seed": TEST_SEEDS[0]},
    prepare=prepare, measure=measure, show=show, threads=4,
    page=Page("grouping-results.md", page.lines, plots=page.plots_of),
    metrics={"time": Metric("ms"), "weighted": Metric("%"),
             "scheduled": Metric("%"), "refused": Metric("kernels"),
             "speedup": Metric("x", "best-of-" + "-".join(
                 compare.UNCHANGED))})]
