#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `reconverge test` says of each planted mistake: the table of docs/testing.md.

    planted.py build/bin/reconverge [--update | --check]

The mistakes are the kernels of test/testing/planted.cu and unwritten.cu. Their
RUN lines say by which options each is found and what the test then returns; this
script makes the same runs and has a row for each: what was planted, the options,
the exit code, what is said, and at which lines. What changes from run to run
(addresses, the rest of a finding's place) is left out. --update writes the table
into the page, --check fails if the page has another.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/testing.md"
BEGIN, END = "<!-- planted -->\n", "<!-- /planted -->"
SOURCES = ("planted.cu", "unwritten.cu")
RUN = re.compile(r"// RUN: sh -c '.*%reconverge test (.*)-- %t (\w+) 2> \S+ "
                 r"test \$\? = (\d+)'")
PLACE = re.compile(r"^ +(.*?)at (?:\S*/)?(\w+\.cu:\d+)")


def runs_of(source):
    """(options, mistake, exit code) of each run that finds something."""
    for line in source.read_text().splitlines():
        if found := RUN.match(line):
            yield found[1].strip(), found[2], int(found[3])


def findings_of(text):
    """(sentence, places) of each finding."""
    found = []
    for line in text.splitlines():
        place = PLACE.match(line)
        if place and found:
            found[-1][1].append(place[1] + place[2])
        elif line.startswith("reconverge:"):
            break
        elif ": " in line:
            found.append((line, []))
    return found


def sentence(line):
    """(kind, what is said), without the kernel's name."""
    kind, _, rest = line.strip().partition(": ")
    rest = re.sub(r"^\w+: ", "", rest)
    rest = re.sub(r" at address 0x[0-9a-f]+", "", rest)
    rest = re.sub(r"/\S*/(\w+\.cu)", r"\1", rest)
    return kind, rest.replace("|", "\\|")


def rows(reconverge):
    with tempfile.TemporaryDirectory() as folder:
        for name in SOURCES:
            source = ROOT / "test/testing" / name
            program = os.path.join(folder, source.stem)
            subprocess.run([reconverge, "cc", "-O3", "-g", source, "-o",
                            program], check=True)
            for options, mistake, code in runs_of(source):
                done = subprocess.run(
                    [reconverge, "test", f"--cache={folder}/cache",
                     *options.split(), "--", program, mistake],
                    env=dict(os.environ, COLUMNS="400"), text=True,
                    capture_output=True)
                if done.returncode != code:
                    sys.exit(f"{name}: {mistake}: {done.returncode} instead of "
                             f"{code}\n{done.stderr}")
                found = findings_of(done.stderr)
                if not found:
                    sys.exit(f"{name}: {mistake}: nothing is said\n"
                             + done.stderr)
                kind, said = sentence(found[0][0])
                yield (f"`{mistake}`", f"`{options}`" if options else "",
                       f"{kind} ({code})", said,
                       ", ".join(found[0][1]))


def table(reconverge):
    yield "| planted | options | kind, exit code | what is said | where |"
    yield "| --- | --- | --- | --- | --- |"
    for row in rows(reconverge):
        yield "| " + " | ".join(row) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("reconverge", type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    text = "\n".join(table(args.reconverge)) + "\n"
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    old, _, after = rest.partition(END)
    if args.update:
        PAGE.write_text(before + BEGIN + text + END + after)
    elif args.check:
        if old != text:
            sys.exit(f"{PAGE} has another table: utils/planted.py --update "
                     f"writes it\n{text}")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
