# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels of paper 1 as they are, on the warp VM at its numbers of threads.
Rows have `kernel`:

  cfe-before          lanes at work, weighted by instructions
  divergent-warps     the share of warps in which some branch sent lanes both
                      ways, and
  divergent-branches  the share of branches that did (paper 1, Table IV)
  weighted, scheduled what `reconverge predict --groupings` says that regrouping
                      gains, 1 - T/T0 in % (paper 1, Fig. 8); in params the
                      algorithm and the machine
"""

import re

import counts
import processes
from errors import BenchError
from pages import grouping as page
from programs import GROUPED_AS_PUBLISHED
from suite import Build, Case, Metric, Page, Suite

# Sorting all suffixes, or filling whole tables, takes the host minutes.
LONG_CHECKS = ("sw", "nw", "mum")
MACHINES = ("gtx480", "h200")  # the paper's, and today's


def forecasts(text):
    """(Kernel, algorithm, weighted, scheduled) of the table of groupings."""
    table = text.partition("deal out threads anew by block vectors")[2]
    name = None
    for line in table.splitlines():
        found = re.match(r"(\S*) .* (Sorting|Greedy|Greedy-Max|longest blocks "
                         r"first) +(\S+)% +(\S+)%$", line)
        if not found:
            continue
        name = found.group(1) or name
        yield (name, found.group(2), float(found.group(3)),
               float(found.group(4)))


def predict(bench, case, arguments, machine):
    """Rows of what groupings should gain on a machine."""
    command = [bench.compilers.reconverge, "predict", "--device", "cpu",
               "--groupings", "--machine", machine,
               bench.program(case, "plain"), "--", *arguments]
    done = processes.run(command, COLUMNS="200")
    found = list(forecasts(done.stderr))
    if done.returncode or not found:
        raise BenchError(f"{' '.join(command)}: {done.stderr}")
    for kernel, algorithm, weighted, scheduled in found:
        more = {"kernel": kernel, "params": {**case.params, "by": algorithm,
                                             "machine": machine}}
        yield bench.row(case, "weighted", [weighted], **more)
        yield bench.row(case, "scheduled", [scheduled], **more)


def measure(bench, case):
    check = int(case.name not in LONG_CHECKS or bench.options.quick)
    arguments = [f"{k}={v}" for k, v in {**case.params, "check": check}.items()]
    _, kernels = counts.profile(bench, [bench.program(case, "plain")],
                                arguments)
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
    for machine in MACHINES:
        yield from predict(bench, case, arguments, machine)


SUITES = [Suite(
    name="grouping-counts", where="cpu", timed=False,
    about="how paper 1's kernels diverge, and what regrouping should gain, on "
          "the warp VM",
    cases=lambda _: [Case(name, params)
                     for name, params in GROUPED_AS_PUBLISHED.items()],
    small=lambda case: {},
    ways={"plain": Build("plain", ("-O3", "-std=c++17"))},
    metrics={"cfe-before": Metric("1"), "divergent-warps": Metric("1"),
             "divergent-branches": Metric("1"), "weighted": Metric("%"),
             "scheduled": Metric("%")},
    measure=measure, page=Page("grouping-results.md", page.lines),
    flags=lambda bench: "-O3")]
