# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What melding changes, counted on the warp VM: programs of kernels/ as they
are and melded, at their own small sizes. Both must leave the same bytes. Rows:
control-flow efficiency, and before over after: issue slots and the instructions
that warps execute, of these arithmetic (all but accesses, control flow,
barriers and exchanges within a warp) and accesses to global and to shared
memory.

Lanes meet again as on a GPU with a reconvergence stack (ipdom); --policy
frontier lets them meet earlier, in code that both sides of a branch share.
"""

import json

import counts
import processes
from errors import BenchError
from places import machine_file
from suite import Case, Metric, Option, Suite

# Program, and the arguments of each of its rows beside its defaults.
CASES = [
    ("sb1", {}), ("sb1", {"random": 1}), ("sb2", {}), ("sb2", {"random": 1}),
    ("sb3", {}), ("sb3", {"random": 1}),
    ("bitonic", {"block": 64}), ("bitonic", {"block": 256}),
    ("pcm", {"block": 64}), ("mergesort", {"block": 64}),
    ("lud", {"block": 16}), ("lud", {"block": 32}), ("lud", {"block": 64}),
    ("dct", {"block": 8}), ("nqueens", {"block": 64}), ("srad", {"block": 16}),
]

# What a block's instructions are is not in a profile; its latency, their sum by
# the machine file, is. So a machine file whose latencies are digits counts them.
DIGITS = {"arithmetic": 1, "global": 1000, "shared": 1000000}


def kind_of(instruction):
    """Of a machine file's class; None for what is counted nowhere."""
    head, _, space = instruction.partition(".")
    if head in ("ld", "st", "atom"):
        return {"shared": "shared", "const": None}.get(space, "global")
    if head == "tex":
        return "global"
    if head in ("branch", "switch", "ret", "call", "bar", "fence", "shfl",
                "vote", "match", "redux"):
        return None
    return "arithmetic"


def counting_machine(bench):
    """A copy of the machine file; issue costs stay."""
    with open(machine_file(bench.options.prefix, "h200"),
              encoding="utf-8") as file:
        machine = json.load(file)
    for name, costs in machine["classes"].items():
        costs["latency"] = DIGITS.get(kind_of(name), 0)
        costs.pop("latency-spread", None)
    path = bench.path("counting.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(machine, file)
    return path


def instructions_of(kernels):
    """Kind -> executed by warps, over all blocks."""
    sums = dict.fromkeys(DIGITS, 0)
    for block in (b for k in kernels for b in k["blocks"]):
        if block["instructions"] > 900:
            raise BenchError(f"a block of {block['instructions']} "
                             "instructions: DIGITS has three places for each "
                             "kind")
        rest = round(block["latency"])
        for kind, digit in sorted(DIGITS.items(), key=lambda d: -d[1]):
            sums[kind] += rest // digit * block["warps"]
            rest %= digit
    return sums


def count(bench, case, *flags):
    """The program's checksum and its kernels' counts, summed."""
    output, kernels = counts.profile(
        bench, [bench.source(case), "--policy", bench.options.policy,
                "--machine", bench.own, *flags], case.words())
    slots = counts.cost(kernels, "slots")
    return processes.line(output, "checksum"), {
        "cfe": counts.cost(kernels, "fullSlots") / slots if slots else 1.0,
        "slots": slots, "warp": counts.cost(kernels, "warpInstructions"),
        **instructions_of(kernels)}


def measure(bench, case):
    sum_before, before = count(bench, case)
    sum_after, after = count(bench, case, "--meld=" + bench.options.meld)
    if sum_before != sum_after:
        raise BenchError("the melded program's result differs")
    same = {"verdict": "identical"}
    yield bench.row(case, "cfe-before", [before["cfe"]], **same)
    yield bench.row(case, "cfe-after", [after["cfe"]], **same)
    yield bench.row(case, "slots", [before["slots"] / after["slots"]], **same)
    yield bench.row(case, "warp-instructions", [before["warp"] / after["warp"]],
                    **same)
    for kind in DIGITS:
        if before[kind] and after[kind]:
            yield bench.row(case, kind + "-instructions",
                            [before[kind] / after[kind]], before=before[kind],
                            after=after[kind], **same)


SUITES = [Suite(
    name="meld-counts", about="what melding changes, counted on the warp VM",
    where="cpu", timed=False, cases=lambda _: [Case(*c) for c in CASES],
    small=lambda case: case.params, start=counting_machine, measure=measure,
    metrics={"cfe-before": Metric("1"), "cfe-after": Metric("1"),
             "slots": Metric("x"), "warp-instructions": Metric("x"),
             **{kind + "-instructions": Metric("x") for kind in DIGITS}},
    flags=lambda bench: (f"--policy {bench.options.policy} "
                         f"--meld={bench.options.meld}"),
    options=(Option("policy", "ipdom", "where lanes meet again",
                    ("ipdom", "frontier")),
             Option("meld", "", "options of the pass")))]
