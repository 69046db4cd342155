#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `baseline`: unmodified kernels, built by nvcc -O3, by clang 19 -O3
and by us, on a GPU.

    baseline.py [--rounds 3] [--repeat 8] [--jobs N] [--output FILE] [name...]

Every folder of examples/ and of benchmarks/kernels/ is a program; sizes are in
baseline/arguments.txt. All builds of all programs are made first. Then, program
by program and round by round, each build runs once, so that the compilers
alternate; in a run, each launch is timed alone, by events, REPEAT times from
the same state after one that is not timed (benchmarks/timer). A sample of a
kernel is the sum over its launches in one repetition.

The programs' own output must be the same for all builds, or the row says how it
differs: clang's default arithmetic is not nvcc's, and sums of floats by atomics
depend on order.

Writes results/<gpu>/baseline.json, anew after each program, and prints a table.
--ways nvcc,clang,reconverge,strict-aliasing also measures what device code would
gain if the compiler concluded from types, as clang does and nvcc does not.
With --keep FOLDER the builds stay there, with their PTX and machine code.
"""

import argparse
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

import builds
import environment
import results

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCH)
# Below this, a launch is mostly the cost of launching.
TOO_SHORT = 0.010  # ms
METRICS = {"nvcc": "nvcc", "clang": "clang", "reconverge": "reconverge"}


def arguments_table():
    table = {}
    path = os.path.join(BENCH, "baseline", "arguments.txt")
    with open(path, encoding="utf-8") as text:
        for line in text:
            words = line.partition("#")[0].split()
            if words:
                table[words[0]] = words[1:]
    return table


def find_programs():
    """Name to source: the examples, then the benchmark kernels; of these, one
    that has an example's name is called kernels-<name>."""
    programs = {}
    for folder in (os.path.join(ROOT, "examples"),
                   os.path.join(ROOT, "benchmarks", "kernels")):
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            for leaf in (name + ".cu", "kernel.cu"):
                source = os.path.join(folder, name, leaf)
                if os.path.exists(source):
                    key = "kernels-" + name if name in programs else name
                    programs[key] = source
                    break
    return programs


def default_prefix():
    """An unpacked archive is its own; a checkout has build/."""
    if os.path.exists(os.path.join(ROOT, "bin", "reconverge")):
        return ROOT
    return os.path.join(ROOT, "build")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=default_prefix(),
                        help="where bin/reconverge is")
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--ways", default=",".join(builds.WAYS))
    parser.add_argument("--output", help="default: results/<gpu>/baseline.json")
    parser.add_argument("--keep", help="folder for the builds")
    parser.add_argument("--device", default="gpu", choices=["gpu", "cpu"],
                        help="cpu: ours alone, at the programs' own sizes; "
                        "proves the harness, not a number")
    parser.add_argument("names", nargs="*", metavar="name")
    return parser.parse_args()


class Suite:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.ways = args.ways.split(",")
        self.compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
        self.timer = os.path.join(args.prefix, "lib", "reconverge",
                                  "libReconvergeTimer.so")
        self.sizes = arguments_table() if args.device == "gpu" else {}
        self.rows, self.failed = [], []

    def program(self, name, way):
        return os.path.join(self.folder, f"{name}-{way}")

    def build_all(self, programs):
        """Builds everything, as many at once as there are cores."""
        def build(task):
            name, way = task
            try:
                self.compilers.build(way, programs[name],
                                     self.program(name, way))
                return None
            except builds.BuildError as error:
                return f"{name}, {way}: {error}"
        tasks = [(name, way) for name in programs for way in self.ways]
        with concurrent.futures.ThreadPoolExecutor(self.args.jobs) as pool:
            self.failed += [why for why in pool.map(build, tasks) if why]

    def run_once(self, name, way):
        """Kernels and output of one run."""
        result = os.path.join(self.folder, "times.json")
        env = dict(os.environ, LD_PRELOAD=self.timer, RECONVERGE_TIMER=result,
                   RECONVERGE_TIMER_REPEAT=str(self.args.repeat),
                   RECONVERGE_DEVICE=self.args.device, CUDA_PATH=self.args.cuda)
        command = [self.program(name, way), *self.sizes.get(name, [])]
        run = subprocess.run(command, env=env, capture_output=True, text=True,
                             check=False, timeout=120)
        if run.returncode != 0:
            raise builds.BuildError(f"{' '.join(command)}: exit code "
                                    f"{run.returncode}\n{run.stdout}"
                                    f"{run.stderr}")
        with open(result, encoding="utf-8") as text:
            return json.load(text)["kernels"], run.stdout

    def measure(self, name):
        samples, launches, outputs = {}, {}, {}
        for _ in range(self.args.rounds):
            for way in self.ways:
                kernels, outputs[way] = self.run_once(name, way)
                for kernel in kernels:
                    key = kernel["name"]
                    samples.setdefault(key, {}).setdefault(way, []).extend(
                        kernel["milliseconds"])
                    launches.setdefault(key, (kernel["display"], {}))[1][
                        way] = kernel["launches"]
        first = outputs[self.ways[0]]
        for key, by_way in samples.items():
            display, counts = launches[key]
            for way, times in by_way.items():
                more = {"kernel": display, "launches": counts[way],
                        "verdict": "identical" if outputs[way] == first
                        else "differs (printed output)"}
                if min(times) / counts[way] < TOO_SHORT:
                    more["note"] = "too-short"
                self.rows.append(results.row(
                    name, self.parameters(name), METRICS.get(way, way), times,
                    "ms", **more))

    def parameters(self, name):
        return dict(word.split("=", 1) for word in self.sizes.get(name, []))

    def print_case(self, name):
        by_kernel = {}
        for row in self.rows:
            if row["case"] == name:
                by_kernel.setdefault(row["kernel"], {})[row["metric"]] = \
                    row["value"]
        for kernel, values in by_kernel.items():
            base = values.get("nvcc")
            text = "  ".join(
                f"{way} {values[way]:9.4f}" + (f" ({values[way] / base:.3f})"
                                               if base else "")
                for way in self.ways if way in values)
            print(f"{name:14} {kernel.partition('(')[0]:28} {text}", flush=True)


def main():
    args = parse_arguments()
    programs = find_programs()
    for name in args.names:
        if name not in programs:
            print(f"baseline: error: no program '{name}'\n  There are "
                  f"{', '.join(programs)}.", file=sys.stderr)
            return 2
    programs = {n: programs[n] for n in args.names or programs}
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        suite = Suite(args, folder)
        suite.build_all(programs)
        facts = environment.describe(ROOT, args.cuda, suite.compilers.clang,
                                     suite.compilers.flags())
        facts.update(environment.gpu())
        output = args.output or os.path.join(
            BENCH, "results", environment.slug(facts["gpu"] or facts["cpu"]),
            "baseline.json")
        for name in programs:
            try:
                suite.measure(name)
                suite.print_case(name)
            except (builds.BuildError, subprocess.TimeoutExpired,
                    OSError) as error:
                suite.failed.append(f"{name}: {error}")
            results.write(output, "baseline", facts, suite.rows)
    print(f"written: {output}")
    for why in suite.failed:
        print(f"baseline: failed: {why}", file=sys.stderr)
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
