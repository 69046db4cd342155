# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counting on a GPU, held against the warp VM and against the hardware's own
counters: each example at its own size on the VM, on the GPU with probes, and on
the GPU under ncu. Is every sampled thread's block vector the same; is the output
the same with and without probes; what does compute-sanitizer say of code with
probes?"""

import counts
from pages import validation as page
from profiled import Runner
from programs import LARGE, example
from suite import Build, Case, Metric, Option, Page, Suite

MOST_LAUNCHES = 300  # that ncu looks at


def start(bench):
    return Runner(bench.options.prefix, bench.path("cache"))


def prepare(bench, case):
    """The run on the VM, and what each sanitizer says."""
    program = bench.program(case, "plain")
    return (bench.own.profiled([program], "cpu", vm="threads=2"),
            {tool: bench.own.sanitized(tool, [program, "check=0"])
             for tool in bench.options.sanitizers.split(",") if tool})


def output_verdict(plain, counted):
    if (counted.output, counted.code) == (plain[0].output, plain[0].code):
        return "identical"
    return ("varies without probes too" if plain[0].output != plain[1].output
            else "differs")


def measure(bench, case, prepared):
    vm, tools = prepared
    for tool, verdict in tools.items():
        yield bench.row(case, "sanitizer", [int(verdict == "clean")],
                        {"tool": tool}, verdict=verdict)
    command = [bench.program(case, "plain")]
    plain = [bench.own.profiled(command, bench.device, "counters=off")
             for _ in range(2)]
    counted = bench.own.profiled(command, bench.device, "blocks=all")
    hardware, why = bench.own.hardware(command, MOST_LAUNCHES)
    if why:
        print(f"{case.name}: no hardware counters: {why}", flush=True)
    for note in counted.notes:
        if not note.startswith("hardware counters"):
            print(f"{case.name}: {note}", flush=True)
    verdict = output_verdict(plain, counted)
    yield bench.row(case, "output", [int(verdict == "identical")],
                    verdict=verdict, exit=counted.code)
    for mangled, kernel in counted.kernels.items():
        if mangled not in vm.kernels:
            bench.fail(f"{case.name}: the VM has not run {kernel['display']}")
            continue
        yield from of_kernel(bench, case, kernel, vm.kernels[mangled],
                             hardware.get(mangled, (0, 0, 0)))


def of_kernel(bench, case, gpu, vm, hardware):
    params = {"kernel": gpu["display"].split("(")[0],
              "launches": gpu["launches"]}
    ours, theirs = gpu["regrouped"], vm["regrouped"]
    equal = (ours["digest"], ours["threads"]) == (theirs["digest"],
                                                  theirs["threads"])
    yield bench.row(case, "bbv-equal", [int(equal)], params,
                    threads=ours["threads"], lanes_equal=[
                        b["lanes"] for b in vm["blocks"]] == [
                        b["lanes"] for b in gpu["blocks"]])
    yield bench.row(case, "cfe-vm", [counts.cfe(vm)], params)
    yield bench.row(case, "cfe-probes", [counts.cfe(gpu)], params)
    instructions, active, predicated = hardware
    if instructions:
        yield bench.row(case, "cfe-gpu", [active / instructions / 32], params,
                        predicated=predicated / instructions / 32,
                        instructions=instructions)


SUITES = [Suite(
    name="validation", about="counts on the VM, on the GPU and of the hardware",
    source=example, cases=lambda _: [Case(name, {}) for name in sorted(LARGE)],
    ways={"plain": Build("plain")}, timed=False, threads=2, start=start,
    prepare=prepare, measure=measure, page=Page("validation.md", page.lines),
    metrics={name: Metric("1") for name in (
        "output", "bbv-equal", "cfe-vm", "cfe-probes", "cfe-gpu", "sanitizer")},
    flags=lambda bench: "-O3",
    options=(Option("sanitizers", "memcheck,racecheck",
                    "of compute-sanitizer"),))]
