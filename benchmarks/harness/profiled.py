# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program on a GPU, plain and with probes, under ncu and under
compute-sanitizer, and on the warp VM: what the suites validation and overhead
measure."""

import json
import os
import tempfile

import ncu
import processes
from errors import BenchError

# Sums, so that launches weigh what they are worth. Their ratio is what ncu
# shows as smsp__average_thread_inst_executed_per_inst_executed.
INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed.sum"
LANES_PREDICATED = "smsp__thread_inst_executed_pred_on.sum"
METRICS = (INSTRUCTIONS, LANES, LANES_PREDICATED)


class Counted:
    """What one run with a profile gave."""

    def __init__(self, code, output, profile):
        self.code, self.output = code, output
        self.kernels = {k["name"]: k for k in profile["kernels"]}
        self.notes = profile["notes"]

    def seconds(self):
        return sum(k["seconds"] for k in self.kernels.values())

    def sampled(self):
        """Whether some thread blocks of a large grid were left out."""
        return any("in a part of their thread blocks" in n for n in self.notes)


class Runner:
    """prefix: a build or an unpacked archive of Reconverge; cache: a folder for
    what the libraries compile."""

    def __init__(self, prefix, cache):
        # An archive brings the libraries that Reconverge needs.
        self.path = os.pathsep.join([os.path.join(prefix, "lib", "reconverge"),
                                     os.path.join(prefix, "lib")])
        self.cache = cache
        self.missing = set()  # metrics that this ncu does not know

    def environment(self, device, folder, gpu="", vm=""):
        """gpu and vm: key=value,... for either."""
        cache = f"cache={self.cache},"
        return {"LD_LIBRARY_PATH": self.path, "RECONVERGE_DEVICE": device,
                "RECONVERGE_PROFILE": os.path.join(folder, "profile.json"),
                "RECONVERGE_GPU": cache + gpu, "RECONVERGE_VM": cache + vm}

    def profiled(self, command, device, gpu="", vm=""):
        with tempfile.TemporaryDirectory() as folder:
            env = self.environment(device, folder, gpu, vm)
            done = processes.run(command, 120, **env)
            profile = env["RECONVERGE_PROFILE"]
            if not os.path.exists(profile):
                raise BenchError(f"{' '.join(command)} on {device}: exit code "
                                 f"{done.returncode}, no profile\n"
                                 f"{done.stderr}")
            with open(profile, encoding="utf-8") as text:
                return Counted(done.returncode, done.stdout, json.load(text))

    def reported(self, reconverge, command, device):
        """The kernels of the report that `reconverge profile` writes."""
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "divergence.json")
            env = self.environment(device, folder)
            del env["RECONVERGE_PROFILE"]
            processes.call([reconverge, "profile", "--machine-code", "--device",
                            device, "-o", report, command[0], "--",
                            *command[1:]], (0,), 300, **env)
            with open(report, encoding="utf-8") as text:
                return json.load(text)["kernels"]

    def sections(self, command, sections, most_launches):
        """As ncu.sections gives it, of code without probes."""
        with tempfile.TemporaryDirectory() as folder:
            return ncu.sections(command, sections, most_launches,
                                **self.environment("gpu", folder,
                                                   "counters=off"))

    def counters(self, command, metrics, most_launches):
        """What ncu reads from code without probes, as ncu.sums gives it."""
        with tempfile.TemporaryDirectory() as folder:
            return ncu.sums(command, metrics, most_launches,
                            **self.environment("gpu", folder, "counters=off"))

    def hardware(self, command, most_launches):
        """Kernel (mangled) -> its sums of the three metrics, as ncu reads them
        from code without probes. Empty with a reason if they may not be read."""
        kernels, why = self.counters(command, METRICS, most_launches)
        return {kernel: [sums[metric] for metric in METRICS]
                for kernel, sums in kernels.items()}, why

    def sanitized(self, tool, command):
        """'clean', or what compute-sanitizer found in code with probes."""
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = processes.run(
                    ["compute-sanitizer", "--tool", tool, "--error-exitcode",
                     "99", *command], 200, **self.environment("gpu", folder))
            except BenchError as why:
                return str(why)
        if done.returncode == 0:
            return "clean"
        lines = [line for line in done.stdout.split("\n")
                 if line.startswith("=")]
        return " | ".join(lines[1:4]) or f"exit code {done.returncode}"
