#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the parts of README.md and of pages in docs/ that a command shows.

  update-readme.py          tables from benchmarks/results, beginnings of what
                            the tool prints
  update-readme.py --check  fails if a part is not what it would be now
  update-readme.py --lessons  also writes the rows of the table that the pages
                            in examples/ show; each lesson's test checks its own
"""
import glob
import json
import lzma
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, os.path.join(ROOT, "benchmarks", "harness"))
sys.dont_write_bytecode = True
import results  # noqa: E402
from pages import optimize as optimize_page  # noqa: E402

TOOL = os.path.join("build", "bin", "reconverge")
# Lines of the tool's output: the parts with times and this machine's name come
# after these.
MOST_LINES = 12


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
        result = results.read(path)
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


# Programs from each stretch of the list, by time.
TESTS_SHOWN = """logical mismatch is_partitioned is_sorted generate sequence
pair_scan pair_scan_by_key pair_reduce sort pair_sort_by_key
set_intersection_descending pair_sort set_difference_by_key_descending unique
set_union_key_value merge_key_value""".split()
TESTS_LONG = 0.02  # seconds


def tests_table():
    """CPU seconds of test programs beside those of their C++ backend."""
    shown = "benchmarks/results/amd-epyc/test-programs.rows.json.xz"
    with lzma.open(os.path.join(ROOT, shown), "rt", encoding="utf-8") as file:
        result = json.load(file)
    times = {row["program"]: {"backend": statistics.median(row["backend"]),
                              **{metric: min(row[metric]) for metric in
                                 ("nothing", "second", "good")}}
             for row in result["rows"]}

    def seconds(x):
        return f"{x:.3f}" if x < 0.0995 else f"{x:.2f}"

    lines = ["| program | C++ backend | nothing in the cache | second run | "
             "good code in the cache |", "| --- | ---: | ---: | ---: | ---: |"]
    for case in sorted(TESTS_SHOWN, key=lambda case: times[case]["backend"]):
        of = times[case]
        lines.append(f"| {case} | " + " | ".join(
            seconds(of[metric])
            for metric in ("backend", "nothing", "second", "good")) + " |")

    def over_backend(name, chosen):
        means = [statistics.geometric_mean(of[metric] / of["backend"]
                                           for of in chosen)
                 for metric in ("second", "good")]
        lines.append(f"| {name} | | | {means[0]:.1f}x | {means[1]:.1f}x |")

    everything = list(times.values())
    over_backend("geometric mean, over the C++ backend: these",
                 [times[case] for case in TESTS_SHOWN])
    over_backend(f"... all {len(everything)}", everything)
    long = [of for of in everything if of["backend"] >= TESTS_LONG]
    over_backend(f"... the {len(long)} that take {TESTS_LONG} s and more there",
                 long)
    environment = result["environment"]
    lines += ["", f"({environment['cpu']}, {environment['date']}; "
              f"`{shown}`.)"]
    return "\n".join(lines)


def finished_table():
    """The same for second runs after `reconverge cache finish`."""
    shown = "benchmarks/results/intel-xeon-processor/test-programs-finished.rows.json.xz"
    with lzma.open(os.path.join(ROOT, shown), "rt", encoding="utf-8") as file:
        result = json.load(file)
    lines = ["| program | C++ backend | nothing in the cache | compiled after "
             "its end | second run | over the backend |",
             "| --- | ---: | ---: | ---: | ---: | ---: |"]
    ratios = []
    for row in sorted(result["rows"], key=lambda row: min(row["backend"])):
        backend, second = min(row["backend"]), min(row["second"])
        ratios.append(second / backend)
        lines.append(f"| {row['program']} | {backend:.4f} | "
                     f"{min(row['nothing']):.2f} | {row['finish']:.0f} | "
                     f"{second:.4f} | {ratios[-1]:.1f}x |")
    mean = statistics.geometric_mean(ratios)
    lines.append(f"| geometric mean of {len(ratios)} | | | | | {mean:.1f}x |")
    environment = result["environment"]
    lines += ["", f"({environment['cpu']}, {environment['date']}; "
              f"`{shown}`.)"]
    return "\n".join(lines)


def gpu_rows(suite):
    return results.Store().of(suite)["rows"]


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
    counted = [geomean([r["value"] for r in of("overhead", mode)])
               for mode in ("branch-counters", "accesses", "block-vectors")]
    melded = [row["value"] for row in of("meld", "speedup")]
    lines = [
        "| on an H200 | measured | |",
        "| --- | ---: | --- |",
        f"| kernel time of our unmodified builds, over nvcc -O3, {len(nvcc)} "
        f"kernels, geomean | {ratio:.3f}x | [baseline](baseline.md) |",
        "| kernels whose per-thread block vectors are the same on VM and GPU | "
        f"{sum(row['value'] == 1 for row in vectors)} of {len(vectors)} | "
        "[validation](validation.md) |",
        "| control-flow efficiency, VM against hardware counters: gap, median "
        f"and mean | {statistics.median(gaps):.1f}, "
        f"{statistics.mean(gaps):.1f} points | "
        "[validation](validation.md) |",
        "| kernel time with branch counters, with accesses to memory too, with "
        "block vectors too, over without, geomean | "
        f"{', '.join(f'{x:.2f}x' for x in counted)} | "
        "[validation](validation.md) |",
    ]
    lines.append(
        f"| melding over the fastest of nvcc, clang and our own build, "
        f"{len(melded)} cases: geomean, best, worst | "
        f"{geomean(melded):.3f}x, {max(melded):.2f}x, {min(melded):.2f}x | "
        "[melding](meld-results.md) |")
    final = [row["value"] for row in of("optimize", "speedup")]
    lines.append(
        f"| programs after `optimize` on the GPU, over the same, {len(final)} "
        f"cases: geomean, best, worst | {geomean(final):.3f}x, "
        f"{max(final):.2f}x, {min(final):.2f}x | "
        "[optimised](optimize-results.md) |")
    shares = [next(row["value"] for row in of("remap", "of-ideal")
                   if row["case"] == case and
                   row["params"] == {"block": 256, "length": 2000, "even": 1,
                                     "way": "automatic", "compiler": "nvcc"})
              for case in ("two-paths", "four-paths")]
    lines.append(
        "| remapping a branch of two, of four paths of 2,000 instructions, "
        "256 threads: share of the ideal | " +
        ", ".join(f"{100 * share:.1f} %" for share in shares) +
        " | [remapping](remap-results.md) |")
    by_hand = {row["case"]: row["value"] for row in of("remap", "speedup")
               if row["params"]["compiler"] == "nvcc" and
               row["params"].get("way") == "library"}
    lines.append(
        f"| kernels remapped by hand with the device library, {len(by_hand)}: "
        f"geomean, best, worst | {geomean(by_hand.values()):.2f}x, "
        f"{max(by_hand.values()):.2f}x, {min(by_hand.values()):.2f}x | "
        "[remapping](remap-results.md) |")
    return "\n".join(lines)


NO_REMEDY = ("none", "nvcc", "clang")


def kept_remedies(row):
    """How many kernels a row of the suite optimize keeps a remedy for."""
    return sum(kept["remedy"] not in NO_REMEDY for kept in row["keep"].values())


def gains_table():
    """What `optimize` gained, remedies apart from other compilers' code."""
    cases = {}
    for row in gpu_rows("optimize"):
        key = (row["case"], json.dumps(row["params"], sort_keys=True))
        cases.setdefault(key, {})[row["metric"]] = row
    # Programs for melding run at two sizes, the others at one.
    sets = {name: [] for name in optimize_page.SETS}
    for metrics in cases.values():
        sets[optimize_page.set_of(metrics["speedup"])].append(metrics)
    lines = [
        "| our benchmarks, on an H200 | cases | a remedy is kept in | gain by "
        "remedies: geomean, best | gain by choosing the best compiler |",
        "| --- | ---: | ---: | ---: | ---: |"]
    for name, rows in sets.items():
        kept = [m["speedup"] for m in rows if kept_remedies(m["speedup"])]
        gains = [row["value"] for row in kept]
        compilers = statistics.geometric_mean(
            m["nvcc"]["value"] / min(m[by]["value"] for by in
                                     ("nvcc", "clang", "reconverge"))
            for m in rows)
        lines.append(f"| {name} | {len(rows)} | {len(kept)} | "
                     f"{statistics.geometric_mean(gains):.2f}x, "
                     f"{max(gains):.2f}x | {compilers:.2f}x |")
    lessons = [row for row in gpu_rows("optimize-examples")
               if row["metric"] == "kept"]
    lines.append(f"| the {len(lessons)} lessons in `examples/` | "
                 f"{sum(row['of'] for row in lessons)} kernels | "
                 f"{sum(map(kept_remedies, lessons))} kernels | | |")
    return "\n".join(lines)


