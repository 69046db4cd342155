# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds of one program, timed in turns.

A round runs each build once, in an order that the seed draws; a run times some
launches one by one, behind a gate (kernels/common/gate.h). What drifts from
process to process (clocks, where memory lies) shows between rounds, so that two
builds are compared by the medians of a round. Of short launches there are more
rounds and more samples: they are cheap, and the same disturbance is a larger
part of them."""

import os
import random
import statistics
import subprocess

import builds

SHORT_MS = 0.06  # the fastest build of the first round
SHORT_ROUNDS, SHORT_REPEAT = 5, 3  # at least; times as many samples


def run_once(program, params, repeat, cuda, device="gpu"):
    """The times of a run's launches in ms, and its checksum."""
    command = [program, *(f"{k}={v}" for k, v in params.items()), "check=0",
               f"repeat={repeat}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False,
                         timeout=120, env=dict(os.environ, CUDA_PATH=cuda,
                                               RECONVERGE_DEVICE=device))
    if run.returncode != 0:
        raise builds.BuildError(f"{' '.join(command)}: exit code "
                                f"{run.returncode}\n{run.stdout}{run.stderr}")
    lines = dict(line.split(": ", 1) for line in run.stdout.splitlines()
                 if ": " in line)
    return [float(ms) for ms in lines["kernel-ms"].split()], lines["checksum"]


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
