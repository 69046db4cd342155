# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that tolerate small errors, herded, on a GPU and on the warp VM: the
bytes that they leave must be the same, at the sizes of herd-counts, on all inputs.
Rows, with the way in params:

  same   the share of inputs on which the GPU leaves the VM's bytes

A program whose bytes differ as it is tells nothing of herding, and is said to.
"""

import filecmp
import os

import processes
import tables
from suite import Build, Case, Metric, Suite
from tolerant import HERDED

# As it is without a word more; as much as may be, at different thresholds.
REMEDIES = {"herd": "--herd",
            "herd-8": "--herd=every=1;threshold=8;least=1;occupancy=0",
            "herd-24": "--herd=every=3;threshold=24;least=1;occupancy=0",
            "herd-two": "--herd=ways=two;least=1;occupancy=0",
            "herd-counting": "--herd=every=2;stop=1;occupancy=0"}
PLAIN = "reconverge"


def left_by(bench, case, way, given, device):
    """The file that a run leaves."""
    judge = HERDED[case.name].judge
    path = os.path.join(bench.folder, f"{case.name}-{way}-{device}-{judge.leaf}")
    processes.call([bench.program(case, way), *(f"{k}={v}" for k, v in {
        **case.params, **given, "check": 0, "output": path}.items())],
        CUDA_PATH=bench.options.cuda, RECONVERGE_DEVICE=device)
    return path


def same_on(bench, case, way):
    """Whether both leave the same bytes, for each input."""
    inputs = [given for some in HERDED[case.name].inputs().values()
              for given in some]
    return [filecmp.cmp(left_by(bench, case, way, given, bench.device),
                        left_by(bench, case, way, given, "cpu"), shallow=False)
            for given in inputs]


def measure(bench, case):
    plain = all(same_on(bench, case, PLAIN))
    if not plain:
        print(f"{case.name}: other bytes on a GPU as it is")
    for way in bench.ways:
        same = same_on(bench, case, way)
        if plain and not all(same):
            bench.fail(f"other bytes on a GPU: {case.name} {way}")
        verdict = "identical" if all(same) else "differs" if plain else "unknown"
        yield bench.row(case, "same", [sum(same) / len(same)],
                        {**case.params, "way": way}, verdict=verdict)


SUITES = [Suite(
    name="herd-bytes", timed=False,
    about="herded programs leave the same bytes on a GPU and on the warp VM",
    cases=lambda _: [Case(name, tolerates.small, tolerates.program)
                     for name, tolerates in HERDED.items()],
    small=lambda case: case.params,
    ways=lambda _: {way: Build("reconverge", ("--fatbin", "-DONLY_PLAIN",
                                              *filter(None, [option])))
                    for way, option in {PLAIN: "", **REMEDIES}.items()},
    measure=measure, show=lambda bench: tables.show_rows(bench.rows),
    metrics={"same": Metric("1")})]
