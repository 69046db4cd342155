# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs that suites run: every folder of examples/ and of
benchmarks/kernels/, and the sizes that several suites share."""

import os

from places import EXAMPLES, KERNELS


def kernel(name):
    """The source of a program in kernels/."""
    return os.path.join(KERNELS, name, name + ".cu")


def example(name):
    return os.path.join(EXAMPLES, name, name + ".cu")


def everything():
    """Name to source: the examples, then the benchmark kernels; of these, one
    that has an example's name is called kernels-<name>."""
    programs = {}
    for folder in (EXAMPLES, KERNELS):
        if not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            source = os.path.join(folder, name, name + ".cu")
            if os.path.exists(source):
                key = "kernels-" + name if name in programs else name
                programs[key] = source
    return programs


EXAMPLES_AND_KERNELS = everything()


def words(params):
    return [f"{key}={value}" for key, value in params.items()]


# The examples at sizes that fill a large GPU, as validation, overhead and
# optimize-examples take them.
LARGE = {
    "automaton": {"width": 200, "height": 200, "depth": 150, "steps": 40},
    "bfs": {"scale": 20},
    "bitonic": {"count": 4000003},
    "blackscholes": {"options": 8000000},
    "convolution": {"width": 6000, "height": 4000},
    "fft": {"signals": 16384},
    "histogram": {"bytes": 200000000, "blocks": 1024},
    "kmeans": {"points": 4000000},
    "lu": {"n": 2048},
    "mandelbrot": {"width": 6000, "height": 4000, "limit": 512},
    "matching": {"bytes": 100000000},
    "nbody": {"bodies": 100000, "steps": 2},
    "nqueens": {"n": 15, "above": 5},
    "radixsort": {"records": 16000000},
    "raytracer": {"width": 1920, "height": 1080, "samples": 4},
    "reduction": {"samples": 200000000, "blocks": 1024},
    "smithwaterman": {"sequences": 60000},
    "spmv": {"rows": 3000000},
    "stencil": {"width": 8000, "height": 6000, "steps": 20},
    "transport": {"photons": 5000000},
}

# Kernels that are remapped by hand (they have the argument remap), at sizes
# that fill the GPU.
REMAPPED = {
    "cvp": {"width": 8192, "height": 4096},
    "gdt": {"stocks": 8192, "days": 512},
    "pol": {"households": 1 << 22, "years": 40},
    "xslookup": {"particles": 1 << 22, "points": 1 << 15, "binbits": 12},
    "contact": {"side": 100},
    "bp": {"side": 2048, "angles": 180},
    "histo": {"blocks": 8192},
    "lbm": {"width": 2048, "height": 2048, "steps": 4},
    "mg": {"side": 256},
    "nqueens": {"queens": 15, "placed": 5, "block": 128},
    "pb": {"side": 52, "channels": 2048},
    "sad": {"frames": 64},
}
REMAP_WAYS = ("original", "library", "cub")  # remap=0, 1, 2
# By block_collect: threads, items a thread, items of a chunk; remap=4 and on.
COLLECT_WAYS = ("collect-256-2-32", "collect-256-4-32", "collect-256-8-32",
                "collect-256-4-64", "collect-128-4-32", "collect-128-8-32")
COLLECTED = tuple(name for name in REMAPPED if name != "nqueens")


def ways_by_hand(name):
    """Of a program in REMAPPED: way to the argument remap."""
    collected = COLLECT_WAYS if name in COLLECTED else ()
    return {**{way: i for i, way in enumerate(REMAP_WAYS)},
            **{way: 4 + i for i, way in enumerate(collected)}}


# Those that are also regrouped over the grid (remap=12: these ways in turns),
# case to program and sizes.
REGROUPED = {
    **{name: (name, REMAPPED[name])
       for name in ("pol", "gdt", "contact", "pb", "mg", "cvp", "xslookup")},
    "mg-smoother": ("mg", {**REMAPPED["mg"], "levels": 1}),
    "xslookup-material": ("xslookup", {**REMAPPED["xslookup"],
                                       "energykey": 0}),
}
# Argument remap: as it is, keys and sort and kernel, the kernel alone with the
# order of before, by block_remap.
REGROUP_WAYS = {"original": 0, "regrouped": 10, "ordered": 11, "library": 1}

# Programs whose lanes wait for their warp's slowest, refilled by hand with the
# argument form: case to program, and sizes that fill the GPU. Walks of a mean
# length of 2 are too short to gain.
REFILLED = {
    **{f"walk-{length}": ("walk", {"walkers": 1 << 22, "length": length})
       for length in (200, 50, 10, 2)},
    "ode": ("ode", {"probes": 1 << 20}),
    "ode-float": ("ode", {"probes": 1 << 21, "float": 1}),
    "montecarlo": ("montecarlo", {"histories": 1 << 22}),
    "pathtracer": ("pathtracer", {"width": 1920, "height": 1080,
                                  "samples": 2}),
    "pathtracer-bounces": ("pathtracer", {"width": 1920, "height": 1080,
                                          "samples": 2, "nodes": 0}),
}
# Where warps have new items from, and how many idle lanes make them take some;
# the slices of the last have a quarter of the items.
REFILL_WAYS = {
    **{f"slice-{idle}": {"form": 1, "threshold": idle} for idle in (1, 8, 16)},
    **{f"counter-{idle}": {"form": 2, "threshold": idle}
       for idle in (1, 4, 8, 16)},
    "short-slice-8": {"form": 1, "threshold": 8, "slice": 4},
}

