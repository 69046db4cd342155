#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suites `validation` and `overhead`: counting on a GPU, held against the warp
VM and against the hardware's own counters.

    gpu_bench.py [--tree TREE] [--programs FOLDER] [--output FOLDER]
                 [--suites validation,overhead] [--repetitions 5] [--only NAMES]

validation   each example on the warp VM, on the GPU with probes, and on the GPU
             under ncu; is every sampled thread's block vector the same; is the
             output the same with and without probes; what compute-sanitizer says
             of code with probes.
overhead     the kernels' time with branch counters, with block vectors too,
             and, of examples with grids so large that only a sample of their
             thread blocks counts, with branch counters in every thread block;
             over their time without; in turns, medians.

The programs are built by the tree's `reconverge cc`, unless --programs has
them; a tree is a build or an archive.
Writes <output>/validation.json and overhead.json (README.md has the format).
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no __pycache__ in the source tree

import baseline
import environment
import results
from gpu_programs import Runner, cfe
from programs import BenchError
from results import geomean

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

# Sizes that fill a large GPU. Empty: the example's own. Validation takes the
# examples' own, which the VM runs in a second or so.
LARGE = {
    "automaton": {"width": 200, "height": 200, "depth": 150, "steps": 40},
    "bfs": {"scale": 20},
    "bitonic": {"count": 4000003},
    "blackscholes": {"options": 8000000},
    "convolution": {"width": 6000, "height": 4000},
    "fft": {"signals": 16384},
    "histogram": {"bytes": 200000000, "blocks": 1024},
    "kmeans": {"points": 4000000},
    "lu": {"n": 2048},
    "mandelbrot": {"width": 6000, "height": 4000, "limit": 512},
    "matching": {"bytes": 100000000},
    "nbody": {"bodies": 100000, "steps": 2},
    "nqueens": {"n": 15, "above": 5},
    "radixsort": {"records": 16000000},
    "raytracer": {"width": 1920, "height": 1080, "samples": 4},
    "reduction": {"samples": 200000000, "blocks": 1024},
    "smithwaterman": {"sequences": 60000},
    "spmv": {"rows": 3000000},
    "stencil": {"width": 8000, "height": 6000, "steps": 20},
    "transport": {"photons": 5000000},
}
# What is counted, by the setting that asks for it.
MODES = {"branch-counters": "vectors=off",
         "all-blocks": "vectors=off,blocks=all",
         "block-vectors": ""}
MOST_LAUNCHES = 300  # that ncu looks at


def words(params):
    return [f"{k}={v}" for k, v in params.items()]


