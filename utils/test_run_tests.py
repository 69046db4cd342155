#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What run-tests.py counts, from results written by hand."""
import importlib.util
import pathlib
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("run_tests", HERE / "run-tests.py")
run_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run_tests)

PASS = '<testcase name="p" classname="c" status="run"/>'
FAIL = '<testcase name="f" classname="c"><failure message="no"/></testcase>'
SKIP = '<testcase name="s" classname="c"><skipped message="no GPU"/></testcase>'


def ctest(name, status):
    inside = "<failure/>" if status == "fail" else ""
    return f'<testcase name="{name}" status="{status}">{inside}</testcase>'


class Count(unittest.TestCase):
    def count(self, **xml):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in xml.items():
                pathlib.Path(folder, name + ".xml").write_text(
                    f"<testsuites><testsuite>{text}</testsuite></testsuites>")
            counts = run_tests.count(pathlib.Path(folder))
            return counts.passed, counts.failed, counts.skipped

    def test_cases_count(self):
        self.assertEqual(self.count(ctest=ctest("A", "run") + ctest("B", "run"),
                                    A=PASS * 3), (4, 0, []))

    def test_failed_case(self):
        self.assertEqual(self.count(ctest=ctest("A", "fail"), A=PASS + FAIL),
                         (1, 1, []))

    def test_crash(self):
        self.assertEqual(self.count(ctest=ctest("A", "fail")), (0, 1, []))
        self.assertEqual(self.count(ctest=ctest("A", "fail"), A=""), (0, 1, []))
        self.assertEqual(self.count(ctest=ctest("A", "fail"), A=PASS), (1, 1, []))

    def test_skip_is_neither(self):
        self.assertEqual(self.count(ctest=ctest("A", "run"), A=PASS + SKIP),
                         (1, 0, ["A: c.s: no GPU"]))

    def test_a_program_says_why_it_was_skipped(self):
        self.assertEqual(
            self.count(ctest='<testcase name="A" status="notrun">'
                       '<skipped message="SKIP_RETURN_CODE=77"/><system-out>'
                       'no matter\nno browser\n</system-out></testcase>'),
            (0, 0, ["A: no browser"]))

    def test_ctest_did_not_run(self):
        self.assertEqual(self.count(), (0, 0, []))


if __name__ == "__main__":
    unittest.main()
