# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What counting costs on a GPU: the kernels' time with branch counters, with
accesses to memory too, with block vectors as well, and, of examples with grids
so large that only a sample of their thread blocks counts, with branch counters
in every thread block; over their time without; in turns."""

import time

from errors import BenchError
from profiled import Runner
from programs import LARGE, example
from suite import Build, Case, Metric, Option, Suite

# What is counted, by the setting that asks for it.
MODES = {"branch-counters": "vectors=off,memory=off",
         "accesses": "vectors=off",
         "all-blocks": "vectors=off,memory=off,blocks=all",
         "block-vectors": ""}
BASELINE = "the same code without probes"


def start(bench):
    return Runner(bench.options.prefix, bench.path("cache"))


def settings_of(bench):
    """Those that --modes asks for."""
    asked = bench.options.modes.split(",")
    return {"plain": "counters=off",
            **{mode: setting for mode, setting in MODES.items()
               if mode in asked}}


def prepare(bench, case):
    """Code with probes is built, so that the runs need not."""
    for setting in settings_of(bench).values():
        bench.own.profiled([bench.program(case, "plain"), "check=0"],
                           bench.device, setting)


def rounds_of(bench):
    """Their numbers: two, and all others that begin within the case's share of
    the time. Most of it programs take to make their input."""
    end = time.monotonic() + bench.options.seconds / len(bench.cases)
    for number in range(bench.rounds):
        if number < 2 or time.monotonic() < end:
            yield number


def runs_of(bench, case):
    """Mode -> its runs, in turns; `plain` is without probes."""
    command = [bench.program(case, "plain"), *case.words(), "check=0"]
    settings = settings_of(bench)
    runs = {mode: [] for mode in settings}
    for _ in rounds_of(bench):
        for mode, setting in settings.items():
            # Where every thread block counts anyway, once is enough.
            few = runs.get("branch-counters")
            if mode == "all-blocks" and few and not few[0].sampled():
                continue
            runs[mode].append(bench.own.profiled(command, bench.device,
                                                 setting))
    codes = [run.code for own in runs.values() for run in own]
    if any(codes):
        raise BenchError(f"ends with {codes}")
    return runs


def measure(bench, case, _=None):
    runs = runs_of(bench, case)
    plain = runs.pop("plain")
    yield bench.row(case, "plain", [run.seconds() * 1e3 for run in plain])
    for mode in (mode for mode in runs if runs[mode]):
        same = runs[mode][0].output == plain[0].output
        yield bench.row(case, mode, [
            run.seconds() / before.seconds()
            for run, before in zip(runs[mode], plain)],
            verdict="identical" if same else "differs")
    for mangled, kernel in plain[0].kernels.items():
        for mode in (mode for mode in runs if runs[mode]):
            yield bench.row(case, mode + "-kernel", [
                run.kernels[mangled]["seconds"]
                / before.kernels[mangled]["seconds"]
                for run, before in zip(runs[mode], plain)],
                dict(case.params, kernel=kernel["display"].split("(")[0]))


SUITES = [Suite(
    name="overhead", about="what counting costs on a GPU",
    source=example, cases=lambda _: [Case(*item) for item in
                                     sorted(LARGE.items())],
    ways={"plain": Build("plain")}, rounds=5, start=start, prepare=prepare,
    measure=measure, flags=lambda bench: "-O3",
    options=(Option("modes", ",".join(MODES), "what is counted"),
             Option("seconds", 400, "that the rounds of all cases share")),
    metrics={"plain": Metric("ms"),
             **{mode: Metric("x", BASELINE) for mode in MODES},
             **{mode + "-kernel": Metric("x") for mode in MODES}})]