class Suite:
    def __init__(self, args, folder, write):
        """write puts the rows so far into the suite's file: a run that is
        cut off leaves those of the examples that it came to."""
        self.args, self.folder, self.write = args, folder, write
        self.runner = Runner(args.tree, os.path.join(folder, "cache"))
        self.names = sorted(n for n in LARGE
                            if not args.only or n in args.only.split(","))
        self.rows = []

    def program(self, name):
        if self.args.programs:
            return os.path.join(self.args.programs, name)
        program = os.path.join(self.folder, name)
        if not os.path.exists(program):
            subprocess.run([os.path.join(self.args.tree, "bin", "reconverge"),
                            "cc", "-o", program,
                            os.path.join(ROOT, "examples", name, name + ".cu")],
                           check=True)
        return program

    def add(self, case, params, metric, samples, unit, **more):
        self.rows.append(results.row(case, params, metric, samples, unit,
                                     **more))
        return self.rows[-1]["value"]

    # ---------------------------------------------------------------- validation

    def on_vm(self, name):
        return self.runner.profiled([self.program(name)], "cpu", vm="threads=2")

    def validate(self):
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            vms = {n: pool.submit(self.on_vm, n) for n in self.names}
            tools = {(n, tool): pool.submit(
                self.runner.sanitized, tool, [self.program(n), "check=0"])
                for n in self.names for tool in self.args.sanitizers}
            for name in self.names:
                try:
                    vms[name] = vms[name].result()
                except BenchError as failed:
                    print(f"{name}: {failed}", flush=True)
                    vms[name] = None
            tools = {key: future.result() for key, future in tools.items()}
        body = []
        for name in self.names:
            if vms[name]:
                body += self.validate_example(name, vms[name], tools)
        results.print_table(["kernel", "vm", "probes", "hardware", "pred.",
                             "vectors", "output"], body)
        for (name, tool), verdict in tools.items():
            self.add(name, {"tool": tool}, "sanitizer",
                     [int(verdict == "clean")], "1", verdict=verdict)
            if verdict != "clean":
                print(f"{name}, {tool}: {verdict}")

    def validate_example(self, name, vm, tools):
        command = [self.program(name)]
        try:
            plain = [self.runner.profiled(command, "gpu", "counters=off")
                     for _ in range(2)]
            gpu = self.runner.profiled(command, "gpu", "blocks=all")
        except BenchError as failed:
            print(f"{name}: {failed}", flush=True)
            return []
        hardware, why = self.runner.hardware(command, MOST_LAUNCHES)
        if why:
            print(f"{name}: no hardware counters: {why}", flush=True)
        for note in gpu.notes:
            if not note.startswith("hardware counters"):
                print(f"{name}: {note}", flush=True)
        output = "identical" if (gpu.output, gpu.code) == \
            (plain[0].output, plain[0].code) else "differs"
        if output == "differs" and plain[0].output != plain[1].output:
            output = "varies without probes too"
        self.add(name, {}, "output", [int(output == "identical")], "1",
                 verdict=output, exit=gpu.code)
        body = []
        for mangled, k in gpu.kernels.items():
            if mangled not in vm.kernels:
                print(f"{name}: the VM has not run {k['display']}")
                continue
            v = vm.kernels[mangled]
            params = {"kernel": k["display"].split("(")[0],
                      "launches": k["launches"]}
            equal = (v["regrouped"]["digest"] == k["regrouped"]["digest"]
                     and v["regrouped"]["threads"] == k["regrouped"]["threads"])
            lanes = [b["lanes"] for b in v["blocks"]] == \
                    [b["lanes"] for b in k["blocks"]]
            self.add(name, params, "bbv-equal", [int(equal)], "1",
                     threads=k["regrouped"]["threads"], lanes_equal=lanes)
            self.add(name, params, "cfe-vm", [cfe(v)], "1")
            self.add(name, params, "cfe-probes", [cfe(k)], "1")
            line = [f"{name} {params['kernel']}", f"{cfe(v):.3f}",
                    f"{cfe(k):.3f}", "-", "-", "equal" if equal else
                    "lanes equal" if lanes else "differ", output]
            if mangled in hardware:
                instructions, active, predicated = hardware[mangled]
                if instructions:
                    line[3] = f"{active / instructions / 32:.3f}"
                    line[4] = f"{predicated / instructions / 32:.3f}"
                    self.add(name, params, "cfe-gpu",
                             [active / instructions / 32], "1",
                             predicated=predicated / instructions / 32,
                             instructions=instructions)
            body.append(line)
        return body

    # ------------------------------------------------------------------ overhead

    def measure(self):
        body = []
        ratios = {mode: [] for mode in self.args.modes}
        for name in self.names:
            command = [self.program(name), *words(LARGE[name]), "check=0"]
            modes = {"plain": "counters=off",
                     **{mode: MODES[mode] for mode in self.args.modes}}
            runs = {mode: [] for mode in ["plain", *MODES]}
            try:
                for _ in range(self.args.repetitions):
                    for mode, setting in modes.items():
                        # Where every thread block counts anyway, once is enough.
                        if mode == "all-blocks" and runs["branch-counters"] and \
                                not runs["branch-counters"][0].sampled():
                            continue
                        runs[mode].append(
                            self.runner.profiled(command, "gpu", setting))
            except BenchError as failed:
                print(f"{name}: {failed}", flush=True)
                continue
            if any(r.code for mode in runs.values() for r in mode):
                print(f"{name}: ends with "
                      f"{[r.code for mode in runs.values() for r in mode]}")
                continue
            plain = [r.seconds() * 1e3 for r in runs["plain"]]
            self.add(name, LARGE[name], "plain", plain, "ms")
            line = [name, f"{min(plain):.3f}"]
            for mode in ratios:
                if not runs[mode]:
                    line.append("-")
                    continue
                samples = [a.seconds() / b.seconds()
                           for a, b in zip(runs[mode], runs["plain"])]
                same = runs[mode][0].output == runs["plain"][0].output
                value = self.add(name, LARGE[name], mode, samples, "x",
                                 baseline="the same code without probes",
                                 verdict="identical" if same else "differs")
                ratios[mode].append(value)
                line.append(f"{value:.2f}")
            body.append(line)
            for mangled, k in runs["plain"][0].kernels.items():
                shown = [name + " " + k["display"].split("(")[0],
                         f"{k['seconds'] * 1e3:.3f}"]
                for mode in ratios:
                    if not runs[mode]:
                        shown.append("-")
                        continue
                    value = self.add(name, dict(LARGE[name],
                                        kernel=k["display"].split("(")[0]),
                             mode + "-kernel",
                             [a.kernels[mangled]["seconds"] /
                              b.kernels[mangled]["seconds"]
                              for a, b in zip(runs[mode], runs["plain"])], "x")
                    shown.append(f"{value:.2f}")
                if len(runs["plain"][0].kernels) > 1:
                    body.append(shown)
            self.write()
        results.print_table(["example", "plain ms", *ratios],
                            body)
        for mode, values in ratios.items():
            if values:
                print(f"geomean, {mode}: {geomean(values):.3f}x")


def describe():
    facts = environment.describe(ROOT, environment.cuda_path(), "clang++-19",
                                 "-O3")
    facts.update(environment.gpu())
    return facts


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tree", default=baseline.default_prefix())
    parser.add_argument("--programs", default="")
    parser.add_argument("--output", default="")
    parser.add_argument("--suites", default="validation,overhead")
    parser.add_argument("--sanitizers", default="memcheck,racecheck",
                        type=lambda s: [t for t in s.split(",") if t])
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--modes", default=list(MODES),
                        type=lambda s: [m for m in s.split(",") if m in MODES])
    parser.add_argument("--jobs", type=int,
                        default=max(1, len(os.sched_getaffinity(0)) // 2))
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    facts = describe()
    output = args.output or os.path.join(
        ROOT, "benchmarks", "results",
        environment.slug(facts["gpu"]))
    with tempfile.TemporaryDirectory() as folder:
        for name, run in (("validation", Suite.validate),
                          ("overhead", Suite.measure)):
            if name not in args.suites.split(","):
                continue
            def write(name=name):
                results.write(os.path.join(output, name + ".json"), name,
                              facts, suite.rows)
            suite = Suite(args, folder, write)
            run(suite)
            write()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BenchError as failed:
        sys.exit(f"gpu_bench: {failed}")
