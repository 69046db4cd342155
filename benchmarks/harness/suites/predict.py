# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Orders of threads by what foretells their paths, on inputs that nothing was
fitted to: other seeds of the programs' generators. Rows, params way and seed:

  time      ms a launch, keys and sort included, in the order (`said`: what the
            program says of it; one that does not pay is switched off)
  alone     ms of the kernel in an order that is there already
  speedup   the fastest build as it is over `time`, a sample a seed
  spread    of the seeds' times, the deviation over the mean
  kept      1: the final program keeps the order, 0: it switches it off

The best source of a case that gains is in a row `best`; 1 and the way none where
none does. What is counted is in the suite predict-counts, what is foretold beside
the batch before in predict-fused.
"""

import re
import statistics

import compare
import predicting
import processes
import tables
from errors import BenchError
from pages import predict as page
from predicting import HELD_OUT, PROGRAMS
from suite import Case, Metric, Page, Suite

TIMES = re.compile(r"([\d.]+) ms with it and ([\d.]+) ms without")


def plain(how):
    return how._replace(flags=(*how.flags, *predicting.FLAGS))


def prepare(bench, case):
    own = bench.program(case, compare.OURS)
    return predicting.build(bench, case,
                            predicting.estimate(bench, case, own))


def run_once(bench, program, case, seed):
    """Times of launches in the order, if there is one; what the program says."""
    done = processes.run(
        [program, *predicting.words(case.params, seed),
         f"repeat={bench.repeat}"], timeout=120, CUDA_PATH=bench.options.cuda,
        RECONVERGE_DEVICE=bench.device, RECONVERGE_VERBOSE="1")
    if done.returncode:
        raise BenchError(f"{program}: exit code {done.returncode}\n"
                         f"{done.stderr}")
    times = [float(ms) for ms in
             processes.line(done.stdout, "kernel-ms").split()]
    said = [line for line in done.stderr.splitlines() if "launches of" in line]
    return (times, processes.line(done.stdout, "checksum"),
            " | ".join(said))


def measure(bench, case, prepared):
    ordered, refused = prepared
    programs = {**bench.programs(case), **ordered}
    times, sums, said = {way: {} for way in programs}, {}, {}
    for seed in HELD_OUT:
        for way, program in programs.items():
            samples, sums[way, seed], said[way] = run_once(bench, program, case,
                                                           seed)
            off = TIMES.search(said[way]) if "off" in said[way] else None
            # The first launches try both forms in turns.
            times[way][seed] = ([float(off[1])] if off
                                else samples[len(samples) // 2:])
    unchanged = [way for way in compare.UNCHANGED if way in programs]
    best = min(unchanged, key=lambda way: statistics.median(
        compare.flat(times[way].values())))
    gains = {}
    for way, own in times.items():
        same = all(sums[way, seed] == sums[compare.OURS, seed]
                   for seed in HELD_OUT)
        if not same:
            bench.fail(f"other bytes: {case.name} {way}")
        params = {**case.params, "way": way}
        alone = way in ("last", "fma-alone")
        row = {"verdict": compare.verdict(same), "said": said[way]}
        yield bench.row(case, "alone" if alone else "time",
                        compare.flat(own.values()), params, **row)
        middle = [statistics.median(samples) for samples in own.values()]
        yield bench.row(case, "spread",
                        [statistics.stdev(middle) / statistics.mean(middle)],
                        params)
        if way in unchanged:
            continue
        ratios = [statistics.median(times[best][seed]) / ms
                  for seed, ms in zip(own, middle)]
        yield bench.row(case, "speedup", ratios, params, best=best, **row)
        if "kept" in said[way] or "switched off" in said[way]:
            yield bench.row(case, "kept", [float("kept" in said[way])], params)
        if not alone:
            gains[way] = statistics.median(ratios)
    winner = max(gains, key=gains.get, default="none")
    if gains.get(winner, 0) <= 1:
        winner = "none"
    yield bench.row(case, "best", [gains.get(winner, 1.)],
                    {**case.params, "way": winner},
                    refused="; ".join(f"{way}: {why}"
                                      for way, why in refused.items()))


def cases(_):
    for name, (program, params, *_) in PROGRAMS.items():
        yield Case(name, params, program)


SUITES = [Suite(
    name="predict", about="orders by what foretells paths, on other inputs",
    cases=cases, small=predicting.small, prepare=prepare, measure=measure, repeat=10,
    ways={way: plain(how) for way, how in compare.UNCHANGED.items()
          if way != "clang"},
    show=lambda bench: tables.show_ways(bench.rows),
    page=Page("predict-results.md", page.lines),
    metrics={"time": Metric("ms"), "alone": Metric("ms"),
             "speedup": Metric("x", "best-of-nvcc-reconverge"),
             "spread": Metric("1"), "kept": Metric("1"), "best": Metric("x")})]
