# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of their own that need a GPU; they write no rows, but for micro."""

import os
import sys

from places import BENCH, ROOT
from suite import Suite


def trials(options):
    return [sys.executable, "-B", os.path.join(
        ROOT, "unittests", "runtime", "gpu", "check_trials.py"), "--device",
        "gpu", "--reconverge", os.path.join(options.prefix, "bin",
                                            "reconverge")]


def library(_):
    return [sys.executable, "-B",
            os.path.join(ROOT, "test", "remap", "on-gpu.py")]


def stops(options):
    return [os.path.join(ROOT, "test", "remedies", "herd", "on-gpu.sh"),
            options.prefix]


def micro(options):
    output = [] if not options.output else [
        "--results", options.output,
        "--machine", os.path.join(options.output, "machine.json")]
    return [sys.executable, "-B", os.path.join(BENCH, "micro", "run.py"),
            *output]


SUITES = [
    Suite(name="trials", script=trials,
          about="how trials end, and that programs come out unharmed"),
    Suite(name="library", script=library,
          about="the device library by nvcc, and under compute-sanitizer"),
    Suite(name="herd-stop", script=stops,
          about="programs that stop herding: as on the warp VM, and what it costs"),
    Suite(name="micro", script=micro,
          about="what instructions cost; writes the GPU's machine file")]
