# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `baseline`: its programs and sizes, and its page."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import programs
import results
from errors import BenchError
from pages import baseline as page
from suites import baseline


def rows(case, kernel, **times):
    return [results.row(case, {}, way, [time, time, time], "ms", kernel=kernel,
                        launches=1, verdict="identical")
            for way, time in times.items()]


class BaselineTest(unittest.TestCase):
    def test_every_example_is_a_program_and_has_a_size(self):
        known = programs.everything()
        examples = {path.parent.name
                    for path in (ROOT / "examples").glob("*/*.cu")}
        self.assertEqual(examples - set(known), set())
        self.assertEqual(set(baseline.sizes()) - set(known),
                         set(), "sizes of programs that are not there")
        self.assertEqual(examples - set(baseline.sizes()), set())

    def test_sizes_are_name_and_value(self):
        for name, params in baseline.sizes().items():
            source = pathlib.Path(programs.everything()[name]).read_text()
            for key in params:
                self.assertIn(f'integer("{key}"', source, name)

    def table(self, some_rows, causes=""):
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            results.write(store.path("baseline"), "baseline",
                          {"gpu": "G", "date": "d"}, some_rows)
            text = os.path.join(folder, "causes.txt")
            pathlib.Path(text).write_text(causes)
            return "\n".join(page.lines(store, text))

    def test_geomean_is_over_kernels(self):
        text = self.table(
            rows("a", "k(int)", nvcc=1.0, clang=1.0, reconverge=2.0)
            + rows("b", "l(int)", nvcc=4.0, clang=1.0, reconverge=2.0))
        self.assertIn("| geomean | | | | | 1.000 |", text)
        self.assertIn("| a | `k` | 1.000 | 1.000 | 2.000 | 2.00 |", text)

    def test_a_cause_without_its_kernel_is_an_error(self):
        with self.assertRaisesRegex(BenchError, "gone"):
            self.table(rows("a", "k(int)", nvcc=1, clang=1, reconverge=1),
                       "a gone: no such kernel\n")

    def test_a_slow_kernel_without_a_cause_is_named(self):
        text = self.table(rows("a", "k(int)", nvcc=1, clang=1, reconverge=1.2))
        self.assertIn("not yet explained", text)


if __name__ == "__main__":
    unittest.main()
