# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `bound`: what ncu's metrics are taken to say, and the sections that
it printed."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import ncu
from pages import bound as page

ISSUE = "smsp__issue_active" + page.ACTIVE
ALU = "sm__pipe_alu_cycles_active" + page.ELAPSED
L2 = "lts__throughput" + page.ELAPSED


class BoundTest(unittest.TestCase):
    def test_the_busiest_unit_is_the_word(self):
        counters = {ISSUE: 68.0, ALU: 67.0, L2: 5.0, page.WAVES: 4.0}
        self.assertEqual(page.word_of(counters), "issue")
        self.assertTrue(page.near("alu", counters))
        self.assertFalse(page.near("l2", counters))

    def test_none_busy_is_latency_and_few_blocks_are_the_grid(self):
        counters = {ISSUE: 30.0, ALU: 29.0, L2: 59.0, page.WAVES: 4.0}
        self.assertEqual(page.word_of(counters), "latency")
        self.assertFalse(page.near("l2", counters))
        self.assertEqual(page.word_of({**counters, page.WAVES: 0.2}), "grid")

    def test_sections_are_means_over_launches(self):
        text = ('"ID","Kernel Name","Device","a__x.sum","launch__y"\n'
                '"","","","ns",""\n'
                '"0","k","G","1,000","3"\n"1","k","G","500","5"\n')
        rows, why = ncu.table_of(text, "")
        self.assertEqual((len(rows), why), (2, ""))
        self.assertEqual(ncu.means(rows),
                         {"k": {"a__x.sum": 750.0, "launch__y": 4.0}})


if __name__ == "__main__":
    unittest.main()
