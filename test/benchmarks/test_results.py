# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result files: what is written comes back, and files are merged."""

import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
from errors import BenchError


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
        for others in ([[1.0, 2.0]], [[2.5, 1.0, 2.0], [3, 6]]):
            results.write(self.path, "s", {}, [results.row(
                "a", {}, "nvcc", own, "ms") for own in others])
            pathlib.Path(other).write_bytes(kept)
            with self.assertRaisesRegex(BenchError, "the samples of s.json"):
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
