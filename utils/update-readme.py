#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the parts of README.md that are measured.

  update-readme.py          tables from benchmarks/results, output of `make run`
  update-readme.py --check  fails if the table is not what the results say
"""
import glob
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
README = os.path.join(ROOT, "README.md")


def value(rows, metric, case, **params):
    """The rows' value for a case; the parameters named must agree."""
    for row in rows:
        if (row["metric"] == metric and row["case"] == case and
                all(row["params"].get(k) == v for k, v in params.items())):
            return row["value"]
    return None


def vm_table():
    lines = []
    for path in sorted(glob.glob(os.path.join(
            ROOT, "benchmarks", "results", "*", "vm.json"))):
        with open(path, encoding="utf-8") as text:
            result = json.load(text)
        rows, environment = result["rows"], result["environment"]
        cases = list(dict.fromkeys(
            row["case"] for row in rows
            if row["metric"] == "thread-instructions-per-second"))
        isas = list(dict.fromkeys(row["params"].get("isa") for row in rows
                                  if row["metric"] == "time-vs-scalar"))
        lines.append("| kernel | " + " | ".join(
            f"{isa}: G thread instructions/s | x of scalar C++ -O3"
            for isa in isas) + " |")
        lines.append("| --- |" + " ---: | ---: |" * len(isas))
        for case in cases:
            cells = []
            for isa in isas:
                rate = value(rows, "thread-instructions-per-second", case, isa=isa)
                ratio = value(rows, "time-vs-scalar", case, isa=isa)
                cells.append(f"{rate / 1e9:.1f} | {ratio:.2f}")
            lines.append(f"| {case} | " + " | ".join(cells) + " |")
        lines.append("")
        lines.append(f"({environment['cpu']}, one core, block and branch counters "
                     f"on, {environment['date'][:10]}; time below 1 is faster than "
                     "the same kernel as C++ loops, which clang partly vectorises. "
                     f"Raw data: `{os.path.relpath(path, ROOT)}`, by `make bench`.)")
    return "\n".join(lines)


def gpu_rows(suite):
    path = os.path.join(ROOT, "benchmarks", "results", "h200", suite + ".json")
    with open(path, encoding="utf-8") as text:
        return json.load(text)["rows"]


def gpu_table():
    """What holds on an H200, a line each, with the file that says so."""
    def geomean(values):
        return statistics.geometric_mean(values)

    def of(suite, metric):
        return [row for row in gpu_rows(suite) if row["metric"] == metric]

    def kernels(metric):
        return {(row["case"], row["kernel"]): row["value"]
                for row in of("baseline", metric)}

    nvcc, ours = kernels("nvcc"), kernels("reconverge")
    ratio = geomean([ours[key] / nvcc[key] for key in nvcc])
    vectors = of("validation", "bbv-equal")
    hardware = {(row["case"], row["params"]["kernel"]): row["value"]
                for row in of("validation", "cfe-gpu")}
    gaps = [100 * abs(row["value"] - hardware[row["case"],
                                              row["params"]["kernel"]])
            for row in of("validation", "cfe-vm")
            if (row["case"], row["params"]["kernel"]) in hardware]
    counters = geomean([r["value"] for r in of("overhead", "branch-counters")])
    threads = geomean([r["value"] for r in of("overhead", "block-vectors")])
    melded = [row["value"] for row in of("meld", "speedup")]
    lines = [
        "| on an H200 | measured | |",
        "| --- | ---: | --- |",
        f"| kernel time of our unmodified builds, over nvcc -O3, {len(nvcc)} "
        f"kernels, geomean | {ratio:.3f}x | [baseline](docs/baseline.md) |",
        "| kernels whose per-thread block vectors are the same on VM and GPU | "
        f"{sum(row['value'] == 1 for row in vectors)} of {len(vectors)} | "
        "[validation](docs/validation.md) |",
        "| control-flow efficiency, VM against hardware counters: gap, median "
        f"and mean | {statistics.median(gaps):.1f}, "
        f"{statistics.mean(gaps):.1f} points | "
        "[validation](docs/validation.md) |",
        "| kernel time with branch counters, and with block vectors, over "
        f"without, geomean | {counters:.2f}x, {threads:.2f}x | "
        "[validation](docs/validation.md) |",
    ]
    lines.append(
        f"| melding over the fastest of nvcc, clang and our own build, "
        f"{len(melded)} cases: geomean, best, worst | "
        f"{geomean(melded):.3f}x, {max(melded):.2f}x, {min(melded):.2f}x | "
        "[melding](docs/meld-results.md) |")
    final = [row["value"] for row in of("optimize", "speedup")]
    lines.append(
        f"| programs after `optimize` on the GPU, over the same, {len(final)} "
        f"cases: geomean, best, worst | {geomean(final):.3f}x, "
        f"{max(final):.2f}x, {min(final):.2f}x | "
        "[optimised](docs/optimize-results.md) |")
    shares = [next(row["value"] for row in of("remap", "of-ideal")
                   if row["case"] == case and
                   row["params"] == {"block": 256, "length": 2000, "even": 1,
                                     "way": "automatic", "compiler": "nvcc"})
              for case in ("two-paths", "four-paths")]
    lines.append(
        "| remapping a branch of two, of four paths of 2,000 instructions, "
        "256 threads: share of the ideal | " +
        ", ".join(f"{100 * share:.1f} %" for share in shares) +
        " | [remapping](docs/remap-results.md) |")
    by_hand = {row["case"]: row["value"] for row in of("remap", "speedup")
               if row["params"]["compiler"] == "nvcc" and
               row["params"].get("way") == "library"}
    lines.append(
        "| kernels remapped by hand with the device library: " +
        ", ".join(by_hand) + " | " +
        ", ".join(f"{ratio:.2f}x" for ratio in by_hand.values()) +
        " | [remapping](docs/remap-results.md) |")
    return "\n".join(lines)


def run_output(*words):
    command = ["build/bin/reconverge", *words]
    done = subprocess.run(command, cwd=ROOT, check=True, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    lines = (line.rstrip() for line in done.stderr.strip().split("\n"))
    return "```\n" + "\n".join(lines) + "\n```"


def replace(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, rest = text.split(begin, 1)
    return head + begin + content + "\n" + end + rest.split(end, 1)[1]


def main():
    with open(README, encoding="utf-8") as text:
        old = text.read()
    new = replace(old, "vm-table", vm_table())
    new = replace(new, "gpu-table", gpu_table())
    if "--check" in sys.argv:
        if new != old:
            sys.exit("README.md: the table is not what benchmarks/results says; "
                     "run utils/update-readme.py")
        return
    example = "examples/bitonic/bitonic.cu"
    new = replace(new, "run", run_output("profile", example, "-o", os.devnull))
    new = replace(new, "optimize",
                  run_output("optimize", example, "--decisions", os.devnull))
    with open(README, "w", encoding="utf-8") as text:
        text.write(new)


if __name__ == "__main__":
    main()
