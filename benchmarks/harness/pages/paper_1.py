# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Liang et al. give of their programs on a GTX 480, for docs/grouping-results.md."""

# Paper 1, Table IV: divergent warps of all, divergent branches of all.
PAPER = {
    "mc": (8192, 8192, 47380, 151820),
    "sw": (1024, 1024, 29783, 83517722),
    "ec": (768, 768, 603954, 52079573),
    "nw": (1024, 1024, 97049370, 1094483922),
    "mum": (2048, 2048, 371967, 1640166),
    "sl": (36, 560, 102, 163624),
    "sm": (4760, 6080, 258875, 3570480),
}
# Table V, errors in points: weighted and scheduled by Sorting, Greedy, Greedy-Max.
PAPER_ERRORS = {
    "mc": ((20.9, 7.6), (20.1, 6.2), (21.8, 7.5)),
    "sw": ((20.2, 15.8), (21.9, 13.0), (2.6, 7.5)),
    "nw": ((5.8, 1.4), (7.5, 2.0), (1.5, 3.5)),
    "sl": ((19.6, 4.0), (22.2, 11.3), (22.0, 7.2)),
    "sm": ((1.5, .5), (1.4, .9), (1.6, 4.3)),
}
PAPER_MEAN_ERRORS = (12.7, 6.2)
# Section VII-C, speed-ups: the best, and the mean.
PAPER_SPEEDUPS = {"sorting": (3.5, 1.7), "greedy": (2.7, 1.6),
                  "greedy-max": (4.7, 2.2)}
