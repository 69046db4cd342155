# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What judges the outputs of programs that tolerate small errors."""

import array
import math
import pathlib
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import herding
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

    def test_a_policy_may_lose_all(self):
        def run(words, RECONVERGE_VM="", **_):
            given = dict(word.split("=") for word in words[1:])
            if RECONVERGE_VM == "fails":
                raise BenchError("exit code 1")
            value = float("nan") if RECONVERGE_VM == "nan" else 100
            pathlib.Path(given["output"]).write_bytes(
                array.array("f", [value]).tobytes())

        bench = types.SimpleNamespace(folder=self.folder.name, run=run)
        HERDED["test"] = Tolerant(
            "test", {}, Judge("x.f32", "mean"), None, None,
            training=({"seed": 3},), held_out=({"seed": 5},))
        self.addCleanup(HERDED.pop, "test")
        found = tolerant.losses(
            bench, Case("test", {}), {}, dict.fromkeys("abcd", "program"), "a",
            {"b": "nan", "c": "fails", "d": "harmless"})
        self.assertEqual({way: lost["quality-loss"]
                          for way, lost in found.items()},
                         {"b": math.inf, "c": math.inf, "d": 0})
        self.assertEqual(herding.finite(found["b"]), {})


class Search(unittest.TestCase):
    """A program of cost 100 on two inputs. Branch 1 saves 30 and loses .01, 2
    saves 20 and loses .06, 3 saves 10 and loses nothing on the first input but
    makes the second dearer, 4 saves 5, and 5 fails."""

    COST = {1: (30, 30), 2: (20, 20), 3: (10, -10), 4: (5, 5), 5: (50, 50)}
    LOST = {1: .01, 2: .06}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        HERDED["test"] = Tolerant(
            "test", {}, Judge("x.f32", "mean"), .05, None,
            training=({"seed": 0}, {"seed": 1}))
        self.addCleanup(HERDED.pop, "test")
        real = herding.counts.whole
        self.addCleanup(setattr, herding.counts, "whole", real)
        herding.counts.whole = self.whole
        self.bench = types.SimpleNamespace(
            folder=self.folder.name, path=lambda *words: str(pathlib.Path(
                self.folder.name, "-".join(map(str, words)))))

    def whole(self, bench, words, arguments, codes=(0,), RECONVERGE_VM=""):
        del bench, words
        vm = dict(word.split("=") for word in RECONVERGE_VM.split(",") if word)
        given = dict(word.split("=") for word in arguments)
        herds = ([int(n) for n in vm["branches"].split(":")] if "branches" in vm
                 else list(self.COST) if vm else [])
        if 5 in herds and 1 not in codes:
            raise BenchError("exit code 1")
        strong = 1 if vm.get("threshold", "16") == "16" else .5
        slots = 100 - strong * sum(self.COST[n][int(given["seed"])]
                                   for n in herds)
        lost = strong * sum(self.LOST.get(n, 0) for n in herds)
        pathlib.Path(given["output"]).write_bytes(
            array.array("f", [100 - 100 * lost]).tobytes())
        return "", {"kernels": [{"cost": {"slots": slots}}],
                    "notes": ["herded in k(int): branches 1, 2, 3, 4",
                              "herded in j: branches 5; loads 7",
                              "herded in i: nothing"] if vm else []}

    def test_keeps_what_pays_on_all_inputs_within_the_bound(self):
        policy = herding.POLICIES["vm-branch"]
        found = herding.Search(self.bench, Case("test", {}), "program", policy)
        self.assertEqual(found.best(),
                         "policy=herd-branch,check=on,threshold=16,branches=1:4")
        # Half of it saves less, but stays within the bound with 2.
        self.assertEqual(found.grow(8)[1:], (8, [1, 2, 4]))

    def test_none_is_an_answer(self):
        HERDED["test"] = HERDED["test"]._replace(branches=0.)
        self.COST = {**self.COST, 3: (-1, 9), 4: (0, 0)}
        found = herding.Search(self.bench, Case("test", {}), "program",
                               herding.POLICIES["vm-branch"])
        self.assertEqual(found.bound, 0)
        self.assertIsNone(found.best())

    def test_what_the_notes_say(self):
        notes = {"notes": ["herded in f(int, int): branches 3, 10; loads 2",
                           "herded in g: loads 4, 5", "herded in h: nothing"]}
        self.assertEqual(herding.herded(notes, "branches"), [3, 10])
        self.assertEqual(herding.herded(notes, "loads"), [2, 4, 5])


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
        self.assertIn("| sobel | plain | 50.0% | 25.0% | 1.00x | - | - | - | 6 "
                      "% | 1.81 % |", lines)
        self.assertIn("| sobel | herd | 75.0% | 12.5% | 1.50x | - | 1 % | 2 % | "
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
