# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the pages of docs/ that show results, and what they begin with."""

import os
import sys

import results
from errors import BenchError
from places import DOCS


def made_by(suite, path, by=None):
    """The sentence that says where a page comes from; by: the suite that wrote
    the results, if that is another."""
    return (f"Made by `benchmarks/run --page {suite}` from `{path}`, which "
            f"`benchmarks/run {by or suite}` wrote. Not edited by hand.")


def machine(facts):
    return (f"{facts['gpu']}, driver {facts['driver']}, CUDA {facts['cuda']}, "
            f"{facts['date'][:10]}")


def text_of(page, store):
    return "\n".join(page.lines(store)) + "\n"


def with_part(text, part, store):
    """The page's text with what the part says now."""
    begin, end = f"<!-- {part.mark} -->\n", f"<!-- /{part.mark} -->\n"
    if text.count(begin) != 1 or text.count(end) != 1:
        raise BenchError(f"docs/{part.name} has no {begin.strip()} with an end")
    before, rest = text.split(begin)
    return before + begin + text_of(part, store) + end + rest.split(end)[1]


def texts(suite, store):
    """(page, its old text or None, its text) of all that the suite writes."""
    yield suite.page.name, None, text_of(suite.page, store)
    for name, text in suite.page.plots(store).items():
        yield name, None, text
    for part in suite.page.parts:
        with open(os.path.join(DOCS, part.name), encoding="utf-8") as page:
            old = page.read()
        yield part.name, old, with_part(old, part, store)


def make(suites, check, store=None):
    """Writes each suite's pages, or checks them; the exit code."""
    if not os.path.isdir(DOCS):
        raise BenchError(f"there is no {DOCS}: pages are made in a checkout")
    stale = []
    for suite in suites:
        for name, old, text in texts(suite, store or results.Store()):
            path = os.path.join(DOCS, name)
            if not check:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
                continue
            if old is None and os.path.exists(path):
                with open(path, encoding="utf-8") as page:
                    old = page.read()
            if old != text:
                stale.append((name, suite))
    for name, suite in stale:
        print(f"docs/{name} is not what the results say; run "
              f"benchmarks/run --page {suite.name}", file=sys.stderr)
    return 1 if stale else 0
