#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""check_counts.py must pass a profile that holds the counts by hand, and must
catch every single number that is off by one."""

import copy
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
import check_counts

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "shapes.cu")


def where(checker, fragment):
    """A place as the profile has it: inlined from a header of the toolkit."""
    return [{"file": "/include/device_atomic_functions.hpp", "line": 105},
            {"file": SOURCE, "line": checker.line_of(fragment)}]


def profile_of(checker, name, want):
    """The kernel's part of a divergence.json in which all is as derived."""
    blocks = [{"warps": b["warps"], "lanes": b["lanes"], "instructions": 2 + i,
               "where": where(checker, b["at"][0])}
              for i, b in enumerate(want["blocks"])]
    branches = [{"warps": b["warps"], "splits": b["splits"],
                 "lanesTo": list(reversed(b["lanes"])),
                 "where": where(checker, b["at"])} for b in want["branches"]]
    lanes = sum(b["lanes"] * b["instructions"] for b in blocks)
    warps = sum(b["warps"] * b["instructions"] for b in blocks)
    return {"display": name + "(int*)", "blocks": blocks, "branches": branches,
            "cost": {"cfe": lanes / (32 * warps)},
            **{k: want[k] for k in ("launches", "threads", "warps",
                                    "divergentWarps")}}


class CheckCounts(unittest.TestCase):
    def setUp(self):
        with open(os.path.join(HERE, "shapes.json"), encoding="utf-8") as text:
            self.expect = json.load(text)["kernels"]

    def failures(self, kernel, want):
        checker = check_counts.Checker(SOURCE, "frontier")
        checker.kernel(kernel, want)
        return checker.failures

    def kernels(self):
        checker = check_counts.Checker(SOURCE, "frontier")
        for name, want in self.expect.items():
            yield profile_of(checker, name, want), want

    def test_passes_what_is_derived(self):
        for kernel, want in self.kernels():
            self.assertEqual(self.failures(kernel, want), [])

    def test_catches_every_number(self):
        for kernel, want in self.kernels():
            for part, keys in (("blocks", ("warps", "lanes")),
                               ("branches", ("warps", "splits"))):
                for index in range(len(kernel[part])):
                    for key in keys:
                        wrong = copy.deepcopy(kernel)
                        wrong[part][index][key] += 1
                        self.assertTrue(self.failures(wrong, want),
                                        (part, index, key))
            for key in ("launches", "threads", "warps", "divergentWarps"):
                wrong = dict(kernel, **{key: kernel[key] + 1})
                self.assertTrue(self.failures(wrong, want), key)

    def test_catches_a_wrong_efficiency(self):
        for kernel, want in self.kernels():
            wrong = dict(kernel, cost={"cfe": kernel["cost"]["cfe"] + 1e-6})
            self.assertTrue(self.failures(wrong, want))

    def test_catches_a_branch_that_is_gone_or_new(self):
        for kernel, want in self.kernels():
            self.assertTrue(self.failures(dict(kernel, branches=[]), want))
            twice = dict(kernel, branches=kernel["branches"] * 2)
            self.assertTrue(self.failures(twice, want))

    def test_a_count_may_depend_on_the_policy(self):
        count = {"frontier": 34, "ipdom": 46}
        for policy, number in count.items():
            checker = check_counts.Checker(SOURCE, policy)
            self.assertEqual(checker.number(count), number)


if __name__ == "__main__":
    unittest.main()
