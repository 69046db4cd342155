#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What testing or watching every access costs, over the examples.

    check-cost.py build/bin/reconverge [check|races]

Builds each example, runs it on the warp VM with and without check=on, or
races=on, three times each with compiled kernels cached, and prints the ratio of the shortest
times and the geometric mean of all. The host's part of each program counts in.
"""
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def shortest(program, vm):
    """Seconds of the shortest of three runs, after one that fills the cache."""
    env = dict(os.environ, RECONVERGE_DEVICE="cpu", RECONVERGE_VM=vm)
    times = []
    for _ in range(4):
        begin = time.monotonic()
        subprocess.run([program], env=env, check=True, stdout=subprocess.DEVNULL)
        times.append(time.monotonic() - begin)
    return min(times[1:])


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in (
            [], ["check"], ["races"]):
        sys.exit(__doc__)
    setting = (sys.argv[2:] or ["check"])[0]
    examples = pathlib.Path(__file__).resolve().parent.parent / "examples"
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for source in sorted(examples.glob("*/*.cu")):
            program = os.path.join(folder, source.stem)
            subprocess.run([sys.argv[1], "cc", source, "-o", program], check=True)
            cache = f"cache={folder}/cache"
            plain = shortest(program, cache)
            checked = shortest(program, f"{cache},{setting}=on")
            ratios.append(checked / plain)
            print(f"{source.stem:15} {plain:7.3f} s {checked:7.3f} s "
                  f"{ratios[-1]:5.1f} x", flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"geometric mean of {len(ratios)}: {mean:.1f} x")


if __name__ == "__main__":
    main()
