# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware counters of the kernels that are remapped by hand: what they wait
for, as they are and with the library, in nvcc's builds. Rows, of the slowest of
a program's kernels, over the checked launch:

  issue        warp instructions issued a cycle of a scheduler, of at most 1
  lanes        active threads per instruction, over 32
  sectors      of 32 bytes, that a global load of a warp takes from L1
  dram         GB/s of device memory
"""

import ncu
from compare import UNCHANGED
from errors import BenchError
from programs import REMAPPED, REMAP_WAYS
from suite import Case, Metric, Suite

INSTRUCTIONS = "smsp__inst_executed.sum"
LANES = "smsp__thread_inst_executed.sum"
CYCLES = "smsp__cycles_active.sum"
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
BYTES = "dram__bytes.sum"
NANOSECONDS = "gpu__time_duration.sum"
READ = (INSTRUCTIONS, LANES, CYCLES, SECTORS, REQUESTS, BYTES, NANOSECONDS)


def measure(bench, case):
    for number, way in enumerate(REMAP_WAYS[:2]):
        kernels, why = ncu.sums(
            [bench.program(case, "nvcc"), f"remap={number}", "check=0",
             *case.words()], READ, 20)
        if not kernels:
            raise BenchError(why)
        sums = max(kernels.values(), key=lambda sums: sums[NANOSECONDS])
        for metric, value in (
                ("issue", sums[INSTRUCTIONS] / sums[CYCLES]),
                ("lanes", sums[LANES] / sums[INSTRUCTIONS] / 32),
                ("sectors", sums[SECTORS] / max(sums[REQUESTS], 1)),
                ("dram", sums[BYTES] / sums[NANOSECONDS])):
            yield bench.row(case, metric, [value], {**case.params, "way": way})


SUITES = [Suite(
    name="remap-counters", about="what kernels remapped by hand wait for (ncu)",
    cases=lambda _: [Case(*item) for item in REMAPPED.items()],
    ways={"nvcc": UNCHANGED["nvcc"]}, measure=measure,
    metrics={"issue": Metric("1/cycle"), "lanes": Metric("1"),
             "sectors": Metric("1/load"), "dram": Metric("GB/s")})]
