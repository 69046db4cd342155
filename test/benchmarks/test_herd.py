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
import tolerant
from errors import BenchError
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
        judge = Judge("x.pgm", "mismatch", 0)
        self.assertEqual(tolerant.loss(judge, right, got), 1 / 4)
        self.assertEqual(tolerant.loss(judge, right, right), 0)

    def test_mean_is_over_all_values(self):
        judge = Judge("x.f32", "mean", 0)
        right = self.floats("a", 1, -3, 0)
        self.assertEqual(
            tolerant.loss(judge, right, self.floats("b", 2, -3, 1)), .5)
        nothing = self.floats("c", 0, 0, 0)
        self.assertEqual(tolerant.loss(judge, nothing, right), 1)
        self.assertEqual(tolerant.loss(judge, nothing, nothing), 0)

    def test_what_cannot_be_judged_is_an_error(self):
        judge = Judge("x.f32", "mean", 0)
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
            "test", {}, Judge("x.f32", "mean", 0),
            training=({"seed": 3}, {"seed": 1}), held_out=({"seed": 5},))
        self.addCleanup(HERDED.pop, "test")
        found = tolerant.losses(bench, Case("test", {}), {"n": 1},
                                {"ours": "plain", "herd": "herded"}, "ours")
        self.assertEqual(found, {"herd": {"quality-loss": .03,
                                          "held-out-loss": .05}})


class Inputs(unittest.TestCase):
    def test_what_is_held_out_was_not_learned_from(self):
        for name, tolerates in HERDED.items():
            self.assertTrue(tolerates.training and tolerates.held_out, name)
            for given in tolerates.held_out:
                self.assertNotIn(given, tolerates.training, name)

    def test_every_judge_is_known(self):
        for name, tolerates in HERDED.items():
            self.assertIn(tolerates.judge.metric, tolerant.LOSSES, name)
            self.assertRegex(tolerates.judge.leaf, r"\.(ppm|pgm|f32)$")


if __name__ == "__main__":
    unittest.main()
