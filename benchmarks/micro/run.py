#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what instructions cost on the GPU of this machine.

  run.py [--runs N] [--results DIR] [--machine FILE]

Builds the programs of this folder with nvcc for the GPU at hand, looks in
their machine code for the instructions that each means to time, runs them N
times, and writes DIR/micro.json (benchmarks/README.md has its format) and the
machine file (docs/machines.md). A row's verdict is "ok", "folded" (the machine
code lacks the instruction) or "unsteady" (the runs differ by more than 5 % and
0.15 cycles); a class whose rows are not ok is refused, and the machine file is
then not written. Needs a driver and a CUDA toolkit, and nothing else.
"""

import argparse
import datetime
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BENCHMARKS = os.path.dirname(HERE)
ROOT = os.path.dirname(BENCHMARKS)
sys.path[:0] = [HERE, os.path.join(BENCHMARKS, "harness")]

import machine  # noqa: E402
import results  # noqa: E402
import sass  # noqa: E402

SOURCES = ("micro", "arith", "memory", "traffic", "control")
RELATIVE, ABSOLUTE = 0.05, 0.15  # how far the runs may lie apart


def tool(name):
    path = os.path.join(os.environ.get("CUDA_PATH", "/usr/local/cuda"),
                        "bin", name)
    return path if os.path.exists(path) else name


def output_of(command):
    return subprocess.run(command, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def build(folder):
    """The program, one compiler a source at a time side by side."""
    capability = output_of(["nvidia-smi", "--query-gpu=compute_cap",
                            "--format=csv,noheader"]).split()[0]
    arch = "-arch=sm_" + capability.replace(".", "")
    objects = [os.path.join(folder, name + ".o") for name in SOURCES]
    compilers = [
        subprocess.Popen([tool("nvcc"), "-std=c++17", "-O3", arch, "-c",
                          "--diag-suppress=177", "-o", out,
                          os.path.join(HERE, name + ".cu")])
        for name, out in zip(SOURCES, objects)]
    if any([compiler.wait() for compiler in compilers]):
        sys.exit("run.py: the benchmarks do not compile")
    program = os.path.join(folder, "micro")
    subprocess.run([tool("nvcc"), arch, "-o", program, *objects], check=True)
    return program


def environment(gpu):
    driver = output_of(["nvidia-smi", "--query-gpu=driver_version",
                        "--format=csv,noheader"]).split()[0]
    release = re.search(r"V([\d.]+)", output_of([tool("nvcc"), "--version"]))
    return {
        "gpu": gpu["name"],
        "compute-capability": gpu["compute-capability"],
        "sms": gpu["sms"],
        "clock-mhz": round(gpu["clock-mhz"]),
        "driver": driver,
        "cuda": release.group(1),
        "date": datetime.date.today().isoformat(),
    }


def verdict(code, bench, medians):
    if bench["sass"] != "-" and sass.folded(code, bench["sass"], bench["per"]):
        return "folded"
    apart = max(medians) - min(medians)
    if apart > ABSOLUTE and apart > RELATIVE * statistics.median(medians):
        return "unsteady"
    return "ok"


def rows(runs, listing):
    """A row of the result file for each measurement, over all runs."""
    for benches in zip(*(run["benches"] for run in runs)):
        bench = benches[0]
        steps = bench["steps"] * bench["ilp"]
        code = {} if bench["sass"] == "-" else \
            sass.step(listing.get(bench["symbol"], []), steps)
        medians = [statistics.median(b["cycles"]) for b in benches]
        every = [c for b in benches for c in b["cycles"]]
        params = {"threads": bench["threads"], "chains": bench["ilp"],
                  "sms": len(bench["cycles"])}
        yield results.row(
            bench["name"], params, bench["kind"], medians, "cycles",
            sms=[min(every), max(every)], code=code,
            verdict=verdict(code, bench, medians))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--results", help="benchmarks/results/<gpu>")
    parser.add_argument("--machine", help="machines/<gpu>.json")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        listing = sass.functions(
            output_of([tool("cuobjdump"), "--dump-sass", program]).split("\n"))
        runs = [json.loads(output_of([program])) for _ in range(args.runs)]
    facts = environment(runs[0]["gpu"])
    name = machine.slug(facts["gpu"])
    path = os.path.join(
        args.results or os.path.join(BENCHMARKS, "results", name), "micro.json")
    table = list(rows(runs, listing))
    results.write(path, "micro", facts, table)
    for row in table:
        if row["verdict"] != "ok":
            print(f"{row['verdict']}: {row['case']} {row['metric']} "
                  f"{row['samples']} {row['code']}")
    machine.write(path, args.machine or
                  os.path.join(ROOT, "machines", name + ".json"))


if __name__ == "__main__":
    main()
