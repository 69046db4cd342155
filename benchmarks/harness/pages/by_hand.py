# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the pages of the suites refill and flatten share: a case's line, and the
tables under it."""

from tables import markdown

HEAD = ["case", "nvcc", "clang", "ours", "best by hand", "ms", "speed-up",
        "best remedy", "speed-up", "of by hand"]
UNMODIFIED = ("nvcc", "clang", "reconverge")


def by_case(rows):
    """Case to metric and way to row."""
    found = {}
    for row in rows:
        found.setdefault(row["case"], {})[
            row["metric"], row["params"]["way"]] = row
    return found


def ways_of(rows, by_hand):
    """The ways that were timed, by hand or by a remedy."""
    return [way for metric, way in rows if metric == "speedup" and
            by_hand == way.startswith(("nvcc-", "clang-"))]


def best_of(rows, ways):
    return max(ways, key=lambda way: rows["speedup", way]["value"],
               default=None)


def best(rows, by_hand):
    """Of the ways by hand, or of the remedies; None: there are none."""
    return best_of(rows, ways_of(rows, by_hand))


def value(rows, metric, way, form):
    return form.format(rows[metric, way]["value"]) if way else "-"


def summary(name, rows):
    """A case's line: unmodified, by hand, with a remedy."""
    hand, ours = (best(rows, by) for by in (True, False))
    share = (f"{rows['speedup', ours]['value'] / rows['speedup', hand]['value']:.2f}"
             if ours else "-")
    return [name, *(value(rows, "time", way, "{:.3f}") for way in UNMODIFIED),
            hand, value(rows, "time", hand, "{:.3f}"),
            value(rows, "speedup", hand, "{:.2f}x"), ours or "-",
            value(rows, "speedup", ours, "{:.2f}x"), share]


def every_way(cases):
    """All that was timed."""
    yield from markdown(
        ["case", "way", "ms", "speed-up"],
        [[name, way, f"{rows['time', way]['value']:.4f}",
          value(rows, "speedup", way, "{:.3f}x")
          if ("speedup", way) in rows else "-"]
         for name, rows in cases.items()
         for metric, way in rows if metric == "time"], (0, 1))
