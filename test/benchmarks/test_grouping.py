# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What orders of threads gain: read as predict writes it, joined with what was
timed, shown in tables and plots."""

import pathlib
import sys
import tempfile
import unittest
import xml.dom.minidom

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import orders
import plots
import results
from errors import BenchError
from pages import grouping

TIMES = """_Z8classifyPi 64 as-launched 9 9
_Z8classifyPi 64 sorting 9 9
_Z1aPi 64 as-launched 300 50
_Z1aPi 64 sorting 100 60
_Z1bPi 64 as-launched 100 50
_Z1bPi 64 sorting 100 15
"""


def reading(text):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "times").write_text(text, encoding="utf-8")
        return orders.cycles(folder)


class Orders(unittest.TestCase):
    def test_kernels_that_are_timed_add_up(self):
        found = reading(TIMES)
        self.assertEqual(found["as-launched", "weighted"], 400)
        self.assertEqual(orders.gains(found), {("sorting", "weighted"): 50,
                                               ("sorting", "scheduled"): 25})

    def test_nothing_that_is_timed(self):
        with self.assertRaisesRegex(BenchError, "no kernel that is timed"):
            reading(TIMES[:30])


def rows():
    """Of one kernel, counted and timed."""
    counted, timed = [], []
    for by, cfe in ((None, .25), *((way, .5) for way in orders.ALGORITHMS)):
        params = {"side": 64} | ({"by": by} if by else {})
        for metric, value in (("cfe", cfe), ("divergent-warps", 1 - cfe),
                              ("divergent-branches", .5), ("sectors", 8),
                              ("cycles", 100)):
            counted.append(results.row("mc", params, metric, [value], "1",
                                       kernel="triangulate", bound="alu"))
    for way in orders.ALGORITHMS:
        for machine in ("gtx480", "h200"):
            for metric, value in (("weighted", 40), ("scheduled", 55),
                                  ("modelled", 50)):
                counted.append(results.row(
                    "mc", {"by": way, "machine": machine}, metric, [value],
                    "%"))
    for way, ms in (("nvcc", 2), ("reconverge", 4), ("regroup", 4),
                    *((way, 2) for way in orders.ALGORITHMS)):
        timed.append(results.row("mc", {"way": way}, "time", [ms], "ms",
                                 verdict="identical"))
        timed.append(results.row("mc", {"way": way}, "speedup", [2 / ms], "x"))
    # Of nvcc's build, too, which is faster there.
    for way in ("longest-first-moved", "nvcc-longest-first-moved"):
        timed.append(results.row("mc", {"way": way}, "speedup",
                                 [2.5 if "nvcc" in way else .9], "x"))
    timed.append(results.row("mc", {"way": "used-10-times"}, "speedup", [.5],
                             "x"))
    timed.append(results.row("mc", {}, "refused", [1], "kernels",
                             codes={"triangulate": "RC613"}))
    return counted, timed


def shown(with_gpu):
    counted, timed = rows()
    facts = {"date": "2026-11-23", "commit": "c", "gpu": "NVIDIA H200",
             "driver": "1", "cuda": "13.0"}
    with tempfile.TemporaryDirectory() as folder:
        results.write(f"{folder}/cpu/grouping-counts.json", "grouping-counts",
                      facts, counted)
        if with_gpu:
            results.write(f"{folder}/h200/grouping.json", "grouping", facts,
                          timed)
        store = results.Store(folder)
        return list(grouping.lines(store)), grouping.plots_of(store)


class Page(unittest.TestCase):
    def test_before_anything_is_timed(self):
        lines, files = shown(False)
        self.assertIn("| mc | Greedy | 40.0 | 55.0 | 40.0 | 55.0 | 50.0 |",
                      lines)
        self.assertEqual(files, {})

    def test_predicted_beside_measured(self):
        lines, files = shown(True)
        # 4 ms as it is and 2 in order: 50 % were gained.
        self.assertIn("| mc | Greedy | 50.0 | 40.0 | 55.0 | 50.0 |", lines)
        self.assertIn("| mc | Greedy | 10.0 (20.1) | 5.0 (6.2) | 0.0 |", lines)
        self.assertIn("| mc | Sorting | 33.3 | 0.0 | 50.0 |", lines)
        # Over the fastest build.
        self.assertIn("| mc | 4.000 | 1.00x | 1.00x | 1.00x | 1.00x | 0.50x | "
                      "0.50x | 0.50x | triangulate RC613 |", lines)
        self.assertIn("| mc, longest items first, data moved |  | 2.50x |  "
                      "|  |  |  |  |  |  |", lines)
        self.assertIn("| best order, kernel alone, applied | the paper's "
                      "numbers of threads (1) | 2.50x | 2.50x | 2.50x | 2.2x | "
                      "yes |", lines)
        self.assertIn("| remedy, 10 uses | the paper's numbers of threads (1) "
                      "| 0.50x | 0.50x | 0.50x |  |  |", lines)
        self.assertIn("| remedy, 10 uses, applied | the paper's numbers of "
                      "threads (1) | 1.00x | 1.00x | 1.00x | 1.7x | no |",
                      lines)
        self.assertEqual(list(files), ["plots/grouping-7.svg",
                                       "plots/grouping-8.svg",
                                       "plots/grouping-9.svg"])
        for name, text in files.items():
            xml.dom.minidom.parseString(text)
            self.assertIn(f"({name})", "\n".join(lines))


class Bars(unittest.TestCase):
    def test_what_is_too_low_says_its_value(self):
        text = plots.bars("a < b", ["s"], [("x", [-340]), ("y", [50])], "%",
                          -100)
        self.assertIn(">-340</text>", text)
        self.assertIn("a &lt; b", text)
        self.assertNotIn(">-300%</text>", text)
        self.assertEqual(text, plots.bars("a < b", ["s"],
                                          [("x", [-340]), ("y", [50])], "%",
                                          -100))

    def test_no_bar_for_no_value(self):
        text = plots.bars("t", ["s", "u"], [("x", [None, 1])], "x")
        self.assertEqual(text.count("<title>x, "), 1)


if __name__ == "__main__":
    unittest.main()
