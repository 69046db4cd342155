# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of paper 1 as they are, counted on the warp VM at its numbers of
threads. Rows have `kernel`:

  cfe-before          lanes at work, weighted by instructions
  divergent-warps     the share of warps in which some branch sent lanes both
                      ways, and
  divergent-branches  the share of branches that did (paper 1, Table IV)
"""

import counts
from programs import GROUPED_AS_PUBLISHED
from suite import Build, Case, Metric, Suite

# Sorting all suffixes, or filling whole tables, takes the host minutes.
LONG_CHECKS = ("sw", "nw", "mum")


def measure(bench, case):
    check = int(case.name not in LONG_CHECKS or bench.options.quick)
    _, kernels = counts.profile(
        bench, [bench.program(case, "plain")],
        [f"{k}={v}" for k, v in {**case.params, "check": check}.items()])
    for kernel in kernels:
        branches = [(b["splits"], b["warps"]) for b in kernel["branches"]]
        reached = sum(warps for _, warps in branches)
        more = {"kernel": kernel["display"]}
        yield bench.row(case, "cfe-before", [counts.cfe(kernel)], **more)
        yield bench.row(case, "divergent-warps",
                        [kernel["divergentWarps"] / kernel["warps"]], **more)
        yield bench.row(case, "divergent-branches",
                        [sum(s for s, _ in branches) / max(reached, 1)],
                        **more)


SUITES = [Suite(
    name="grouping-counts", where="cpu", timed=False,
    about="lanes at work in paper 1's kernels, on the warp VM",
    cases=lambda _: [Case(name, params)
                     for name, params in GROUPED_AS_PUBLISHED.items()],
    small=lambda case: {},
    ways={"plain": Build("plain", ("-O3", "-std=c++17"))},
    metrics={"cfe-before": Metric("1"), "divergent-warps": Metric("1"),
             "divergent-branches": Metric("1")},
    measure=measure, flags=lambda bench: "-O3")]
