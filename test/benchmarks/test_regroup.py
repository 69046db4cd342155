# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `regroup`: what ten uses of an order come to, and its page."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
from pages import regroup as page
from programs import REGROUP_WAYS, REGROUPED
from suites import regroup, regroup_counts

FACTS = {"gpu": "G", "driver": "1", "cuda": "13", "date": "d", "commit": "c"}
MS = {"original": 8., "regrouped": 4., "ordered": 2., "library": 5.}


def timed():
    """clang's builds take twice as long as nvcc's, but by the order less."""
    for name in REGROUPED:
        for compiler in ("nvcc", "clang"):
            ms = {way: time * (compiler == "clang" and 2 or 1)
                  for way, time in MS.items()}
            if compiler == "clang":
                ms["ordered"] = 1.
            for way, time in ms.items():
                params = {"way": way, "compiler": compiler}
                yield results.row(name, params, "time", [time], "ms",
                                  verdict="identical")
            for way in page.GAINS:
                yield results.row(name, {"way": way, "compiler": compiler},
                                  "speedup", [8 / ms.get(way, 3.2)], "x",
                                  verdict="identical")


def ordered():
    for compiler, us in (("nvcc", 40.), ("clang", 50.)):
        for way in ("order", "order-inverse-offsets", "cub"):
            yield results.row("order", {"items": 1 << 20, "bits": 8, "way": way,
                                        "compiler": compiler},
                              "cost-of-order", [us], "us", verdict="identical")


def counted():
    for name in REGROUPED:
        for way in REGROUP_WAYS:
            for metric, value in (("lanes", .25), ("slots", 3.),
                                  ("sectors", 1.5)):
                yield results.row(name, {"way": way}, metric, [value], "x")


class Regroup(unittest.TestCase):
    def lines(self, **suites):
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            for name, rows in suites.items():
                name = name.replace("_", "-")
                results.write(store.path(name), name, FACTS, list(rows))
            return list(page.lines(store))

    def test_ten_uses_pay_for_the_sort_once(self):
        self.assertEqual(regroup.amortised({"regrouped": [12., 2.],
                                            "ordered": [2., 2.]}), [3., 2.])

    def test_every_case_has_a_prediction_and_a_size(self):
        self.assertEqual(set(page.PREDICTED), set(REGROUPED))
        self.assertEqual({program for program, _ in REGROUPED.values()},
                         set(regroup_counts.SIZES))

    def test_the_page_takes_each_way_of_its_fastest_build(self):
        lines = self.lines(regroup=timed(), regroup_counts=counted())
        self.assertIn("| pol | 8.0000 | 4.0000 | 1.0000 | 5.0000 |", lines)
        self.assertIn("| pol | 5.20x | 2.00x | 6.00x | 8.00x | 5.90x | 2.50x | "
                      "1.60x |", lines)
        self.assertIn("| pol | 25.0 % | 25.0 % | 25.0 % | 3.00x | 3.00x | "
                      "1.50x |", lines)

    def test_an_order_costs_what_the_faster_build_takes(self):
        self.assertIn("| 1,048,576 | 8 | 40.0 | 40.0 | 40.0 |",
                      self.lines(regroup=[*ordered(), *timed()]))

    def test_without_a_measurement_there_is_what_is_expected(self):
        lines = self.lines()
        self.assertIn("| pol | 5.20x | 6.00x | 5.90x |", lines)
        self.assertTrue(any("Not measured" in line for line in lines))

    def test_other_bytes_are_named(self):
        rows = list(timed())
        rows[0]["verdict"] = "differs"
        self.assertTrue(any("not of pol" in line
                            for line in self.lines(regroup=rows)))


if __name__ == "__main__":
    unittest.main()
