# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `refill`: which builds it makes, and its page."""

import argparse
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
from pages import refill as page
from programs import REFILL_WAYS
from suites import refill, refill_counts


class Builds(unittest.TestCase):
    def left(self, helped):
        """The ways that are left where `cc --help` prints this, and what is
        said."""
        with tempfile.TemporaryDirectory() as folder:
            tool = pathlib.Path(folder, "bin", "reconverge")
            tool.parent.mkdir()
            tool.write_text(f"#!/bin/sh\necho '{helped}'\n")
            tool.chmod(0o755)
            bench = argparse.Namespace(
                options=argparse.Namespace(prefix=folder),
                ways=dict(refill.WAYS))
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                refill.without_unknown(bench)
            return list(bench.ways), said.getvalue()

    def test_a_remedy_that_the_tool_does_not_know_is_skipped(self):
        ways, said = self.left("  --collect   Sort")
        self.assertEqual(ways, ["nvcc", "clang", "reconverge", "collect"])
        self.assertEqual(said, "refill: skipped: builds with --refill, which "
                         "this reconverge does not know\n")

    def test_nothing_is_skipped_of_what_it_knows(self):
        ways, said = self.left("  --collect  Sort\n  --refill=<options>  Take")
        self.assertEqual((ways, said), (list(refill.WAYS), ""))


class Page(unittest.TestCase):
    def lines(self, ours):
        """Of a case whose unmodified builds take 8, 4 and 6 ms."""
        times = {"nvcc": 8., "clang": 4., "reconverge": 6., **ours,
                 **{f"{compiler}-{way}": 2. for way in REFILL_WAYS
                    for compiler in ("nvcc", "clang")}, "nvcc-slice-8": 1.}
        rows = []
        for way, ms in times.items():
            params = {"way": way}
            rows.append(results.row("ode", params, "time", [ms], "ms",
                                    verdict="identical"))
            if way not in ("nvcc", "clang", "reconverge"):
                rows.append(results.row("ode", params, "speedup", [4 / ms], "x",
                                        best="clang", verdict="identical"))
        counts = [results.row("ode", {"way": way}, metric, [value], "x")
                  for way in refill_counts.WAYS
                  for metric, value in (("lanes", .25), ("slots", 3.))]
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            facts = {"gpu": "G", "driver": "1", "cuda": "13", "date": "d",
                     "commit": "c"}
            results.write(store.path("refill"), "refill", facts, rows)
            results.write(store.path("refill-counts"), "refill-counts", facts,
                          counts)
            return list(page.lines(store))

    def test_the_best_by_hand_is_over_the_best_unmodified_build(self):
        lines = self.lines({})
        self.assertIn("| ode | 8.000 | 4.000 | 6.000 | nvcc-slice-8 | 1.000 | "
                      "4.00x | - | - | - |", lines)
        self.assertIn("| ode | slice-8 | 25.0 % | 25.0 % | 3.00x | 4.00x |",
                      lines)

    def test_a_remedy_is_held_against_the_best_by_hand(self):
        self.assertIn("| ode | 8.000 | 4.000 | 6.000 | nvcc-slice-8 | 1.000 | "
                      "4.00x | refill-slice-8 | 2.00x | 0.50 |",
                      self.lines({"refill-slice-8": 2., "collect": 3.}))

    def test_the_sources_are_compared_by_what_is_done_by_hand(self):
        lines = self.lines({"refill-counter-1": .5})
        self.assertTrue(any("from the counter: 2.00x, from slices: 4.00x." in
                            line for line in lines), lines)
        self.assertIn("By hand, geomean: 4.00x. By a remedy, of the 1 that "
                      "have one: 8.00x.", lines)


if __name__ == "__main__":
    unittest.main()
