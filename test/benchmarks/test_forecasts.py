# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table that `reconverge predict` prints, read by the suite
`forecast-counts`."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import forecasts
from errors import BenchError

TEXT = """What remedies should gain on a.cu

kernel       of run    CFE  bound by  remedy                   forecast  between
plain<8>      90.0%  66.9%  launch    sort (by hand)              1.12x  0.74x to 1.51x
                                      remap                       1.05x  0.71x to 1.50x
                                      remap (algorithm=x;paths=2)  0.50x  0.40x to 1.50x
                                      meld                        1.00x  0.74x to 1.51x
other         10.0%  90.0%  issue     nothing

Nothing was built: 1.00x is no row.
"""


class ForecastsTest(unittest.TestCase):
    def of(self, remedy, parameters="", kernel="plain<8>"):
        found = forecasts.of(forecasts.read(TEXT), kernel,
                             {"remedy": remedy, "parameters": parameters})
        return found and found.speedup

    def test_each_row_is_a_candidate(self):
        rows = forecasts.read(TEXT)
        self.assertEqual(len(rows), 4)
        self.assertEqual(rows[2], ("plain<8>", "remap", "algorithm=x;paths=2",
                                   0.5, 0.4, 1.5))

    def test_a_candidate_has_its_own_row_or_its_remedys_only_one(self):
        self.assertEqual(self.of("remap"), 1.05)
        self.assertEqual(self.of("remap", "algorithm=x;paths=2"), 0.5)
        self.assertIsNone(self.of("remap", "threads=256"))
        self.assertEqual(self.of("meld", "threshold=0"), 1)
        self.assertIsNone(self.of("share"))
        self.assertIsNone(self.of("meld", kernel="other"))

    def test_no_table_is_an_error(self):
        with self.assertRaises(BenchError):
            forecasts.read("exit")


if __name__ == "__main__":
    unittest.main()
