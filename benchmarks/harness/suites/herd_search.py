# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `reconverge optimize --quality` keeps of programs that tolerate small
errors, if they may lose what the paper's lost, and if they may lose a fifth: on a
GPU (herd-search), and on the warp VM at small sizes (herd-search-counts). Rows,
with the bound in params:

  set       what the set that is kept gains by the search, over what is kept
            without it, on the input where it is least; 1: none is kept.
            `verdict` is the search's, `sets` how many it ran
  speedup   GPU, of each input, where a set is kept: the fastest unmodified build
            over the final program, `best` says which
"""

import json
import os

import compare
import processes
import tables
from suite import Case, Metric, Suite
from tolerant import HERDED

ONLY_PLAIN = "-DONLY_PLAIN"
WAYS = {way: how._replace(flags=(*how.flags, ONLY_PLAIN))
        for way, how in compare.UNCHANGED.items()}
# What judges there, as optimize says it.
LOOSE = 0.2
METRICS = {"mismatch": "metric=mismatch", "mean": "metric=relative-l1,type=f32"}


def words(case, given, leaf):
    return [f"{k}={v}" for k, v in {**case.params, **given, "check": 0,
                                    "output": leaf}.items()]


def decide(bench, case, bound):
    """The search's outcome; the final program is built by it."""
    final, tool = program(bench, case, bound), bench.compilers.reconverge
    common = ["-O3", "-std=c++17", f"--cuda-path={bench.options.cuda}",
              ONLY_PLAIN]
    if bench.device == "gpu":
        common.append(f"-arch=sm_{bench.options.arch}")
    tolerates, leaf = HERDED[case.name], HERDED[case.name].judge.leaf
    first, *train = (words(case, given, leaf) for given in tolerates.training)
    held_out = [words(case, given, leaf) for given in tolerates.held_out]
    metric = METRICS[tolerates.judge.metric]
    decisions, folder = final + ".json", final + ".runs"
    os.makedirs(folder, exist_ok=True)
    processes.call(
        [tool, "optimize", *common, "--device", bench.device,
         bench.source(case), "--decisions", decisions,
         f"--quality=out={leaf},{metric},bound={bound}",
         *(f"--train={' '.join(run)}" for run in train),
         *(f"--held-out={' '.join(run)}" for run in held_out), "--", *first],
        timeout=400, folder=folder)
    runtime = ["--runtime=nvidia"] if bench.device == "gpu" else []
    processes.call([tool, "cc", *common, *runtime, "--decisions", decisions,
                    bench.source(case), "-o", final])
    with open(decisions, encoding="utf-8") as text:
        return json.load(text)["quality"]


def bounds(case):
    return dict.fromkeys((HERDED[case.name].bound(), LOOSE))


def program(bench, case, bound):
    return bench.path("final", case.name, bound)


def prepare(bench, case):
    return {bound: decide(bench, case, bound) for bound in bounds(case)}


def measure(bench, case, searches=None):
    # A search on a GPU takes times: nothing else may run there.
    for bound, search in (searches or prepare(bench, case)).items():
        kept = [found for found in search["sets"] if not found["why"]]
        yield bench.row(
            case, "set", [kept[0]["speedup"] if kept else 1.],
            {**case.params, "bound": bound}, verdict=search["verdict"],
            sets=len(search["sets"]),
            **({key: kept[0][key] for key in
                ("candidates", "trained", "heldOut")} if kept else {}))
        if kept and bench.device == "gpu":
            yield from timed(bench, case, bound)


def timed(bench, case, bound):
    programs = {**bench.programs(case), "final": program(bench, case, bound)}
    tolerates = HERDED[case.name]
    for given in (*tolerates.training, *tolerates.held_out):
        params = {**case.params, **given}
        times, _ = compare.alternate(
            programs, lambda way, repeat, p=params: compare.run_once(
                bench, programs[way], p, repeat), bench.rounds, bench.repeat)
        best = compare.fastest([way for way in programs if way != "final"],
                               times)
        yield bench.row(case, "speedup",
                        compare.speedups(times[best], times["final"]),
                        {**params, "bound": bound}, best=best)


def show(bench):
    tables.show(["case", "bound", "gain", "verdict"],
                [[row["case"], f"{row['params']['bound']:g}", f"{row['value']:.3f}x", row["verdict"]]
                 for row in bench.rows if row["metric"] == "set"])


def suite(name, where, params):
    return Suite(
        name=name, where=where, timed=where == "gpu",
        about="programs that tolerate errors, herded as far as they do, "
              + ("on a GPU" if where == "gpu" else "on the warp VM"),
        cases=lambda _: [Case(name, getattr(tolerates, params),
                              tolerates.program)
                         for name, tolerates in HERDED.items()],
        small=lambda case: HERDED[case.name].small,
        ways=WAYS if where == "gpu" else {},
        prepare=prepare if where == "cpu" else None, measure=measure,
        metrics={"set": Metric("x"), "speedup": Metric(
            "x", "best-of-" + "-".join(compare.UNCHANGED))}, show=show)


SUITES = [suite("herd-search", "gpu", "params"),
          suite("herd-search-counts", "cpu", "small")]
