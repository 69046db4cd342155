# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `reconverge predict` forecasts of every candidate that the suite optimize
has timed on the GPU: from counts of the warp VM at the same sizes and the
machine code that ptxas makes, beside what was achieved then.

A change to forecasts shows here without a GPU. The rows of optimize have the
forecasts that were made on the GPU's machine, from its own counts.

Metric `forecast`: x, between `low` and `high`, of the candidate `candidate` of
`kernel`, with what it `achieved`. Candidates without a forecast have no row.
"""

import json

import forecasts
import processes
import results
from errors import BenchError
from programs import LARGER
from suite import Case, Metric, Suite


def timed():
    return [row for row in results.Store().of("optimize")["rows"]
            if row["metric"] == "predicted"]


def cases(_):
    seen = {(row["case"], json.dumps(row["params"])): row for row in timed()}
    return [Case(row["case"], row["params"], row["case"].removesuffix(LARGER))
            for row in seen.values()]


def measure(bench, case):
    command = [bench.compilers.reconverge, "predict", "--device", "cpu",
               "--machine-code", f"--cuda-path={bench.options.cuda}", "-O3",
               f"-arch=sm_{bench.options.arch}", "-std=c++17", "-DONLY_PLAIN",
               bench.source(case), "--", *case.words(), "check=0"]
    done = processes.run(command, 300)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}: exit code {done.returncode}\n"
                         f"{done.stderr}")
    table = forecasts.read(done.stderr)
    for row in timed():
        if row["case"] != case.name or (row["params"] != case.params
                                        and not bench.small):
            continue
        found = forecasts.of(table, row["kernel"], row["candidate"])
        if found:
            yield bench.row(case, "forecast", [found.speedup], low=found.low,
                            high=found.high, kernel=row["kernel"],
                            candidate=row["candidate"],
                            achieved=row["achieved"])


SUITES = [Suite(
    name="forecast-counts",
    about="forecasts of what was timed, counted on the warp VM",
    where="cpu", timed=False, cases=cases, metrics={"forecast": Metric("x")},
    measure=measure, flags=lambda bench: "-O3")]
