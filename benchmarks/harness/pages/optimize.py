# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/optimize-results.md: the suites optimize and optimize-examples; the
errors in docs/time.md."""

import json
import math
import statistics

import refit
from decided import words_of
from programs import LARGER, REMAPPED, VIRTUAL
from publish import machine, made_by
from results import apart, by_metric, geomean, short
from tables import markdown

WAYS = ("nvcc", "clang", "reconverge", "final")
HEAD = ["case", *WAYS, "best", "speedup", "kept", "result"]


def error_of(row, key="value"):
    """Of the prediction, in % of what was achieved."""
    return (row[key] / row["achieved"] - 1) * 100


def forecast_error_of(row):
    return error_of(row, "forecast")


def errors_of(rows, error=error_of):
    errors = [abs(error(row)) for row in rows]
    if not errors:
        return "nothing: there are none"
    return (f"{sum(errors) / len(errors):.1f} % on average, "
            f"{max(errors):.1f} % at worst")


def label(row):
    return (f"{row['case']}{'-R' if row['params'].get('random') else ''} "
            f"{row['params'].get('block', '')}").strip()


def in_short(words, most=80):
    """A tree has long words."""
    return words if len(words) <= most else words[:most - 20] + " ...)"


def line_of(rows):
    """A case's cells, as HEAD names them."""
    by = {row["metric"]: row for row in rows}
    keep = ", ".join(sorted({in_short(words_of(k))
                             for k in by["speedup"]["keep"].values()}))
    return [label(rows[0]),
            *(f"{by[way]['value']:.4f}" if way in by else "-" for way in WAYS),
            by["speedup"]["best"], f"{by['speedup']['value']:.3f}",
            keep or "none", by["speedup"]["verdict"]]


SETS = ("programs for melding", "kernels for remapping",
        "kernels of Liang et al.", "virtual functions")


def set_of(row):
    """Which of SETS a row's case is in."""
    if row["case"].endswith(LARGER):
        return SETS[2]
    if row["case"] in VIRTUAL:
        return SETS[3]
    remapped = REMAPPED.get(row["case"]) == row["params"]
    return SETS[1] if remapped else SETS[0]


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
        f"{facts['date'][:10]}, commit {short(facts['commit'])}: each example at "
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


def with_forecast(rows):
    return [row for row in rows if "forecast" in row]


def predictions(rows):
    yield from ("", "## Predicted and achieved", "",
                "Over our own build of the kernel as it is. *Predicted*: from "
                "counts of both.", "")
    head = ["program", "kernel", "candidate", "predicted", "achieved", "error"]
    table = [[label(row), f"`{row['kernel']}`", words_of(row["candidate"]),
              f"{row['value']:.3f}", f"{row['achieved']:.3f}",
              f"{error_of(row):+.1f} %"] for row in rows]
    if with_forecast(rows):
        head += ["forecast", "error"]
        for line, row in zip(table, rows):
            line += ([f"{row['forecast']:.3f}",
                      f"{forecast_error_of(row):+.1f} %"]
                     if "forecast" in row else ["-", "-"])
    yield from markdown(
        head + ["outcome"],
        [line + [row["outcome"]] for line, row in zip(table, rows)],
        (0, 1, 2, len(head)))


def coverage(rows, low="low", high="high"):
    """How often what was achieved lies in the interval."""
    between = [row for row in rows if low in row]  # not in older rows
    inside = sum(r[low] <= r["achieved"] <= r[high] for r in between)
    return ("What was achieved lies in the interval in "
            f"{inside} of {len(between)}.")


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
               f"{errors_of(kept)}. {coverage(predicted)}")
    if early := with_forecast(predicted):
        yield (f"{len(early)} of them have a forecast, from counts of the "
               "kernel as it is, before the candidate was built. It differs "
               f"from what was achieved by "
               f"{errors_of(early, forecast_error_of)}. "
               f"{coverage(early, 'forecastLow', 'forecastHigh')}")


def lines(store):
    result = store.of("optimize")
    cases = {}
    for row in result["rows"]:
        cases.setdefault((row["case"], json.dumps(row["params"])),
                         []).append(row)
    table, sets = [], {name: [] for name in SETS}
    for rows in cases.values():
        table.append(line_of(rows))
        sets[set_of(rows[0])].append(table[-1])
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
        [summary(what, part) for what, part in sets.items() if part])
    yield ""
    for text in remarks(result, table, predicted):
        yield from (text, "")
    yield from markdown(["program", "nvcc", "clang", "ours", "final", "best",
                         "speed-up", "kept", "result"], table, (0, 5, 7, 8))
    if predicted:
        yield from predictions(predicted)
    yield from examples(store.of("optimize-examples"))


COVERED = 0.9  # of what was achieved should lie in the interval


def slots_error_of(row):
    """As error_of, had it been predicted by issue slots added up."""
    slots = [sum(launch["slots"] for launch in row[side])
             for side in ("original", "variant")]
    return (slots[0] / slots[1] / row["achieved"] - 1) * 100


def factor_of(row):
    ratio = row["value"] / row["achieved"]
    return max(ratio, 1 / ratio)


def factors(rows):
    """For each kernel's rows the factor, both ways, that holds so many of the
    others'; and how many of its own it holds."""
    for case in dict.fromkeys(row["case"] for row in rows):
        others = sorted(factor_of(r) for r in rows if r["case"] != case)
        if others:
            factor = others[math.ceil(COVERED * len(others)) - 1]
            yield factor, sum(factor_of(r) <= factor for r in rows
                              if r["case"] == case)


def error_line(what, rows, error):
    errors = [abs(error(row)) for row in rows]
    return [what, len(rows), f"{statistics.mean(errors):.1f} %",
            f"{statistics.median(errors):.1f} %", f"{max(errors):.0f} %"]


def errors(store):
    """What docs/time.md says of the predictions of the last run."""
    result = store.of("optimize")
    rows = [row for row in result["rows"] if row["metric"] == "predicted"]
    yield ("The last run: " + machine(result["environment"]) + ", commit "
           f"{short(result['environment']['commit'])}.")
    yield ""
    table = [error_line("the model", rows, error_of)]
    for remedy in sorted({row["candidate"]["remedy"] for row in rows}):
        table.append(error_line(
            f"of these {remedy}",
            [row for row in rows if row["candidate"]["remedy"] == remedy],
            error_of))
    with_slots = [row for row in rows if row.get("variant")]
    if with_slots:
        table.append(error_line("issue slots added up", with_slots,
                                slots_error_of))
    if early := with_forecast(rows):
        table.append(error_line("forecasts", early, forecast_error_of))
    yield from markdown(["predicted by", "candidates", "mean", "median",
                         "worst"], table, (0,))
    told = [row for row in rows if abs(row["achieved"] - 1) > 0.02]
    right = sum((row["value"] > 1) == (row["achieved"] > 1) for row in told)
    found = list(factors(rows))
    yield ""
    yield (f"{coverage(rows)} Whether a candidate gains or loses more than 2 % "
           f"is right in {right} of {len(told)}. The factor that holds nine of ten of the "
           "other kernels' candidates is "
           f"{min(f for f, _ in found):.2f} to {max(f for f, _ in found):.2f}, "
           f"and holds {sum(n for _, n in found)} of {len(rows)}.")
    if chosen := refit.sentence(rows, result["environment"]["gpu"]):
        yield ""
        yield chosen
