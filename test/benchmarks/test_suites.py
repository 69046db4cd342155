# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runner, with small suites of this file, and what every suite must be."""

import argparse
import contextlib
import inspect
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
HARNESS = ROOT / "benchmarks" / "harness"
sys.path.insert(0, str(HARNESS))
import bench
import builds
import compare
import publish
import results
import suite as suites
from errors import BenchError
from suite import Build, Case, Metric, Part, Suite


def options(**given):
    return argparse.Namespace(**{
        "device": None, "quick": False, "only": [], "rounds": None,
        "repeat": None, "prefix": "", "cuda": "", "arch": 90, "clang": None,
        "jobs": 2, "output": "", "keep": "", "build_only": False, **given})


def suite(measure, **more):
    """Three cases on the CPU."""
    return Suite(**{"name": "small", "about": "", "where": "cpu",
                    "timed": False, "measure": measure,
                    "metrics": {"time": Metric("s", "nothing")},
                    "cases": lambda _: [Case(name, {"n": 1}) for name in "abc"],
                    **more})


def times(run, case):
    if case.name == "b":
        raise BenchError("b is broken")
    yield run.row(case, "time", [1.0, 3.0])


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.mkdir(os.path.join(self.folder, "bin"))
        pathlib.Path(self.folder, "bin", "reconverge").touch()
        self.said = io.StringIO()

    def run_suite(self, what, **given):
        with contextlib.redirect_stdout(self.said), \
                contextlib.redirect_stderr(self.said):
            return bench.run(what, options(prefix=self.folder,
                                           output=self.folder, **given))

    def rows(self, name="small"):
        return results.read(os.path.join(self.folder, name + ".json"),
                            samples=True)["rows"]

    def test_a_case_that_fails_costs_no_other(self):
        self.assertFalse(self.run_suite(suite(times)))
        self.assertEqual([r["case"] for r in self.rows()], ["a", "c"])
        self.assertIn("small: failed: b n=1: b is broken", self.said.getvalue())

    def test_a_mistake_in_a_suite_costs_no_other_case_either(self):
        def wrong(run, case):
            yield run.row(case, "time" if case.name == "c" else "none", [1.0])
        self.assertFalse(self.run_suite(suite(wrong)))
        self.assertEqual([r["case"] for r in self.rows()], ["c"])
        self.assertIn("KeyError: 'none'", self.said.getvalue())

    def test_a_row_says_what_the_suite_declares(self):
        self.assertTrue(self.run_suite(suite(times), only=["a"]))
        row, = self.rows()
        self.assertEqual((row["unit"], row["baseline"], row["value"],
                          row["samples"], row["params"]),
                         ("s", "nothing", 2.0, [1.0, 3.0], {"n": 1}))

    def test_a_program_that_does_not_build_is_not_measured(self):
        what = suite(times, ways={"x": Build("plain")})
        self.assertFalse(self.run_suite(what, only=["a"]))
        self.assertIn("failed: a, x:", self.said.getvalue())
        self.assertNotIn("(1 of 1)", self.said.getvalue())

    def test_what_prepare_returns_is_measured_after_all_preparations(self):
        order = []

        def prepare(_, case):
            order.append("prepare")
            return case.name * 2

        def measure(run, case, prepared):
            order.append(prepared)
            yield run.row(case, "time", [1])
        self.assertTrue(self.run_suite(suite(
            measure, prepare=prepare, finish=lambda run: [
                run.row(Case("all", {}), "time", [len(run.rows)])])))
        self.assertEqual(order, ["prepare"] * 3 + ["aa", "bb", "cc"])
        self.assertEqual([r["case"] for r in self.rows()],
                         ["a", "b", "c", "all"])
        self.assertEqual(self.rows()[-1]["value"], 3)

    def test_on_the_cpu_only_our_builds_run_and_small(self):
        what = suite(times, where="gpu", ways=compare.UNCHANGED)
        run = bench.Bench(what, options(device="cpu"), "")
        self.assertEqual(list(run.ways), ["reconverge"])
        self.assertEqual(run.cases, [Case(name, {}) for name in "abc"])
        whole = bench.Bench(what, options(device="gpu"), "")
        self.assertEqual(list(whole.ways), list(compare.UNCHANGED))
        self.assertEqual(whole.cases[0].params, {"n": 1})

    def test_only_a_whole_run_takes_the_place_of_a_result(self):
        what = suite(times)
        self.assertTrue(bench.output_of(what, options(), False, "H200")
                        .endswith(os.path.join("h200", "small.json")))
        for given, small in (({"only": ["a"]}, False), ({}, True)):
            self.assertIsNone(bench.output_of(what, options(**given), small,
                                              "H200"))
        self.assertEqual(bench.output_of(what, options(output="/x"), True, ""),
                         "/x/small.json")

    def test_a_debug_build_is_refused(self):
        pathlib.Path(self.folder, "CMakeCache.txt").write_text(
            "CMAKE_BUILD_TYPE:STRING=Debug\n")
        with self.assertRaisesRegex(BenchError, "not a release build"):
            self.run_suite(suite(times, timed=True))
        self.run_suite(suite(times, timed=True), quick=True)


