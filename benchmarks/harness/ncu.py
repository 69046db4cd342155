# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware counters of a program's kernels, as ncu reads them."""

import csv

import processes
from errors import BenchError

# Among metrics: how many launches of the kernel ncu has read.
LAUNCHES = "launches"


def call(command, most_launches, what, environment):
    """A finished ncu that was asked for `what`, or a BenchError."""
    return processes.run(
        ["ncu", "--clock-control", "none", "--csv", "--page", "raw",
         "--print-units", "base", "--print-kernel-base", "mangled",
         "--launch-count", str(most_launches), *what, *command], 120,
        **environment)


def sums(command, metrics, most_launches, **environment):
    """Kernel (mangled) -> metric -> its sum over the launches. With no kernel
    comes the reason why counters may not be read. A metric that ncu has no
    number for is left out."""
    try:
        done = call(command, most_launches, ["--metrics", ",".join(
            metric for metric in metrics if metric != LAUNCHES)], environment)
    except BenchError as why:
        return {}, str(why)
    return read(done.stdout, done.stderr, metrics)


def sections(command, names, most_launches, **environment):
    """Kernel (mangled) -> metric -> its mean over the launches: all that is a
    number in ncu's sections of these names, and what goes into their
    throughputs. With no kernel, why."""
    what = ["--metrics", "breakdown:gpu__compute_memory_throughput"
                         ".avg.pct_of_peak_sustained_elapsed"]
    for name in names:
        what += ["--section", name]
    try:
        done = call(command, most_launches, what, environment)
    except BenchError as why:
        return {}, str(why)
    rows, why = table_of(done.stdout, done.stderr)
    return means(rows), why


def means(rows):
    """Kernel -> every metric that is a number in all its launches -> its mean
    over these."""
    metrics = (LAUNCHES, *(key for key in (rows or [{}])[0]
                           if "." in key or "__" in key))
    return {kernel: {metric: total / of[LAUNCHES]
                     for metric, total in of.items() if metric != LAUNCHES}
            for kernel, of in added(rows, metrics).items()}


def table_of(output, errors):
    """The launches that ncu printed, or none and why."""
    table = [line for line in output.split("\n") if line.startswith('"')]
    if len(table) < 3:
        words = [line for line in (output + errors).split("\n")
                 if "ERR" in line or "rror" in line]
        return [], (words or ["ncu shows no kernel"])[0].strip()
    return list(csv.DictReader(table))[1:], ""  # the first has the units


def read(output, errors, metrics):
    """What ncu printed, as sums() gives it."""
    rows, why = table_of(output, errors)
    return added(rows, metrics), why


def added(rows, metrics):
    kernels = {}
    for row in rows:
        of = kernels.setdefault(row["Kernel Name"], dict.fromkeys(metrics, 0.0))
        for metric in list(of):
            try:
                of[metric] += (1 if metric == LAUNCHES
                               else float(row[metric].replace(",", "")))
            except ValueError:  # "n/a", "nan"
                del of[metric]
    return kernels
