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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--memory", type=float, default=200,
                        help="MB of peak resident memory; 0: not measured")
    args = parser.parse_args()
    name = os.path.splitext(os.path.basename(args.source))[0]
    expected = os.path.join(os.path.dirname(args.source), "expected.txt")

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
                             text=True, check=False)
        if run.returncode != 0:
            fail(f"profile ends with {run.returncode}\n{run.stderr}")
        if run.stdout != output:
            fail(f"profile changes the program's output:\n{run.stdout}")
        if not re.search(r"cfe", run.stderr, re.IGNORECASE):
            fail(f"profile prints no table:\n{run.stderr}")
        with open(report, encoding="utf-8") as text:
            # blur<5> is an instance of blur.
            ran = {re.split("[<(]", k["display"])[0]
                   for k in json.load(text)["kernels"]}
        with open(args.source, encoding="utf-8") as text:
            kernels = set(re.findall(r"__global__ void (\w+)", text.read()))
        if ran != kernels:
            fail(f"profile saw the kernels {sorted(ran)}, the source has "
                 f"{sorted(kernels)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
