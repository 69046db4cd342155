# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How fast the warp VM runs the examples' kernels, counters on.

For each example: the kernel as scalar C++ (clang -O3 for this CPU, one core),
the example on the VM with one thread and with two, in turns, so that a slow
minute of the machine hits all alike. Where the CPU has AVX-512, all of it once
more without (the VM's isa=avx2, -march=haswell). Results must agree with the
scalar program's. Then the first launch: an empty cache of compiled kernels
against a warm one. Over all cases: geometric means, and the table of targets.
"""

import os
import shutil
import tempfile

import environment
import programs
import results
import scalar
import tables
from errors import BenchError
from places import BENCH
from suite import Build, Case, Metric, Suite

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
SCALAR, PLAIN = ("clang -O3, one core",
                 "clang -O3 without vectoriser, one core")


class Machine:
    """What of this CPU the suite measures on."""

    def __init__(self, bench):
        self.cpu = environment.cpu()
        self.native = environment.instruction_set(self.cpu)
        # (name, the VM's settings, the scalar compiler's flag)
        self.sets = [(self.native, {}, "-march=native")]
        if self.cpu["avx512"]:
            self.sets.append(("AVX2", {"isa": "avx2"}, "-march=haswell"))
        self.threads = 2 if len(os.sched_getaffinity(0)) > 1 else 1
        self.clang = bench.options.clang or "clang++-19"
        self.pocl, self.no_pocl = scalar.pocl(self.clang,
                                              bench.path("pocl-host"))


def run_vm(bench, case, words, threads, settings, cache="cache"):
    return scalar.run_vm(
        [bench.program(case, "plain"), *words],
        {"threads": threads, **settings, "cache": bench.path(cache),
         "compile": "well"}, bench.path("profile.json"))


def ways_of(bench, case, isa, settings, march):
    """What takes turns under an instruction set."""
    machine, words = bench.own, case.words()
    source = os.path.join(BENCH, "vm", "scalar", case.name + ".cpp")

    def built(label, *flags):
        program = bench.path(case.name, isa, label)
        scalar.build(machine.clang, source, program, [march, *flags])
        return lambda: scalar.run_scalar([program, *words])

    def on_vm(threads):
        return lambda: run_vm(bench, case, [*words, "check=0"], threads,
                              settings)
    ways = {"scalar": built("scalar"), "plain": built("plain", *NO_VECTORS),
            "one": on_vm(1), "two": on_vm(machine.threads)}
    if machine.pocl and isa == machine.native and case.name in POCL:
        ways["pocl"] = lambda: scalar.run_pocl(
            [*machine.pocl, case.name, *words])
    return ways


def measure(bench, case):
    for isa, settings, march in bench.own.sets:
        ways = ways_of(bench, case, isa, settings, march)
        ways["one"]()  # compiles the kernels into the cache
        runs = {way: [] for way in ways}
        for _ in range(bench.rounds):
            for way, run in ways.items():
                runs[way].append(run())
        yield from rows_of(bench, case, {**case.params, "isa": isa}, runs)
    yield from first_launch(bench, case)


def rows_of(bench, case, params, runs):
    """Ratios are taken within a repetition, then their median."""
    reference = runs["scalar"][0].result
    verdict = scalar.same_result(reference, runs["one"][0].result)
    for way, own in runs.items():
        for run in own:
            now = scalar.same_result(reference, run.result)
            if now.startswith("differs"):
                raise BenchError(f"{way} {now}")

    def ratios(metric, way, over, **more):
        return bench.row(case, metric, [a.seconds / b.seconds for a, b in
                                        zip(runs[way], runs[over])],
                         params, **more, verdict=verdict)

    yield bench.row(case, "thread-instructions-per-second",
                    [run.instructions / run.seconds for run in runs["one"]],
                    {**params, "threads": 1}, verdict=verdict,
                    instructions=runs["one"][0].instructions)
    yield ratios("time-vs-scalar", "one", "scalar", baseline=SCALAR)
    yield ratios("time-vs-scalar", "one", "plain", baseline=PLAIN)
    if bench.own.threads > 1:
        yield ratios("scaling-2-cores", "one", "two")
    if "pocl" in runs:
        yield ratios("time-vs-pocl", "one", "pocl")


def first_launch(bench, case):
    """Wall time with an empty cache less that with a warm one, and the peak
    memory of the colder run; at the example's own small size."""
    samples, peaks = [], []
    for _ in range(bench.rounds):
        cache = os.path.basename(tempfile.mkdtemp(dir=bench.folder))
        cold, warm = (run_vm(bench, case, [], bench.own.threads, {}, cache)
                      for _ in range(2))
        shutil.rmtree(bench.path(cache))
        samples.append(max(cold.wall - warm.wall, 0.0))
        peaks.append(max(cold.peak_mb, warm.peak_mb))
    yield bench.row(case, "first-launch", samples, {})
    yield bench.row(case, "peak-memory", peaks, {})


def values(rows, metric, isa=None, baseline=None):
    """Case to value."""
    return {r["case"]: r["value"] for r in rows
            if r["metric"] == metric
            and (isa is None or r["params"].get("isa") == isa)
            and (baseline is None or r.get("baseline") == baseline)}


def whole(bench):
    return len({row["case"] for row in bench.rows} - {"geomean"}) == len(CASES)


def finish(bench):
    """Geometric means over all cases."""
    if not whole(bench):
        return
    for isa, _, _ in bench.own.sets:
        for baseline in (SCALAR, PLAIN):
            ratios = values(bench.rows, "time-vs-scalar", isa, baseline)
            yield bench.row(Case("geomean", {"isa": isa}), "time-vs-scalar",
                            [results.geomean(ratios.values())],
                            baseline=baseline)
    native = bench.own.native
    if scaling := values(bench.rows, "scaling-2-cores", native):
        yield bench.row(Case("geomean", {"isa": native}), "scaling-2-cores",
                        [results.geomean(scaling.values())])


def targets(bench):
    """(measure, reached, at least, aim, met)"""
    rows, native = bench.rows, bench.own.native

    def line(measure, reached, form, least, aim, below=False):
        if reached is None:
            return [measure, "not measured", least, aim, "-"]
        met = reached <= least if below else reached >= least
        return [measure, form.format(reached), form.format(least),
                form.format(aim), "yes" if met else "NO"]

    rate = values(rows, "thread-instructions-per-second", native)
    yield line(f"Mandelbrot, one core, {native}, counters on",
               rate["mandelbrot"] / 1e9, "{:.1f} G/s", 15, 35)
    for isa, _, _ in bench.own.sets:
        ratio = values(rows, "time-vs-scalar", isa, SCALAR)["geomean"]
        yield line(f"geomean time against scalar C++, {isa}", ratio, "{:.2f}x",
                   1.0 if isa == "AVX-512" else 2.0, 0.4, below=True)
    yield line("two cores against one, geomean", values(
        rows, "scaling-2-cores", native).get("geomean"), "{:.2f}x", 1.8, 1.95)
    first = values(rows, "first-launch")
    slowest = max(first, key=first.get)
    yield line(f"first launch, cold cache, the slowest ({slowest})",
               first[slowest], "{:.2f} s", 0.5, 0.15, below=True)
    yield line("against a cycle simulator's 0.45 M/s, geomean",
               results.geomean(rate.values()) / SIMULATOR, "{:,.0f}x", 10000,
               50000)
    peak = values(rows, "peak-memory")
    largest = max(peak, key=peak.get)
    yield line(f"peak memory of an example ({largest})", peak[largest],
               "{:.0f} MB", 200, 200, below=True)


def kernel_lines(bench):
    """A line of the terminal's table for each case and instruction set."""
    cells = {}
    for row in bench.rows:
        isa = row["params"].get("isa")
        if isa and row["case"] != "geomean":
            cells.setdefault((row["case"], isa), {})[
                row["metric"], row.get("baseline")] = row["value"]
    for (case, isa), by in cells.items():
        rate = by["thread-instructions-per-second", None]
        yield [case, isa, f"{rate / 1e9:.1f}"] + [
            f"{by[key]:.2f}" if key in by else "-" for key in (
                ("time-vs-scalar", SCALAR), ("time-vs-scalar", PLAIN),
                ("scaling-2-cores", None),
                ("time-vs-pocl", "PoCL, one core"))]


def show(bench):
    machine = bench.own
    print(f"\n{machine.cpu['model']}, {machine.native}")
    tables.show(["kernel", "isa", "G instr/s", "x scalar", "x plain", "2 cores",
                 "x PoCL"], list(kernel_lines(bench)))
    print("x scalar: the VM's time over that of clang -O3, both on one core; "
          "below 1 the VM is faster.\nx plain: over clang -O3 without its "
          "vectoriser. x PoCL: over PoCL's on one core"
          + (f" (skipped: {machine.no_pocl})." if machine.no_pocl else "."))
    first = values(bench.rows, "first-launch")
    peak = values(bench.rows, "peak-memory")
    print()
    tables.show(["kernel", "first launch, s", "peak MB"],
                [[n, f"{first[n]:.3f}", f"{peak[n]:.0f}"] for n in first])
    if whole(bench):
        print()
        tables.show(["measure", "reached", "at least", "aim", "met"],
                    list(targets(bench)))


SUITES = [Suite(
    name="vm", about="speed of the warp VM on this CPU", where="cpu",
    source=programs.example, cases=lambda _: [Case(*c) for c in CASES.items()],
    ways={"plain": Build("plain")}, rounds=7, start=Machine, measure=measure,
    finish=finish, show=show,
    flags=lambda bench: " ".join([*scalar.SCALAR, "-march=native"]),
    metrics={"thread-instructions-per-second": Metric("1/s"),
             "time-vs-scalar": Metric("x"), "scaling-2-cores": Metric("x"),
             "time-vs-pocl": Metric("x", "PoCL, one core"),
             "first-launch": Metric("s"), "peak-memory": Metric("MB")})]
