# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/remap-results.md: the suites remap, remap-counts (exact on every CPU)
and remap-counters, where it was measured."""

import statistics

from programs import COLLECTED, COLLECT_WAYS, REMAPPED, REMAP_WAYS
from publish import machine, made_by
from results import apart
from tables import markdown

COMPILERS = ("nvcc", "clang", "reconverge")
TITLES = {"head_or_tail": "head or tail", "data_group_indexing": "DGI",
          "warp_aggregated": "warp-aggregated", "automatic": "automatic",
          "cluster": "cluster of 8", "cub": "CUB radix sort"}
# The paper's benchmarks that are others' programs.
THIRD_PARTY = ("bp", "histo", "lbm", "pb", "sad", "mg", "nqueens")
MICRO = {"two-paths": 2, "four-paths": 4}


def of_ideal(rows, case, even):
    """The table of one case: block and length, the ideal, what can be reached
    of it, each way; of nvcc's builds."""
    values = {(r["metric"], r["params"]["block"], r["params"]["length"],
               r["params"]["way"]): r["value"] for r in rows
              if r["case"] == case and r["params"]["compiler"] == "nvcc"
              and r["params"]["even"] == even}
    ways = [w for w in TITLES if any(k[3] == w for k in values)]
    body = []
    for block, length in dict.fromkeys(key[1:3] for key in values):
        warps = block // 32
        best = 100 if even else 100 * warps / (warps + MICRO[case] - 1)
        body.append([block, length,
                     f"{values['ideal', block, length, 'ideal']:.2f}x",
                     f"{best:.1f}",
                     *(f"{100 * values['of-ideal', block, length, w]:.1f}"
                       for w in ways)])
    return markdown(["threads", "instructions a path", "ideal", "at best",
                     *(TITLES[w] for w in ways)], body, ())


def speedups(by_hand, counts):
    """The table of kernels: efficiency, speed-up, share of what was there to
    win."""
    efficiency = {(r["case"], r["params"]["way"]): r["value"]
                  for result in counts for r in result["rows"]}
    shares, body = {}, []
    for name in REMAPPED:
        lanes = [efficiency[name, way] for way in REMAP_WAYS]
        library = [by_hand[name, "library", c]["value"] for c in COMPILERS]
        cub = max(by_hand[name, "cub", c]["value"] for c in COMPILERS)
        shares[name] = (max(library) - 1) / (1 / lanes[0] - 1)
        body.append([name, *(f"{100 * value:.1f} %" for value in lanes),
                     f"{1 / lanes[0]:.2f}x",
                     *(f"{value:.2f}x" for value in library), f"{cub:.2f}x",
                     f"{100 * shares[name]:.0f} %"])
    yield from markdown(["kernel", "lanes at work", "library", "CUB",
                         "potential", *(f"library, {c}" for c in COMPILERS),
                         "CUB, best", "share won"], body)
    mean = statistics.mean(shares[name] for name in THIRD_PARTY)
    yield ""
    yield (f"Mean share of {', '.join(THIRD_PARTY)}: {100 * mean:.0f} % (the "
           "paper's, of its own versions and on a GPU of 2014: 71 %).")


def collected(by_hand, counts):
    """The table of kernels by block_collect: issue slots saved, and the
    speed-up of each form in the build that makes most of it."""
    slots = {(r["case"], r["params"]["way"]): r["value"]
             for result in counts for r in result["rows"]
             if r["metric"] == "slots"}

    def best(name, way):
        return max(by_hand[name, way, c]["value"] for c in COMPILERS)

    body = []
    for name in COLLECTED:
        forms = [best(name, way) for way in COLLECT_WAYS]
        body.append([name, f"{slots[name, REMAP_WAYS[1]]:.2f}x",
                     f"{slots[name, COLLECT_WAYS[1]]:.2f}x",
                     f"{best(name, REMAP_WAYS[1]):.2f}x",
                     *(f"{value:.2f}x" for value in forms),
                     f"{max(forms):.2f}x"])
    return markdown(["kernel", "slots, remapped", "collected", "remapped",
                     *(way.removeprefix("collect-").replace("-", ", ")
                       for way in COLLECT_WAYS), "best"], body)


def resources(by_hand):
    body = []
    for name in REMAPPED:
        ways = [by_hand[name, w, "nvcc"] for w in REMAP_WAYS]
        body.append([name, f"{ways[0]['milliseconds']:.2f}",
                     *(r["registers"] for r in ways),
                     *(r["shared"] for r in ways[1:]),
                     *(f"{100 * r['occupancy']:.0f} %" for r in ways)])
    return markdown(["kernel", "ms", "registers", "library", "CUB",
                     "shared bytes", "CUB", "occupancy", "library", "CUB"],
                    body)


