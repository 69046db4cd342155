#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do probes count accesses to memory as one does by hand?

    check_accesses.py --reconverge ARCHIVE/bin/reconverge [--arch 90]
    check_accesses.py --reconverge bin/reconverge --backend libCountingOnVm.so

Builds Inputs/accesses.cu, whose comments say what each access comes to, and runs
it without and with probes; without a GPU, libReconvergeGPU.so stands before the
warp VM. Output must be the same. Exit code 1 if something was wrong.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "Inputs", "accesses.cu")
COUNTS = ["requests", "lanes", "sectors", "leastSectors", "wavefronts",
          "leastWavefronts", "turns"]
SWEPT = 4096  # sectors that each block of the kernel `sweep` loads


def expected():
    """Line -> (use, counts)."""
    found = {}
    with open(SOURCE, encoding="utf-8") as text:
        for number, line in enumerate(text, 1):
            mark = re.search(r"//= (\w+) ([\d ]+)", line)
            if mark:
                counts = [int(word) for word in mark[2].split()]
                found[number] = (mark[1], (counts + [0])[:len(COUNTS)])
    return found


def counted(kernels):
    """The same of a profile; of copies of an access, the sum."""
    found = {}
    for access in (a for k in kernels for a in k.get("accesses", [])):
        lines = [at["line"] for at in access["where"]
                 if at["file"].endswith("accesses.cu")]
        if not lines:
            continue
        key = lines[0], access["use"]
        sums = found.setdefault(key, [0] * len(COUNTS))
        for at, name in enumerate(COUNTS):
            sums[at] += access[name]
    return found


def run(program, **settings):
    done = subprocess.run([program], env=dict(os.environ, **settings),
                          check=False, timeout=300, stdout=subprocess.PIPE)
    return done.returncode, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--backend")
    parser.add_argument("--arch", type=int, default=90)
    args = parser.parse_args()
    settings = "blocks=all,memory=all"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "accesses")
        profile = os.path.join(folder, "profile.json")
        gpu = [] if args.backend else [f"-arch=sm_{args.arch}", "--fatbin"]
        subprocess.run([args.reconverge, "cc", SOURCE, "-o", program, *gpu],
                       check=True)
        env = {"RECONVERGE_DEVICE": "cpu" if args.backend else "gpu"}
        plain = run(program, **env)
        if args.backend:
            env["RECONVERGE_BACKEND_PATH"] = args.backend
            settings += ",code=bitcode"
        probed = run(program, **env, RECONVERGE_PROFILE=profile,
                     RECONVERGE_GPU=settings)
        read = subprocess.run([args.reconverge, "report", profile],
                              check=False, stdout=subprocess.DEVNULL)
        with open(profile, encoding="utf-8") as text:
            kernels = json.load(text)["kernels"]
    faults = []
    if plain != probed or plain[0]:
        faults.append(f"without probes: {plain}, with probes: {probed}")
    if read.returncode:
        faults.append("the profile cannot be read")
    found, wanted = counted(kernels), expected()
    for line, (use, counts) in wanted.items():
        got = found.get((line, use))
        if got != counts:
            faults.append(f"line {line}: {use} {got}, by hand {counts}")
    for kernel in kernels:
        touched = kernel.get("touched", {})
        print(kernel["display"], touched)
        if kernel["display"].startswith("sweep"):
            each = touched["blockLoads"] / touched["threadBlocks"]
            if not 0.85 * SWEPT < each < 1.15 * SWEPT:
                faults.append(f"sectors of a block: {each}, by hand {SWEPT}")
    print(*faults, sep="\n")
    print(f"check_accesses: {len(wanted)} accesses, {len(faults)} faults")
    return 1 if faults or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
