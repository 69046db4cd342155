#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Are right programs counted on a GPU that are hard to count?

    check_counted.py --reconverge ARCHIVE/bin/reconverge [--arch 90]
    check_counted.py --reconverge bin/reconverge --backend libCountingOnVm.so

Builds Inputs/counted.cu. For calls that recurse, finds the smallest stack that
the program needs as it is; with probes, under that limit, it must print the
same, its own limit included. Kernels whose warps come in parts must leave a
profile that can be read. Without a GPU, libReconvergeGPU.so stands before the
warp VM. Exit code 1 if something was wrong.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "Inputs", "counted.cu")
DEPTH = "60"


def run(command, **settings):
    done = subprocess.run(command, env=dict(os.environ, **settings), text=True,
                          check=False, timeout=300, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    return done.returncode, done.stdout.strip(), done.stderr.strip()


def smallest_stack(program, device):
    """The least limit, a multiple of 16 bytes, under which it runs, and what
    it prints."""
    below, enough = 0, 1 << 16
    while enough - below > 16:
        middle = (below + enough) // 32 * 16
        code, _, _ = run([program, "deep", str(middle), DEPTH], **device)
        below, enough = (below, middle) if code == 0 else (middle, enough)
    return enough, run([program, "deep", str(enough), DEPTH], **device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--backend")
    parser.add_argument("--arch", type=int, default=90)
    args = parser.parse_args()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "counted")
        profile = os.path.join(folder, "profile.json")
        gpu = [] if args.backend else [f"-arch=sm_{args.arch}", "--fatbin"]
        subprocess.run([args.reconverge, "cc", SOURCE, "-o", program, *gpu],
                       check=True)
        plain = {"RECONVERGE_DEVICE": "cpu" if args.backend else "gpu"}
        counted = dict(plain, RECONVERGE_PROFILE=profile,
                       RECONVERGE_GPU="blocks=all")
        if args.backend:
            counted.update(RECONVERGE_BACKEND_PATH=args.backend,
                           RECONVERGE_GPU="code=bitcode,blocks=all")
            stack, alone = 1024, run([program, "deep", "1024", DEPTH], **plain)
        else:
            stack, alone = smallest_stack(program, plain)
        with_probes = run([program, "deep", str(stack), DEPTH], **counted)
        print(f"deep: {stack} bytes of stack; as it is: {alone[:2]}; "
              f"with probes: {with_probes[:2]}")
        if alone[0] or with_probes[:2] != alone[:2]:
            faults.append(f"deep: {with_probes}")
        for arguments in (["deep", str(stack), DEPTH], ["parts"]):
            code, _, errors = run([program, *arguments], **counted)
            read = run([args.reconverge, "report", profile])
            print(f"{arguments[0]}:", *(errors.splitlines() or ["no notes"]),
                  sep="\n  ")
            if code or read[0]:
                faults.append(f"{arguments[0]}: {code}, {errors}, {read}")
                continue
            with open(profile, encoding="utf-8") as text:
                for kernel in json.load(text)["kernels"]:
                    print(f"  {kernel['display']}:",
                          [(b["warps"], b["splits"], b["lanesTo"])
                           for b in kernel["branches"]])
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
