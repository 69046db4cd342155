# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds of one program, timed in turns: what a suite's measure is where its
builds are compared.

A round runs each build once, in an order that the seed draws; a run times some
launches one by one, behind a gate (kernels/common/gate.h). What drifts from
process to process (clocks, where memory lies) shows between rounds, so that two
builds are compared by the medians of a round. Of short launches there are more
rounds and more samples: they are cheap, and the same disturbance is a larger
part of them. The baseline of a speed-up is the fastest unchanged build, as
`reconverge optimize` would keep it."""

import random
import statistics

import processes
from suite import Build, Metric

# The builds that a remedy is held against.
UNCHANGED = {"nvcc": Build("nvcc"), "clang": Build("clang"),
             "reconverge": Build("reconverge", ("--fatbin",))}
OURS = "reconverge"
SHORT_MS = 0.06  # the fastest build of the first round
SHORT_ROUNDS, SHORT_REPEAT = 5, 3  # at least; times as many samples


def metrics(changed, **more):
    """Of a suite whose rows are those of rows()."""
    return {**dict.fromkeys((*UNCHANGED, changed), Metric("ms")),
            "speedup": Metric("x", "best-of-" + "-".join(UNCHANGED)), **more}


def run_once(bench, program, params, repeat, environment=None):
    """The times of a run's launches in ms, and its checksum."""
    output = bench.run([program, *(f"{k}={v}" for k, v in params.items()),
                        "check=0", f"repeat={repeat}"], **(environment or {}))
    times = processes.line(output, "kernel-ms").split()
    return [float(ms) for ms in times], processes.line(output, "checksum")


def alternate(ways, run, rounds, repeat):
    """run(way, repeat) gives times and a checksum. Returns way -> its times, a
    list for each round, and way -> checksum."""
    draw = random.Random(1)
    times, sums = {way: [] for way in ways}, {}
    done = 0
    while done < rounds:
        for way in draw.sample(list(ways), len(ways)):
            new, sums[way] = run(way, repeat)
            times[way].append(new)
        done += 1
        if done == 1 and min(statistics.median(own[0])
                             for own in times.values()) < SHORT_MS:
            rounds = max(rounds, SHORT_ROUNDS)
            repeat *= SHORT_REPEAT
    return times, sums


def flat(rounds_of_times):
    return [ms for times in rounds_of_times for ms in times]


def fastest(ways, times):
    return min(ways, key=lambda way: statistics.median(flat(times[way])))


def speedups(baseline, way):
    """Of each round, of the times of two builds."""
    return [statistics.median(a) / statistics.median(b)
            for a, b in zip(baseline, way)]


def verdict(same):
    return "identical" if same else "differs (checksum)"


def rows(bench, case, programs, changed, reference=OURS, **more):
    """The rows of a case: milliseconds of each way, and the speed-up of the
    changed one. programs: way -> program; reference: the way whose checksum
    the others must print; more: for the row of the speed-up."""
    times, sums = alternate(
        programs, lambda way, repeat: run_once(bench, programs[way],
                                               case.params, repeat),
        bench.rounds, bench.repeat)
    for way in programs:
        yield bench.row(case, way, flat(times[way]), rounds=len(times[way]),
                        verdict=verdict(sums[way] == sums[reference]))
    best = fastest([way for way in programs if way != changed], times)
    same = verdict(sums[changed] == sums[OURS])
    for metric, over in (("speedup", best), ("speedup-over-own", OURS)):
        if metric in bench.suite.metrics:
            own = {"best": best, **more} if metric == "speedup" else {}
            yield bench.row(case, metric,
                            speedups(times[over], times[changed]),
                            verdict=same, **own)


def rows_of_runs(bench, case, runs):
    """The rows `time` and `speedup` of a case whose ways, in params, are more
    than builds. runs: way -> program, its parameters and, if need be, variables
    of its environment. Every way must print the checksum of OURS."""
    def run(way, repeat):
        program, params, *environment = runs[way]
        return run_once(bench, program, params, repeat, *environment)

    times, sums = alternate(runs, run, bench.rounds, bench.repeat)
    best = fastest([way for way in UNCHANGED if way in runs], times)
    for way in runs:
        params = {**case.params, "way": way}
        same = sums[way] == sums[OURS]
        if not same:
            bench.fail(f"other bytes: {case.name} {way}")
        yield bench.row(case, "time", flat(times[way]), params,
                        verdict=verdict(same))
        if way not in UNCHANGED:
            yield bench.row(case, "speedup",
                            speedups(times[best], times[way]), params,
                            best=best, verdict=verdict(same))


def measure(changed, reference=OURS):
    """The measure of a suite all of whose ways are builds."""
    def of_case(bench, case):
        yield from rows(bench, case, bench.programs(case), changed,
                        reference if reference in bench.ways else OURS)
    return of_case
