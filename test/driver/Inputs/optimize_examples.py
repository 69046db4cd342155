# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""optimize_examples.py RECONVERGE FOLDER [name...]: optimises the examples in
FOLDER (all of them, if none is named) on the warp VM.

Of each: exit code 0; the program's own output is that of the final program,
which ends with 0 (examples check their results); table and file of decisions
say the same, and what is kept was proved and is faster.
"""
import json
import os
import subprocess
import sys
import tempfile
import time


class Wrong(Exception):
    pass


def check(condition, why):
    if not condition:
        raise Wrong(why)


def optimize(reconverge, source, folder):
    program = os.path.join(folder, "program")
    decisions = os.path.join(folder, "decisions.json")
    run = subprocess.run(
        [reconverge, "optimize", "--device", "cpu", "--no-cache", source,
         "-o", program, "--decisions", decisions], capture_output=True,
        text=True, check=False, stdin=subprocess.DEVNULL)
    check(run.returncode == 0, f"exit code {run.returncode}\n{run.stderr}")
    final = subprocess.run([program], capture_output=True, text=True,
                           check=False,
                           env=dict(os.environ, RECONVERGE_DEVICE="cpu"))
    check(final.returncode == 0, f"the final program ends with "
          f"{final.returncode}\n{final.stdout}{final.stderr}")
    check(final.stdout == run.stdout, "the final program prints\n"
          f"{final.stdout}instead of\n{run.stdout}")
    with open(decisions, encoding="utf-8") as text:
        return json.load(text), run.stderr


def judge(decided, table):
    check(decided["whole"]["runs"] == 0, "whole times without a GPU")
    check(decided["kernels"], "no kernel")
    kept = 0
    for kernel in decided["kernels"]:
        name = kernel["display"]
        check(not kernel["measured"], f"{name}: measured without a GPU")
        check(name.split("(")[0][:20] in table, f"{name} is not in the table")
        ends = [tried["candidate"] for tried in kernel["tried"]
                if tried["outcome"] == "kept"]
        keep = kernel["keep"]
        check(ends == ([] if keep["remedy"] == "none" else [keep]),
              f"{name}: keeps {keep}, but {ends} came out as kept")
        for tried in kernel["tried"]:
            why = f"{name}: {tried}"
            check(tried["speedup"] == 0, why)
            check(tried["outcome"] in ("kept", "slower", "unproved", "refused",
                                       "untried"), why)
            if tried["outcome"] == "kept":
                kept += 1
                check(tried["verdict"]["kind"] == "identical", why)
                check(tried["verdict"]["bytes"] > 0, why)
                check(tried["predicted"] >= 1.01, why)
            else:
                check(tried["why"], why)
    check(table.count("kept: ") == kept, f"{kept} kernels are kept\n{table}")
    return kept


def main():
    reconverge, root, *names = sys.argv[1:]
    names = names or sorted(
        name for name in os.listdir(root)
        if os.path.exists(os.path.join(root, name, name + ".cu")))
    failed = 0
    for name in names:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                kept = judge(*optimize(reconverge, os.path.join(
                    root, name, name + ".cu"), folder))
                print(f"{name}: {kept} kept, {time.monotonic() - start:.1f} s")
            except Wrong as why:
                failed += 1
                print(f"{name}: FAILED: {why}")
    return 1 if failed or not names else 0


if __name__ == "__main__":
    sys.exit(main())
