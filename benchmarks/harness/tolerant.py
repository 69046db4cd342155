# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of paper 4 that tolerate small errors: sizes that fill a GPU,
the inputs that a search may learn from and those that are held out, and what
judges the outputs."""

import array
import math
import operator
import os
import re
from typing import NamedTuple

from errors import BenchError


class NotANumber(BenchError):
    """A value of an output."""


class Judge(NamedTuple):
    """Of the file that a program writes."""
    leaf: str    # its name says what is in it: .ppm, .pgm or .f32
    metric: str  # a name in LOSSES


class Tolerant(NamedTuple):
    program: str
    params: dict  # that fill a GPU
    judge: Judge
    # What the paper lost by herding branches (Table II) and data (Table III).
    branches: float | None
    data: float | None
    small: dict = {}  # that are counted in seconds on the warp VM
    training: tuple = ({"kind": 0, "seed": 1}, {"kind": 1, "seed": 2})
    held_out: tuple = ({"kind": 0, "seed": 11}, {"kind": 1, "seed": 12},
                       {"kind": 2, "seed": 13})

    def inputs(self):
        """Name of the set to its inputs."""
        return {"quality-loss": self.training, "held-out-loss": self.held_out}

    def bound(self):
        """The most that may be lost: what the paper lost, if anything."""
        return max(self.branches or 0, self.data or 0) or 0.001


# Of programs whose inputs have a seed and no kind.
SEEDS = {"training": ({"seed": 1}, {"seed": 2}),
         "held_out": ({"seed": 11}, {"seed": 12}, {"seed": 13})}
VIEW = {"width": 4096, "height": 3072, "limit": 512}
FRAME = {"width": 8192, "height": 4096}

HERDED = {
    "mandelbrot": Tolerant("fractal", VIEW, Judge("set.ppm", "mismatch"),
                           .0187, .0099),
    "julia": Tolerant("fractal", {**VIEW, "julia": 1},
                      Judge("set.ppm", "mismatch"), .0187, .0099,
                      {"julia": 1}),
    "sobel": Tolerant("sobel", FRAME, Judge("edges.pgm", "mismatch"), .06,
                      .0181),
    "sobel-tiled": Tolerant("sobel", {**FRAME, "tiled": 1},
                            Judge("edges.pgm", "mismatch"), .06, .0181,
                            {"tiled": 1}),
    "histogram-64": Tolerant("bins", {"bins": 64, "words": 1 << 24},
                             Judge("counts.f32", "mean"), .0582, .006,
                             {"bins": 64}),
    "histogram-256": Tolerant("bins", {"words": 1 << 24, "blocks": 1056},
                              Judge("counts.f32", "mean"), .0582, .006),
    "volume": Tolerant("volume", {"width": 2048, "height": 1536, "side": 256,
                                  "steps": 400},
                       Judge("smoke.ppm", "mismatch"), .0761, None),
    "particles": Tolerant("particles", {"balls": 500000, "side": 128},
                          Judge("balls.f32", "mean"), .1824, None),
    "ocean": Tolerant("ocean", {"log": 11}, Judge("waves.f32", "mean"), .0003,
                      None),
    "lbm": Tolerant("lbm", {"width": 2048, "height": 2048, "steps": 4},
                    Judge("flow.f32", "mean"), 5.6e-7, None, **SEEDS),
    "sad": Tolerant("sad", {"frames": 64}, Judge("sums.f32", "mean"), .0042,
                    None, **SEEDS),
    "binomial": Tolerant("binomial", {"options": 8192, "steps": 2048},
                         Judge("values.f32", "mean"), None, 3.8e-7),
    "nbody": Tolerant("gravity", {"bodies": 1 << 16, "steps": 2},
                      Judge("places.f32", "mean"), None, .0095),
    "dxt": Tolerant("dxt", {"across": 512, "down": 512},
                    Judge("unpacked.ppm", "mismatch"), None, .00019),
    "gaussian": Tolerant("blur", {"width": 4096, "height": 2048},
                         Judge("blurred.ppm", "mismatch"), None, 0),
}


def values(path):
    """What a program has written, without the head of a picture."""
    with open(path, "rb") as file:
        data = file.read()
    if path.endswith(".f32"):
        return array.array("f", data)
    head = re.match(rb"P[56]\n\d+ \d+\n255\n", data)
    if not head:
        raise BenchError(f"{path}: not a picture as kernels/common/output.h "
                         "writes them")
    return data[head.end():]


def mismatch(right, got):
    """The share of bytes that differ."""
    size = len(right)
    right, got = (int.from_bytes(each, "little") for each in (right, got))
    same = (right ^ got).to_bytes(size, "little").count(0)
    return (size - same) / size


def mean(right, got):
    """The mean of the differences over that of the values."""
    whole = sum(map(abs, right))
    lost = sum(map(abs, map(operator.sub, right, got)))
    return lost / whole if whole else float(lost > 0)


LOSSES = {"mismatch": mismatch, "mean": mean}


def loss(judge, right, got):
    """Between two files."""
    right, got = values(right), values(got)
    if len(right) != len(got):
        raise BenchError(f"{judge.leaf}: {len(right)} values, then {len(got)}")
    if any(value != value for value in got):
        raise NotANumber(f"{judge.leaf}: a value is not a number")
    return LOSSES[judge.metric](right, got)


def loss_or_inf(judge, right, got):
    """Where a value is not a number, there is no end to what is lost."""
    try:
        return loss(judge, right, got)
    except NotANumber:
        return math.inf


def losses(bench, case, params, programs, plain, policies=None):
    """Way -> name of a set of inputs -> the most that is lost on one of them.
    programs: way -> program; plain: the way that is right; policies: way ->
    RECONVERGE_VM, where that herds: it may lose all, which is math.inf."""
    tolerant = HERDED[case.name]
    most = {way: {} for way in programs if way != plain}
    for metric, inputs in tolerant.inputs().items():
        for given in inputs:
            files = {}
            for way, program in programs.items():
                files[way] = os.path.join(
                    bench.folder, f"{case.name}-{way}-{tolerant.judge.leaf}")
                vm = (policies or {}).get(way)
                words = [program, *(f"{k}={v}" for k, v in
                                    {**params, **given, "check": 0,
                                     "output": files[way]}.items())]
                if not vm:
                    bench.run(words)
                    continue
                try:
                    bench.run(words, RECONVERGE_VM=vm)
                except BenchError:
                    del files[way]
            for way, found in most.items():
                judged = loss_or_inf if way in (policies or {}) else loss
                lost = (judged(tolerant.judge, files[plain], files[way])
                        if way in files else math.inf)
                found[metric] = max(found.get(metric, 0.), lost)
    return most
