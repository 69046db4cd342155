# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What judges the outputs of programs that tolerate small errors."""

import array
import pathlib
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import results
import tolerant
from errors import BenchError
from pages import herd as page
from suite import Case
from tolerant import HERDED, Judge, Tolerant


class Losses(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def file(self, name, data):
        path = pathlib.Path(self.folder.name, name)
        path.write_bytes(data)
        return str(path)

    def floats(self, name, *values):
        return self.file(name + ".f32", array.array("f", values).tobytes())

    def test_bytes_of_pictures_without_their_head(self):
        right = self.file("a.pgm", b"P5\n2 2\n255\n\n123")
        got = self.file("b.pgm", b"P5\n2 2\n255\n\n173")
        judge = Judge("x.pgm", "mismatch")
        self.assertEqual(tolerant.loss(judge, right, got), 1 / 4)
        self.assertEqual(tolerant.loss(judge, right, right), 0)

    def test_mean_is_over_all_values(self):
        judge = Judge("x.f32", "mean")
        right = self.floats("a", 1, -3, 0)
        self.assertEqual(
            tolerant.loss(judge, right, self.floats("b", 2, -3, 1)), .5)
        nothing = self.floats("c", 0, 0, 0)
        self.assertEqual(tolerant.loss(judge, nothing, right), 1)
        self.assertEqual(tolerant.loss(judge, nothing, nothing), 0)

    def test_what_cannot_be_judged_is_an_error(self):
        judge = Judge("x.f32", "mean")
        right = self.floats("a", 1, 2)
        with self.assertRaisesRegex(BenchError, "2 values, then 1"):
            tolerant.loss(judge, right, self.floats("b", 1))
        with self.assertRaisesRegex(BenchError, "not a number"):
            tolerant.loss(judge, right, self.floats("b", 1, float("nan")))
        with self.assertRaisesRegex(BenchError, "not a picture"):
            tolerant.loss(judge, self.file("c.ppm", b"P3\n1 1\n255\n1"), right)

    def test_the_most_of_each_set_of_inputs(self):
        def run(words):
            given = dict(word.split("=") for word in words[1:])
            lost = int(given["seed"]) if words[0] == "herded" else 0
            pathlib.Path(given["output"]).write_bytes(
                array.array("f", [100 + lost]).tobytes())

        bench = types.SimpleNamespace(folder=self.folder.name, run=run)
        HERDED["test"] = Tolerant(
            "test", {}, Judge("x.f32", "mean"), None, None,
            training=({"seed": 3}, {"seed": 1}), held_out=({"seed": 5},))
        self.addCleanup(HERDED.pop, "test")
        found = tolerant.losses(bench, Case("test", {}), {"n": 1},
                                {"ours": "plain", "herd": "herded"}, "ours")
        self.assertEqual(found, {"herd": {"quality-loss": .03,
                                          "held-out-loss": .05}})


class Page(unittest.TestCase):
    FACTS = {"gpu": "G", "driver": "1", "cuda": "13", "date": "d",
             "commit": "c"}

    def lines(self, timed):
        counts = [results.row("sobel", {"way": way}, metric, [value], "x")
                  for way, found in (
                      ("plain", {"lanes": .5, "divergent": .25, "slots": 1.}),
                      ("herd", {"lanes": .75, "divergent": .125, "slots": 1.5,
                                "quality-loss": .01, "held-out-loss": .02}))
                  for metric, value in found.items()]
        rows = [results.row("sobel", {"way": way}, "time", [ms], "ms",
                            verdict="identical")
                for way, ms in timed.items()]
        if "herd" in timed:
            rows.append(results.row("sobel", {"way": "herd"}, "speedup",
                                    [timed["clang"] / timed["herd"]], "x",
                                    verdict="within (mismatch 0.02)"))
        with tempfile.TemporaryDirectory() as folder:
            store = results.Store(folder, "g")
            results.write(store.path("herd-counts"), "herd-counts", self.FACTS,
                          counts)
            if rows:
                results.write(store.path("herd"), "herd", self.FACTS, rows)
            return list(page.lines(store))

    def test_counts_alone_are_a_page(self):
        lines = self.lines({})
        self.assertIn("| sobel | plain | 50.0 % | 25.0 % | 1.00x | - | - | 6 % "
                      "| 1.81 % |", lines)
        self.assertIn("| sobel | herd | 75.0 % | 12.5 % | 1.50x | 1 % | 2 % | "
                      "6 % | 1.81 % |", lines)
        self.assertTrue(any("No time on a GPU" in line for line in lines))

    def test_times_have_their_verdict(self):
        lines = self.lines({"nvcc": 8., "clang": 4., "reconverge": 6.,
                            "herd": 2.})
        self.assertIn("| sobel | 8.000 | 4.000 | 6.000 | herd | 2.000 | 2.00x "
                      "| within (mismatch 0.02) |", lines)
        self.assertIn("Geomean: 2.00x.", lines)

    def test_times_of_unmodified_builds_alone(self):
        lines = self.lines({"nvcc": 8., "clang": 4., "reconverge": 6.})
        self.assertIn("| sobel | 8.000 | 4.000 | 6.000 | - | - | - | - |",
                      lines)


class Inputs(unittest.TestCase):
    def test_what_is_held_out_was_not_learned_from(self):
        for name, tolerates in HERDED.items():
            self.assertTrue(tolerates.training and tolerates.held_out, name)
            for given in tolerates.held_out:
                self.assertNotIn(given, tolerates.training, name)

    def test_the_bound_is_what_the_paper_lost(self):
        self.assertEqual(HERDED["mandelbrot"].bound(), .0187)
        self.assertEqual(HERDED["dxt"].bound(), .00019)
        self.assertEqual(HERDED["gaussian"].bound(), .001)

    def test_every_judge_is_known(self):
        for name, tolerates in HERDED.items():
            self.assertIn(tolerates.judge.metric, tolerant.LOSSES, name)
            self.assertRegex(tolerates.judge.leaf, r"\.(ppm|pgm|f32)$")


if __name__ == "__main__":
    unittest.main()
