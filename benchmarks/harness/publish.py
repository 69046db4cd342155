# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of docs/ that show results, and what they begin with."""

import os
import sys

import results
from errors import BenchError
from places import DOCS


def made_by(suite, path):
    """The sentence that says where a page comes from."""
    return (f"Made by `benchmarks/run --page {suite}` from `{path}`, which "
            f"`benchmarks/run {suite}` wrote. Not edited by hand.")


def machine(facts):
    return (f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
            f"{facts['date'][:10]}")


def text_of(page, store):
    return "\n".join(page.lines(store)) + "\n"


def make(suites, check, store=None):
    """Writes each suite's page, or checks it; the exit code."""
    if not os.path.isdir(DOCS):
        raise BenchError(f"there is no {DOCS}: pages are made in a checkout")
    stale = []
    for suite in suites:
        path = os.path.join(DOCS, suite.page.name)
        text = text_of(suite.page, store or results.Store())
        if not check:
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            continue
        with open(path, encoding="utf-8") as old:
            if old.read() != text:
                stale.append(suite)
    for suite in stale:
        print(f"docs/{suite.page.name} is not what the results say; run "
              f"benchmarks/run --page {suite.name}", file=sys.stderr)
    return 1 if stale else 0
