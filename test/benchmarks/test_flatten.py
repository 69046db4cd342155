# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of the suites `flatten` and `flatten-counts`."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
from pages import flatten as page
from programs import FLATTENED
from suites import flatten, flatten_counts

FACTS = {"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}


class Suites(unittest.TestCase):
    def test_the_same_cases_are_timed_and_counted(self):
        self.assertEqual(list(flatten_counts.SIZES), list(FLATTENED))

    def test_what_is_counted_takes_any_registers(self):
        for flags in flatten_counts.COUNTED.values():
            self.assertIn("occupancy=0", flags[0])
        self.assertLess(len(flatten_counts.COUNTED), len(flatten.REMEDIES))


class Page(unittest.TestCase):
    def lines(self, times):
        """Of a case that was counted, and, if there are times, timed."""
        counts = [results.row("rows", {"way": way}, metric, [value], "x")
                  for way, slots in (("plain", 1.), ("voted-8", 1.5),
                                     ("flatten-8", 2.))
                  for metric, value in (("lanes", .25), ("slots", slots))]
        rows = []
        for way, ms in times.items():
            rows.append(results.row("rows", {"way": way}, "time", [ms], "ms",
                                    verdict="identical"))
            if way not in ("nvcc", "clang", "reconverge"):
                rows.append(results.row("rows", {"way": way}, "speedup",
                                        [4 / ms], "x", best="clang",
                                        verdict="identical"))
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            results.write(store.path("flatten-counts"), "flatten-counts",
                          FACTS, counts)
            if rows:
                results.write(store.path("flatten"), "flatten", FACTS, rows)
            return list(page.lines(store))

    def test_counts_alone_are_a_page(self):
        lines = self.lines({})
        self.assertIn("| rows | flatten-8 | 25.0 % | 2.00x |", lines)
        self.assertTrue(any("No time on a GPU" in line for line in lines))

    def test_times_stand_beside_counts(self):
        lines = self.lines({"nvcc": 8., "clang": 4., "reconverge": 6.,
                            "nvcc-voted-8": 2., "clang-voted-8": 1.,
                            "flatten-8": 3.})
        self.assertIn("| rows | plain | 25.0 % | 1.00x | - |", lines)
        self.assertIn("| rows | voted-8 | 25.0 % | 1.50x | 4.00x |", lines)
        self.assertIn("| rows | flatten-8 | 25.0 % | 2.00x | 1.33x |", lines)
        self.assertIn("| rows | 8.000 | 4.000 | 6.000 | clang-voted-8 | 1.000 "
                      "| 4.00x | flatten-8 | 1.33x | 0.33 |", lines)
        self.assertIn("Geomean by hand: 4.00x; by the remedy: 1.33x.", lines)


if __name__ == "__main__":
    unittest.main()
