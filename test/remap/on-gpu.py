#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tests of the device library on the GPU at hand, by nvcc.

    on-gpu.py [--cuda CUDA] [--arch 90] [--no-sanitizer]

Builds test/remap/{block,collect,warp,cluster,regroup}.cu and the consumers,
three of them also with every size and number of paths; runs each, then each but
these three under compute-sanitizer: memcheck, racecheck, synccheck. Needs driver, toolkit and a
host compiler, no LLVM. Exit code 1 if something was wrong.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
PROGRAMS = {
    "block": ("block.cu", []),
    "warp": ("warp.cu", ["-DRECONVERGE_CHECK"]),
    "cluster": ("cluster.cu", []),
    "collect": ("collect.cu", ["-DRECONVERGE_CHECK"]),
    "regroup": ("regroup.cu", ["-DRECONVERGE_CHECK"]),
    "consumer": ("consumer/one_branch.cu", []),
    "by key": ("consumer/by_key.cu", []),
    "block, every size": ("block.cu", ["-DRECONVERGE_EVERY_SIZE",
                                       "--split-compile=0"]),
    "collect, every size": ("collect.cu", ["-DRECONVERGE_EVERY_SIZE",
                                           "--split-compile=0"]),
    "regroup, every size": ("regroup.cu", ["-DRECONVERGE_EVERY_SIZE"]),
}


def run(*command):
    done = subprocess.run([str(word) for word in command], text=True,
                          check=False, timeout=600, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--cuda", type=pathlib.Path, default=os.environ.get(
        "CUDA_PATH", "/usr/local/cuda"))
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--no-sanitizer", action="store_true")
    args = parser.parse_args()
    bad = 0

    def report(what, result):
        nonlocal bad
        code, text = result
        bad += code != 0
        print(f"{what}: {'FAILED' if code else 'passed'}: "
              f"{text if code else text.splitlines()[-1]}", flush=True)
        return code == 0

    with tempfile.TemporaryDirectory() as folder:
        def build(name):
            source, options = PROGRAMS[name]
            program = pathlib.Path(folder, name.replace(", ", "-").replace(
                " ", "-"))
            code, text = run(args.cuda / "bin/nvcc", "-std=c++17", "-O3",
                             f"-arch=sm_{args.arch}", "-lineinfo", "-I",
                             INCLUDE, *options, HERE / source, "-o", program)
            return program, (code, text or "built")
        with concurrent.futures.ThreadPoolExecutor() as pool:
            built = dict(zip(PROGRAMS, pool.map(build, PROGRAMS)))
        for name, (program, result) in built.items():
            if not report(f"{name}, nvcc", result):
                continue
            report(f"{name}, run", run(program))
            if args.no_sanitizer or name.endswith("every size"):
                continue
            for tool in ("memcheck", "racecheck", "synccheck"):
                report(f"{name}, {tool}",
                       run(args.cuda / "bin/compute-sanitizer", "--tool", tool,
                           "--error-exitcode", "9", program))
    print(f"{bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
