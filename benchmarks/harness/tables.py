# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables: for the terminal, and in markdown."""

import results
from programs import words

FORMS = {"ms": "{:.4f}", "us": "{:.4f}", "x": "{:.3f}", "s": "{:.3f}"}


def show(head, body):
    """Columns as wide as they need; the first to the left, others right."""
    widths = [max(len(str(line[i])) for line in [head, *body])
              for i in range(len(head))]
    for line in [head, ["-" * w for w in widths], *body]:
        cells = [str(c).ljust(w) if i == 0 else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip())


def show_rows(rows):
    """Any rows: a line for each case, a column for each metric, and what is
    not identical; the mean of what is a ratio."""
    metrics = list(dict.fromkeys(r["metric"] for r in rows))
    lines = {}
    for r in rows:
        key = " ".join([r["case"], *words(r["params"])])
        if "kernel" in r and "kernel" not in r["params"]:
            key += " " + str(r["kernel"]).partition("(")[0]
        cells, notes = lines.setdefault(key, ({}, {}))
        cells[r["metric"]] = FORMS.get(r["unit"], "{:.4g}").format(r["value"])
        if r.get("verdict", "identical") not in ("identical", "clean"):
            notes[f"{r['metric']} {r['verdict']}"] = None
    show(["case", *metrics, ""],
         [[key, *(cells.get(m, "-") for m in metrics), "; ".join(notes)]
          for key, (cells, notes) in lines.items()])
    for metric in metrics:
        values = [r["value"] for r in rows
                  if r["metric"] == metric and r["unit"] == "x"]
        if values and min(values) > 0:
            print(f"geomean, {metric}: {results.geomean(values):.3f}x, "
                  f"{min(values):.3f}x to {max(values):.3f}x")


def show_ways(rows):
    """A line for each case and way, whatever its other parameters."""
    show_rows([{**row, "case": f"{row['case']} {row['params']['way']}",
                "params": {}} for row in rows])


def markdown(head, lines, left=(0,)):
    """Lines of a table; the columns named in left are not numbers."""
    yield "| " + " | ".join(head) + " |"
    yield "| " + " | ".join("---" if i in left else "---:"
                            for i in range(len(head))) + " |"
    for line in lines:
        yield "| " + " | ".join(str(cell) for cell in line) + " |"
