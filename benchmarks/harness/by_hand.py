# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as they are, done otherwise by hand (the argument form), and as they
are with remedies that do the same: what the suites refill and flatten share.

By hand: way -> parameters of the program. Remedies: way -> options of
`reconverge cc`, the remedy's first."""

import os
import sys

import compare
import counts
import processes
from errors import BenchError
from suite import Build

COMPILERS = ("nvcc", "clang")  # of what is done by hand


def ways(remedies):
    return {**compare.UNCHANGED,
            **{way: Build("reconverge", ("--fatbin", *flags))
               for way, flags in remedies.items()}}


def without_unknown(suite, remedies):
    """A suite's start: leaves the builds that the tool can make."""
    def option(way):
        return remedies[way][0].partition("=")[0]

    def leave(bench):
        text = processes.call([os.path.join(bench.options.prefix, "bin",
                                            "reconverge"), "cc", "--help"])
        there = {word.partition("=")[0] for word in text.split()}
        unknown = [way for way in bench.ways
                   if way in remedies and option(way) not in there]
        for way in unknown:
            del bench.ways[way]
        for name in dict.fromkeys(map(option, unknown)):
            print(f"{suite}: skipped: builds with {name}, which this "
                  "reconverge does not know", file=sys.stderr)
    return leave


def measure(by_hand, without=()):
    """Rows `time` and `speedup` of all ways but some, in turns on a GPU."""
    def of_case(bench, case):
        runs = {way: (bench.program(case, way), case.params)
                for way in bench.ways if way not in without}
        compilers = [c for c in COMPILERS if c in bench.ways] or [compare.OURS]
        for compiler in compilers:
            for way, params in by_hand.items():
                runs[f"{compiler}-{way}"] = (bench.program(case, compiler),
                                             {**case.params, **params})
        yield from compare.rows_of_runs(bench, case, runs)
    return of_case


def count(runs):
    """Rows `lanes` and `slots` of all ways on the warp VM. runs: way -> the
    build that it is a run of, and parameters; the first is the program as it
    is."""
    def of_case(bench, case):
        plain, sums = None, set()
        for way, (build, params) in runs.items():
            output, kernels = counts.profile(
                bench, [bench.program(case, build)],
                [f"{k}={v}" for k, v in {**case.params, **params,
                                         "check": 0}.items()])
            sums.add(processes.line(output, "checksum"))
            slots = counts.cost(kernels, "slots")
            plain = plain or slots
            row = {"params": {**case.params, "way": way},
                   "verdict": "identical"}
            yield bench.row(case, "lanes",
                            [counts.cost(kernels, "fullSlots") / slots], **row)
            yield bench.row(case, "slots", [plain / slots], **row)
        if len(sums) != 1:
            raise BenchError("the ways leave different bytes")
    return of_case
