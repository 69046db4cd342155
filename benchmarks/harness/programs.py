# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs the programs of the suite `vm`: each example on the warp VM,
its kernel as scalar C++, and where there is one, its kernel under PoCL."""

import json
import os
import re
import subprocess
import time

SCALAR = ["-std=c++17", "-O3"]


class BenchError(Exception):
    """Said to the user as it is; exit code 2."""


class Run:
    """What one run of a program gave."""

    def __init__(self, seconds, result, instructions=0, wall=0.0, peak_mb=0.0):
        self.seconds = seconds            # in kernels
        self.result = result              # its line "checksum:" or "counts:"
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


def _check_call(command):
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise BenchError(f"{' '.join(command)}: exit code {run.returncode}\n"
                         f"{run.stdout}{run.stderr}")
    return run


def _run_measured(command, env):
    """Output, wall seconds and peak resident MB of a process."""
    start = time.perf_counter()
    process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE,
                               text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        raise BenchError(f"{' '.join(command)}: exit code {process.returncode}"
                         f"\n{output}")
    return output, wall, usage.ru_maxrss / 1024


def _result_line(output, command):
    found = re.search(r"^(checksum|counts):.*$", output, re.MULTILINE)
    if not found:
        raise BenchError(f"{' '.join(command)}: prints no result\n{output}")
    return found.group(0)


def _kernel_seconds(output):
    return float(re.search(r"^kernel seconds: (.*)$", output,
                           re.MULTILINE).group(1))


class Builder:
    """Compiles into one folder, each program once."""

    def __init__(self, root, reconverge, clang, folder):
        self.root, self.reconverge = root, reconverge
        self.clang, self.folder = clang, folder

    def example(self, name):
        program = os.path.join(self.folder, name)
        _check_call([self.reconverge, "cc", "-o", program,
                     os.path.join(self.root, "examples", name, name + ".cu")])
        return program

    def scalar(self, name, label, flags):
        program = os.path.join(self.folder, f"{name}-{label}")
        _check_call([self.clang, *SCALAR, *flags,
                     "-I" + os.path.join(self.root, "examples"),
                     os.path.join(self.root, "benchmarks", "vm", "scalar",
                                  name + ".cpp"), "-o", program])
        return program

    def pocl(self):
        """The host program, or a reason why there is none."""
        program = os.path.join(self.folder, "pocl-host")
        source = os.path.join(self.root, "benchmarks", "vm", "pocl")
        try:
            _check_call([self.clang, *SCALAR, "-march=native",
                         "-I" + os.path.join(self.root, "examples"),
                         os.path.join(source, "host.cpp"), "-lOpenCL", "-o",
                         program])
        except BenchError:
            return None, "OpenCL's headers or loader are missing"
        try:
            _check_call([program, source, "nqueens", "n=8"])
        except BenchError:
            return None, "no OpenCL device for the CPU"
        return [program, source], ""


def run_scalar(program, arguments):
    command = [program, *arguments]
    output, wall, peak = _run_measured(command, dict(os.environ))
    return Run(_kernel_seconds(output), _result_line(output, command),
               wall=wall, peak_mb=peak)


def run_pocl(host, name, arguments):
    command = [*host, name, *arguments]
    env = dict(os.environ, POCL_MAX_PTHREAD_COUNT="1")
    output, wall, peak = _run_measured(command, env)
    return Run(_kernel_seconds(output), _result_line(output, command),
               wall=wall, peak_mb=peak)


def run_vm(program, arguments, settings, folder):
    """Runs a built example on the warp VM with block and branch counters (but no
    sampled block vectors). Its kernels' seconds and thread instructions come
    from the profile that the VM writes."""
    settings = dict(settings, vectors="off")
    profile = os.path.join(folder, "profile.json")
    if os.path.exists(profile):
        os.remove(profile)
    env = dict(os.environ, RECONVERGE_DEVICE="cpu", RECONVERGE_PROFILE=profile,
               RECONVERGE_VM=",".join(f"{k}={v}" for k, v in settings.items()))
    command = [program, *arguments]
    output, wall, peak = _run_measured(command, env)
    with open(profile, encoding="utf-8") as text:
        kernels = json.load(text)["kernels"]
    return Run(sum(k["seconds"] for k in kernels),
               _result_line(output, command),
               sum(b["lanes"] * b["instructions"] for k in kernels
                   for b in k["blocks"]), wall, peak)
