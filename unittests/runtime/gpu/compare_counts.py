#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do the probes count what the warp VM counts?

    compare_counts.py --reconverge build/bin/reconverge \\
        --backend libCountingOnVm.so SOURCE.cu [ARGUMENT...]

Builds the program and runs it twice on the warp VM: as it is, counted by the
VM; and with the probes for a GPU in it, counted by them. Output, exit code and
every count must be the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

# What must be equal, of a kernel, its blocks and its branches.
KERNEL = ["display", "launches", "threads", "warps", "divergentWarps", "shapes",
          "regrouped"]
BLOCK = ["id", "instructions", "warps", "lanes", "partialIdle", "exitedIdle"]
BRANCH = ["id", "block", "warps", "splits", "lanesTo"]


def run(program, arguments, profile, env):
    if os.path.exists(profile):
        os.remove(profile)
    done = subprocess.run([program, *arguments], capture_output=True,
                          text=True, check=False,
                          env=dict(os.environ, RECONVERGE_DEVICE="cpu",
                                   RECONVERGE_PROFILE=profile, **env))
    sys.stderr.write(done.stderr)
    with open(profile, encoding="utf-8") as text:
        return (done.returncode, done.stdout), json.load(text)["kernels"]


def differences(vm, gpu):
    """What differs between two kernels of the same name."""
    for key in KERNEL:
        if vm[key] != gpu[key]:
            yield f"{key}: {vm[key]} counted by the VM, {gpu[key]} by probes"
    for what, keys in (("block", BLOCK), ("branch", BRANCH)):
        many = "blocks" if what == "block" else "branches"
        if len(vm[many]) != len(gpu[many]):
            yield f"{many}: {len(vm[many])} against {len(gpu[many])}"
        for at, (a, b) in enumerate(zip(vm[many], gpu[many])):
            for key in keys:
                if a[key] != b[key]:
                    line = a["where"][0]["line"] if a["where"] else "?"
                    yield (f"{what} {at} (line {line}), {key}: {a[key]} counted "
                           f"by the VM, {b[key]} by probes")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--backend", required=True)
    parser.add_argument("--settings", default="vectors=on",
                        help="more of RECONVERGE_GPU")
    parser.add_argument("source")
    parser.add_argument("arguments", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = args.source
        if program.endswith(".cu"):
            program = os.path.join(folder, "program")
            subprocess.run([args.reconverge, "cc", args.source, "-o", program],
                           check=True)
        profile = os.path.join(folder, "profile.json")
        # One thread: atomics of racing blocks come in one order.
        os.environ["RECONVERGE_VM"] = "threads=1"
        plain, vm = run(program, args.arguments, profile, {})
        probed, gpu = run(program, args.arguments, profile,
                          {"RECONVERGE_BACKEND_PATH": args.backend,
                           "RECONVERGE_GPU": "code=bitcode,"
                                             + args.settings})
    found = []
    if plain != probed:
        found.append(f"the program's output: {plain} plain, {probed} probed")
    names = [k["name"] for k in vm]
    if names != [k["name"] for k in gpu]:
        found.append(f"kernels: {names} against {[k['name'] for k in gpu]}")
    for a, b in zip(vm, gpu):
        found += [f"{a['display']}: {d}" for d in differences(a, b)]
    for line in found:
        print(f"compare_counts: {line}")
    print(f"compare_counts: {len(names)} kernels, {len(found)} differences")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
