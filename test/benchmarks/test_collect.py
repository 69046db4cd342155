# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `collect`: what a case runs, and the rows of its ways."""

import argparse
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import compare
import results
from suite import Case
from suites import collect


class Bench(argparse.Namespace):
    """One whose programs take 4 ms and say sum."""

    def __init__(self, **more):
        super().__init__(rounds=1, repeat=2, failed=[], suite=collect.SUITES[0],
                         ways=dict(collect.WAYS), **more)

    def program(self, case, way):
        return f"{case.name}-{way}"

    def fail(self, why):
        self.failed.append(why)

    def row(self, case, metric, samples, params, **more):
        return results.row(case.name, params, metric, samples,
                           self.suite.metrics[metric].unit, **more)

    def run(self, command):
        remedied = "collect-8" in command[0]
        ms, total = ("2.0 2.0", "bad") if remedied else ("4.0 4.0", "good")
        return f"kernel-ms: {ms}\nchecksum: {total}\n"


class Runs(unittest.TestCase):
    case = Case("pol", {"years": 40})

    def test_the_form_by_hand_is_an_argument(self):
        runs = collect.runs_of(Bench(), self.case)
        self.assertEqual(runs["collect-4"], ("pol-collect-4", {"years": 40}))
        self.assertEqual(runs["nvcc-collect-256-4-32"],
                         ("pol-nvcc", {"years": 40, "remap": 5}))
        self.assertNotIn("reconverge-collect-256-4-32", runs)

    def test_on_the_warp_vm_it_is_of_our_build(self):
        bench = Bench()
        bench.ways = {way: how for way, how in bench.ways.items()
                      if how.compiler == "reconverge"}
        runs = collect.runs_of(bench, self.case)
        self.assertEqual(runs["reconverge-collect-256-8-32"],
                         ("pol-reconverge", {"years": 40, "remap": 6}))

    def test_other_bytes_fail_and_are_said(self):
        bench = Bench()
        rows = list(collect.measure(bench, self.case))
        self.assertEqual(bench.failed, ["other bytes: pol collect-8"])
        gains = {r["params"]["way"]: r for r in rows
                 if r["metric"] == "speedup"}
        self.assertEqual(gains["collect-8"]["value"], 2)
        self.assertEqual(gains["collect-8"]["verdict"], "differs (checksum)")
        self.assertEqual(gains["collect-4"]["value"], 1)
        self.assertFalse(set(compare.UNCHANGED) & set(gains))


if __name__ == "__main__":
    unittest.main()
