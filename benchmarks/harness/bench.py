# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a suite (suite.py says in which steps) and writes its file.

A case that fails is said at the end and costs neither the other cases nor what
was measured before it. A run of all cases at full size writes
results/<gpu or cpu>/<suite>.json; any other run only where --output says, so
that it never takes the place of a whole one (results.py merges it).
"""

import concurrent.futures
import os
import sys
import tempfile
import traceback

import builds
import environment
import processes
import results
import tables
from errors import BenchError
from places import RESULTS, ROOT


class Bench:
    """What the functions of a suite are given."""

    def __init__(self, suite, options, folder):
        self.suite, self.options, self.folder = suite, options, folder
        self.device = options.device or suite.where
        self.small = is_small(suite, options)
        self.rounds = options.rounds or suite.rounds
        self.repeat = options.repeat or suite.repeat
        self.compilers = builds.Compilers(options.prefix, options.cuda,
                                          options.arch, options.clang)
        self.ways = ways_of(suite, options, self.device)
        self.cases = chosen(suite, options, self.small)
        self.own = None  # what the suite's start() returned
        self.rows, self.failed = [], []

    def path(self, *words):
        """A place in the folder of this run."""
        return os.path.join(self.folder, "-".join(map(str, words)))

    def program(self, case, way):
        return self.path(case.source_name(), way)

    def programs(self, case):
        return {way: self.program(case, way) for way in self.ways}

    def source(self, case):
        return self.suite.source(case.source_name())

    def run(self, command, codes=(0,), timeout=120, **more):
        """What a program prints that runs on the device."""
        return processes.call(command, codes, timeout,
                              CUDA_PATH=self.options.cuda,
                              RECONVERGE_DEVICE=self.device, **more)

    def row(self, case, metric, samples, params=None, **more):
        """A row of the result; its metric is one that the suite declares."""
        what = self.suite.metrics[metric]
        if what.baseline:
            more = {"baseline": what.baseline, **more}
        return results.row(case.name, case.params if params is None else params,
                           metric, samples, what.unit, **more)

    def fail(self, why):
        self.failed.append(why)


def is_small(suite, options):
    """Whether a run proves the script and not a number."""
    return options.quick or (suite.where == "gpu" and options.device == "cpu")


def ways_of(suite, options, device):
    ways = suite.ways(options) if callable(suite.ways) else suite.ways
    if device == "cpu":  # only what we build runs there
        ways = {way: how for way, how in ways.items()
                if how.compiler in ("reconverge", "plain")}
    return ways


def chosen(suite, options, small):
    """The cases that --only leaves."""
    cases = [case for case in suite.cases(options)
             if not options.only or case.name in options.only]
    if small:
        cases = [case._replace(params=suite.small(case)) for case in cases]
        cases = [case for i, case in enumerate(cases) if case not in cases[:i]]
    return cases


# ------------------------------------------------------------------ the steps

def guarded(bench, what, function, *arguments):
    """What the function returns, or None after noting why there is nothing. A
    mistake of ours is shown in full, but does not end the run either."""
    try:
        return function(*arguments)
    except BenchError as why:
        bench.fail(f"{what}: {why}")
    except Exception as why:  # pylint: disable=broad-except
        traceback.print_exc()
        bench.fail(f"{what}: {type(why).__name__}: {why}")
    return None


def make(bench):
    """Builds and prepares. Returns (case, what prepare returned) of the cases
    that can be measured."""
    suite = bench.suite
    tasks = dict.fromkeys((case.source_name(), way) for case in bench.cases
                          for way in bench.ways)

    def build(name, way):
        bench.compilers.build(bench.ways[way], suite.source(name),
                              bench.path(name, way))
        return True

    def prepare(case):
        if not all(built[case.source_name(), way].result()
                   for way in bench.ways):
            return None
        if bench.options.build_only or not suite.prepare:
            return (case,)
        return case, suite.prepare(bench, case)

    jobs = max(1, bench.options.jobs // suite.threads)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        # The pool takes builds first, so that no preparation waits for ever.
        built = {(name, way): pool.submit(guarded, bench, f"{name}, {way}",
                                          build, name, way)
                 for name, way in tasks}
        prepared = [pool.submit(guarded, bench, case.label(), prepare, case)
                    for case in bench.cases]
        return [done.result() for done in prepared if done.result()]


def measure(bench, ready, write):
    suite = bench.suite
    for number, (case, *prepared) in enumerate(ready, 1):
        print(f"{suite.name}: {case.label()} ({number} of {len(ready)})",
              file=sys.stderr, flush=True)
        new = guarded(bench, case.label(), lambda: list(
            suite.measure(bench, case, *prepared)))
        if new:
            bench.rows += new
            write()
    if suite.finish:
        bench.rows += guarded(bench, suite.name, lambda: list(
            suite.finish(bench))) or []
        write()


def need_gpu():
    if not environment.gpu()["gpu"]:
        raise BenchError("no NVIDIA GPU, or no driver (nvidia-smi fails); "
                         "--device cpu tries the script of a suite")


def refuse(suite, options, small):
    """Raises what speaks against a start."""
    tool = os.path.join(options.prefix, "bin", "reconverge")
    if not os.path.exists(tool):
        raise BenchError(f"there is no {tool}; run make first, or name a build "
                         "or an archive with --prefix")
    if suite.where == "cpu" and options.device == "gpu":
        raise BenchError(f"the suite {suite.name} measures nothing on a GPU")
    if (options.device or suite.where) == "gpu" and not options.build_only:
        need_gpu()
    cache = os.path.join(options.prefix, "CMakeCache.txt")
    if suite.timed and not small and os.path.exists(cache):
        with open(cache, encoding="utf-8") as text:
            if "CMAKE_BUILD_TYPE:STRING=Release\n" not in text.read():
                raise BenchError(f"{options.prefix} is not a release build; "
                                 "numbers of a debug build mean nothing")


def describe(bench):
    """The environment of the result file."""
    compilers = bench.compilers
    flags = (bench.suite.flags(bench) if bench.suite.flags
             else compilers.flags())
    facts = environment.describe(ROOT, compilers.cuda, compilers.clang, flags)
    if bench.suite.where == "gpu":
        facts.update(environment.gpu())
    return facts


def output_of(suite, options, small, machine):
    """The file to write, or None."""
    folder = options.output
    if not folder and not options.only and not small:
        folder = os.path.join(RESULTS, environment.slug(machine))
    return os.path.join(folder, suite.name + ".json") if folder else None


def run(suite, options):
    """Returns whether everything went well."""
    small = is_small(suite, options)
    refuse(suite, options, small)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        bench = Bench(suite, options, folder)
        bench.own = suite.start(bench) if suite.start else None
        ready = make(bench)
        if not options.build_only:
            facts = describe(bench)
            path = output_of(suite, options, small,
                             facts.get("gpu") or facts["cpu"])
            measure(bench, ready, lambda: path and results.write(
                path, suite.name, facts, bench.rows))
            if bench.rows:
                (suite.show or (lambda b: tables.show_rows(b.rows)))(bench)
                print(f"written: {path}" if path else
                      "no file: not every case at full size, and no --output")
    for why in bench.failed:
        print(f"{suite.name}: failed: {why}", file=sys.stderr)
    return not bench.failed
