# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding gains: programs of kernels/ as they are and melded, in turns.
compare.py says how, and what the rows are. All builds must print the same
checksum, or the row says that they do not."""

import compare
import programs
from pages import meld as page
from suite import Build, Case, Metric, Page, Suite

SUITES = [Suite(
    name="meld", about="what melding gains on a GPU",
    cases=lambda options: [Case(*case) for case in programs.melded()],
    ways={**compare.UNCHANGED,
          "melded": Build("reconverge", ("--fatbin", "--meld"))},
    metrics=compare.metrics("melded", **{"speedup-over-own": Metric(
        "x", "the same build without melding")}),
    measure=compare.measure("melded", reference="nvcc"),
    page=Page("meld-results.md", page.lines))]
