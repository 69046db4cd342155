#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every test of a build folder and counts the single cases.

ctest runs the programs; GoogleTest and lit write what their cases did as JUnit
XML, so that a case counts and not only a program. A program that fails without
a failed case of its own (it crashed, or leaked at exit) counts as one failure.
The last line is "N passed, M failed"; exit code 1 unless M is 0 and N is not.

usage: run-tests.py [--jobs N] BUILD [further arguments for ctest]
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ElementTree


class Counts:
    def __init__(self):
        self.passed = self.failed = 0
        self.skipped = []

    def add_case(self, name, case):
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed += 1
        elif (skip := case.find("skipped")) is not None:
            why = (skip.get("message") or skip.text or "").strip()
            # ctest knows its number, and the test has said why.
            if why.startswith("SKIP_") and case.findtext("system-out"):
                why = case.findtext("system-out").strip().splitlines()[-1]
            self.skipped.append(f"{name}: {' '.join(why.split())}")
        elif case.get("status") not in ("notrun", "disabled"):
            self.passed += 1


def cases(path):
    """The test cases in a JUnit file; none if the program did not write it."""
    try:
        return list(ElementTree.parse(path).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return []


def count(results):
    counts = Counts()
    for test in cases(results / "ctest.xml"):
        name = test.get("name")
        single = cases(results / f"{name}.xml")
        failed_before = counts.failed
        for case in single:
            counts.add_case(f"{name}: {case.get('classname')}."
                            f"{case.get('name')}", case)
        if not single:
            counts.add_case(name, test)
        elif test.get("status") == "fail" and counts.failed == failed_before:
            counts.failed += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", default=str(os.cpu_count()))
    parser.add_argument("build", type=pathlib.Path)
    args, rest = parser.parse_known_args()
    build = args.build.resolve()
    results = build / "test-results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir(parents=True)

    # A folder: each GoogleTest program writes <its name>.xml into it, and so does
    # each part of the lit tests (test/CMakeLists.txt).
    environment = dict(os.environ, GTEST_OUTPUT=f"xml:{results}/")
    code = subprocess.run(
        ["ctest", "--test-dir", build, "-j", args.jobs, "--output-on-failure",
         "--output-junit", results / "ctest.xml"] + rest,
        env=environment).returncode
    sys.stdout.flush()

    counts = count(results)
    if code != 0 and counts.failed == 0:
        counts.failed = 1  # ctest itself could not run
    if counts.skipped:
        print(f"{len(counts.skipped)} skipped:")
        for skip in counts.skipped:
            print("  " + skip)
    print(f"{counts.passed} passed, {counts.failed} failed")
    return 0 if counts.failed == 0 and counts.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
