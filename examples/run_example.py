#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one example as a test: build it, profile it, check what it did.

    run_example.py --reconverge build/bin/reconverge --source bitonic/bitonic.cu

1. `reconverge cc` builds the program.
2. The program runs on the warp VM. It checks its own results; its exit code
   must be 0, and its output must be <name>/expected.txt where that exists.
3. Its peak resident memory stays below the limit: everything that this project
   adds to a process (the VM, its compiler, its frames) counts.
4. `reconverge profile` of that program gives a table with a CFE on stderr, the
   same output on stdout, and a divergence.json with every kernel of the source.
5. `reconverge profile --races` finds races in the kernels that README.md names
   for it, as <!-- races: kernel -->, and in no others.
6. The rows of the table that README.md shows, between <!-- table --> and
   <!-- /table -->, are the first of that table. --update writes them.
7. Figures in README.md's paragraph "What the table shows" are in the table: a
   count of copies, a share in per cent.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile


def fail(message):
    sys.exit(f"run_example: FAILED: {message}")


def run_measured(command, env, folder):
    """Returns exit code, output and peak resident memory in MB."""
    out = os.path.join(folder, "stdout")
    with open(out, "wb") as stdout:
        process = subprocess.Popen(command, env=env, stdout=stdout)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    with open(out, encoding="utf-8") as text:
        return process.returncode, text.read(), usage.ru_maxrss / 1024


MARKS = ("<!-- table -->\n", "<!-- /table -->")
MOST_PLACES = 3


def first_rows(report):
    """The table's head and first places, each with the lines under it."""
    lines = report.split("\n")
    begin = next((i for i, line in enumerate(lines)
                  if line.strip() == "recoverable in"), None)
    if begin is None:
        return ""
    rows = lines[begin:begin + 2]
    places = 0
    for line in lines[begin + 2:]:
        # A place begins with its self.
        places += bool(re.match(r" *[0-9.]+%", line))
        if not line or line.startswith("and ") or places > MOST_PLACES:
            break
        rows.append(line)
    return "```\n" + "\n".join(row.rstrip() for row in rows) + "\n```\n"


def check_prose(path, text, report):
    found = re.search(r"^\*\*What the table shows\.\*\*(.*)$", text, re.M)
    figures = re.findall(r"[0-9]+ copies|[0-9.]+ ?%", found[1]) if found else []
    for figure in figures:
        if figure.replace(" %", "%") not in report:
            fail(f"{path} says {figure}, and the table does not:\n{report}")


def check_readme(path, report, update):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check_prose(path, text, report)
    if MARKS[0] not in text:
        return
    head, rest = text.split(MARKS[0], 1)
    shown, tail = rest.split(MARKS[1], 1)
    rows = first_rows(report)
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write(head + MARKS[0] + rows + MARKS[1] + tail)
    elif shown != rows:
        fail(f"{path} shows\n{shown}and the table is\n{rows}"
             "run_example.py --update writes it")


def check_races(reconverge, program, report, readme):
    """profile --races finds what the README says, and no more."""
    run = subprocess.run([reconverge, "profile", "--races", program, "-o",
                          report], stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        fail(f"profile --races ends with {run.returncode}\n{run.stderr}")
    with open(report, encoding="utf-8") as text:
        profile = json.load(text)
    with open(readme, encoding="utf-8") as file:
        documented = set(re.findall(r"<!-- races: (\w+) -->", file.read()))
    found = {k["display"] for k in profile["kernels"]
             if any(not r["sameValue"] for r in k["races"]["found"])}
    if found != documented:
        fail(f"races in {sorted(found)}, and {readme} names "
             f"{sorted(documented)}:\n{run.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--memory", type=float, default=200,
                        help="MB of peak resident memory; 0: not measured")
    parser.add_argument("--update", action="store_true",
                        help="write the table's rows into README.md")
    args = parser.parse_args()
    name = os.path.splitext(os.path.basename(args.source))[0]
    folder_of_source = os.path.dirname(args.source)
    expected = os.path.join(folder_of_source, "expected.txt")
    readme = os.path.join(folder_of_source, "README.md")

    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, name)
        subprocess.run([args.reconverge, "cc", args.source, "-o", program],
                       check=True)
        env = dict(os.environ, RECONVERGE_DEVICE="cpu")
        code, output, memory = run_measured([program], env, folder)
        print(output, end="")
        if code != 0:
            fail(f"{name} ends with {code}")
        if os.path.exists(expected):
            with open(expected, encoding="utf-8") as text:
                if output != text.read():
                    fail(f"{name}: output differs from {expected}")
        print(f"run_example: {name}: peak resident memory {memory:.0f} MB")
        if args.memory and memory > args.memory:
            fail(f"{name}: more than {args.memory:.0f} MB")

        report = os.path.join(folder, "divergence.json")
        run = subprocess.run([args.reconverge, "profile", "--device", "cpu",
                              program, "-o", report], capture_output=True,
                             text=True, check=False,
                             env=dict(os.environ, COLUMNS="100"))
        if run.returncode != 0:
            fail(f"profile ends with {run.returncode}\n{run.stderr}")
        if run.stdout != output:
            fail(f"profile changes the program's output:\n{run.stdout}")
        if not re.search(r"cfe", run.stderr, re.IGNORECASE):
            fail(f"profile prints no table:\n{run.stderr}")
        check_readme(readme, run.stderr, args.update)
        with open(report, encoding="utf-8") as text:
            # blur<5> is an instance of blur.
            ran = {re.split("[<(]", k["display"])[0]
                   for k in json.load(text)["kernels"]}
        with open(args.source, encoding="utf-8") as text:
            kernels = set(re.findall(r"__global__ void (\w+)", text.read()))
        if ran != kernels:
            fail(f"profile saw the kernels {sorted(ran)}, the source has "
                 f"{sorted(kernels)}")
        check_races(args.reconverge, program, report, readme)
    return 0


if __name__ == "__main__":
    sys.exit(main())
