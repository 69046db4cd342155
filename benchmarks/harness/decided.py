# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a file of decisions says of a program's kernels."""


def name_of(kernel):
    return kernel["display"].split("(")[0]


def kept(kernels):
    """Kernel to candidate, where that is not our unmodified code."""
    return {name_of(kernel): kernel["keep"] for kernel in kernels
            if kernel["keep"]["remedy"] != "none"}


def predictions(bench, case, kernels):
    """A row for each candidate that was timed and has a prediction."""
    for kernel in kernels:
        for tried in kernel["tried"]:
            if tried["predicted"] and tried["milliseconds"]:
                yield bench.row(
                    case, "predicted", [tried["predicted"]],
                    kernel=name_of(kernel), candidate=tried["candidate"],
                    outcome=tried["outcome"], achieved=kernel["milliseconds"]
                    / tried["milliseconds"])


def words_of(candidate):
    return candidate["remedy"] + (f" ({candidate['parameters']})"
                                  if candidate["parameters"] else "")
