# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding adds to the time to compile: device code of programs of kernels/
from source to machine code, at -O3 with --meld and without.

The two take turns, --rounds times; `ratio` is of neighbouring runs. CPU time of
the process and its children counts, so that other work on the machine disturbs
it less.
"""

import os
import resource

import processes
from suite import Case, Metric, Suite

NAMES = ["bitonic", "dct", "lud", "mergesort", "nqueens", "pcm", "sb1", "sb2",
         "sb3", "srad"]


def seconds(bench, case, *flags):
    """CPU time from source to PTX, and of ptxas after it."""
    ptx, cuda = bench.path(case.name + ".ptx"), bench.options.cuda
    arch = f"-arch=sm_{bench.options.arch}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    processes.call([bench.compilers.reconverge, "cc", "-O3", arch, "-std=c++17",
                    f"--cuda-path={cuda}", "--ptx", *flags, bench.source(case),
                    "-o", ptx])
    processes.call([os.path.join(cuda, "bin", "ptxas"), arch, ptx, "-o",
                    bench.path(case.name + ".cubin")])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime
            - before.ru_utime - before.ru_stime)


def measure(bench, case):
    plain, melded = [], []
    for _ in range(bench.rounds):
        plain.append(seconds(bench, case))
        melded.append(seconds(bench, case, "--meld"))
    yield bench.row(case, "plain", plain)
    yield bench.row(case, "melded", melded)
    yield bench.row(case, "ratio", [b / a for a, b in zip(plain, melded)])


SUITES = [Suite(
    name="meld-time", about="what melding adds to the time to compile",
    where="cpu", cases=lambda _: [Case(name, {}) for name in NAMES],
    metrics={"plain": Metric("s"), "melded": Metric("s"), "ratio": Metric("x")},
    measure=measure, rounds=7,
    flags=lambda bench: f"-O3 -arch=sm_{bench.options.arch}")]
