# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `optimize`: predictions beside what was achieved, forecasts, and the
model's numbers chosen anew without the kernel that is judged."""

import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "harness"))
import decided
import refit
from pages import optimize as page


def time_of(latency=0.0, **units):
    return {"latency": latency, **units}


def row(case, achieved, value=1.0, **more):
    return {"case": case, "params": {}, "metric": "predicted", "value": value,
            "achieved": achieved, "kernel": "plain", "outcome": "kept",
            "candidate": {"remedy": "meld", "parameters": ""}, **more}


class RefitTest(unittest.TestCase):
    def test_cycles_are_those_of_the_model(self):
        time = time_of(latency=12, issue=3, lsu=4, l1=2)
        # (3^4 + 4^4)^(1/4) and 12, added squared, and the launch.
        units = (3 ** 4 + 4 ** 4) ** 0.25
        self.assertAlmostEqual(refit.cycles(time, 4, 2, 100),
                               (units ** 2 + 144) ** 0.5 + 100)
        self.assertAlmostEqual(refit.cycles(time_of(latency=5), 4, 1, 0), 5)

    def test_a_kernel_is_judged_by_the_others(self):
        # Two units of 10: with a norm p their time is 10 2^(1/p), and what is
        # left of it if one goes is 2^(-1/p).
        def kernel(name, norm):
            return row(name, 2 ** (1 / norm),
                       originalTime=time_of(issue=10, alu=10),
                       variantTime=time_of(issue=10))
        found = refit.without_each(
            [kernel("a", 4), kernel("b", 4), kernel("c", 12)], 0)
        chosen = {name: by[0] for name, by, _ in found}
        self.assertEqual(chosen["c"], 4)
        errors = {name: of for name, _, of in found}
        self.assertAlmostEqual(errors["c"][0], 2 ** (1 / 4 - 1 / 12) - 1)

    def test_nothing_to_leave_out(self):
        self.assertEqual(refit.sentence([row("a", 1)], "H200"), "")


class TrialsTest(unittest.TestCase):
    def test_original_is_counted_once_a_launch(self):
        def event(what, remedy, launch=0, original=(), variant=()):
            return {"event": what, "kernel": "k", "module": "m",
                    "candidate": {"remedy": remedy, "parameters": ""},
                    "launch": launch, "originalMs": list(original),
                    "variantMs": list(variant)}
        events = [event("end", "meld"), event("end", "meld", 1),
                  event("end", "remap"), event("fault", "share"),
                  event("timed", "meld", 0, (1, 1, 1), (2, 2)),
                  event("timed", "remap", 0, (1, 1, 1), (3, 3, 3)),
                  event("timed", "meld", 1, (5,), (4,))]
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            log.write_text("".join(json.dumps(e) + "\n" for e in events))
            self.assertEqual(decided.trials(log), (4 + 9 + 4 + 3 + 5, 2))


class PageTest(unittest.TestCase):
    def test_forecasts_stand_where_there_are_some(self):
        plain = "\n".join(page.predictions([row("a", 1.25)]))
        self.assertNotIn("forecast", plain)
        both = "\n".join(page.predictions(
            [row("a", 1.25), row("b", 2.0, forecast=1.5, forecastLow=1,
                                 forecastHigh=3)]))
        self.assertIn("| forecast | error |", both)
        self.assertIn("| 1.500 | -25.0 % | kept |", both)
        self.assertIn("| - | - | kept |", both)

    def test_what_lies_in_the_interval_is_counted(self):
        rows = [row("a", 1.25, low=1, high=2), row("b", 3, low=1, high=2),
                row("c", 1)]
        self.assertIn("in 1 of 2.", page.coverage(rows))

    def test_rows_have_the_forecast_of_the_decisions(self):
        class Bench:
            @staticmethod
            def row(case, metric, samples, **more):
                return {"metric": metric, "value": samples[0], **more}
        tried = {"candidate": {"remedy": "meld", "parameters": ""},
                 "predicted": 1.5, "predictedLow": 1, "predictedHigh": 2,
                 "milliseconds": 2.0, "outcome": "kept"}
        kernel = {"name": "k", "module": "m", "display": "k()",
                  "milliseconds": 3.0, "timed": 1,
                  "tried": [tried, {**tried, "forecast": 1.25,
                                    "forecastLow": 1, "forecastHigh": 1.5}]}
        rows = list(decided.predictions(Bench, None, [kernel], {}))
        self.assertNotIn("forecast", rows[0])
        self.assertEqual(rows[1]["forecast"], 1.25)
        self.assertEqual(rows[1]["achieved"], 1.5)


if __name__ == "__main__":
    unittest.main()
