# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hardware counters of a program's kernels, as ncu reads them."""

import csv
import subprocess


def sums(command, metrics, most_launches, env=None, timeout=120):
    """Kernel (mangled) -> metric -> its sum over the launches. With no kernel
    comes the reason why counters may not be read."""
    ncu = ["ncu", "--clock-control", "none", "--csv", "--page", "raw",
           "--print-units", "base", "--print-kernel-base", "mangled",
           "--launch-count", str(most_launches), "--metrics", ",".join(metrics)]
    try:
        run = subprocess.run(ncu + command, env=env, capture_output=True,
                             text=True, timeout=timeout, check=False)
    except FileNotFoundError:
        return {}, "ncu is not installed"
    except subprocess.TimeoutExpired:
        return {}, f"ncu was still running after {timeout} s"
    return read(run.stdout, run.stderr, metrics)


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
        for metric in metrics:
            of[metric] += float(row[metric].replace(",", ""))
    return kernels, ""
