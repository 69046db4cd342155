# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether the model chooses the faster of reading data where they are and of
moving them, as the page tells."""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
from pages import layout


def rows(metric, values, **more):
    return {"rows": [{"metric": metric, "value": value,
                      "params": {"bytes": size, "way": way, **more}}
                     for (size, way), value in values.items()]}


COUNTED = rows("cycles", {(16, "redirected"): 300, (16, "moved"): 600,
                          (16, "redirected-ordered"): 100,
                          (16, "moved-ordered"): 50})


class Choice(unittest.TestCase):
    def table(self, measured):
        return layout.table(layout.of_records(COUNTED, measured))

    def test_right_and_wrong(self):
        text, right = self.table(rows("time", {
            (16, "redirected"): 2, (16, "moved"): 3,
            (16, "redirected-ordered"): 1, (16, "moved-ordered"): 2}))
        self.assertEqual(right, (1, 2))
        self.assertIn("| 16 bytes, an order for each launch | 2.00 | 1.50 | "
                      "redirected | redirected |", text)
        self.assertIn("| 16 bytes, an order that is there | 0.50 | 2.00 | moved "
                      "| redirected |", text)

    def test_the_fastest_build_counts(self):
        times = rows("time", {(16, "redirected"): 2, (16, "moved"): 3},
                     compiler="nvcc")
        times["rows"] += rows("time", {(16, "moved"): 1},
                              compiler="clang")["rows"]
        text, right = self.table(times)
        self.assertEqual(right, (0, 1))
        self.assertIn("| 2.00 | 0.50 | redirected | moved |", text[2])


if __name__ == "__main__":
    unittest.main()
