#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which lines of the first cache a load looks up at a time (docs/memory.md).

  tags.py patterns                writes the patterns that tags.cu loads
  tags.py measure PROGRAM FILE    has ncu count them and writes FILE, JSON
  tags.py check FILE              compares what was counted with the rule

A pattern is the bytes of a lane and the offsets of up to 32 lanes. Of each the
hardware counts `lookups`, groups of lines that are looked up together, and
`wavefronts` of the data that came, here always from behind the first cache. The
rule: a line's tag lies in one of four banks, by the parities of two sets of bits
of its number, and each bank looks up one line at a time, in the order of lanes;
then each part of the warp takes a wavefront for each word that one of 32 banks
has to give, group by group."""

import csv
import json
import random
import subprocess
import sys
import tempfile

LINE, BANKS = 128, 32
BITS = (0x7ab5, 0xd5da)  # as TagBits in src/core/Memory.h
BASE = 32 << 20
LOOKUPS = "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts.sum"
OWN = 1  # wavefronts of a launch that loads nothing


def patterns():
    """Of [width, offsets]."""
    draw = random.Random(5)
    far = [80, 96, 128, 160, 192, 256, 320, 384, 512, 768, 1024, 1536, 2048,
           4096, 8192, 16384, 32768, 65536]
    for apart in [*range(1, 65), *far]:
        yield 4, [BASE, BASE + LINE * apart + 4]
    for first in (1, 2, 3, 5, 16, 17):
        for apart in range(1, 17):
            yield 4, [BASE + LINE * first, BASE + LINE * (first + apart) + 4]
    for lanes in (4, 8, 16, 32):
        for apart in (1, 2, 3, 4, 5, 7, 8, 16, 17, 32, 33, 64):
            yield 4, [BASE + LINE * apart * i + 4 * i for i in range(lanes)]
    for _ in range(60):  # lines at random, words in different banks
        lanes = draw.choice([4, 8, 12, 16, 24, 32])
        lines = draw.sample(range(draw.choice([64, 1024, 65536])), lanes)
        yield 4, [BASE + LINE * x + 4 * i for i, x in enumerate(lines)]
    for _ in range(40):  # words at random
        lanes = draw.choice([8, 16, 32])
        span = draw.choice([2, 8, 64, 4096])
        yield 4, [BASE + 4 * draw.randrange(span * 32) for _ in range(lanes)]
    for width in (8, 16):
        for apart in (0, 1, 2, 3, 4, 8):
            yield width, [BASE + width * apart * i for i in range(32)]
        for _ in range(20):
            lanes = draw.choice([8, 16, 32])
            span = draw.choice([2, 8, 64, 4096])
            yield width, [BASE + width * draw.randrange(span * LINE // width)
                          for _ in range(lanes)]


def text_of(width, offsets):
    return " ".join(map(str, [width, *offsets, *[-1] * (32 - len(offsets))]))


def measure(program, path):
    made = list(patterns())
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(text_of(*p) + "\n" for p in made))
        file.flush()
        out = subprocess.run(
            ["ncu", "--clock-control", "none", "--cache-control", "none",
             "--csv", "--page", "raw", "--metrics", f"{LOOKUPS},{WAVEFRONTS}",
             program, file.name],
            check=True, capture_output=True, text=True).stdout
    write(path, made, out)


def write(path, made, out):
    rows = list(csv.reader(line for line in out.splitlines()
                           if line.startswith('"')))
    of = {name: rows[0].index(name) for name in (LOOKUPS, WAVEFRONTS)}
    gpu = rows[2][rows[0].index("device__attribute_display_name")]
    read = [[int(float(row[of[name]].replace(",", ""))) for name in of]
            for row in rows[2:]]
    if len(read) != len(made):
        sys.exit(f"tags: {len(made)} patterns, {len(read)} launches")
    with open(path, "w") as file:
        file.write(f'{{"gpu": {json.dumps(gpu)}, "patterns": [\n')
        file.write(",\n".join(json.dumps(
            {"width": width, "offsets": offsets, "lookups": lookups,
             "wavefronts": wavefronts - OWN})
            for (width, offsets), (lookups, wavefronts) in zip(made, read)))
        file.write("\n]}\n")


def bank(line):
    return tuple((line & bits).bit_count() % 2 for bits in BITS)


def counted(width, offsets):
    """(lookups, wavefronts) by the rule."""
    groups, heights = {}, {}
    for at in offsets:
        line = at // LINE
        if line not in groups:
            groups[line] = heights.get(bank(line), 0)
            heights[bank(line)] = groups[line] + 1
    lanes = 32 if width <= 4 else LINE // width
    sums = 0
    for first in range(0, len(offsets), lanes):
        words = {}  # (group, bank) -> words
        for at in offsets[first:first + lanes]:
            for word in range(at // 4, (at + width) // 4):
                words.setdefault((groups[at // LINE], word % BANKS),
                                 set()).add(word)
        most = {}
        for (group, _), of in words.items():
            most[group] = max(most.get(group, 0), len(of))
        sums += sum(most.values())
    return max(heights.values()), sums


def check(path):
    with open(path) as file:
        rows = json.load(file)["patterns"]
    wrong = [row for row in rows if counted(row["width"], row["offsets"])
             != (row["lookups"], row["wavefronts"])]
    for row in wrong:
        print(f"{row['lookups']} lookups, {row['wavefronts']} wavefronts, by "
              f"the rule {counted(row['width'], row['offsets'])}: {row['width']} "
              f"bytes at {row['offsets']}")
    print(f"{len(rows) - len(wrong)} of {len(rows)} as the rule says")


def main():
    if sys.argv[1:] == ["patterns"]:
        for pattern in patterns():
            print(text_of(*pattern))
    elif len(sys.argv) == 4 and sys.argv[1] == "measure":
        measure(*sys.argv[2:])
    elif len(sys.argv) == 3 and sys.argv[1] == "check":
        check(sys.argv[2])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
