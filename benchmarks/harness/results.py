# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of a result file: medians with their raw samples, written as JSON.

    results.py INTO FROM [CASE...]

puts what was measured apart into a file: the rows of FROM, of all or of these
cases, replace those of the same case and parameters in INTO, which must be of
the same GPU. Each then says of which commit it is, where that is not the
file's. Cases stay in their order.
"""

import json
import math
import os
import statistics
import sys

SCHEMA = "reconverge-bench/1"


def geomean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def row(case, params, metric, samples, unit, **more):
    """One row: the median of the samples, with their spread."""
    return {
        "case": case, "params": params, "metric": metric,
        "value": statistics.median(samples), "unit": unit,
        "spread": [min(samples), max(samples)], "samples": samples, **more,
    }


def write(path, suite, environment, rows):
    """Writes the file beside and renames it: a reader never sees half of it."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    beside = path + ".new"
    with open(beside, "w", encoding="utf-8") as out:
        out.write("{\n")
        out.write(f' "schema": {json.dumps(SCHEMA)},\n')
        out.write(f' "suite": {json.dumps(suite)},\n')
        out.write(f' "environment": {json.dumps(environment)},\n')
        out.write(' "rows": [\n')
        out.write(",\n".join("  " + json.dumps(r) for r in rows))
        out.write("\n ]\n}\n")
    os.replace(beside, path)


def merge(into, other, cases=()):
    """Two contents of result files as one, see above."""
    for key in ("suite", "schema"):
        if into[key] != other[key]:
            sys.exit(f"results.py: one file has the {key} {into[key]}, the "
                     f"other {other[key]}")
    facts, new = into["environment"], other["environment"]
    for key in ("gpu", "driver", "cuda"):
        if facts.get(key) != new.get(key):
            sys.exit(f"results.py: one file was measured with the {key} "
                     f"{facts.get(key)}, the other {new.get(key)}")
    cases = set(cases) or {r["case"] for r in other["rows"]}
    same = facts["commit"] == new["commit"]
    added = [r if same else {"commit": new["commit"], **r}
             for r in other["rows"] if r["case"] in cases]
    kept = [r for r in into["rows"]
            if not any((r["case"], r["params"]) == (a["case"], a["params"])
                       for a in added)]
    order = list(dict.fromkeys(r["case"] for r in into["rows"] + added))
    return {**into, "rows": sorted(kept + added,
                                   key=lambda r: order.index(r["case"]))}


def apart(content):
    """Sentences on the rows that are of another commit than the file's."""
    commits = {}
    for r in content["rows"]:
        if "commit" in r:
            commits.setdefault(r["commit"][:12], {})[r["case"]] = None
    return [f"Measured at commit {commit}, the others at "
            f"{content['environment']['commit'][:12]}: {', '.join(cases)}."
            for commit, cases in commits.items()]


def print_table(head, body):
    """Columns as wide as they need; the first to the left, others right."""
    widths = [max(len(str(line[i])) for line in [head, *body])
              for i in range(len(head))]
    for line in [head, ["-" * w for w in widths], *body]:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def publish(text, page, script):
    """Writes what script made of results to docs/page; with --check
    among our words, exits with an error where the page has something else."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..",
                        "docs", page)
    if "--check" in sys.argv:
        with open(path, encoding="utf-8") as old:
            if old.read() != text:
                sys.exit(f"docs/{page} is not what the results say; run "
                         f"benchmarks/harness/{script}")
        return
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: results.py INTO FROM [CASE...]")
    contents = []
    for path in sys.argv[1:3]:
        with open(path, encoding="utf-8") as text:
            contents.append(json.load(text))
    whole = merge(*contents, sys.argv[3:])
    write(sys.argv[1], whole["suite"], whole["environment"], whole["rows"])


if __name__ == "__main__":
    main()
