# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Accesses to memory, held against the hardware's own counters: each program at
its own size on the warp VM, on a GPU with probes in every thread block, and on
the GPU under ncu. A row of each kernel and source (`by`: vm, probes, ncu) says

  load-sectors, store-sectors   sectors a request of global memory takes
  shared-load-, shared-store-   wavefronts a launch
  wavefronts

and what these come from: `launches`, and sums over them. The row `hardware` has
all that ncu read. Probes count in the first three launches of a kernel, then at
powers of two; ncu looks at the program's first launches."""

import re

import ncu
from profiled import Runner
from programs import EXAMPLES_AND_KERNELS as PROGRAMS
from pages import memory as page
from suite import Build, Case, Metric, Page, Suite

LAUNCHES_READ = 60  # by ncu, which runs each several times: all there are
SIZES = {"automaton": {"steps": 4}, "bfs": {"scale": 8}, "kmeans": {"rounds": 3},
         "lu": {"n": 256}, "stencil": {"steps": 4}}
NOT_HERE = {"remap_micro", "regroup_micro", "layout_micro",
            "predict_micro"}  # each measures one thing only
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
OTHERS = """
l1tex__data_pipe_lsu_wavefronts.sum l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
smsp__inst_executed_op_shared_ld.sum smsp__inst_executed_op_shared_st.sum
smsp__inst_executed_op_shared_atom.sum
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum
l1tex__t_sectors_pipe_lsu_lookup_hit.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum
lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum
lts__t_sectors_op_atom.sum lts__t_sectors_op_red.sum
lts__t_sectors_op_read_lookup_hit.sum
dram__bytes_read.sum dram__bytes_write.sum
smsp__inst_executed.sum smsp__inst_executed_pipe_alu.sum
smsp__inst_executed_pipe_fma.sum smsp__inst_executed_pipe_fp64.sum
smsp__inst_executed_pipe_xu.sum smsp__inst_executed_pipe_lsu.sum
gpu__time_duration.sum sm__cycles_active.avg
"""
USES = {"load": "ld", "store": "st"}
READ = (ncu.LAUNCHES,
        *(GLOBAL.format(what, op) for op in USES.values()
          for what in ("requests", "sectors")),
        *map(SHARED.format, USES.values()), *OTHERS.split())
UNKNOWN = re.compile(r"[Ff]ailed to find metric:? *([\w.]+)")
# Of an access in a profile.
COUNTS = ("requests", "lanes", "sectors", "leastSectors", "wavefronts",
          "leastWavefronts", "turns")


def start(bench):
    return Runner(bench.options.prefix, bench.path("cache"))


def command_of(bench, case):
    return [bench.program(case, "plain"), *case.words()]


def prepare(bench, case):
    """What the VM counts, and what probes count."""
    command = command_of(bench, case)
    return (bench.own.profiled(command, "cpu", vm="threads=2"),
            bench.own.profiled(command, bench.device,
                               "blocks=all,memory=all,vectors=off"))


def counted_launches(launches):
    """Those of a kernel in which probes count its accesses."""
    return sum(n <= 3 or n & (n - 1) == 0 for n in range(1, launches + 1))


def sums_of(kernel):
    """'global-load' and so on -> its counts, over all such accesses."""
    sums = {}
    for access in kernel.get("accesses", []):
        space = access["space"]
        if space == "generic":  # where it went, sectors say
            space = "global" if access["sectors"] else "shared"
        of = sums.setdefault(f"{space}-{access['use']}",
                             dict.fromkeys(COUNTS, 0))
        for name in COUNTS:
            of[name] += access[name]
    return sums


def of_profile(bench, case, by, kernel, launches):
    params = {"kernel": kernel["display"].split("(")[0], "by": by}
    sums = sums_of(kernel)
    for use in USES:
        of = sums.get("global-" + use)
        if of and of["requests"]:
            yield bench.row(case, use + "-sectors",
                            [of["sectors"] / of["requests"]], params,
                            launches=launches, **of)
        of = sums.get("shared-" + use)
        if of and of["requests"]:
            yield bench.row(case, f"shared-{use}-wavefronts",
                            [of["wavefronts"] / launches], params,
                            launches=launches, **of)
    if sums:
        yield bench.row(case, "accesses", [sum(
            of["requests"] for of in sums.values()) / launches], params,
            launches=launches, sums=sums, touched=kernel.get("touched", {}),
            registers=kernel.get("registers", 0))


def of_hardware(bench, case, name, read):
    params = {"kernel": name, "by": "ncu"}
    launches = read[ncu.LAUNCHES]
    for use, op in USES.items():
        requests = read.get(GLOBAL.format("requests", op))
        sectors = read.get(GLOBAL.format("sectors", op))
        if requests and sectors is not None:
            yield bench.row(case, use + "-sectors", [sectors / requests],
                            params, launches=launches, requests=requests,
                            sectors=sectors)
        wavefronts = read.get(SHARED.format(op))
        if wavefronts:
            yield bench.row(case, f"shared-{use}-wavefronts",
                            [wavefronts / launches], params,
                            launches=launches, wavefronts=wavefronts)
    yield bench.row(case, "hardware",
                    [read.get("gpu__time_duration.sum", 0.0) / launches], params,
                    launches=launches, counters=read)


def hardware(bench, command):
    """Kernel (mangled) -> its counters, of those that this GPU has; and why
    there are none."""
    while True:
        metrics = [m for m in READ if m not in bench.own.missing]
        kernels, why = bench.own.counters(command, metrics, LAUNCHES_READ)
        unknown = UNKNOWN.search(why)
        if kernels or not unknown or unknown[1] not in metrics:
            return kernels, why
        print(f"ncu does not know {unknown[1]}", flush=True)
        bench.own.missing.add(unknown[1])


def measure(bench, case, prepared):
    vm, probed = prepared
    if not any("accesses" in kernel for kernel in vm.kernels.values()):
        print(f"{case.name}: the VM has counted no accesses", flush=True)
    for kernel in vm.kernels.values():
        yield from of_profile(bench, case, "vm", kernel, kernel["launches"])
    if bench.device == "cpu":
        return
    for kernel in probed.kernels.values():
        yield from of_profile(bench, case, "probes", kernel,
                              counted_launches(kernel["launches"]))
    found, why = hardware(bench, command_of(bench, case))
    if not found:
        print(f"{case.name}: NO HARDWARE COUNTERS: {why}", flush=True)
    for mangled, read in found.items():
        kernel = probed.kernels.get(mangled)
        name = kernel["display"].split("(")[0] if kernel else mangled
        yield from of_hardware(bench, case, name, read)


SUITES = [Suite(
    name="memory", about="sectors and wavefronts on the VM, by probes and of "
                         "the hardware (ncu)",
    source=PROGRAMS.get,
    cases=lambda _: [Case(name, SIZES.get(name, {})) for name in PROGRAMS
                     if name not in NOT_HERE],
    small=lambda case: SIZES.get(case.name, {}),
    ways={"plain": Build("plain")}, timed=False, threads=2, start=start,
    prepare=prepare, measure=measure, flags=lambda bench: "-O3",
    page=Page("memory-results.md", page.lines),
    metrics={"load-sectors": Metric("1/request"),
             "store-sectors": Metric("1/request"),
             "shared-load-wavefronts": Metric("1/launch"),
             "shared-store-wavefronts": Metric("1/launch"),
             "accesses": Metric("requests/launch"), "hardware": Metric("ns")})]
