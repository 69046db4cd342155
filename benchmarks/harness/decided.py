# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a file of decisions says of a program's kernels."""

import json


def name_of(kernel):
    return kernel["display"].split("(")[0]


def kept(kernels):
    """Kernel to candidate, where that is not our unmodified code."""
    return {name_of(kernel): kernel["keep"] for kernel in kernels
            if kernel["keep"]["remedy"] != "none"}


def asked(log):
    """{(kernel, module, candidate): the event of a log of trials (docs/
    optimize.md) in which the candidate asks for the most}"""
    events = {}
    with open(log, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            if event["event"] != "end" or "variantTime" not in event:
                continue
            key = (event["kernel"], event["module"],
                   words_of(event["candidate"]))
            if key not in events or (event["variantTime"]["cycles"] >
                                     events[key]["variantTime"]["cycles"]):
                events[key] = event
    return events


def trials(log):
    """(ms of the launches that were timed, candidates that ran) of a log. The
    original's times stand beside each candidate's, and are counted once."""
    total, originals, candidates = 0.0, {}, set()
    with open(log, encoding="utf-8") as lines:
        for event in map(json.loads, lines):
            kernel = (event["kernel"], event["module"])
            if event["event"] == "end":
                candidates.add((*kernel, words_of(event["candidate"])))
            elif event["event"] == "timed":
                total += sum(event["variantMs"])
                key = (*kernel, event["launch"])
                originals[key] = max(originals.get(key, 0),
                                     sum(event["originalMs"]))
    return total + sum(originals.values()), len(candidates)


def predictions(bench, case, kernels, events):
    """A row for each candidate that was timed and has a prediction."""
    for kernel in kernels:
        for tried in kernel["tried"]:
            if not tried["predicted"] or not tried["milliseconds"]:
                continue
            event = events.get((kernel["name"], kernel["module"],
                                words_of(tried["candidate"])), {})
            yield bench.row(
                case, "predicted", [tried["predicted"]],
                low=tried["predictedLow"], high=tried["predictedHigh"],
                **{key: tried[key] for key in
                   ("forecast", "forecastLow", "forecastHigh")
                   if key in tried},
                kernel=name_of(kernel), candidate=tried["candidate"],
                outcome=tried["outcome"], achieved=kernel["milliseconds"]
                / tried["milliseconds"], milliseconds=kernel["milliseconds"],
                timed=kernel["timed"],
                **{key: event[key] for key in
                   ("original", "variant", "originalTime", "variantTime")
                   if key in event})


def words_of(candidate):
    return candidate["remedy"] + (f" ({candidate['parameters']})"
                                  if candidate["parameters"] else "")