def run_output(*words, most=MOST_LINES):
    """The beginning of what the tool says about a program, without the lines
    that say how far it is."""
    done = subprocess.run([TOOL, *words], cwd=ROOT, check=True, text=True,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=dict(os.environ, COLUMNS="100"))
    lines = [line.rstrip() for line in done.stderr.strip().split("\n")]
    # A long one goes on in the next line, indented.
    while lines and (not lines[0] or lines[0].startswith(("reconverge: ", "  "))):
        lines.pop(0)
    if len(lines) > most:
        lines = lines[:most] + ["..."]
    return "```\n" + "\n".join(lines) + "\n```"


def explain_output(word):
    done = subprocess.run([TOOL, "explain", word], cwd=ROOT, check=True,
                          text=True, stdout=subprocess.PIPE,
                          env=dict(os.environ, COLUMNS="100"))
    return "```\n" + done.stdout.strip() + "\n```"


def profile_output(most=MOST_LINES):
    return run_output("profile", "--device", "cpu", EXAMPLE, "-o", os.devnull,
                      most=most)


def optimize_output(most=MOST_LINES):
    return run_output("optimize", "--device", "cpu", EXAMPLE, "--decisions",
                      os.devnull, most=most)


def without_title(block):
    """A block of output without its first line and the empty one after it."""
    fence, _, _, *lines = block.split("\n")
    return "\n".join([fence, *lines])


