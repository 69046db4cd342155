# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""play_gpu.py PROFILE: what `optimize` would see of a program on a GPU.

The program runs this in its own place. Counting, it leaves PROFILE, which the
warp VM has counted, as a GPU's. Trying, it logs made-up times for what the plan
asks for; melding of `faults` ends the run as a backend ends it.
"""
import json
import os
import sys

# ms of our build, and of the candidates by remedy
TIMES = {"arms": (1.2, {"nvcc": 1.0, "clang": 1.1, "meld": 0.8}),
         "loses": (1.2, {"nvcc": 1.0, "clang": 1.3, "meld": 1.1}),
         "faults": (1.0, {"nvcc": 1.1, "clang": 1.2}),
         "uniform": (1.0, {"nvcc": 0.9, "clang": 0.8})}
COMPILERS = ("nvcc", "clang")


def count(path):
    with open(sys.argv[1], encoding="utf-8") as text:
        profile = json.load(text)
    profile["backend"] = "gpu"
    profile["device"] = "NVIDIA H200, played"
    with open(path, "w", encoding="utf-8") as out:
        json.dump(profile, out)


def asking_for(slots):
    """What a launch of one warp asks for that only issues instructions."""
    return {"grid": [1, 1, 1], "block": [32, 1, 1], "dynamicShared": 0,
            "registers": 32, "staticShared": 0, "share": 1, "slots": slots,
            "busy": [slots, 0, 0, 0, 0, 0, 0, 0], "pathCycles": 0,
            "pathLoads": 0, "hasMachineCode": False, "hasMemory": False,
            "wavefronts": 0, "lines": 0, "lineRequests": 0,
            "loadSectors": 0, "storeSectors": 0, "mergedStores": 0,
            "atomicSectors": 0, "atomicTurns": 0, "touched": {
                "threadBlocks": 0, "blockLoads": 0, "gridLoads": 0,
                "gridStores": 0}}


def play(plan, log):
    for image in plan["images"]:
        with open(image["path"], "rb") as file:
            assert file.read(4) == b"\x50\xed\x55\xba", "no fat binary"
    images = {(image["compiler"], image["module"])
              for image in plan["images"]}
    for kernel in plan["kernels"]:
        name = next(n for n in TIMES if n in kernel["name"])
        ours, others = TIMES[name]
        for tried in kernel["candidates"]:
            remedy = tried["remedy"]
            assert (remedy in COMPILERS) <= (
                (remedy, kernel["module"]) in images)

            def event(what, **more):
                line = {"schema": "reconverge-trial/1", "event": what, "kernel": kernel["name"],
                        "module": kernel["module"], "candidate": tried,
                        "launch": 1, "shape": {
                            "grid": [1, 1, 1], "block": [32, 1, 1],
                            "dynamicShared": 0},
                        "why": "", "verdict": {
                            "kind": "identical", "launches": 1, "bytes": 128,
                            "orderDependent": 0, "where": "", "offset": 0,
                            "original": "", "variant": "", "reason": ""},
                        "original": [], "variant": [],
                        "originalMs": [], "variantMs": [], **more}
                log.write(json.dumps(line) + "\n")
            event("begin")
            if remedy not in others:
                event("fault", why="an illegal address")
                return 86
            asked = {} if remedy in COMPILERS else {
                "original": [asking_for(130e6)],
                "variant": [asking_for(100e6)]}
            event("end", **asked)
            event("timed", originalMs=[ours + i / 1e4 for i in range(20)],
                  variantMs=[others[remedy] + i / 1e4 for i in range(20)])
    return 0


if os.environ.get("RECONVERGE_PROFILE"):
    count(os.environ["RECONVERGE_PROFILE"])
elif os.environ.get("RECONVERGE_TRIALS"):
    with open(os.environ["RECONVERGE_TRIALS"], encoding="utf-8") as plan_text:
        wanted = json.load(plan_text)
    with open(wanted["log"], "w", encoding="utf-8") as log_file:
        sys.exit(play(wanted, log_file))
