# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What foretells the paths of a program's threads: found and fitted on the warp VM
on one seed of the program's generator, tried on others."""

import os
import re

import processes
from errors import BenchError
from places import KERNELS, NETS

TRAINED_ON, HELD_OUT = 1, (2, 3, 4)
# Case to program, sizes for a GPU, sizes for the warp VM, the kernel.
PROGRAMS = {
    "gdt": ("gdt", {"stocks": 8192, "days": 512}, {"stocks": 20, "days": 512},
            "plain"),
    "ec": ("ec", {"reads": 1 << 21, "length": 64, "tuple": 20},
           {"reads": 24576, "length": 64, "tuple": 20}, "correctReads"),
    "lbm": ("lbm", {"width": 2048, "height": 2048, "steps": 1},
            {"width": 128, "height": 96, "steps": 1}, "plain"),
    "pol": ("pol", {"households": 1 << 21, "years": 40},
            {"households": 5000, "years": 40}, "plain"),
    "ode": ("ode", {"probes": 1 << 20, "float": 1},
            {"probes": 4096, "float": 1}, "integrate<float>"),
}
# Of ec's many blocks a sample has few threads, so that its net is of more runs. Two
# reads that take as long do that in different places: the order within a class is by
# the last weak tuple, then by the first.
MORE_SEEDS = {"ec": (11, 12, 13, 14, 15)}
CLASSES = {"ec": 8}
PLACE = {"ec": ";estimate=2:64;estimate=1:1;locality=12"}
FLAGS = ("-DONLY_PLAIN",)
# Whose net a program by hand has, and where.
HEADER_OF = "gdt"
HEADER = os.path.join(KERNELS, "predict_micro", "net.cuh")
# Way to what the reader calls it. last and fma-alone run by the order of an earlier
# launch: the kernel alone.
SOURCES = {"exact": "the condition", "last": "the last launch",
           "sum": "sum", "tree": "tree", "fma": "net, multiply-adds",
           "mma": "net, tensor cores", "fma-alone": "net, the kernel alone"}
REUSE = ";reuse=on"
NO_ROWS = "there are no rows to write"


def small(case):
    return PROGRAMS[case.name][2]


def kernel(case):
    return PROGRAMS[case.name][3]


def is_kernel(case, display):
    """Whether a profile calls so the case's kernel, as it is or in an order; not
    what makes the order."""
    return display.removesuffix(" [remedied]") == kernel(case)


def words(params, seed):
    return [*(f"{key}={value}" for key, value in params.items()), "check=0",
            f"seed={seed}"]


def net_of(case):
    return os.path.join(NETS, case.name + ".json")


def estimate(bench, case, program):
    """What predict --estimate says of the program: fitted to one seed, tried on
    another."""
    tried = " ".join(words(small(case), HELD_OUT[0]))
    done = processes.run(
        [bench.compilers.reconverge, "predict", "--estimate", "--device", "cpu",
         f"--test={tried}", program, "--", *words(small(case), TRAINED_ON)],
        timeout=300)
    if done.returncode:
        raise BenchError(f"predict --estimate: {done.stderr}")
    return done.stderr


def parameters(case, table):
    """Way to parameters of --regroup."""
    found = {"exact": "least=1", "last": "least=1" + REUSE}
    for way, word in (("sum", "estimate="), ("tree", "tree=")):
        text = re.search(rf"--regroup='({word}[^']*)'", table)
        if text:
            found[way] = text[1] + ";least=1"
    if os.path.exists(net_of(case)):
        net = f"order={net_of(case)};least=1" + PLACE.get(case.name, "")
        found |= {"fma": net, "mma": net + ";net=mma", "fma-alone": net + REUSE}
    return found


def build(bench, case, table):
    """Way to its program, and way to why there is none: of all that parameters()
    has."""
    common = ["-O3", "-std=c++17", *FLAGS]
    if bench.device == "gpu":
        common += [f"-arch=sm_{bench.options.arch}", "--fatbin",
                   f"--cuda-path={bench.options.cuda}"]
    programs, refused = {}, {}
    for way, text in parameters(case, table).items():
        program = bench.path(case.name, way)
        done = processes.run([bench.compilers.reconverge, "cc", *common,
                              f"--regroup={text}", bench.source(case), "-o",
                              program])
        if done.returncode:  # a net of other code, say: the others go on
            bench.fail(f"{case.name} {way}: {done.stderr.strip()}")
            continue
        why = [line for line in done.stderr.splitlines()
               if "is launched as it is" in line and re.search(
                   rf"\b{re.escape(kernel(case))}\(", line)]
        if why:
            refused[way] = why[0].partition("is launched as it is: ")[2]
        else:
            programs[way] = program
    return programs, refused


def purities(table):
    """Way to (purity, gain before the price of the order), of the hottest
    kernel."""
    found = {}
    for way, row in (("none", "none"), ("sum", "sum"), ("tree", "tree"),
                     ("fma", "net"), ("mma", "net, mma"), ("time", "time")):
        numbers = re.search(rf"\s{row}\s+(?:-|-?[\d.]+)\s+([\d.]+)%\s+"
                            r"(-?[\d.]+)%", table)
        if numbers:
            found[way] = tuple(float(x) / 100 for x in numbers.groups())
    return found


def rows_of(bench, case, program, seed):
    """A file of rows, or None where no load foretells anything."""
    path = bench.path(case.name, "rows", seed)
    done = processes.run([bench.compilers.reconverge, "profile", "--device",
                          "cpu", "--paths", path, "-o", path + ".json", program,
                          "--", *words(small(case), seed)], timeout=300)
    if done.returncode and NO_ROWS not in done.stderr:
        raise BenchError(f"profile --paths: {done.stderr}")
    return path if os.path.exists(path) else None


JUDGED = re.compile(r"(\d+) of (\d+) .*in their class(?:; (\d+) load)?.*"
                    r"on tensor cores (\d+)")


def judged(said, what):
    """Of a line of `train`: shares that are right, by multiply-adds and on tensor
    cores, and how many are beyond what was fitted."""
    line = next((line for line in said.splitlines() if what in line), "")
    found = JUDGED.search(line)
    if not found:
        raise BenchError(f"train said nothing of {what}:\n{said}")
    right, of, beyond, tiles = (int(x or 0) for x in found.groups())
    return {"fma": right / of, "mma": tiles / of, "beyond": beyond / of}


def train(bench, case, program, other):
    """Writes the net of a case; what is said of the other seed's rows."""
    os.makedirs(NETS, exist_ok=True)
    rows = [rows_of(bench, case, program, seed) for seed in
            (TRAINED_ON, *MORE_SEEDS.get(case.name, ()))]
    classes = CLASSES.get(case.name, 32)
    header = ["--header", HEADER] if case.name == HEADER_OF else []
    said = processes.run(
        [bench.compilers.reconverge, "train", *rows, f"--classes={classes}", "-o",
         net_of(case), "--rows", other, *header], timeout=600)
    if said.returncode:
        raise BenchError(f"train: {said.stderr}")
    return judged(said.stderr, other)


def judge(bench, case, other):
    """What the net that is there says of another seed's rows."""
    said = processes.run([bench.compilers.reconverge, "train", net_of(case),
                          "--rows", other])
    if said.returncode:
        raise BenchError(f"train: {said.stderr}")
    return judged(said.stderr, other)
