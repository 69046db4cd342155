#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Result files: rows with medians as text, raw samples compressed beside it.

    results.py INTO FROM [CASE...]

puts what was measured apart into a file: the rows of FROM, of all or of these
cases, replace those of the same case and parameters in INTO, which must be of
the same GPU. Each then says of which commit it is, where that is not the
file's. Cases stay in their order.

Two files make one result:

  meld.json             "suite", "environment", "metrics" and "rows", a row a
                        line. What all rows of a metric say alike (unit,
                        baseline, it may be the verdict) stands once, in
                        "metrics". A row has its value, the median of its
                        samples, how many they are, and of more than one their
                        spread.
  meld.samples.json.xz  "samples": a list for each row with a spread, in
                        their order. Not there where no row has one.

In memory a row has all of that, and its samples where they were asked for.
"""

import collections
import glob
import json
import lzma
import os
import statistics
import sys

from errors import BenchError, exit_code
from places import RESULTS

SCHEMA = "reconverge-bench/2"
SAMPLES_SCHEMA = "reconverge-samples/1"
OWN = ("case", "params", "metric", "value", "spread", "samples")  # of each row
FIRST = (*OWN, "unit", "count")  # of a line; all else follows by its name


def row(case, params, metric, samples, unit, **more):
    """One row: the median of the samples, with their spread."""
    return {"case": case, "params": params, "metric": metric,
            "value": statistics.median(samples), "unit": unit,
            "spread": [min(samples), max(samples)], "count": len(samples),
            "samples": list(samples), **more}


def geomean(values):
    return statistics.geometric_mean(values)


def short(commit):
    """Enough of a commit to find it, and whether something was changed then."""
    return commit[:12] + ("-dirty" if commit.endswith("-dirty") else "")


def by_metric(rows, key):
    """key(row) -> metric -> row, in the order of the rows."""
    found = {}
    for r in rows:
        found.setdefault(key(r), {})[r["metric"]] = r
    return found


# ------------------------------------------------------------------- writing

def samples_path(path):
    return os.path.splitext(path)[0] + ".samples.json.xz"


def shared_by_metric(rows):
    """Metric -> what all its rows say alike."""
    shared = {}
    for r in rows:
        mine = {k: v for k, v in r.items() if k not in OWN}
        same = shared.setdefault(r["metric"], mine)
        shared[r["metric"]] = {k: v for k, v in same.items()
                               if k in mine and mine[k] == v}
    return shared


def ordered(r, left_out=()):
    """As JSON, whatever order the keys came in."""
    keys = [k for k in FIRST if k in r] + sorted(set(r) - set(FIRST))
    return json.dumps({k: r[k] for k in keys if k not in left_out})


def text_of(r, shared):
    """A row's line."""
    left_out = {"samples", *shared[r["metric"]]}
    if r["count"] == 1:
        left_out.add("spread")
    return ordered(r, left_out)


def replace(path, content):
    """Writes beside and renames: a reader never sees half of a file."""
    with open(path + ".new", "wb") as out:
        out.write(content)
    os.replace(path + ".new", path)


def lines(entries, indent):
    """JSON of a list or an object whose entries are JSON, one a line."""
    return ",\n".join(indent + entry for entry in entries)


