# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware counters of a program's kernels, as ncu reads them."""

import csv

import processes
from errors import BenchError

# Among metrics: how many launches of the kernel ncu has read.
LAUNCHES = "launches"


def sums(command, metrics, most_launches, **environment):
    """Kernel (mangled) -> metric -> its sum over the launches. With no kernel
    comes the reason why counters may not be read. A metric that ncu has no
    number for is left out."""
    ncu = ["ncu", "--clock-control", "none", "--csv", "--page", "raw",
           "--print-units", "base", "--print-kernel-base", "mangled",
           "--launch-count", str(most_launches), "--metrics",
           ",".join(metric for metric in metrics if metric != LAUNCHES)]
    try:
        done = processes.run(ncu + command, 120, **environment)
    except BenchError as why:
        return {}, str(why)
    return read(done.stdout, done.stderr, metrics)


def read(output, errors, metrics):
    """What ncu printed, as above."""
    table = [line for line in output.split("\n") if line.startswith('"')]
    if len(table) < 3:
        words = [line for line in (output + errors).split("\n")
                 if "ERR" in line or "rror" in line]
        return {}, (words or ["ncu shows no kernel"])[0].strip()
    kernels = {}
    rows = csv.DictReader(table)
    next(rows)  # units
    for row in rows:
        of = kernels.setdefault(row["Kernel Name"], dict.fromkeys(metrics, 0.0))
        for metric in list(of):
            try:
                of[metric] += (1 if metric == LAUNCHES
                               else float(row[metric].replace(",", "")))
            except ValueError:  # "n/a", "nan"
                del of[metric]
    return kernels, ""
