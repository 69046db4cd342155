# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs the programs of the suite `vm`: each example on the warp VM,
its kernel as scalar C++, and where there is one, its kernel under PoCL."""

import json
import os
import re
import subprocess
import time

import processes
from errors import BenchError
from places import BENCH, EXAMPLES

SCALAR = ["-std=c++17", "-O3"]


class Run:
    """What one run of a program gave."""

    def __init__(self, seconds, result, instructions=0, wall=0.0, peak_mb=0.0):
        self.seconds = seconds            # in kernels
        self.result = result              # its checksum or counts
        self.instructions = instructions  # of threads, as the VM counted them
        self.wall = wall                  # of the process
        self.peak_mb = peak_mb            # resident


def same_result(a, b):
    """'identical', 'within ...' or 'differs ...', as verdicts are written."""
    if a == b:
        return "identical"
    if a.startswith("counts:") and b.startswith("counts:"):
        left = [int(n) for n in a.split()[1:]]
        right = [int(n) for n in b.split()[1:]]
        if len(left) == len(right):
            apart = max(abs(x - y) for x, y in zip(left, right))
            if apart <= 0.002 * max(left):
                return f"within (counts, 0.2 % of the largest, {apart} apart)"
    return f"differs ({a} against {b})"


def measured(command, **environment):
    """Output, wall seconds and peak resident MB of a process."""
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, **environment)) as process:
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise BenchError(f"{' '.join(command)}: exit code {process.returncode}"
                         f"\n{output}")
    return output, wall, usage.ru_maxrss / 1024


def result_line(output):
    found = re.search(r"^(checksum|counts):.*$", output, re.MULTILINE)
    if not found:
        raise BenchError(f"a program prints no result\n{output}")
    return found.group(0)


def build(clang, source, program, flags):
    processes.call([clang, *SCALAR, "-I" + EXAMPLES, source, *flags, "-o",
                    program])


def pocl(clang, program):
    """How the host program is called, or a reason why there is none."""
    folder = os.path.join(BENCH, "vm", "pocl")
    try:
        build(clang, os.path.join(folder, "host.cpp"), program,
              ["-march=native", "-lOpenCL"])
    except BenchError:
        return None, "OpenCL's headers or loader are missing"
    try:
        processes.call([program, folder, "nqueens", "n=8"])
    except BenchError:
        return None, "no OpenCL device for the CPU"
    return [program, folder], ""


def run_scalar(command, **environment):
    output, wall, peak = measured(command, **environment)
    return Run(float(processes.line(output, "kernel seconds")),
               result_line(output), wall=wall, peak_mb=peak)


def run_pocl(command):
    return run_scalar(command, POCL_MAX_PTHREAD_COUNT="1")


def run_vm(command, settings, profile):
    """Runs a built example on the warp VM with block and branch counters (but no
    sampled block vectors). Its kernels' seconds and thread instructions come
    from the profile that the VM writes."""
    if os.path.exists(profile):
        os.remove(profile)
    settings = dict(settings, vectors="off")
    output, wall, peak = measured(
        command, RECONVERGE_DEVICE="cpu", RECONVERGE_PROFILE=profile,
        RECONVERGE_VM=",".join(f"{k}={v}" for k, v in settings.items()))
    with open(profile, encoding="utf-8") as text:
        kernels = json.load(text)["kernels"]
    return Run(sum(k["seconds"] for k in kernels), result_line(output),
               sum(b["lanes"] * b["instructions"] for k in kernels
                   for b in k["blocks"]), wall, peak)