def counters(result):
    """The table of hardware counters."""
    values = {(r["case"], r["metric"], r["params"]["way"]): r["value"]
              for r in result["rows"]}
    yield ("And what they wait for, by hardware counters of nvcc's builds as "
           "they are and with the library: *issue*, warp instructions a cycle "
           "and scheduler, of at most 1; *lanes*, active threads per "
           "instruction; *sectors* of 32 bytes that a warp's global load "
           "takes; device memory. Where lanes rise and issue falls as much, "
           "the kernel waits for memory, and fuller warps wait as long.")
    yield ""
    forms = {"issue": "{:.2f}", "lanes": "{:.1%}", "sectors": "{:.1f}",
             "dram": "{:.0f}"}
    yield from markdown(
        ["kernel", "issue", "library", "lanes", "library", "sectors", "library",
         "GB/s", "library"],
        [[name, *(form.format(values[name, metric, way])
                  for metric, form in forms.items()
                  for way in REMAP_WAYS[:2])] for name in REMAPPED])


def rounds(rows):
    """What a round of 256 threads costs a block alone."""
    costs = {(r["params"]["algorithm"], r["params"]["paths"],
              r["params"]["compiler"]): r["value"] for r in rows
             if r["case"] == "round" and r["params"]["blocks-per-sm"] == 1}
    return markdown(
        ["algorithm", "paths", *COMPILERS],
        [[TITLES[algorithm], paths,
          *(f"{costs[algorithm, paths, c]:.2f}" for c in COMPILERS)]
         for algorithm, paths in dict.fromkeys(key[:2] for key in costs)])


def lines(store):
    result = store.of("remap")
    rows = result["rows"]
    by_hand = {(r["case"], r["params"]["way"], r["params"]["compiler"]): r
               for r in rows if r["case"] in REMAPPED}
    yield from (
        "# The device library on a GPU", "", made_by("remap", result["path"]),
        "", machine(result["environment"]) + ". All overhead included; medians "
        "of alternating runs. The micro-benchmark checks its first blocks "
        "against the CPU; of the kernels all ways and builds must leave the "
        "same bytes, and the tests check them against the CPU at smaller "
        "sizes.", "")
    for text in apart(result):
        yield from (text, "")
    yield from (
        "## Kernels remapped by hand with it", "",
        "*Lanes at work* is the control-flow efficiency of the kernel as it "
        "was, with the library and with CUB, counted on the warp VM at a small "
        "size (`benchmarks/run remap-counts`); *potential* is one over the "
        "first. Speed-ups are over the fastest build (nvcc -O3, clang 19 -O3, "
        "ours) of the kernel as it was; *share won* is the best of the "
        "library's less one, over the potential less one. What each kernel is, "
        "where it diverges, and what it is bad at: its folder in "
        "`benchmarks/kernels/`.", "")
    yield from speedups(by_hand, store.all("remap-counts"))
    yield from ("", "What nvcc's builds take:", "")
    yield from resources(by_hand)
    yield ""
    yield from (
        "### Collected", "",
        "The same kernels by `block_collect` ([collect.md](collect.md)), in "
        "forms of so many threads, items a thread and items of a chunk. "
        "*Slots*: issue slots before over after, counted on the warp VM, by "
        "`block_remap` and by `block_collect` with 256 threads and four items. "
        "Speed-ups are of the best of the three builds, over the fastest build "
        "of the kernel as it was; *remapped* is `block_remap`'s. nqueens has "
        "no path that is known before its search.", "")
    yield from collected(by_hand, store.all("remap-counts"))
    yield ""
    if read := store.if_there("remap-counters"):
        yield from counters(read)
    yield from ("", "## One round", "",
                "Microseconds that a round adds to a block of 256 threads alone "
                "on its multiprocessor.", "")
    yield from rounds(rows)
    yield from (
        "", "## Share of the ideal", "",
        "Each thread takes one of the paths, from its own data; *ideal* is the "
        "same work with nothing divided, over the original; the other columns "
        "are the share of that, in %, of the same build (nvcc's). *Even*: each "
        "block has as many threads of each path, in random order. *Drawn*: "
        "every thread's path is drawn; then one warp fewer than there are "
        "paths stays mixed, whatever the method, and takes twice as long. *At "
        "best* is what that leaves in a block of W warps with P paths, W / (W "
        "+ P - 1), before the round costs anything. A cluster has more threads "
        "to choose from.")
    for case in MICRO:
        for even, word in ((1, "even"), (0, "drawn")):
            yield from ("", f"### {case.replace('-', ' ').capitalize()}, "
                        f"{word}", "")
            yield from of_ideal(rows, case, even)
