# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records of 16 to 256 bytes, of items in order over the grid
(kernels/layout_micro), on the warp VM: what the model of time says that a launch
takes if they are read where they are, and if they are copied into the order.
Rows, params bytes and way as in the suite layout:

  cycles   of an H200, of all kernels of the way; `redirected` and `moved` with
           keys and sort
"""

import counts
from suite import Build, Case, Metric, Suite
from suites import layout

ITEMS = 1 << 20  # a quarter of the suite layout's: the VM takes seconds for them
WAYS = {"redirected": 2, "moved": 4}  # the argument way: by an order that is there


def measure(bench, case):
    outputs = []
    for way, number in WAYS.items():
        output, kernels = counts.profile(
            bench, [bench.program(case, "plain")],
            [*(f"{key}={value}" for key, value in case.params.items()),
             f"way={number}", f"check={int(bench.small)}"])
        outputs.append(output)
        verdict = counts.same_checksum(outputs[0], output)
        by_kernel = [(any(name in kernel["display"] for name in
                          ("redirected", "gather", "plain", "putBack")),
                      kernel["cost"]["time"]["cycles"]) for kernel in kernels]
        for name, cycles in (
                (way, sum(cycles for _, cycles in by_kernel)),
                (way + "-ordered", sum(c for own, c in by_kernel if own))):
            yield bench.row(case, "cycles", [cycles],
                            {**case.params, "way": name}, verdict=verdict)


SUITES = [Suite(
    name="layout-counts", where="cpu", timed=False,
    about="records in an order, read where they are or copied: what the model "
          "of time says, on the warp VM",
    cases=lambda _: [Case("layout_micro", {"items": ITEMS, "bytes": b})
                     for b in layout.BYTES],
    small=lambda case: {"items": 5000, "bytes": case.params["bytes"]},
    ways={"plain": Build("plain", ("-O3", "-std=c++17"))},
    metrics={"cycles": Metric("cycles")},
    measure=measure, flags=lambda bench: "-O3")]
