# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suites `validation` and `overhead`, and their page."""

import argparse
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import bench
import ncu
import profiled
import results
from pages import validation as page
from suites import overhead


def overheads(case, **ratios):
    rows = [results.row(case, {}, "plain", [2.0], "ms")]
    return rows + [results.row(case, {}, metric.replace("_", "-"), [ratio], "x",
                               verdict="identical")
                   for metric, ratio in ratios.items()]


def cfe(case, kernel, vm, gpu):
    params = {"kernel": kernel}
    return [results.row(case, params, "cfe-vm", [vm], "1"),
            results.row(case, params, "cfe-probes", [vm], "1"),
            results.row(case, params, "bbv-equal", [1], "1"),
            results.row(case, params, "cfe-gpu", [gpu], "1", predicated=gpu)]


class FakeRunner:
    """Of two examples, bitonic has a grid of which a sample counts."""

    def profiled(self, command, _, settings):
        notes, ms = [], 1.0
        if "counters=off" not in settings and "bitonic" in command[0]:
            ms = 4.0 if "blocks=all" in settings else 2.0
            notes = [] if "blocks=all" in settings else \
                ["large launches are counted in a part of their thread blocks"]
        return profiled.Counted(0, "", {
            "kernels": [{"name": "k", "display": "k()",
                         "seconds": ms / 1000}], "notes": notes})


class ValidationTest(unittest.TestCase):
    def test_every_block_counts_in_turns_with_a_sample(self):
        run = bench.Bench(overhead.SUITES[0], argparse.Namespace(
            device="gpu", quick=False, only=["bfs", "bitonic"], rounds=3,
            repeat=None, prefix="", cuda="", arch=90, clang=None,
            modes=",".join(overhead.MODES), seconds=60), "")
        run.own = FakeRunner()
        got = {(r["case"], r["metric"]): r["samples"] for case in run.cases
               for r in overhead.measure(run, case)}
        self.assertEqual(got["bitonic", "branch-counters"], [2.0] * 3)
        self.assertEqual(got["bitonic", "all-blocks"], [4.0] * 3)
        self.assertEqual(got["bfs", "branch-counters"], [1.0] * 3)
        self.assertNotIn(("bfs", "all-blocks"), got)

    def page(self, efficiency, cost):
        facts = {"gpu": "G", "driver": "1", "cuda": "13.0", "date": "d",
                 "commit": "c"}
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            for suite, rows in (("validation", efficiency), ("overhead", cost)):
                results.write(store.path(suite), suite, facts, rows)
            return "\n".join(page.lines(store))

    def test_blocks_all_is_shown_where_it_is_another_thing(self):
        text = self.page([], overheads("a", branch_counters=1.0, all_blocks=4.0,
                                       block_vectors=1.0)
                         + overheads("b", branch_counters=1.0,
                                     block_vectors=1.0))
        self.assertIn("| a | 2.00 | 1.00x (1.00 to 1.00) | 4.00x", text)
        self.assertIn("| b | 2.00 | 1.00x (1.00 to 1.00) | the same | 1.00x",
                      text)
        self.assertIn("2.00x with them in every thread block", text)

    def test_results_without_blocks_all_have_no_such_column(self):
        text = self.page([], overheads("a", branch_counters=1.0,
                                       block_vectors=1.0))
        self.assertNotIn("in every block", text)

    def test_a_large_gap_without_a_cause_is_named(self):
        text = self.page(cfe("a", "k", 0.5, 0.4) + cfe("a", "l", 0.5, 0.48),
                         overheads("a", branch_counters=1, block_vectors=1))
        self.assertIn("`a k`: not explained yet", text)
        self.assertNotIn("`a l`", text)
        self.assertIn("over the 1 of at most 3 points, 2.0 in the mean", text)

    def test_a_sample_of_blocks_is_known_by_its_note(self):
        source = (ROOT / "src/runtime/gpu/Counter.cpp").read_text()
        note = "in a part of their thread blocks"
        self.assertIn(note, " ".join(source.replace('"', "").split()))
        run = profiled.Counted(0, "", {"kernels": [],
                                       "notes": [f"counted {note}"]})
        self.assertTrue(run.sampled())
        run.notes = ["hardware counters: may be read here"]
        self.assertFalse(run.sampled())


class Ncu(unittest.TestCase):
    def test_launches_of_a_kernel_are_added(self):
        text = ('==PROF== Connected\n"ID","Kernel Name","a","b"\n'
                '"","","inst","ns"\n"0","k","1,000","2"\n"1","k","5","2"\n')
        self.assertEqual(ncu.read(text, "", ("a", "b")),
                         ({"k": {"a": 1005.0, "b": 4.0}}, ""))

    def test_why_counters_may_not_be_read_is_said(self):
        self.assertEqual(ncu.read("==ERROR== ERR_NVGPUCTRPERM\n", "", ("a",)),
                         ({}, "==ERROR== ERR_NVGPUCTRPERM"))


if __name__ == "__main__":
    unittest.main()
