# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The parts of the baseline harness that need neither compiler nor GPU."""

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
from errors import BenchError


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
            self.assertEqual(results.read(str(result))["suite"],
                             "baseline")


class Files(unittest.TestCase):
    """What is written comes back, and the same rows are the same bytes."""

    rows = [results.row("a", {"n": 1}, "nvcc", [2.5, 1.0, 2.0], "ms",
                        verdict="identical"),
            results.row("b", {}, "nvcc", [3, 5], "ms", verdict="differs"),
            results.row("b", {}, "kept", [1], "kernels", of=2)]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "s.json")

    def content(self):
        return [pathlib.Path(path).read_bytes() for path in
                (self.path, results.samples_path(self.path))]

    def test_rows_come_back(self):
        results.write(self.path, "s", {"gpu": "G"}, self.rows)
        whole = results.read(self.path, samples=True)
        self.assertEqual(whole["rows"], self.rows)
        self.assertEqual((whole["suite"], whole["environment"]),
                         ("s", {"gpu": "G"}))
        self.assertNotIn("samples", results.read(self.path)["rows"][0])

    def test_the_same_rows_are_the_same_bytes(self):
        results.write(self.path, "s", {}, self.rows)
        first = self.content()
        back = results.read(self.path, samples=True)["rows"]
        results.write(self.path, "s", {}, back)
        self.assertEqual(self.content(), first)
        self.assertNotIn(b'"samples"', first[0])

    def test_what_all_rows_of_a_metric_say_stands_once(self):
        results.write(self.path, "s", {}, self.rows)
        text = self.content()[0].decode()
        self.assertEqual(text.count('"ms"'), 1)
        self.assertEqual(text.count("identical"), 1)
        self.assertIn('"kept": {"unit": "kernels", "count": 1, "of": 2}', text)

    def test_samples_of_another_file_are_refused(self):
        results.write(self.path, "s", {}, self.rows)
        other = results.samples_path(self.path)
        kept = pathlib.Path(other).read_bytes()
        results.write(self.path, "s", {}, [results.row(
            "a", {}, "nvcc", [1.0, 2.0], "ms")])
        pathlib.Path(other).write_bytes(kept)
        with self.assertRaisesRegex(BenchError, "not have the samples of s"):
            results.read(self.path, samples=True)

    def test_no_samples_are_left_where_there_are_none(self):
        results.write(self.path, "s", {}, self.rows)
        results.write(self.path, "s", {}, self.rows[2:])
        self.assertFalse(os.path.exists(results.samples_path(self.path)))
        self.assertEqual(results.read(self.path, samples=True)["rows"],
                         self.rows[2:])

    def test_what_is_no_result_is_named(self):
        for text in ("", "{}", '{"schema": "reconverge-bench/1"}'):
            pathlib.Path(self.path).write_text(text)
            with self.assertRaisesRegex(BenchError, "s.json"):
                results.read(self.path)
        with self.assertRaisesRegex(BenchError, "No such file"):
            results.read(self.path + ".gone")

    def test_every_file_of_ours_has_its_samples(self):
        for path in sorted((ROOT / "benchmarks/results").glob("*/*.json")):
            whole = results.read(str(path), samples=True)
            self.assertEqual(whole["suite"], path.stem)


class Merging(unittest.TestCase):
    """What was measured again takes the place of what was there."""

    @staticmethod
    def content(commit, gpu="H200", **cases):
        return {"suite": "baseline",
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
        with self.assertRaisesRegex(BenchError, "gpu H200, the other H100"):
            results.merge(self.content("old", a=1.0),
                          self.content("new", gpu="H100", a=1.0))


if __name__ == "__main__":
    unittest.main()
