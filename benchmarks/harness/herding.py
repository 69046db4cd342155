# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Herding as hardware would do it: the warp VM's policies, on a program as it
is, and the search of paper 4 (Fig. 11) for what of it stays within a bound.

The search: of what the policy calls safe, each by itself on the first input
that a search learns from; then the best first, one more at a time. What makes
the program cheaper on all such inputs, with no more lost on any of them than
the bound, is kept. So for each strength, and the cheapest result is taken."""

import math
import os
import re

import counts
import tolerant
from errors import BenchError
from tolerant import HERDED


class Policy:
    """One of the VM's: how it is asked for, and what it is to save."""

    def __init__(self, word, listed, strength, strengths, cost):
        self.word = word          # of RECONVERGE_VM's policy=
        self.listed = listed      # key for what alone is herded
        self.strength = strength  # key for how much
        self.strengths = strengths
        self.cost = cost          # of a profile's kernels: it shall go down

    def settings(self, strength=None, those=None):
        """RECONVERGE_VM for so much of it. A program that goes on with what is
        wrong may fault in a later launch: that shall be said, and end it."""
        words = [f"policy={self.word}", "check=on"]
        if strength:
            words.append(f"{self.strength}={strength}")
        if those is not None:
            words.append(f"{self.listed}={':'.join(map(str, those))}")
        return ",".join(words)

    def bound(self, tolerates):
        """The most that may be lost: what the paper lost by this policy, or
        by the other one."""
        published = (tolerates.branches if self.listed == "branches"
                     else tolerates.data)
        return tolerates.bound() if published is None else published


def slots(kernels):
    return counts.cost(kernels, "slots")


def loads_of(kernels, what):
    """A sum over loads of global memory."""
    return sum(access[what] for kernel in kernels
               for access in kernel["accesses"] if access["use"] == "load"
               and access["space"] in ("global", "generic"))


def sectors(kernels):
    return loads_of(kernels, "sectors")


POLICIES = {
    "vm-branch": Policy("herd-branch", "branches", "threshold",
                        (16, 8, 4, 24, 28), slots),
    "vm-data": Policy("herd-data", "loads", "block", (128, 64, 32), sectors),
}


def herded(profile, listed):
    """The numbers of what was herded, of the profile's notes."""
    found = set()
    for note in profile.get("notes", []):
        part = re.match(rf"herded in .*: (?:.*; )?{listed} ([\d, ]+)", note)
        if part:
            found.update(map(int, part.group(1).split(",")))
    return sorted(found)


class Run:
    """A counted run on one input: its kernels, what was herded and lost."""

    def __init__(self, bench, case, program, given, settings="", codes=(0,)):
        tolerates = HERDED[case.name]
        self.output = bench.path(case.name, "searched", tolerates.judge.leaf)
        words = [f"{k}={v}" for k, v in {**case.params, **given, "check": 0,
                                         "output": self.output}.items()]
        _, self.profile = counts.whole(bench, [program], words, codes,
                                       RECONVERGE_VM=settings)
        self.kernels = self.profile["kernels"]

    def keep(self, path):
        os.replace(self.output, path)
        return path


class Search:
    def __init__(self, bench, case, program, policy):
        self.bench, self.case, self.program = bench, case, program
        self.policy, self.tolerates = policy, HERDED[case.name]
        self.bound = policy.bound(self.tolerates)
        self.inputs, self.plain = self.tolerates.training, []
        for number, given in enumerate(self.inputs):
            run = Run(bench, case, program, given)
            self.plain.append((policy.cost(run.kernels), run.keep(
                bench.path(case.name, "right", number,
                           self.tolerates.judge.leaf))))

    def on(self, number, settings):
        """What the program costs of its cost as it is, and what is lost: all,
        where the program fails."""
        try:
            run = Run(self.bench, self.case, self.program, self.inputs[number],
                      settings)
        except BenchError:
            return math.inf, math.inf
        cost, right = self.plain[number]
        return (self.policy.cost(run.kernels) / cost if cost else 1.,
                tolerant.loss_or_inf(self.tolerates.judge, right, run.output))

    def grow(self, strength):
        """What is kept at one strength: its cost, and the numbers."""
        policy = self.policy
        # Of one that fails, the kernels up to there.
        safe = herded(Run(self.bench, self.case, self.program, self.inputs[0],
                          policy.settings(strength), range(256)).profile,
                      policy.listed)
        alone = sorted((self.on(0, policy.settings(strength, [one]))[0], one)
                       for one in safe)
        kept, costs = [], [1.] * len(self.inputs)
        for cost, one in alone:
            if cost >= 1:
                break
            results = [self.on(number, policy.settings(strength, [*kept, one]))
                       for number in range(len(self.inputs))]
            if all(new < old for (new, _), old in zip(results, costs)) and all(
                    lost <= self.bound for _, lost in results):
                kept, costs = [*kept, one], [new for new, _ in results]
        return sum(costs), strength, kept

    def best(self):
        """Settings, or None where nothing is kept."""
        _, strength, kept = min((self.grow(s) for s in self.policy.strengths),
                                key=lambda found: found[0])
        return self.policy.settings(strength, sorted(kept)) if kept else None


def ways(bench, case, program):
    """Way to RECONVERGE_VM, or to None: nothing is herded."""
    found = {}
    for way, policy in POLICIES.items():
        found[way] = policy.settings()
        found[way + "-kept"] = Search(bench, case, program, policy).best()
    return found


def bound(way, tolerates):
    """What may be lost in that way."""
    policy = POLICIES.get(way.removesuffix("-kept"))
    return policy.bound(tolerates) if policy else tolerates.bound()


def votes(profile):
    """How often warps came to branches that were herded."""
    branches = herded(profile, "branches")
    return sum(branch["warps"] for kernel in profile["kernels"]
               for branch in kernel["branches"] if branch["id"] in branches)


def finite(lost):
    """What can be written down of it."""
    return {metric: value for metric, value in lost.items()
            if not math.isinf(value)}
