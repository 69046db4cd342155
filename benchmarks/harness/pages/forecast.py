# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What docs/time.md says of the suite forecast-counts."""

from pages.optimize import coverage, error_line
from results import short
from tables import markdown


def error_of(row):
    return (row["value"] / row["achieved"] - 1) * 100


def lines(store):
    result = store.newest("forecast-counts")
    rows = result["rows"]
    yield (f"From `benchmarks/run forecast-counts`, {result['environment']['date']}"
           f", commit {short(result['environment']['commit'])}: forecasts of "
           f"{len(rows)} candidates, and what they achieved in the run of "
           "`optimize` before it. " + coverage(rows))
    yield ""
    table = [error_line("all", rows, error_of)]
    for remedy in sorted({row["candidate"]["remedy"] for row in rows}):
        table.append(error_line(
            remedy, [row for row in rows
                     if row["candidate"]["remedy"] == remedy], error_of))
    yield from markdown(["forecasts of", "candidates", "mean", "median",
                         "worst"], table, (0,))
