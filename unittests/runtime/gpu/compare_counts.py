#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do the probes count what the warp VM counts?

    compare_counts.py --reconverge build/bin/reconverge \\
        --backend libCountingOnVm.so SOURCE.cu [ARGUMENT...]

Builds the program and runs it twice on the warp VM: as it is, counted by the
VM; and with the probes for a GPU in it, counted by them. Output, exit code and
every count must be the same. (Without --backend the second run is on a GPU,
where warp counts may differ: it shows in which blocks.)

With --within POINTS, where a sample of the thread blocks counts: output, exit
code, launches and block vectors must be the same, lanes must go somewhere and
come from somewhere, and control-flow efficiency be no farther off than that.
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


SAMPLED_KERNEL = ["display", "launches", "threads", "warps", "shapes"]


def run(program, arguments, profile, env, device="cpu"):
    if os.path.exists(profile):
        os.remove(profile)
    done = subprocess.run([program, *arguments], capture_output=True,
                          text=True, check=False,
                          env=dict(os.environ, RECONVERGE_DEVICE=device,
                                   RECONVERGE_PROFILE=profile, **env))
    sys.stderr.write(done.stderr)
    with open(profile, encoding="utf-8") as text:
        return (done.returncode, done.stdout), json.load(text)["kernels"]


def differences(vm, gpu):
    """What differs between two kernels of the same name."""
    for key in KERNEL:
        if vm[key] != gpu[key]:
            yield f"{key}: {vm[key]} counted by the VM, {gpu[key]} by probes"
    if vm.get("vectors") != gpu.get("vectors"):
        yield "block vectors, or what foretells them, differ"
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


def efficiency(kernel):
    lanes = sum(b["lanes"] * b["instructions"] for b in kernel["blocks"])
    warps = sum(b["warps"] * b["instructions"] for b in kernel["blocks"])
    return 100.0 * lanes / (32 * warps) if warps else 100.0


def sampled_differences(vm, gpu, within):
    """The same where counts are scaled from a sample."""
    for key in SAMPLED_KERNEL:
        if vm[key] != gpu[key]:
            yield f"{key}: {vm[key]} counted by the VM, {gpu[key]} by probes"
    # There are none of kernels that call functions.
    if gpu["regrouped"]["launches"] and gpu["regrouped"] != vm["regrouped"]:
        yield "block vectors differ"
    entered = gpu["blocks"][0]["lanes"]
    if entered != gpu["threads"]:
        yield f"{gpu['threads']} threads, of which {entered} entered"
    for branch in gpu["branches"]:
        there = gpu["blocks"][branch["block"]]["lanes"]
        if sum(branch["lanesTo"]) != there:
            yield (f"branch {branch['id']}: {there} lanes, which went "
                   f"{branch['lanesTo']}")
    gap = efficiency(gpu) - efficiency(vm)
    if not abs(gap) <= within:
        yield f"{gap:+.2f} points of efficiency more than the VM counted"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge", required=True)
    parser.add_argument("--backend", help="without it: on a GPU")
    parser.add_argument("--settings", default="vectors=on",
                        help="more of RECONVERGE_GPU")
    parser.add_argument("--vm", default="", help="more of RECONVERGE_VM")
    parser.add_argument("--within", type=float, metavar="POINTS")
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
        os.environ["RECONVERGE_VM"] = "threads=1," + args.vm
        plain, vm = run(program, args.arguments, profile, {})
        settings = "blocks=all," + args.settings
        if args.backend:
            probed, gpu = run(program, args.arguments, profile,
                              {"RECONVERGE_BACKEND_PATH": args.backend,
                               "RECONVERGE_GPU": "code=bitcode," + settings})
        else:
            probed, gpu = run(program, args.arguments, profile,
                              {"RECONVERGE_GPU": settings}, "gpu")
    found = []
    if plain != probed:
        found.append(f"the program's output: {plain} plain, {probed} probed")
    names = [k["name"] for k in vm]
    if names != [k["name"] for k in gpu]:
        found.append(f"kernels: {names} against {[k['name'] for k in gpu]}")
    for a, b in zip(vm, gpu):
        these = (differences(a, b) if args.within is None
                 else sampled_differences(a, b, args.within))
        found += [f"{a['display']}: {d}" for d in these]
    for line in found:
        print(f"compare_counts: {line}")
    print(f"compare_counts: {len(names)} kernels, {len(found)} differences")
    return 1 if found or not names else 0


if __name__ == "__main__":
    sys.exit(main())
