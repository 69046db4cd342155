#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The gates of the micro-benchmarks: what they must refuse."""

import os
import sys
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "harness")]

import machine  # noqa: E402
import run  # noqa: E402
import sass  # noqa: E402


def listing(first, second):
    """A kernel whose two sections hold these instructions."""
    clock = "CS2R R2, SR_CLOCKLO"
    lines = [clock, *first, clock, *second, clock]
    return ["Function : k"] + [
        f"/*{i:04x}*/ {line} ; /* 0x0 */" for i, line in enumerate(lines)]


def row(case, metric, value, sms, verdict="ok", threads=32):
    return {"case": case, "metric": metric, "value": value, "sms": sms,
            "verdict": verdict, "params": {"threads": threads}}


class Sass(unittest.TestCase):
    def test_step_is_the_difference(self):
        add, loop = "IADD3 R0, R0, R1, R2", "@!P0 BRA 0x10"
        code = sass.functions(listing([add] * 4 + [loop], [add] * 12 + [loop]))
        self.assertEqual(sass.step(code["k"], 4), {"IADD3": 1.0})

    def test_folded(self):
        self.assertFalse(sass.folded({"MUFU.RCP": 1.0}, "MUFU.RCP", 1))
        self.assertTrue(sass.folded({}, "SHFL", 1))
        self.assertTrue(sass.folded({"IADD3": 1.0}, "IADD3|IMAD.X*2", 1))
        self.assertFalse(
            sass.folded({"IADD3": 1.0, "IMAD.X": 1.0}, "IADD3|IMAD.X*2", 1))

    def test_unclear_sections_count_as_folded(self):
        code = sass.functions(listing([], []))["k"][:-1]
        self.assertTrue(sass.folded(sass.step(code, 4), "IADD3", 1))


class Verdict(unittest.TestCase):
    bench = {"sass": "FADD", "per": 1}

    def test_runs_that_differ_are_unsteady(self):
        self.assertEqual(
            run.verdict({"FADD": 1.0}, self.bench, [40, 41, 44]), "unsteady")
        self.assertEqual(run.verdict({"FADD": 1.0}, self.bench, [40, 41]), "ok")

    def test_a_kernel_of_its_own_is_not_searched(self):
        self.assertEqual(run.verdict({}, {"sass": "-", "per": 1}, [600, 601]),
                         "ok")

    def test_missing_instruction(self):
        self.assertEqual(run.verdict({}, self.bench, [4, 4]), "folded")


class Machine(unittest.TestCase):
    def test_sums_carry_the_spread(self):
        m = machine.Measurements({"rows": [
            row("a", "latency", 10, [9, 12]), row("b", "latency", 4, [4, 5])]})
        self.assertEqual(m.value("latency", "a - 0.5 b"), (8, 6.5, 10))

    def test_faster_issue_is_taken(self):
        m = machine.Measurements({"rows": [
            row("a", "issue", 1.4, [1, 2]), row("a", "issue", 1, [1, 1])]})
        self.assertEqual(m.value("issue", "a")[0], 1)

    def test_refuses_what_failed_or_is_missing(self):
        m = machine.Measurements({"rows": [
            row("a", "latency", 1, [1, 1], "folded")]})
        for text in ("a", "b"):
            with self.assertRaises(machine.Refused):
                m.value("latency", text)

    def test_a_limit_that_was_not_measured_is_an_estimate(self):
        facts = {"sms": 132, "clock-mhz": 1980}
        rows = [row(case, metric, 100, [99, 101]) for case, metric in (
            ("ld_global_l1", "latency"), ("ld_global_l2", "latency"),
            ("ld_global_near", "latency"), ("ld_global_l2_rate", "issue"))]

        def dram(rows):
            lines = machine.limit_lines(machine.Measurements({"rows": rows}),
                                        facts)
            return next(line for line in lines if "dram-bytes" in line)
        self.assertIn('"value": 2424, "measured": false', dram(rows))
        # 512 bytes a warp, every 112 cycles on each of 528 schedulers.
        rows.append(row("ld_dram", "issue", 112, [110, 113]))
        self.assertIn('"value": 2414, "measured": true', dram(rows))
        rows[-1]["verdict"] = "unsteady"
        with self.assertRaises(machine.Refused):
            dram(rows)

    def test_details_that_were_not_measured_are_left_out(self):
        rows = [row("ld_global_l1", "latency", 30, [30, 31]),
                row("ld_global", "issue", 4, [4, 4])]
        names = [name for name, *_ in machine.details({"rows": rows})]
        self.assertEqual(names, ["global load, hit in L1"])

    def test_rounding(self):
        self.assertEqual([machine.rounded(v, machine.LATENCY) for v in
                          (3.93, 26.2, 1.42, 285.4, -0.2)], [4, 26, 1.4, 285, 0])
        self.assertEqual([machine.rounded(v, machine.ISSUE) for v in
                          (0.9, 2.02, 1.3)], [1, 2, 1.3])

    def test_names(self):
        self.assertEqual(machine.slug("NVIDIA H200"), "h200")
        self.assertEqual(machine.slug("NVIDIA GeForce RTX 4090"), "rtx-4090")


if __name__ == "__main__":
    unittest.main()
