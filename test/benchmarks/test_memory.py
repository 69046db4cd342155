# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `memory`, with an ncu and runs of our own."""

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
import bench
import ncu
import profiled
from pages import memory as page
from suites import memory

MISSING = "lts__t_sectors_op_red.sum"


def access(space, use, requests, sectors, wavefronts):
    return {"space": space, "use": use, "requests": requests,
            "lanes": 32 * requests, "sectors": sectors,
            "leastSectors": 4 * requests, "wavefronts": wavefronts,
            "leastWavefronts": requests, "turns": 0}


class FakeRunner:
    """A kernel of two loads and a store, and a launch that ncu reads."""

    def __init__(self, why=""):
        self.why, self.asked, self.missing = why, [], set()

    def profiled(self, command, device, settings="", vm=""):
        accesses = [access("global", "load", 10, 40, 10),
                    access("generic", "load", 10, 320, 320),
                    access("shared", "store", 8, 0, 16)]
        return profiled.Counted(0, "", {"notes": [], "kernels": [
            {"name": "_Z1k", "display": "k(int*)", "launches": 5,
             "accesses": accesses}]})

    def counters(self, command, metrics, most):
        self.asked.append(list(metrics))
        if self.why:
            return {}, self.why
        if MISSING in metrics:
            return {}, f"==ERROR== Failed to find metric {MISSING}"
        return {"_Z1k": {**dict.fromkeys(metrics, 6.0), ncu.LAUNCHES: 2.0}}, ""


class MemoryTest(unittest.TestCase):
    def rows(self, runner):
        run = bench.Bench(memory.SUITES[0], argparse.Namespace(
            device="gpu", quick=False, only=["bfs"], rounds=1, repeat=None,
            prefix="", cuda="", arch=90, clang=None), "")
        run.own = runner
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            rows = [row for case in run.cases for row in
                    memory.measure(run, case, memory.prepare(run, case))]
        return {(r["metric"], r["params"]["by"]): r for r in rows}, \
            said.getvalue()

    def test_the_three_sources_stand_side_by_side(self):
        rows, _ = self.rows(FakeRunner())
        self.assertEqual(rows["load-sectors", "vm"]["value"], 18)
        self.assertEqual(rows["load-sectors", "probes"]["value"], 18)
        self.assertEqual(rows["load-sectors", "ncu"]["value"], 1)
        # Five launches on the VM, of which probes see 1, 2, 3 and 4.
        self.assertEqual(rows["shared-store-wavefronts", "vm"]["value"], 16 / 5)
        self.assertEqual(rows["shared-store-wavefronts", "probes"]["value"], 4)
        self.assertEqual(rows["shared-store-wavefronts", "ncu"]["value"], 3)
        self.assertEqual(rows["hardware", "ncu"]["value"], 3)
        self.assertEqual(rows["hardware", "ncu"]["params"]["kernel"], "k")
        self.assertIn("dram__bytes_read.sum",
                      rows["hardware", "ncu"]["counters"])

    def test_a_metric_that_the_gpu_lacks_costs_no_other(self):
        runner = FakeRunner()
        rows, said = self.rows(runner)
        self.assertEqual([MISSING in asked for asked in runner.asked],
                         [True, False])
        self.assertIn("does not know " + MISSING, said)
        self.assertNotIn(MISSING, rows["hardware", "ncu"]["counters"])

    def test_a_missing_ncu_is_said(self):
        rows, said = self.rows(FakeRunner("ncu is not there"))
        self.assertIn("bfs: NO HARDWARE COUNTERS: ncu is not there", said)
        self.assertIn(("load-sectors", "probes"), rows)

    def test_the_page_names_what_does_not_agree(self):
        def rows(metric, vm, ncu):
            return [bench.results.row(
                "bitonic", {"kernel": "bitonicSort", "by": by}, metric, [value],
                "1", launches=1) for by, value in (("vm", vm), ("ncu", ncu))]
        facts = {"gpu": "G", "driver": "1", "cuda": "13.0", "date": "d",
                 "commit": "c"}
        with tempfile.TemporaryDirectory() as folder:
            store = bench.results.Store(folder, "g")
            bench.results.write(store.path("memory"), "memory", facts,
                                rows("load-sectors", 4.0, 4.01)
                                + rows("shared-store-wavefronts", 8.0, 10.0))
            text = "\n".join(page.lines(store))
        self.assertIn("| bitonic bitonicSort | 4.00 |  |  | **8.00**, 10.00 |",
                      text)
        self.assertIn("Of 2 numbers that both have, 1 agree", text)
        self.assertIn("- `bitonic bitonicSort` (wavefronts, shared stores "
                      "-20.0 %): what the hardware", text)

    def test_launches_are_counted_and_what_is_no_number_left_out(self):
        text = ('"ID","Kernel Name","a","b"\n"","","inst","ns"\n'
                '"0","k","1,000","n/a"\n"1","k","5","2"\n')
        self.assertEqual(ncu.read(text, "", (ncu.LAUNCHES, "a", "b")),
                         ({"k": {ncu.LAUNCHES: 2.0, "a": 1005.0}}, ""))


if __name__ == "__main__":
    unittest.main()