# Programs whose threads have a loop in a loop of unlike lengths, flattened by
# hand with the argument form: case to program, and sizes that fill the GPU.
# Where all lanes have as many rounds there is nothing to gain.
FLATTENED = {
    "rows": ("rows", {"rows": 1 << 20, "each": 8}),
    "knapsack": ("knapsack", {"sacks": 1 << 20, "each": 8, "items": 16}),
    "knapsack-even": ("knapsack", {"sacks": 1 << 20, "each": 8, "items": 16,
                                   "even": 1}),
    "occlusion": ("occlusion", {"width": 1024}),
    "neighbours": ("neighbours", {"particles": 1 << 17}),
    "neighbours-few": ("neighbours", {"particles": 1 << 17, "near": 2}),
}
FLATTEN_WAYS = {"merged": {"form": 1},
                "voted-8": {"form": 2, "threshold": 8}}
# Of loops whose rounds skip some work.
SKIPPING = ("neighbours",)
SKIP_WAYS = {"noted": {"form": 1}}


# Programs whose threads have loops of unlike lengths, whose iterations do not
# hang on one another, dealt out over the warp by hand with the argument form.
SHARED = {
    "edges-sum": ("edges", {"vertices": 1 << 20}),
    "edges-sum-even": ("edges", {"vertices": 1 << 20, "even": 1}),
    "edges-tell": ("edges", {"vertices": 1 << 20, "step": 1}),
    "edges-tell-even": ("edges", {"vertices": 1 << 20, "step": 1, "even": 1}),
}
SHARE_WAYS = {"rows": {"form": 1}, "dealt": {"form": 2}}

# A program whose thread blocks take unlike times, put in order by hand with the
# argument form: by data, so that the last ones take longest, with some slots'
# worth of blocks only, and with nothing to gain.
REORDERED = {
    "cells": ("cells", {"cells": 65536, "least": 64}),
    "cells-few": ("cells", {"cells": 8192, "least": 64}),
    "cells-rising": ("cells", {"cells": 65536, "least": 64, "rising": 1}),
    "cells-rising-few": ("cells", {"cells": 8192, "least": 64, "rising": 1}),
    "cells-even": ("cells", {"cells": 65536, "least": 64, "even": 1}),
}
REORDER_WAYS = {"sorted": {"form": 1}}

# The kernels of paper 1, a thread an item and no other form: sizes of the paper
# (its numbers of threads do not fill a GPU of today's), and sizes that do. What
# is learned from block vectors is learned on TRAINING_SEED and tested on others.
GROUPED_AS_PUBLISHED = {
    "mc": {"side": 64},
    "sw": {"sequences": 32768, "length": 290, "query": 128},
    "nw": {"reads": 32768, "length": 100, "query": 100},
    "ec": {"reads": 24576, "length": 64, "tuple": 20},
    "mum": {"queries": 65536, "length": 64, "reference": 1 << 20,
            "least": 20},
    "sl": {"frames": 256, "rings": 70},
    "sm": {"width": 512, "height": 380, "disparities": 60},
}
GROUPED = {
    "mc": {"side": 256},
    "sw": {"sequences": 1 << 18, "length": 290, "query": 128},
    "nw": {"reads": 1 << 17, "length": 100, "query": 100},
    "ec": {"reads": 1 << 20, "length": 64, "tuple": 20},
    "mum": {"queries": 1 << 20, "length": 64, "reference": 1 << 22,
            "least": 20},
    "sl": {"frames": 2048, "rings": 128},
    "sm": {"width": 2048, "height": 1536, "disparities": 128},
}
LARGER = "-large"  # what cases of these are called by
# A ray tracer whose objects have virtual functions.
VIRTUAL = {"surfaces": {"width": 1920, "height": 1080, "samples": 8,
                        "balls": 200}}
TRAINING_SEED, TEST_SEEDS = 1, (2, 3)


def melded():
    """(Program, parameters) of melding's kernels: block sizes as the paper
    varies them, at sizes that fill the GPU."""
    for name in ("sb1", "sb2", "sb3"):
        for random in (0, 1):
            for block in (32, 64, 128, 256, 512, 1024):
                yield name, {"blocks": (1 << 20) // block, "block": block,
                             "outer": 8, "inner": 16, "random": random}
    for block in (32, 64, 128, 256, 512, 1024):
        yield "bitonic", {"blocks": (1 << 23) // block, "block": block}
    for block in (32, 64, 128, 256, 512):
        yield "pcm", {"blocks": (1 << 20) // (block * block) or 8,
                      "block": block}
    # In the last launch a single thread merges all keys: 16 ms.
    for block in (64, 128, 256, 512):
        yield "mergesort", {"count": 1 << 17, "block": block}
    for block in (16, 32, 64, 128):
        yield "lud", {"tiles": 4096 * 4 // block, "block": block}
    for block in (8, 16, 32):
        yield "dct", {"width": 4096, "height": 4096, "block": block}
        yield "srad", {"width": 4096, "height": 4096, "block": block}
    for block in (64, 128, 256):
        yield "nqueens", {"queens": 13, "block": block}
