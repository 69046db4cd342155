# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/optimize-results.md: the suites optimize and optimize-examples."""

import json

from decided import words_of
from programs import REMAPPED
from publish import machine, made_by
from results import apart, by_metric, geomean
from tables import markdown

WAYS = ("nvcc", "clang", "reconverge", "final")
HEAD = ["case", *WAYS, "best", "speedup", "kept", "result"]


def error_of(row):
    """Of the prediction, in % of what was achieved."""
    return (row["value"] / row["achieved"] - 1) * 100


def errors_of(rows):
    errors = [abs(error_of(row)) for row in rows]
    if not errors:
        return "nothing: there are none"
    return (f"{sum(errors) / len(errors):.1f} % on average, "
            f"{max(errors):.1f} % at worst")


def label(row):
    return (f"{row['case']}{'-R' if row['params'].get('random') else ''} "
            f"{row['params'].get('block', '')}").strip()


def line_of(rows):
    """A case's cells, as HEAD names them."""
    by = {row["metric"]: row for row in rows}
    keep = ", ".join(sorted({words_of(k)
                             for k in by["speedup"]["keep"].values()}))
    return [label(rows[0]),
            *(f"{by[way]['value']:.4f}" if way in by else "-" for way in WAYS),
            by["speedup"]["best"], f"{by['speedup']['value']:.3f}",
            keep or "none", by["speedup"]["verdict"]]


def summary(what, table):
    speedups = [float(line[6]) for line in table]
    return [what, len(table), f"{geomean(speedups):.3f}",
            f"{min(speedups):.3f}", sum(s < 0.99 for s in speedups),
            sum(line[7] != "none" for line in table)]


def kept_in(row):
    """What is kept of a program's kernels, a word each."""
    return ", ".join(sorted(f"{kernel}: {words_of(keep)}"
                            for kernel, keep in row["keep"].items())) or "none"


def seconds_of(rows):
    whole = rows.get("whole", {})
    return [f"{whole[k]:.3f}" if whole.get(k) else "-"
            for k in ("final", "ours", "nvcc", "clang")]


def examples(result):
    facts = result["environment"]
    cases = by_metric(result["rows"], lambda row: row["case"])
    yield from (
        "", "## The examples", "",
        "From `optimize-examples.json`, which `benchmarks/run "
        "optimize-examples` wrote on "
        f"{facts['date'][:10]}, commit {facts['commit'][:12]}: each example at "
        "its own small size, which it checks against the CPU. What `optimize` "
        "let through of its first run, and the final program's output and exit "
        "code, are those of the program as it is. *Seconds* are whole runs, "
        "from start to end, while other examples compile; most of that is the "
        "start of the driver and the check, which the CPU runs: there they "
        "compare host compilers (clang's in the final program, g++ with nvcc), "
        "not kernels. `-`: that compiler's program was not made or did not pass "
        "the example's check.", "")
    yield from markdown(
        ["example", "kernels", "kept", "result", "final, s", "ours", "nvcc",
         "clang"],
        [[name, rows["kept"]["of"], kept_in(rows["kept"]),
          rows["kept"]["verdict"], *seconds_of(rows)]
         for name, rows in cases.items()], (0, 2, 3))


def predictions(rows):
    yield from ("", "## Predicted and achieved", "",
                "Over our own build of the kernel as it is.", "")
    yield from markdown(
        ["program", "kernel", "candidate", "predicted", "achieved", "error",
         "outcome"],
        [[label(row), f"`{row['kernel']}`", words_of(row["candidate"]),
          f"{row['value']:.3f}", f"{row['achieved']:.3f}",
          f"{error_of(row):+.1f} %", row["outcome"]] for row in rows],
        (0, 1, 2, 6))


def remarks(result, table, predicted):
    """Paragraphs on all cases."""
    yield from apart(result)
    # Where our build was the fastest and nothing is kept.
    same = [float(line[6]) for line in table
            if line[5] == "reconverge" and line[7] == "none"]
    if same:
        yield ("Where our build is the fastest and nothing is kept "
               f"({len(same)} of them), the final program has the same device "
               "code, byte for byte: what the ratio differs from 1 there is "
               f"noise, {min(same):.3f}x to {max(same):.3f}x.")
    if predicted:
        kept = [row for row in predicted if row["outcome"] == "kept"]
        yield (f"{len(predicted)} candidates were timed. Predicted (the "
               "time of the kernel as we build it over the candidate's, by "
               "the model) and achieved (the same of times taken) differ by "
               f"{errors_of(predicted)}; of those that are kept by "
               f"{errors_of(kept)}.")


def lines(store):
    result = store.of("optimize")
    cases = {}
    for row in result["rows"]:
        cases.setdefault((row["case"], json.dumps(row["params"])),
                         []).append(row)
    table = [line_of(rows) for rows in cases.values()]
    remapped = [line_of(rows) for rows in cases.values()
                if REMAPPED.get(rows[0]["case"]) == rows[0]["params"]]
    melded = [line for line in table if line not in remapped]
    predicted = [row for row in result["rows"] if row["metric"] == "predicted"]
    yield from (
        "# Optimised programs on a GPU", "",
        made_by("optimize", result["path"]), "",
        machine(result["environment"]) + ". Each case was decided by "
        "`reconverge optimize` on its own launches, with nvcc's and clang's "
        "code, ours and every remedy among the candidates. Milliseconds of "
        "kernel time, medians of alternating runs; *speed-up* is the fastest "
        "of the three unmodified builds (nvcc -O3, clang 19 -O3, ours) over "
        "the final program. *identical*: the final program prints the checksum "
        "of our unmodified build.", "")
    yield from markdown(
        ["set", "cases", "geomean", "worst", "below 0.99",
         "something is kept in"],
        [summary(what, part) for what, part in (
            ("melding's programs", melded),
            ("remapping's kernels, as they are", remapped)) if part])
    yield ""
    for text in remarks(result, table, predicted):
        yield from (text, "")
    yield from markdown(["program", "nvcc", "clang", "ours", "final", "best",
                         "speed-up", "kept", "result"], table, (0, 5, 7, 8))
    if predicted:
        yield from predictions(predicted)
    yield from examples(store.of("optimize-examples"))
