# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/predict-results.md: from whichever results are there."""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
from pages import predict as page
from suites import predict_units

ENVIRONMENT = {"commit": "c", "date": "2026-01-01", "gpu": "G", "driver": "1",
               "cuda": "13.0"}


def row(case, metric, way, value, **params):
    return results.row(case, {"way": way, **params}, metric, [value], "1")


COUNTED = [row(case, metric, way, value) for case in ("gdt", "ec")
           for way, share, slots in (("none", .2, 1.), ("mma", .5, 2.))
           for metric, value in (("lanes", share), ("slots", slots),
                                 ("whole-slots", slots))]
FUSED = [row("gdt", metric, way, value, compiler="nvcc") for metric, way, value in (
    ("part", "work-mma", 2.), ("part", "foretell-mma", 1.), ("part", "plain", 5.),
    ("part", "fused2-mma", 2.4), ("rate", "fused2-mma", .2),
    ("hidden", "fused2-mma", .6), ("part", "streams1-mma", 2.1),
    ("rate", "streams1-mma", .3), ("hidden", "streams1-mma", .9),
    ("part", "both4-condition", 2.1), ("rate", "both4-condition", .31),
    ("hidden", "both4-condition", .95))]

# Both need the ALU for 1.5 ms + 0.6 ms: 0.1 ms longer than the work alone.
UNITS = [results.row("gdt", {"way": way}, "alone", [ms], "ms", units=units,
                     warps=.5, registers=40, mhz=1980)
         for way, ms, units in (
             ("work-mma", 2., {"issue": .6, "alu": .75}),
             ("foretell-mma", 1., {"issue": .7, "alu": .6}),
             ("work-condition", 2., {"issue": .2, "alu": .2}),
             ("foretell-condition", 1., {"issue": .2, "alu": .1}))]


class Page(unittest.TestCase):
    def lines(self, **suites):
        with tempfile.TemporaryDirectory() as folder:
            for suite, rows in suites.items():
                name = suite.replace("_", "-")
                results.write(str(pathlib.Path(folder, "m", name + ".json")), name,
                              ENVIRONMENT, rows)
            return list(page.lines(results.Store(folder)))

    def test_without_fused_kernels_their_cells_are_empty(self):
        lines = self.lines(predict_counts=COUNTED)
        self.assertFalse([x for x in lines if x.startswith("## Predicted while")])
        self.assertIn("| gdt | **ours, by a net** | 20.0 % | 50.0 % | 2.50x | - | - "
                      "| - | - |", lines)
        self.assertIn("| lbm | **ours, by a net** | - | - | - | - | - | - | - |",
                      lines)
        self.assertIn("| ec | the paper, Orin | 12.7 % | 46.6 % | 3.67x | 1.8x | - "
                      "| 15.3 % | - |", lines)

    def test_with_them_the_best_in_one_kernel_by_a_net_is_beside_the_paper(self):
        lines = self.lines(predict_counts=COUNTED, predict_fused=FUSED)
        self.assertTrue([x for x in lines if x.startswith("## Predicted while")])
        self.assertIn("| gdt | **ours, by a net** | 20.0 % | 50.0 % | 2.50x | 2.50x "
                      "| - | 20.0 % | 60.0 % |", lines)
        self.assertIn("| ec | **ours, by a net** | 20.0 % | 50.0 % | 2.50x | - | - "
                      "| - | - |", lines)

    def test_the_limit_is_where_the_busiest_unit_has_done_both(self):
        lines = self.lines(predict_counts=COUNTED, predict_fused=FUSED,
                           predict_units=UNITS)
        self.assertTrue([x for x in lines if x.startswith(
            "| gdt | mma | 2.0000, alu 75 % | 1.0000, issue 70 % | alu 2.1000 | 90 % "
            "| 90 %, streams1 |")])
        self.assertTrue([x for x in lines if x.startswith(
            "| gdt | condition | 2.0000, issue 20 % | 1.0000, issue 20 % "
            "| issue 0.6000 | 100 % | 95 %, both4 |")])
        self.assertFalse([x for x in lines if x.startswith("| gdt | fma |")])

    def test_of_ncu_s_launches_the_first_of_each_way_counts(self):
        def launch(kernel):
            return {"Kernel Name": kernel}
        plain, late = launch("_Z5plainI7TradingLb0EE"), launch("_Z5plainI7TradingLb1EE")
        ahead, mma, fma = (launch(f"_Z8foretoldI7Trading{source}IS0_ELb0EE")
                           for source in ("7ByTiles", "7ByTiles", "5ByFma"))
        found = predict_units.by_way([dict(plain), ahead, plain, mma, dict(mma),
                                      late, fma, dict(plain)])
        self.assertEqual(list(found), ["work-mma", "foretell-mma", "work-fma"])
        self.assertIs(found["work-mma"], plain)
        self.assertIs(found["foretell-mma"], mma)


if __name__ == "__main__":
    unittest.main()
