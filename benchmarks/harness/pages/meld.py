# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/meld-results.md: the suites meld, meld-counts (exact on every CPU, so
the newest) and meld-time."""

from publish import machine, made_by
from results import apart, by_metric, geomean
from tables import markdown

WAYS = ("nvcc", "clang", "reconverge", "melded")
SYNTHETIC = ("sb1", "sb2", "sb3")


def summary(found, chosen, name):
    some = [metrics for key, metrics in found.items() if chosen(key[0])]
    speedups, own = ([metrics[metric]["value"] for metrics in some]
                     for metric in ("speedup", "speedup-over-own"))
    return [name, len(some), f"{geomean(speedups):.3f}", f"{min(speedups):.3f}",
            f"{geomean(own):.3f}",
            f"{geomean([max(1.0, s) for s in speedups]):.3f}"]


def percent(metrics, kind):
    """What is left of them, with melding."""
    row = metrics.get(kind + "-instructions")
    return f"{100 / row['value']:.0f} %" if row else "-"


def counts(result):
    found = by_metric(result["rows"], lambda row: " ".join(
        [row["case"], *(f"{k}={v}" for k, v in row["params"].items())]))
    yield from (
        "", "## Instructions, counted on the warp VM", "",
        f"Made from `{result['path']}`, which `benchmarks/run meld-counts` "
        "wrote: exact counts at the programs' own small sizes, lanes meeting "
        "again as with a reconvergence stack. *CFE*: control-flow efficiency, "
        "before and after. *Fewer slots*: issue slots by the machine file, "
        "before over after. The last three: instructions that warps execute "
        "after melding, of those before (the paper's Fig. 9 and 10); "
        "arithmetic has the selects that melding adds.", "")
    yield from markdown(
        ["program", "CFE", "melded", "fewer slots", "arithmetic",
         "global accesses", "shared accesses"],
        [[name, f"{100 * metrics['cfe-before']['value']:.1f} %",
          f"{100 * metrics['cfe-after']['value']:.1f} %",
          f"{metrics['slots']['value']:.2f}x",
          *(percent(metrics, kind) for kind in ("arithmetic", "global",
                                                "shared"))]
         for name, metrics in found.items()])


def times(result):
    facts = result["environment"]
    found = by_metric(result["rows"], lambda row: row["case"])
    ratios = [metrics["ratio"]["value"] for metrics in found.values()]
    yield from (
        "", "## Time to compile", "",
        f"On an {facts['cpu']}, {facts['date'][:10]}, by `benchmarks/run "
        "meld-time`: CPU seconds from source to machine code of the device, at "
        f"-O3 and with melding, medians of {result['rows'][0]['count']} runs "
        "in turns; ratios below 1 show how much of it is noise. Mean of the "
        f"ratios {sum(ratios) / len(ratios):.3f}, worst {max(ratios):.3f}.", "")
    yield from markdown(
        ["program", "-O3", "melded", "ratio"],
        [[name, f"{m['plain']['value']:.2f}", f"{m['melded']['value']:.2f}",
          f"{m['ratio']['value']:.3f}"] for name, m in found.items()])


def lines(store):
    result = store.of("meld")
    # (program, block, variant) -> metric -> row
    found = by_metric(result["rows"], lambda row: (
        row["case"], row["params"]["block"], row["params"].get("random", 0)))
    same = all(m["speedup"]["verdict"] == "identical" for m in found.values())
    yield from (
        "# Melding on a GPU", "", made_by("meld", result["path"]), "",
        machine(result["environment"]) + ". Milliseconds of kernel time, "
        "medians of alternating runs; *speed-up* is over the fastest of the "
        "three unmelded builds (nvcc -O3, clang 19 -O3, ours), *over own* over "
        "our own build without melding. All melded programs print the checksum "
        "of our unmelded build"
        + ("." if same else ", but where the table says otherwise."), "")
    yield from markdown(
        ["set", "cases", "speed-up, geomean", "worst", "over own, geomean",
         "speed-up if melding is dropped where it loses"],
        [summary(found, lambda n: n in SYNTHETIC, "SB1 to SB3 and -R"),
         summary(found, lambda n: n not in SYNTHETIC, "programs"),
         summary(found, lambda n: True, "all")])
    yield ""
    for text in apart(result):
        yield from (text, "")
    named = {f"{name}{'-R' if random else ''}|{block}": metrics
             for (name, block, random), metrics in found.items()}
    yield from markdown(
        ["program", "block", "nvcc", "clang", "ours", "melded", "speed-up",
         "over own"],
        [[*name.split("|"), *(f"{metrics[way]['value']:.4f}" for way in WAYS),
          f"{metrics['speedup']['value']:.3f}",
          f"{metrics['speedup-over-own']['value']:.3f}"]
         for name, metrics in named.items()])
    lost = [f"{name.replace('|', ' ')} ({metrics['speedup']['value']:.3f})"
            for name, metrics in named.items()
            if metrics["speedup"]["value"] < 0.99]
    yield from (
        "", f"Below 0.99: {', '.join(lost) or 'none'}. `meld` is one candidate "
        "of `optimize`; these are the cases in which it has to be dropped.")
    for suite, part in (("meld-counts", counts), ("meld-time", times)):
        if newest := store.newest(suite):
            yield from part(newest)
