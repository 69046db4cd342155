# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What counting costs on a GPU: the kernels' time with branch counters and
accesses to memory, without the latter, with block vectors too, and, of examples
with grids so large that only a sample of their thread blocks counts, with branch
counters in every thread block; over their time without; in turns."""

from errors import BenchError
from profiled import Runner
from programs import LARGE, example
from suite import Build, Case, Metric, Suite

# What is counted, by the setting that asks for it.
MODES = {"branch-counters": "vectors=off",
         "without-memory": "vectors=off,memory=off",
         "all-blocks": "vectors=off,blocks=all",
         "block-vectors": ""}
BASELINE = "the same code without probes"


def start(bench):
    return Runner(bench.options.prefix, bench.path("cache"))


def runs_of(bench, case):
    """Mode -> its runs, in turns; `plain` is without probes."""
    command = [bench.program(case, "plain"), *case.words(), "check=0"]
    runs = {mode: [] for mode in ("plain", *MODES)}
    for _ in range(bench.rounds):
        for mode, setting in {"plain": "counters=off", **MODES}.items():
            # Where every thread block counts anyway, once is enough.
            if mode == "all-blocks" and \
                    not runs["branch-counters"][0].sampled():
                continue
            runs[mode].append(bench.own.profiled(command, bench.device,
                                                 setting))
    codes = [run.code for own in runs.values() for run in own]
    if any(codes):
        raise BenchError(f"ends with {codes}")
    return runs


def measure(bench, case):
    runs = runs_of(bench, case)
    plain = runs["plain"]
    yield bench.row(case, "plain", [run.seconds() * 1e3 for run in plain])
    for mode in (mode for mode in MODES if runs[mode]):
        same = runs[mode][0].output == plain[0].output
        yield bench.row(case, mode, [
            run.seconds() / before.seconds()
            for run, before in zip(runs[mode], plain)],
            verdict="identical" if same else "differs")
    for mangled, kernel in plain[0].kernels.items():
        for mode in (mode for mode in MODES if runs[mode]):
            yield bench.row(case, mode + "-kernel", [
                run.kernels[mangled]["seconds"]
                / before.kernels[mangled]["seconds"]
                for run, before in zip(runs[mode], plain)],
                dict(case.params, kernel=kernel["display"].split("(")[0]))


SUITES = [Suite(
    name="overhead", about="what counting costs on a GPU",
    source=example, cases=lambda _: [Case(*item) for item in
                                     sorted(LARGE.items())],
    ways={"plain": Build("plain")}, rounds=5, start=start, measure=measure,
    flags=lambda bench: "-O3",
    metrics={"plain": Metric("ms"),
             **{mode: Metric("x", BASELINE) for mode in MODES},
             **{mode + "-kernel": Metric("x") for mode in MODES}})]
