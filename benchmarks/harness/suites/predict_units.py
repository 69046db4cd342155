# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What keeps the kernels of kernels/predict_micro busy, each alone on the GPU, as
ncu reads it: whether the units leave room for both at once. Rows, params way
(work-mma, foretell-mma, ...), of nvcc's build:

  alone   ms; `units` (unit to share of the time that it is busy), `warps` (share
          of the warps that fit a multiprocessor), `registers` of a thread, `mhz`
"""

import re

import compare
import ncu
import predicting
from errors import BenchError
from suites.predict_fused import PROGRAMS, SMALL
from suite import Case, Metric, Suite

PEAK = ".avg.pct_of_peak_sustained_elapsed"
UNITS = {"issue": "smsp__issue_active" + PEAK,
         "alu": "sm__inst_executed_pipe_alu" + PEAK,
         "fma": "sm__pipe_fma_cycles_active" + PEAK,
         "xu": "sm__inst_executed_pipe_xu" + PEAK,
         "tensor": "sm__pipe_tensor_cycles_active" + PEAK,
         "l1": "l1tex__throughput" + PEAK,
         "l2": "lts__throughput" + PEAK,
         "dram": "dram__throughput" + PEAK}
NANOSECONDS = "gpu__time_duration.sum"
CYCLES = "sm__cycles_elapsed.max"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
REGISTERS = "launch__registers_per_thread"
READ = (*UNITS.values(), NANOSECONDS, CYCLES, WARPS, REGISTERS)
SOURCES = {"ByTiles": "mma", "ByFma": "fma", "ByCondition": "condition"}
LAUNCHES = 64  # as many as the program has of these kernels, and more


def by_way(launches):
    """(way, launch) in the order of the program: with each source it foretells
    the classes of the batch that is worked on, then does the work in their order,
    then foretells those of the next."""
    source, found = None, {}
    for launch in launches:
        kernel = launch["Kernel Name"]
        if "foretold" not in kernel:
            if source:
                found.setdefault("work-" + source, launch)
            continue
        now = SOURCES[re.search("|".join(SOURCES), kernel)[0]]
        if now == source:
            found.setdefault("foretell-" + source, launch)
        source = now
    return found


def row_of(launch):
    """ms, and the rest of the row."""
    value = {metric: float(launch[metric].replace(",", "")) for metric in READ}
    return value[NANOSECONDS] / 1e6, {
        "units": {unit: round(value[metric] / 100, 4)
                  for unit, metric in UNITS.items()},
        "warps": round(value[WARPS] / 100, 4),
        "registers": int(value[REGISTERS]),
        "mhz": round(1000 * value[CYCLES] / value[NANOSECONDS])}


def measure(bench, case):
    done = ncu.call([bench.program(case, "nvcc"),
                     *predicting.words(case.params, predicting.HELD_OUT[0])],
                    LAUNCHES, ["-k", "regex:plain|foretold",
                               "--metrics", ",".join(READ)], {})
    launches, why = ncu.table_of(done.stdout, done.stderr)
    if not launches:
        raise BenchError(why)
    for way, launch in by_way(launches).items():
        ms, more = row_of(launch)
        yield bench.row(case, "alone", [ms], {**case.params, "way": way}, **more)


SUITES = [Suite(
    name="predict-units", about="what keeps work and classes busy (ncu)",
    cases=lambda _: [Case(name, params, "predict_micro")
                     for name, params in PROGRAMS.items()],
    small=lambda case: {**case.params, **SMALL[case.name]},
    ways={"nvcc": compare.UNCHANGED["nvcc"]}, measure=measure,
    metrics={"alone": Metric("ms")})]
