# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples on a GPU, plain and with probes, under ncu and under
compute-sanitizer, and on the warp VM."""

import json
import os
import subprocess
import tempfile

import ncu
from programs import BenchError

# Sums, so that launches weigh what they are worth. Their ratio is what ncu
# shows as smsp__average_thread_inst_executed_per_inst_executed.
INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed.sum"
LANES_PREDICATED = "smsp__thread_inst_executed_pred_on.sum"
METRICS = (INSTRUCTIONS, LANES, LANES_PREDICATED)


class Counted:
    """What one run with a profile gave."""

    def __init__(self, code, output, errors, profile):
        self.code, self.output, self.errors = code, output, errors
        self.kernels = {k["name"]: k for k in profile["kernels"]}
        self.device, self.notes = profile["device"], profile["notes"]

    def seconds(self):
        return sum(k["seconds"] for k in self.kernels.values())

    def sampled(self):
        """Whether some thread blocks of a large grid were left out."""
        return any("in a part of their thread blocks" in n for n in self.notes)


def cfe(kernel):
    """Control-flow efficiency of a kernel of a profile."""
    lanes = sum(b["lanes"] * b["instructions"] for b in kernel["blocks"])
    warps = sum(b["warps"] * b["instructions"] for b in kernel["blocks"])
    return lanes / (kernel["warpSize"] * warps) if warps else 1.0


class Runner:
    """tree: a build or an unpacked archive of Reconverge."""

    def __init__(self, tree, cache):
        self.libraries = os.path.join(tree, "lib", "reconverge")
        # An archive brings the libraries that Reconverge needs.
        self.path = os.pathsep.join([self.libraries, os.path.join(tree, "lib")])
        self.cache = cache

    def environment(self, **settings):
        return dict(os.environ, LD_LIBRARY_PATH=self.path, **settings)

    def profiled(self, command, device, gpu="", vm="", timeout=120):
        """device: cpu or gpu; gpu and vm: key=value,... for either."""
        handle, profile = tempfile.mkstemp(suffix=".json")
        os.close(handle)
        os.remove(profile)
        cache = f"cache={self.cache},"
        env = self.environment(
            RECONVERGE_DEVICE=device, RECONVERGE_PROFILE=profile,
            RECONVERGE_GPU=cache + gpu, RECONVERGE_VM=cache + vm)
        try:
            run = subprocess.run(command, env=env, capture_output=True,
                                 text=True, timeout=timeout, check=False)
            if not os.path.exists(profile):
                raise BenchError(f"{' '.join(command)} on {device}: exit code "
                                 f"{run.returncode}, no profile\n{run.stderr}")
            with open(profile, encoding="utf-8") as text:
                return Counted(run.returncode, run.stdout, run.stderr,
                               json.load(text))
        except subprocess.TimeoutExpired as late:
            raise BenchError(f"{' '.join(command)} on {device}: still running "
                             f"after {timeout} s") from late
        finally:
            if os.path.exists(profile):
                os.remove(profile)

    def hardware(self, command, most_launches, timeout=120):
        """Kernel (mangled) -> its sums of the three metrics, as ncu reads them
        from code without probes. Empty with a reason if they may not be read."""
        with tempfile.TemporaryDirectory() as folder:
            env = self.environment(
                RECONVERGE_DEVICE="gpu",
                RECONVERGE_PROFILE=os.path.join(folder, "profile.json"),
                RECONVERGE_GPU=f"cache={self.cache},counters=off")
            kernels, why = ncu.sums(command, METRICS, most_launches, env,
                                    timeout)
        return {kernel: [sums[metric] for metric in METRICS]
                for kernel, sums in kernels.items()}, why

    def sanitized(self, tool, command, timeout=200):
        """'clean', or what compute-sanitizer found in code with probes."""
        with tempfile.TemporaryDirectory() as folder:
            env = self.environment(
                RECONVERGE_DEVICE="gpu",
                RECONVERGE_PROFILE=os.path.join(folder, "profile.json"),
                RECONVERGE_GPU=f"cache={self.cache}")
            try:
                run = subprocess.run(
                    ["compute-sanitizer", "--tool", tool, "--error-exitcode",
                     "99", *command], env=env, capture_output=True, text=True,
                    timeout=timeout, check=False)
            except FileNotFoundError:
                return "compute-sanitizer is not installed"
            except subprocess.TimeoutExpired:
                return f"still running after {timeout} s"
        if run.returncode == 0:
            return "clean"
        lines = [line for line in run.stdout.split("\n") if line.startswith("=")]
        return " | ".join(lines[1:4]) or f"exit code {run.returncode}"
