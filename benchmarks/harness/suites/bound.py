# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a kernel is bound by: as the report says it of counts on the warp VM and
of counts on the GPU, and what ncu says of the same launches. A row of each
kernel and source (`by`: vm, gpu, ncu) says

  nearness    of the busiest unit, 0 to 1 (vm, gpu), with all that the model has
              of the time, `time`, and the word, `bound`
  throughput  the most of ncu's throughputs, 0 to 1, with all numbers of its
              sections, `counters`; means over the launches
"""

import re

from profiled import Runner
from programs import EXAMPLES_AND_KERNELS as PROGRAMS
from pages import bound as page
from suite import Build, Case, Metric, Page, Suite

# Sizes that fill the GPU, and that the warp VM runs in less than a minute.
SIZES = {
    "kmeans": {"points": 4000000, "rounds": 2, "check": 0},
    "transport": {"photons": 5000000, "check": 0},
    "xslookup": {"particles": 1 << 20, "points": 1 << 13, "binbits": 11,
                 "check": 0},
    "lbm": {"width": 2048, "height": 2048, "steps": 4, "check": 0},
    "pol": {"households": 1 << 18, "years": 20, "check": 0},
}
LAUNCHES_READ = 8  # by ncu
SECTIONS = ("SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis",
            "SchedulerStats", "WarpStateStats", "Occupancy", "LaunchStats")
# Of some 700 numbers: shares of a peak, what warps wait for, the launch.
KEPT = re.compile(r"pct_of_peak|_per_issue_active\.ratio$|launch__|sm__warps|"
                  r"gpu__time|issue_active|inst_executed\.sum$|bytes\.sum$|"
                  r"t_sector_hit_rate|cycles_(active|elapsed)")
THROUGHPUTS = ("sm__throughput.avg.pct_of_peak_sustained_elapsed",
               "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed")


def start(bench):
    return Runner(bench.options.prefix, bench.path("cache"))


def command_of(bench, case):
    return [bench.program(case, "plain"), *case.words()]


def prepare(bench, case):
    return bench.own.reported(bench.compilers.reconverge,
                              command_of(bench, case), "cpu")


def name_of(kernel):
    return kernel["display"].split("(")[0]


def of_report(bench, case, by, kernels):
    for kernel in kernels:
        time = kernel["cost"]["time"]
        if time["cycles"]:
            yield bench.row(case, "nearness", [time["nearness"]],
                            {**case.params, "kernel": name_of(kernel), "by": by},
                            bound=time["boundBy"], time=time,
                            launches=kernel["launches"],
                            registers=kernel["registers"],
                            attainable=kernel["cost"].get("attainable"))


def measure(bench, case, vm):
    yield from of_report(bench, case, "vm", vm)
    if bench.device == "cpu":
        return
    command = command_of(bench, case)
    gpu = bench.own.reported(bench.compilers.reconverge, command, "gpu")
    yield from of_report(bench, case, "gpu", gpu)
    found, why = bench.own.sections(command, SECTIONS, LAUNCHES_READ)
    if not found:
        print(f"{case.name}: NO HARDWARE COUNTERS: {why}", flush=True)
    names = {kernel["name"]: name_of(kernel) for kernel in (*vm, *gpu)}
    for mangled, counters in found.items():
        yield bench.row(
            case, "throughput",
            [max(counters.get(metric, 0.0) for metric in THROUGHPUTS) / 100],
            {**case.params, "kernel": names.get(mangled, mangled), "by": "ncu"},
            counters={metric: round(value, 3)
                      for metric, value in counters.items()
                      if KEPT.search(metric)})


SUITES = [Suite(
    name="bound", about="what kernels are bound by: the report's word, and ncu",
    source=PROGRAMS.get, cases=lambda _: [Case(*item) for item in SIZES.items()],
    small=lambda case: {"check": 0},
    ways={"plain": Build("plain")}, timed=False, threads=2, start=start,
    prepare=prepare, measure=measure, flags=lambda bench: "-O3",
    page=Page("bound-results.md", page.lines),
    metrics={"nearness": Metric("1"), "throughput": Metric("1")})]