class Compared(unittest.TestCase):
    """Builds in turns, with times that a test makes up."""

    def rows(self, of, sums, rounds=2):
        what = suite(None, metrics=compare.metrics("new"))
        run = bench.Bench(what, options(rounds=rounds, repeat=2), "")
        real, self.runs = compare.run_once, []

        def once(_, program, _params, repeat):
            self.runs.append((program, repeat))
            return [of[program]] * repeat, sums.get(program, "same")
        compare.run_once = once
        self.addCleanup(setattr, compare, "run_once", real)
        return {r["metric"]: r for r in compare.rows(
            run, Case("a", {}), {way: way for way in of}, "new", keep="k")}

    def test_a_speedup_is_over_the_fastest_of_the_others(self):
        rows = self.rows({"nvcc": 4.0, "clang": 2.0, "reconverge": 3.0,
                          "new": 1.0}, {})
        self.assertEqual((rows["speedup"]["value"], rows["speedup"]["best"],
                          rows["speedup"]["keep"]), (2.0, "clang", "k"))
        self.assertEqual(rows["nvcc"]["rounds"], 2)
        self.assertEqual(rows["nvcc"]["samples"], [4.0] * 4)

    def test_other_bytes_are_said(self):
        rows = self.rows({"nvcc": 4.0, "reconverge": 3.0, "new": 1.0},
                         {"new": "other"})
        self.assertEqual(rows["speedup"]["verdict"], "differs (checksum)")
        self.assertEqual(rows["nvcc"]["verdict"], "identical")

    def test_short_launches_have_more_rounds_and_samples(self):
        rows = self.rows({"reconverge": 0.05, "new": 0.04}, {})
        self.assertEqual(rows["new"]["rounds"], compare.SHORT_ROUNDS)
        self.assertEqual({repeat for _, repeat in self.runs},
                         {2, 2 * compare.SHORT_REPEAT})


class Every(unittest.TestCase):
    known = suites.every()

    def parsed(self):
        given = {option.name.replace("-", "_"): option.default
                 for what in self.known.values() for option in what.options}
        return options(**given)

    def test_every_file_is_found(self):
        files = {path.stem.replace("_", "-")
                 for path in (HARNESS / "suites").glob("*.py")}
        self.assertEqual(files - set(self.known), {"scripts"})
        for name, what in self.known.items():
            self.assertEqual((name, bool(what.about)), (what.name, True))

    def test_every_case_has_a_source_and_every_build_a_compiler(self):
        compilers = dict(inspect.getmembers(builds.Compilers))
        for name, what in self.known.items():
            if what.script:
                continue
            run = bench.Bench(what, self.parsed(), "")
            self.assertTrue(run.cases and what.metrics and what.measure, name)
            for case in run.cases:
                self.assertTrue(os.path.exists(run.source(case)), case)
            for how in run.ways.values():
                self.assertIn("_" + how.compiler, compilers)

    def test_options_are_of_one_suite_each(self):
        names = [option.name for what in self.known.values()
                 for option in what.options]
        self.assertEqual(len(names), len(set(names)))

    def test_results_have_the_metrics_of_their_suite(self):
        for path in sorted((ROOT / "benchmarks/results").glob("*/*.json")):
            if path.stem in ("pipeline-trials", "micro"):
                continue  # of no suite, and of a program of its own
            metrics = self.known[path.stem].metrics
            for row in results.read(str(path))["rows"]:
                self.assertEqual(row["unit"], metrics[row["metric"]].unit, path)
                if metrics[row["metric"]].baseline:
                    self.assertEqual(row["baseline"],
                                     metrics[row["metric"]].baseline, path)


class CommandLine(unittest.TestCase):
    def said(self, *words):
        done = subprocess.run([sys.executable, "-B", str(HARNESS), *words],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stderr

    def test_what_cannot_start_is_one_line_and_exit_code_2(self):
        for words, why in (
                (["nonsense"], "no suite 'nonsense'"),
                (["meld", "--only", "x", "remap"], "no case 'x'"),
                (["--page", "vm"], "the suite vm has no page"),
                (["meld", "--nonsense"], "unrecognized arguments"),
                (["baseline", "--ways", "gcc", "--device", "cpu",
                  "--prefix", str(ROOT)], "there is no"),
                (["trials", "--device", "cpu"], "trials needs a GPU")):
            code, errors = self.said(*words)
            self.assertEqual(code, 2, errors)
            self.assertIn("run: error: ", errors)
            self.assertIn(why, errors)
            self.assertEqual(errors.count("\n"), 1, errors)

    def test_help_names_every_suite(self):
        done = subprocess.run([str(ROOT / "benchmarks" / "run"), "--help"],
                              capture_output=True, text=True, check=True)
        for name in suites.every():
            self.assertIn(f"\n  {name} ", done.stdout)


class PartsOfPages(unittest.TestCase):
    PART = Part("time.md", "errors", lambda store: [f"{store} rows"])

    def test_between_the_marks_alone(self):
        text = "a\n<!-- errors -->\nold\n<!-- /errors -->\nb\n"
        new = publish.with_part(text, self.PART, 7)
        self.assertEqual(new, text.replace("old", "7 rows"))
        self.assertEqual(publish.with_part(new, self.PART, 7), new)

    def test_a_page_without_marks_is_named(self):
        with self.assertRaisesRegex(BenchError, "docs/time.md has no"):
            publish.with_part("a\n<!-- errors -->\n", self.PART, 7)


if __name__ == "__main__":
    unittest.main()
