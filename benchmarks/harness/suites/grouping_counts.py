# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of paper 1 on the warp VM at its numbers of threads, and some at
sizes that fill a GPU (-large), as they are and in the orders that its algorithms
make. Rows have `kernel` and, in params, `by`
(the order; not of the kernel as it is):

  cfe                 lanes at work, weighted by instructions
  divergent-warps     the share of warps in which some branch sent lanes both
                      ways, and
  divergent-branches  the share of branches that did (paper 1, Table IV)
  sectors             of global memory asked for, a thread
  cycles              of the launch, by the model of time; `bound` by what

and of the program, with `by` and `machine` in params, what an order should gain,
1 - T/T0 in %: `weighted` and `scheduled` by the paper's metrics (Fig. 8), and on
an H200 `modelled` by the model of time, from what was counted in that order.
"""

import counts
import orders
from programs import GROUPED, GROUPED_AS_PUBLISHED, LARGER, TEST_SEEDS
from suite import Build, Case, Metric, Suite

# Sorting all suffixes, or filling whole tables, takes the host minutes.
LONG_CHECKS = ("sw", "nw", "mum")
FILLING = ("mc", "nw", "sl")  # the others take the VM many minutes a run
MACHINES = ("gtx480", "h200")  # the paper's, and today's
WAYS = {"plain": Build("plain", ("-O3", "-std=c++17")),
        "given": Build("plain", ("-O3", "-std=c++17", orders.GIVEN))}
SECTORS = ("global", "generic")


def cases(_):
    for name, params in GROUPED_AS_PUBLISHED.items():
        yield Case(name, {**params, "seed": TEST_SEEDS[0]})
    for name in FILLING:
        yield Case(name + LARGER, {**GROUPED[name], "seed": TEST_SEEDS[0]}, name)


def of_kernels(bench, case, kernels, params):
    """Rows of a run's kernels."""
    for kernel in kernels:
        branches = [(b["splits"], b["warps"]) for b in kernel["branches"]]
        reached = sum(warps for _, warps in branches)
        time = kernel["cost"]["time"]
        more = {"params": params,
                "kernel": kernel["display"].partition(" [")[0]}
        yield bench.row(case, "cfe", [counts.cfe(kernel)], **more)
        yield bench.row(case, "divergent-warps",
                        [kernel["divergentWarps"] / kernel["warps"]], **more)
        yield bench.row(case, "divergent-branches",
                        [sum(s for s, _ in branches) / max(reached, 1)],
                        **more)
        yield bench.row(case, "sectors", [sum(
            a["sectors"] for a in kernel["accesses"]
            if a["space"] in SECTORS) / kernel["threads"]], **more)
        yield bench.row(case, "cycles", [time["cycles"]],
                        bound=time["boundBy"], **more)


def timed_cycles(kernels):
    return sum(kernel["cost"]["time"]["cycles"] for kernel in kernels
               if not kernel["display"].startswith(orders.BEFORE))


def predict(bench, case, arguments):
    """Rows by the paper's metrics; the folder of the last machine's orders."""
    for machine in MACHINES:
        folder = bench.path(case.name, machine)
        cycles = orders.make(bench, bench.program(case, "plain"), arguments,
                             folder, machine)
        for (way, metric), gain in orders.gains(cycles).items():
            yield bench.row(case, metric, [gain], {
                **case.params, "by": way, "machine": machine})


def measure(bench, case):
    check = int(case.name in GROUPED_AS_PUBLISHED and (
        case.name not in LONG_CHECKS or bench.options.quick))
    arguments = [f"{k}={v}" for k, v in case.params.items()]
    output, kernels = counts.profile(bench, [bench.program(case, "plain")],
                                     [*arguments, f"check={check}"])
    yield from of_kernels(bench, case, kernels, case.params)
    arguments.append("check=0")
    yield from predict(bench, case, arguments)
    before = timed_cycles(kernels)
    folder = bench.path(case.name, MACHINES[-1])
    runs = {way: ("given", {orders.VARIABLE: f"{folder}/{way}"})
            for way in orders.ALGORITHMS}
    for way, environment in orders.moved(case, folder).items():
        runs[way] = "plain", environment
    for way, (build, environment) in runs.items():
        again, kernels = counts.profile(
            bench, [bench.program(case, build)], arguments, **environment)
        same = counts.same_checksum(output, again)
        params = {**case.params, "by": way}
        yield from of_kernels(bench, case, kernels, params)
        yield bench.row(case, "modelled",
                        [orders.gain(before, timed_cycles(kernels))],
                        {**params, "machine": MACHINES[-1]}, verdict=same)


SUITES = [Suite(
    name="grouping-counts", where="cpu", timed=False,
    about="how paper 1's kernels diverge, as they are and in its orders, and "
          "what these should gain, on the warp VM",
    cases=cases,
    small=lambda case: {"seed": TEST_SEEDS[0]}, ways=WAYS,
    metrics={"cfe": Metric("1"), "divergent-warps": Metric("1"),
             "divergent-branches": Metric("1"), "sectors": Metric("sectors"),
             "cycles": Metric("cycles"), "weighted": Metric("%"),
             "scheduled": Metric("%"), "modelled": Metric("%")},
    measure=measure, flags=lambda bench: "-O3")]
