#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Suite `vm`: how fast the warp VM runs the examples' kernels, counters on.

    vm_bench.py [--build build] [--repetitions 7] [--quick]

For each example: the kernel as scalar C++ (clang -O3 for this CPU, one core),
the example on the VM with one thread and with two, in turns, so that a slow
minute of the machine hits all alike. Where the CPU has AVX-512, all of it once
more without (the VM's isa=avx2, -march=haswell). Results must agree with the
scalar program's. Then the first launch: an empty cache of compiled kernels
against a warm one. Prints the tables and writes
benchmarks/results/<cpu>/vm.json.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True  # leave no __pycache__ in the source tree

import environment
import programs
import results
from programs import BenchError
from results import geomean

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

# Sizes at which the kernels take 0.2 s or more of scalar C++ on one core.
CASES = {
    "bitonic": {"count": 1500003},
    "mandelbrot": {"width": 2400, "height": 1600, "limit": 512},
    "histogram": {"bytes": 60000000},
    "lu": {"n": 2048},
    "nqueens": {"n": 14},
    "transport": {"photons": 300000},
    "reduction": {"samples": 60000000},
    "stencil": {"width": 2000, "height": 1500, "steps": 80},
}
POCL = ["bitonic", "mandelbrot", "nqueens"]
SIMULATOR = 0.45e6  # thread instructions a second, GPGPU-Sim in users' logs
NO_VECTORS = ["-fno-vectorize", "-fno-slp-vectorize"]


class Suite:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.cache = os.path.join(folder, "cache")
        self.builder = programs.Builder(ROOT, args.reconverge, args.clang,
                                        folder)
        self.cpu = environment.cpu()
        self.rows = []   # of the result file
        self.table = []  # of the terminal
        # (name, the VM's settings, the scalar compiler's flag)
        native = environment.instruction_set(self.cpu)
        self.sets = [(native, {}, "-march=native")]
        if self.cpu["avx512"]:
            self.sets.append(("AVX2", {"isa": "avx2"}, "-march=haswell"))
        self.threads = 2 if len(os.sched_getaffinity(0)) > 1 else 1

    def add(self, *positional, **named):
        self.rows.append(results.row(*positional, **named))
        return self.rows[-1]["value"]

    def vm(self, program, arguments, threads, settings, cache=None):
        all_settings = {"threads": threads, **settings,
                        "cache": cache or self.cache,
                        "compile": settings.get("compile", "well")}
        return programs.run_vm(program, arguments, all_settings, self.folder)

    def case(self, name, params, pocl):
        """Measures one example under every instruction set."""
        arguments = [f"{k}={v}" for k, v in params.items()]
        program = self.builder.example(name)
        for isa, settings, march in self.sets:
            scalar = self.builder.scalar(name, isa, [march])
            plain = self.builder.scalar(name, isa + "-plain",
                                        [march, *NO_VECTORS])
            ways = {
                "scalar": lambda: programs.run_scalar(scalar, arguments),
                "plain": lambda: programs.run_scalar(plain, arguments),
                "one": lambda: self.vm(program, [*arguments, "check=0"], 1,
                                       settings),
                "two": lambda: self.vm(program, [*arguments, "check=0"],
                                       self.threads, settings),
            }
            if pocl and isa == self.sets[0][0]:
                ways["pocl"] = lambda: programs.run_pocl(pocl, name, arguments)
            ways["one"]()  # compiles the kernels into the cache
            runs = {way: [] for way in ways}
            for _ in range(self.args.repetitions):
                for way, measure in ways.items():
                    runs[way].append(measure())
            self.rows_of(name, {**params, "isa": isa}, runs)

    def rows_of(self, name, params, runs):
        """Ratios are taken within a repetition, then their median."""
        reference = runs["scalar"][0].result
        verdict = programs.same_result(reference, runs["one"][0].result)
        for way in runs:
            for run in runs[way]:
                now = programs.same_result(reference, run.result)
                if now.startswith("differs"):
                    raise BenchError(f"{name}: {way} {now}")

        def ratios(way, baseline):
            return [a.seconds / b.seconds
                    for a, b in zip(runs[way], runs[baseline])]

        rate = self.add(name, {**params, "threads": 1},
                        "thread-instructions-per-second",
                        [r.instructions / r.seconds for r in runs["one"]],
                        "1/s", verdict=verdict,
                        instructions=runs["one"][0].instructions)
        time = self.add(name, params, "time-vs-scalar", ratios("one", "scalar"),
                        "x", baseline="clang -O3, one core", verdict=verdict)
        plain = self.add(name, params, "time-vs-scalar", ratios("one", "plain"),
                         "x", baseline="clang -O3 without vectoriser, one core",
                         verdict=verdict)
        line = [name, params["isa"], f"{rate / 1e9:.1f}",
                f"{statistics.median(r.seconds for r in runs['one']):.3f}",
                f"{time:.2f}", f"{plain:.2f}"]
        if self.threads > 1:
            scaling = self.add(name, params, "scaling-2-cores",
                               ratios("one", "two"), "x", verdict=verdict)
            line.append(f"{scaling:.2f}")
        else:
            line.append("-")
        if "pocl" in runs:
            ratio = self.add(name, params, "time-vs-pocl",
                             ratios("one", "pocl"), "x",
                             baseline="PoCL, one core", verdict=verdict)
            line.append(f"{ratio:.2f}")
        else:
            line.append("-")
        self.table.append(line)
        print(f"vm_bench: {name} {params['isa']}: "
              f"{rate / 1e9:.1f} G thread instructions/s, "
              f"{time:.2f} x scalar", file=sys.stderr, flush=True)

    def first_launch(self, name):
        """Wall time with an empty cache less that with a warm one, and the
        peak memory of the colder run; at the example's own small size."""
        program = self.builder.example(name)
        samples, peaks = [], []
        for _ in range(self.args.repetitions):
            cache = tempfile.mkdtemp(dir=self.folder)
            cold = self.vm(program, [], self.threads, {}, cache)
            warm = self.vm(program, [], self.threads, {}, cache)
            shutil.rmtree(cache)
            samples.append(max(cold.wall - warm.wall, 0.0))
            peaks.append(max(cold.peak_mb, warm.peak_mb))
        self.add(name, {}, "first-launch", samples, "s")
        self.add(name, {}, "peak-memory", peaks, "MB")

    def values(self, metric, isa=None, baseline=None):
        return {r["case"]: r["value"] for r in self.rows
                if r["metric"] == metric
                and (isa is None or r["params"].get("isa") == isa)
                and (baseline is None or r.get("baseline") == baseline)}

    def summary(self):
        """The table of targets: (measure, reached, at least, aim, met)."""
        lines = []

        def line(measure, reached, form, least, aim, better_below=False):
            if reached is None:
                lines.append([measure, "not measured", least, aim, "-"])
                return
            met = reached <= least if better_below else reached >= least
            lines.append([measure, form.format(reached), form.format(least),
                          form.format(aim), "yes" if met else "NO"])

        isa = self.sets[0][0]
        rate = self.values("thread-instructions-per-second", isa)
        line(f"Mandelbrot, one core, {isa}, counters on",
             rate["mandelbrot"] / 1e9, "{:.1f} G/s", 15, 35)
        for name, _, _ in self.sets:
            ratio = geomean(self.values("time-vs-scalar", name,
                                        "clang -O3, one core").values())
            self.add("geomean", {"isa": name}, "time-vs-scalar", [ratio], "x",
                     baseline="clang -O3, one core")
            line(f"geomean time against scalar C++, {name}", ratio, "{:.2f}x",
                 1.0 if name == "AVX-512" else 2.0, 0.4, better_below=True)
            ratio = geomean(self.values(
                "time-vs-scalar", name,
                "clang -O3 without vectoriser, one core").values())
            self.add("geomean", {"isa": name}, "time-vs-scalar", [ratio], "x",
                     baseline="clang -O3 without vectoriser, one core")
        scaling = self.values("scaling-2-cores", isa)
        ratio = geomean(scaling.values()) if scaling else None
        if scaling:
            self.add("geomean", {"isa": isa}, "scaling-2-cores", [ratio], "x")
        line("two cores against one, geomean", ratio, "{:.2f}x", 1.8, 1.95)
        first = self.values("first-launch")
        slowest = max(first, key=first.get)
        line(f"first launch, cold cache, the slowest ({slowest})",
             first[slowest], "{:.2f} s", 0.5, 0.15, better_below=True)
        times = geomean(rate.values()) / SIMULATOR
        line("against a cycle simulator's 0.45 M/s, geomean", times, "{:,.0f}x",
             10000, 50000)
        peak = self.values("peak-memory")
        largest = max(peak, key=peak.get)
        line(f"peak memory of an example ({largest})", peak[largest],
             "{:.0f} MB", 200, 200, better_below=True)
        return lines

    def run(self):
        pocl, reason = self.builder.pocl()
        for name in self.args.cases:
            params = CASES[name] if not self.args.quick else {}
            self.case(name, params, pocl if name in POCL else None)
        for name in self.args.cases:
            self.first_launch(name)

        print(f"\n{self.cpu['model']}, {environment.instruction_set(self.cpu)}")
        results.print_table(["kernel", "isa", "G instr/s", "seconds",
                             "x scalar", "x plain", "2 cores", "x PoCL"],
                            self.table)
        print("x scalar: the VM's time over that of clang -O3, both on one "
              "core; below 1 the VM is faster.\nx plain: over clang -O3 "
              "without its vectoriser. x PoCL: over PoCL's on one core"
              + (f" (skipped: {reason})." if reason else "."))
        first, peak = self.values("first-launch"), self.values("peak-memory")
        print()
        results.print_table(["kernel", "first launch, s", "peak MB"],
                            [[n, f"{first[n]:.3f}", f"{peak[n]:.0f}"]
                             for n in first])
        if set(self.args.cases) != set(CASES):
            return
        print()
        results.print_table(["measure", "reached", "at least", "aim", "met"],
                            self.summary())


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--clang", default="clang++-19")
    parser.add_argument("--cuda", default=os.environ.get("CUDA_PATH",
                                                         "/usr/local/cuda"))
    parser.add_argument("--repetitions", type=int, default=7)
    parser.add_argument("--quick", action="store_true",
                        help="the examples' own small sizes; writes no file")
    parser.add_argument("cases", nargs="*", default=list(CASES),
                        metavar="case", help="of: " + ", ".join(CASES))
    args = parser.parse_args()
    for name in args.cases:
        if name not in CASES:
            parser.error(f"no case '{name}'; there are {', '.join(CASES)}")
    args.reconverge = os.path.join(args.build, "bin", "reconverge")
    return args


def refuse_debug_build(build):
    try:
        with open(os.path.join(build, "CMakeCache.txt"),
                  encoding="utf-8") as text:
            cache = text.read()
    except OSError as error:
        raise BenchError(f"no build in {build}; run make first") from error
    if "CMAKE_BUILD_TYPE:STRING=Release\n" not in cache:
        raise BenchError(f"{build} is not a release build; numbers of a debug "
                         "build mean nothing")


def main():
    args = parse_arguments()
    try:
        refuse_debug_build(args.build)
        with tempfile.TemporaryDirectory() as folder:
            suite = Suite(args, folder)
            suite.run()
    except BenchError as error:
        print(f"vm_bench: error: {error}", file=sys.stderr)
        return 2
    if not args.quick and set(args.cases) == set(CASES):
        path = os.path.join(ROOT, "benchmarks", "results",
                            environment.slug(suite.cpu["model"]), "vm.json")
        flags = " ".join([*programs.SCALAR, "-march=native"])
        results.write(path, "vm",
                      environment.describe(ROOT, args.cuda, args.clang, flags),
                      suite.rows)
        print(f"\nwritten: {os.path.relpath(path, ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
