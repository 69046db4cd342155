# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of groupings is read as `reconverge predict` prints it."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
from suites import grouping_counts

TEXT = """What remedies should gain on a.cu

kernel  of run    CFE  bound by  remedy          forecast  between
align   100.0%  26.0%  alu       sort (by hand)     1.10x  1.00x to 1.10x

What it should gain to deal out threads anew by block vectors

kernel  launch  threads  regrouped  classes  by                weighted  scheduled
align        1    32.8k      2.69k    1.84k  Sorting              64.5%      -2.1%
                                             Greedy               63.8%      63.4%
                                             Greedy-Max           64.1%     100.0%
                                             longest blocks first  0.0%       5.5%
none         -        -          -        -  no block vectors
sum          1    32.8k      2.69k        1  Sorting               0.0%       0.0%

1 - T/T0 by the two metrics
"""


class Groupings(unittest.TestCase):
    def test_rows(self):
        self.assertEqual(list(grouping_counts.forecasts(TEXT)), [
            ("align", "Sorting", 64.5, -2.1),
            ("align", "Greedy", 63.8, 63.4),
            ("align", "Greedy-Max", 64.1, 100.0),
            ("align", "longest blocks first", 0.0, 5.5),
            ("sum", "Sorting", 0.0, 0.0)])

    def test_no_table(self):
        self.assertEqual(list(grouping_counts.forecasts("error: no")), [])


if __name__ == "__main__":
    unittest.main()