def kept_output():
    """The first rows of what optimize tried, and what it kept."""
    lines = without_title(optimize_output(most=100)).split("\n")
    kept = [line for line in lines if line.startswith("kept: ")]
    return "\n".join([*lines[:10], "...", *kept, "```"])


def diff_output():
    """What the tutorial ends with: the example before and after optimize."""
    with tempfile.TemporaryDirectory() as folder:
        before, program, after = (os.path.join(folder, name) for name in
                                  ("before.json", "sort", "after.json"))
        decisions = os.path.join(folder, "decisions.json")
        for words in (["profile", "-q", "--device", "cpu", EXAMPLE, "-o", before],
                      ["optimize", "-q", "--device", "cpu", EXAMPLE, "-o",
                       program, "--decisions", decisions],
                      ["profile", "-q", "--device", "cpu", program, "-o", after]):
            subprocess.run([TOOL, *words], cwd=ROOT, check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        done = subprocess.run([TOOL, "diff", before, after], cwd=ROOT, check=True,
                              text=True, stdout=subprocess.PIPE,
                              env=dict(os.environ, COLUMNS="100"))
    tables = done.stdout.split("\nslots: ")[0].split("\n\n", 1)[1]
    return "```\n" + tables.strip("\n") + "\n```"


EXAMPLE = "examples/bitonic/bitonic.cu"
PARTS = {
    "README.md": {
        "gains-table": gains_table,
        "run": profile_output,
        "optimize": optimize_output,
        "explain": lambda: explain_output("self"),
    },
    "docs/tutorial.md": {
        "run": lambda: without_title(profile_output(most=10)),
        "optimize": kept_output,
        "diff": diff_output,
    },
    "docs/measured.md": {
        "vm-table": vm_table,
        "tests-table": tests_table,
        "finished-table": finished_table,
        "gpu-table": gpu_table,
    },
    "docs/time.md": {
        "predict": lambda: run_output("predict", "--device", "cpu", EXAMPLE,
                                      most=6),
    },
}


def replace(text, name, content):
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
    head, rest = text.split(begin, 1)
    return head + begin + content + "\n" + end + rest.split(end, 1)[1]


def update_lessons():
    for source in sorted(glob.glob(os.path.join(ROOT, "examples", "*", "*.cu"))):
        subprocess.run([sys.executable,
                        os.path.join(ROOT, "examples", "run_example.py"),
                        "--reconverge", os.path.join(ROOT, TOOL), "--memory",
                        "0", "--update", "--source", source], check=True,
                       stdout=subprocess.DEVNULL)


def main():
    if "--lessons" in sys.argv:
        update_lessons()
    stale = []
    for name, parts in PARTS.items():
        path = os.path.join(ROOT, name)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for part, content in parts.items():
            new = replace(text, part, content())
            if new != text:
                stale.append(f"{name}: {part}")
            text = new
        if "--check" not in sys.argv:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if "--check" in sys.argv and stale:
        sys.exit("not what the results or the tool say, run "
                 "utils/update-readme.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
