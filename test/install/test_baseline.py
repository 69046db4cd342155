# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the baseline harness that need neither compiler nor GPU."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import baseline
import baseline_table
import results


def rows(case, kernel, **times):
    return [results.row(case, {}, way, [time, time, time], "ms", kernel=kernel,
                        launches=1, verdict="identical")
            for way, time in times.items()]


class BaselineTest(unittest.TestCase):
    def test_every_example_is_a_program_and_has_a_size(self):
        programs = baseline.find_programs()
        examples = {path.parent.name
                    for path in (ROOT / "examples").glob("*/*.cu")}
        self.assertEqual(examples - set(programs), set())
        self.assertEqual(set(baseline.arguments_table()) - set(programs),
                         set(), "sizes of programs that are not there")
        self.assertEqual(examples - set(baseline.arguments_table()), set())

    def test_sizes_are_name_and_value(self):
        for name, words in baseline.arguments_table().items():
            source = pathlib.Path(baseline.find_programs()[name]).read_text()
            for word in words:
                key = word.partition("=")[0]
                self.assertIn(f'integer("{key}"', source, f"{name}: {word}")

    def table(self, some_rows, causes=""):
        with tempfile.TemporaryDirectory() as folder:
            result = os.path.join(folder, "baseline.json")
            results.write(result, "baseline", {"gpu": "G", "date": "d"},
                          some_rows)
            text = os.path.join(folder, "causes.txt")
            pathlib.Path(text).write_text(causes)
            return baseline_table.page(result, text)

    def test_geomean_is_over_kernels(self):
        page = self.table(
            rows("a", "k(int)", nvcc=1.0, clang=1.0, reconverge=2.0)
            + rows("b", "l(int)", nvcc=4.0, clang=1.0, reconverge=2.0))
        self.assertIn("| geomean | | | | | 1.000 |", page)
        self.assertIn("| a | `k` | 1.000 | 1.000 | 2.000 | 2.00 |", page)

    def test_a_cause_without_its_kernel_is_an_error(self):
        with self.assertRaisesRegex(ValueError, "gone"):
            self.table(rows("a", "k(int)", nvcc=1, clang=1, reconverge=1),
                       "a gone: no such kernel\n")

    def test_a_slow_kernel_without_a_cause_is_named(self):
        page = self.table(rows("a", "k(int)", nvcc=1, clang=1, reconverge=1.2))
        self.assertIn("not yet explained", page)

    def test_the_page_is_what_the_results_say(self):
        for result in sorted((ROOT / "benchmarks/results").glob(
                "*/baseline.json")):
            self.assertEqual((ROOT / "docs/baseline.md").read_text(),
                             baseline_table.page(result, baseline_table.CAUSES),
                             "run benchmarks/harness/baseline_table.py")
            self.assertEqual(json.loads(result.read_text())["suite"],
                             "baseline")


class Merging(unittest.TestCase):
    """What was measured again takes the place of what was there."""

    @staticmethod
    def content(commit, gpu="H200", **cases):
        return {"schema": results.SCHEMA, "suite": "baseline",
                "environment": {"gpu": gpu, "commit": commit},
                "rows": [results.row(case, {}, "nvcc", [ms], "ms")
                         for case, ms in cases.items()]}

    def test_rows_of_the_same_cases_are_replaced(self):
        whole = results.merge(self.content("old", a=1.0, b=2.0),
                              self.content("new", b=3.0, c=4.0))
        self.assertEqual([(r["case"], r["value"], r.get("commit"))
                          for r in whole["rows"]],
                         [("a", 1.0, None), ("b", 3.0, "new"),
                          ("c", 4.0, "new")])
        self.assertEqual(whole["environment"]["commit"], "old")

    def test_cases_may_be_named(self):
        whole = results.merge(self.content("new", a=1.0),
                              self.content("old", a=2.0, b=3.0, c=4.0), ["b"])
        self.assertEqual([(r["case"], r["value"]) for r in whole["rows"]],
                         [("a", 1.0), ("b", 3.0)])

    def test_another_gpu_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "gpu H200, the other H100"):
            results.merge(self.content("old", a=1.0),
                          self.content("new", gpu="H100", a=1.0))


if __name__ == "__main__":
    unittest.main()
