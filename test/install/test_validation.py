# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The page of the suites `validation` and `overhead`, made of results."""

import argparse
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import gpu_bench
import gpu_programs
import ncu
import results
import validation_doc


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


def counted(command, settings):
    """Two examples, of which bitonic has a grid of which a sample counts."""
    notes, ms = [], 1.0
    if "counters=off" not in settings and command[0].endswith("bitonic"):
        ms = 4.0 if "blocks=all" in settings else 2.0
        notes = [] if "blocks=all" in settings else \
            ["large launches are counted in a part of their thread blocks"]
    return gpu_programs.Counted(0, "", "", {
        "kernels": [{"name": "k", "display": "k()", "seconds": ms / 1000}],
        "device": "G", "notes": notes})


class ValidationTest(unittest.TestCase):
    def test_every_block_counts_in_turns_with_a_sample(self):
        args = argparse.Namespace(
            tree="", only="bfs,bitonic", programs="bin", repetitions=3,
            modes=list(gpu_bench.MODES))
        suite = gpu_bench.Suite(args, "", lambda: None)
        suite.runner.profiled = \
            lambda command, device, settings: counted(command, settings)
        with contextlib.redirect_stdout(io.StringIO()):
            suite.measure()
        got = {(r["case"], r["metric"]): r["samples"] for r in suite.rows}
        self.assertEqual(got["bitonic", "branch-counters"], [2.0] * 3)
        self.assertEqual(got["bitonic", "all-blocks"], [4.0] * 3)
        self.assertEqual(got["bfs", "branch-counters"], [1.0] * 3)
        self.assertNotIn(("bfs", "all-blocks"), got)

    def page(self, efficiency, cost):
        with tempfile.TemporaryDirectory() as folder:
            facts = {"gpu": "G", "driver": "1", "cuda": "13.0", "date": "d",
                     "commit": "c"}
            for suite, rows in (("validation", efficiency), ("overhead", cost)):
                results.write(os.path.join(folder, suite + ".json"), suite,
                              facts, rows)
            return "\n".join(validation_doc.document(folder))

    def test_blocks_all_is_shown_where_it_is_another_thing(self):
        page = self.page([], overheads("a", branch_counters=1.0, all_blocks=4.0,
                                       block_vectors=1.0)
                         + overheads("b", branch_counters=1.0,
                                     block_vectors=1.0))
        self.assertIn("| a | 2.00 | 1.00x (1.00 to 1.00) | 4.00x", page)
        self.assertIn("| b | 2.00 | 1.00x (1.00 to 1.00) | the same | 1.00x",
                      page)
        self.assertIn("2.00x with them in every thread block", page)

    def test_results_without_blocks_all_have_no_such_column(self):
        page = self.page([], overheads("a", branch_counters=1.0,
                                       block_vectors=1.0))
        self.assertNotIn("in every block", page)

    def test_a_large_gap_without_a_cause_is_named(self):
        page = self.page(cfe("a", "k", 0.5, 0.4) + cfe("a", "l", 0.5, 0.48),
                         overheads("a", branch_counters=1, block_vectors=1))
        self.assertIn("`a k`: not explained yet", page)
        self.assertNotIn("`a l`", page)
        self.assertIn("over the 1 of at most 3 points, 2.0 in the mean", page)

    def test_a_sample_of_blocks_is_known_by_its_note(self):
        source = (ROOT / "src/runtime/gpu/Counter.cpp").read_text()
        note = "in a part of their thread blocks"
        self.assertIn(note, " ".join(source.replace('"', "").split()))
        run = gpu_programs.Counted(0, "", "", {
            "kernels": [], "device": "G", "notes": [f"counted {note}"]})
        self.assertTrue(run.sampled())
        run.notes = ["hardware counters: may be read here"]
        self.assertFalse(run.sampled())

    def test_the_page_is_what_the_results_say(self):
        text = "\n".join(validation_doc.document(
            str(ROOT / "benchmarks/results/h200"))) + "\n"
        self.assertEqual((ROOT / "docs/validation.md").read_text(), text,
                         "run benchmarks/harness/validation_doc.py")


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