def write(path, suite, environment, rows):
    """Writes both files; every row has its samples."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    shared = shared_by_metric(rows)
    many = [json.dumps(r["samples"]) for r in rows if r["count"] > 1]
    if many:
        text = (f'{{"schema": {json.dumps(SAMPLES_SCHEMA)}, "samples": [\n'
                + lines(many, " ") + "\n]}\n")
        replace(samples_path(path), lzma.compress(
            text.encode(), check=lzma.CHECK_CRC32,
            preset=9 | lzma.PRESET_EXTREME))
    elif os.path.exists(samples_path(path)):
        os.remove(samples_path(path))
    metrics = [f"{json.dumps(metric)}: {ordered(same)}"
               for metric, same in shared.items()]
    replace(path, (
        f'{{\n "schema": {json.dumps(SCHEMA)},\n'
        f' "suite": {json.dumps(suite)},\n'
        f' "environment": {json.dumps(environment)},\n'
        ' "metrics": {\n' + lines(metrics, "  ") + "\n },\n"
        ' "rows": [\n' + lines((text_of(r, shared) for r in rows), "  ")
        + "\n ]\n}\n").encode())


# ------------------------------------------------------------------- reading

def load(path, schema, opened=open):
    try:
        with opened(path, "rt", encoding="utf-8") as text:
            content = json.load(text)
        if content["schema"] == schema:
            return content
    except OSError as why:
        raise BenchError(f"{path}: {why.strerror}") from why
    except (ValueError, KeyError, TypeError, EOFError, lzma.LZMAError) as why:
        raise BenchError(f"{path}: no result file ({why})") from why
    raise BenchError(f"{path} has the schema {content['schema']}, not {schema}")


def add_samples(path, rows):
    many = [r for r in rows if r["count"] > 1]
    samples = load(samples_path(path), SAMPLES_SCHEMA, lzma.open)["samples"] \
        if many else []
    same = len(samples) == len(many) and all(
        [statistics.median(own), [min(own), max(own)], len(own)]
        == [r["value"], r["spread"], r["count"]]
        for r, own in zip(many, samples))
    if not same:
        raise BenchError(f"{samples_path(path)} does not have the samples of "
                         f"{os.path.basename(path)}")
    left = iter(samples)
    for r in rows:
        r["samples"] = next(left) if r["count"] > 1 else [r["value"]]


def read(path, samples=False):
    """A result: "suite", "environment", "rows", and the "path" that a page
    shows; its rows with all that stands once in the file, and with their
    samples if asked for."""
    content = load(path, SCHEMA)
    rows = [{"spread": [r["value"]] * 2, **r,
             **content["metrics"][r["metric"]]} for r in content["rows"]]
    if samples:
        add_samples(path, rows)
    shown = os.path.join("benchmarks", "results",
                         *os.path.abspath(path).split(os.sep)[-2:])
    return {"suite": content["suite"], "environment": content["environment"],
            "rows": rows, "path": shown}


class Store:
    """A folder of results: a folder a machine, in it a file a suite. Pages are
    about one GPU; what is counted is the same on every machine."""

    def __init__(self, folder=RESULTS, gpu="h200"):
        self.folder, self.gpu = folder, gpu

    def path(self, suite):
        return os.path.join(self.folder, self.gpu, suite + ".json")

    def of(self, suite):
        return read(self.path(suite))

    def if_there(self, suite):
        return self.of(suite) if os.path.exists(self.path(suite)) else None

    def all(self, suite):
        """Of every machine, by its name; it may be none."""
        return [read(path) for path in sorted(glob.glob(os.path.join(
            self.folder, "*", suite + ".json")))]

    def newest(self, suite):
        """Of any machine, or None."""
        return max(self.all(suite), default=None,
                   key=lambda result: result["environment"]["date"])


# ------------------------------------------------------------------- merging

def merge(into, other, cases=()):
    """Two results as one, see above."""
    facts, new = into["environment"], other["environment"]
    pairs = {"suite": (into["suite"], other["suite"]),
             **{key: (facts.get(key), new.get(key))
                for key in ("gpu", "driver", "cuda")}}
    for key, (here, there) in pairs.items():
        if here != there:
            raise BenchError(f"one file has the {key} {here}, the other "
                             f"{there}")
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


def apart(result):
    """Sentences on the rows that are of another commit than the file's."""
    commits = collections.defaultdict(dict)
    for r in result["rows"]:
        if "commit" in r:
            commits[short(r["commit"])][r["case"]] = None
    return [f"Measured at commit {commit}, the others at "
            f"{short(result['environment']['commit'])}: {', '.join(cases)}."
            for commit, cases in commits.items()]


def main():
    if len(sys.argv) < 3:
        raise BenchError("usage: results.py INTO FROM [CASE...]")
    into, other = (read(path, samples=True) for path in sys.argv[1:3])
    whole = merge(into, other, sys.argv[3:])
    write(sys.argv[1], whole["suite"], whole["environment"], whole["rows"])
    return 0


if __name__ == "__main__":
    sys.exit(exit_code("results.py", main))
