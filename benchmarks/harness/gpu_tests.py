#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suite `tests`: every example on the GPU, at its own size.

    gpu_tests.py [--output FILE] [--device-code WHOSE] [name...]

Each is built with code for the GPU (reconverge's, nvcc's or clang's), must end
with 0 there (it checks its own results), and its output is compared with the
warp VM's: of clang's code, whose arithmetic is its own, it may well differ. One
row an example: metric `gpu-output`, 1 if it ran right, with the verdict on the
output. Exit code 1 if one failed, or its output differs from the VM's.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

import baseline
import builds
import environment
import results


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("--prefix", default=baseline.default_prefix())
    parser.add_argument("--cuda", default=environment.cuda_path())
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--device-code", default="reconverge",
                        choices=["reconverge", "nvcc", "clang"])
    parser.add_argument("--output")
    parser.add_argument("names", nargs="*", metavar="name")
    return parser.parse_args()


def run(program, device, cuda):
    env = dict(os.environ, RECONVERGE_DEVICE=device, CUDA_PATH=cuda)
    done = subprocess.run([program], env=env, capture_output=True, text=True,
                          check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def try_one(args, source, program):
    """(1 or 0, verdict) of one example."""
    compilers = builds.Compilers(args.prefix, args.cuda, args.arch)
    way = ("reconverge" if args.device_code == "reconverge"
           else args.device_code + "-inside")
    compilers.build(way, source, program)
    code, on_gpu, errors = run(program, "gpu", args.cuda)
    if code != 0:
        return 0, f"differs (exit code {code}: {(on_gpu + errors).strip()})"
    code, on_vm, errors = run(program, "cpu", args.cuda)
    if code != 0:
        return 0, f"unknown (on the VM exit code {code}: {errors.strip()})"
    if on_gpu == on_vm:
        return 1, "identical"
    apart = next((f"{a!r} on the GPU, {b!r} on the VM"
                  for a, b in zip(on_gpu.splitlines(), on_vm.splitlines())
                  if a != b), "one is longer")
    return 1, f"differs ({apart})"


def main():
    args = parse_arguments()
    programs = baseline.find_programs()
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        def task(name):
            try:
                return try_one(args, programs[name],
                               os.path.join(folder, name))
            except (builds.BuildError, subprocess.TimeoutExpired) as error:
                return 0, f"unknown ({error})"
        names = args.names or list(programs)
        for name, (ran, verdict) in zip(names, pool.map(task, names)):
            rows.append(results.row(name, {"device-code": args.device_code},
                                    "gpu-output", [ran], "1", verdict=verdict))
            bad += not (ran and verdict == "identical")
            print(f"{name:14} {'ran' if ran else 'FAILED'}, {verdict}",
                  flush=True)
    print(f"{len(rows) - bad} of {len(rows)} run as on the VM")
    if args.output:
        facts = environment.describe(
            baseline.ROOT, args.cuda,
            builds.Compilers(args.prefix, args.cuda, args.arch).clang, "-O3")
        facts.update(environment.gpu())
        results.write(args.output, "tests", facts, rows)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
