# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the table that `reconverge predict` prints."""

import re
from typing import NamedTuple

from errors import BenchError

ROW = re.compile(r"(.*\S)\s+([0-9.]+)x\s+([0-9.]+)x to ([0-9.]+)x$")


class Forecast(NamedTuple):
    kernel: str
    remedy: str
    parameters: str
    speedup: float
    low: float
    high: float


def read(text):
    """Every row; a kernel's name stands in its first."""
    lines = text.split("\n")
    heads = [i for i, line in enumerate(lines) if line.startswith("kernel ")
             and "remedy" in line and "forecast" in line]
    if not heads:
        raise BenchError("predict has printed no table:\n" + text)
    head = lines[heads[0]]
    name, remedy = head.index("of run"), head.index("remedy")
    table, kernel = [], ""
    for line in lines[heads[0] + 1:]:
        if not line.strip():
            break
        if not line.startswith(" "):
            kernel = re.split(r"\s{2,}", line)[0]
        if row := ROW.match(line):
            words, *numbers = row.groups()
            what, _, parameters = words[remedy:].partition(" (")
            table.append(Forecast(kernel, what, parameters.removesuffix(")"),
                                  *map(float, numbers)))
    return table


def of(table, kernel, candidate):
    """The candidate's row, or that of its whole remedy; None: there is none."""
    rows = [row for row in table if row.kernel == kernel
            and row.remedy == candidate["remedy"]]
    own = [row for row in rows if row.parameters == candidate["parameters"]]
    # Alone and without parameters it is of all candidates: the same is said of
    # them.
    whole = rows if len(rows) == 1 and not rows[0].parameters else []
    return next(iter(own or whole), None)
