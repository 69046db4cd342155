#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Do trials end as they should, and does the program come out unharmed?

    check_trials.py --reconverge bin/reconverge --backend libCountingOnVm.so
    check_trials.py --reconverge bin/reconverge --device gpu [--arch 90]

Builds Inputs/trials.cu and runs it with plans of trials. What stands for other
compilers' code in them is the same source with one kernel changed: so that it
computes something else, faults, hangs. On a GPU that is their code indeed;
without one, libReconvergeGPU.so stands before the warp VM.

A machine with a GPU need not have what builds:

    check_trials.py --reconverge ... --device gpu --build FOLDER
    check_trials.py --device gpu --from FOLDER --lib ARCHIVE/lib/reconverge
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "Inputs", "trials.cu")
VARIANTS = ["NOTHING", "WRONG_BYTE", "WILD_STORE", "ENDLESS_LOOP",
            "OTHER_ORDER", "OTHER_SLOTS", "NO_KERNELS", "WRONG_VARIABLE",
            "CHATTER", "FAILED_ASSERT"]
OF_CLANG = ["NOTHING", "WRONG_VARIABLE", "NO_KERNELS"]  # on a GPU
KERNELS = {"work": "_Z4workPfi", "tally": "_Z5tallyPfPKfi",
           "compact": "_Z7compactPiPji", "prints": "_Z6printsi",
           "hides": "_Z5hidesPj", "reports": "_Z7reportsPji",
           "places": "_Z6placesj"}
ENDED = 86  # TrialsEnded of core/Trials.h
LIMIT = 300  # seconds that a run may take


#===-----------------------------------------------------------------------===#
# Building
#===-----------------------------------------------------------------------===#

def container_of(path):
    """The device code in an object file (core/Container.h)."""
    with open(path, "rb") as file:
        data = file.read()
    at = data.index(b"CNVERGE1")
    return data[at:at + int.from_bytes(data[at + 16:at + 24], "little")]


def build(args, folder):
    """The program, its module's hash, and each variant's code."""
    program = os.path.join(folder, "trials")
    gpu = ([f"-arch=sm_{args.arch}", "--fatbin"] if args.device == "gpu"
           else [])
    subprocess.run([args.reconverge, "cc", SOURCE, "-o", program, *gpu],
                   check=True)
    for variant in OF_CLANG if args.device == "gpu" else []:
        keep = os.path.join(folder, "clang-" + variant)
        subprocess.run([args.reconverge, "cc", "-c", f"-arch=sm_{args.arch}",
                        "--device-code=clang", f"--keep={keep}",
                        f"-DBROKEN={variant}", SOURCE, "-o", keep + ".o"],
                       check=True)
        os.replace(os.path.join(keep, "trials.fatbin"), keep + ".image")
    for variant in VARIANTS:
        image = os.path.join(folder, variant + ".image")
        if args.device == "gpu":
            subprocess.run([args.nvcc, "-fatbin", f"-arch=sm_{args.arch}",
                            f"-DBROKEN={variant}", SOURCE, "-o", image],
                           check=True)
            continue
        compiled = os.path.join(folder, variant + ".o")
        subprocess.run([args.reconverge, "cc", "-c", f"-DBROKEN={variant}",
                        SOURCE, "-o", compiled], check=True)
        with open(image, "wb") as file:
            file.write(container_of(compiled))
    profile = os.path.join(folder, "profile.json")
    subprocess.run([program], check=True, stdout=subprocess.DEVNULL,
                   env=dict(os.environ, RECONVERGE_DEVICE="cpu",
                            RECONVERGE_PROFILE=profile))
    with open(profile, encoding="utf-8") as file:
        module = json.load(file)["kernels"][0]["module"]
    with open(os.path.join(folder, "module"), "w", encoding="utf-8") as file:
        file.write(module)


#===-----------------------------------------------------------------------===#
# Running
#===-----------------------------------------------------------------------===#

class Checks:
    def __init__(self, args, folder):
        self.args, self.folder, self.failures = args, folder, 0
        self.shown = ""  # all of the last run, for a message
        with open(os.path.join(folder, "module"), encoding="utf-8") as file:
            self.module = file.read()
        self.on_gpu = args.device == "gpu"
        _, self.output, self.errors = self.run({})
        self.expect("the program alone", self.output.startswith("odd 5\nunread: "),
                    self.output + self.errors)

    def run(self, env):
        env = dict(os.environ, RECONVERGE_DEVICE=self.args.device, **env)
        done = subprocess.run([os.path.join(self.folder, "trials")], env=env,
                              capture_output=True, text=True, check=False,
                              timeout=LIMIT)
        return done.returncode, done.stdout, done.stderr

    def expect(self, what, holds, shown):
        if not holds:
            self.failures += 1
            print(f"check_trials: FAILED: {what}: {shown}")

    def slots(self, kernel):
        """Issue slots of a launch, on the warp VM; all are alike."""
        path = os.path.join(self.folder, "profile.json")
        with open(path, encoding="utf-8") as file:
            found = [k for k in json.load(file)["kernels"]
                     if k["name"] == KERNELS[kernel]]
        return sum(b["issueSlots"] * b["warps"]
                   for b in found[0]["blocks"]) / found[0]["launches"]

    def trial(self, variant, wanted, clang=None, **plan):
        """Exit code and events of a run with trials. variant: what stands for
        nvcc's code; wanted: kernels and the candidates to try on each; clang:
        what stands for clang's code, if anything; plan: what else it says."""
        images = [("nvcc", variant)]
        if clang:
            images.append(("clang", "clang-" + clang if self.on_gpu else clang))
        log = os.path.join(self.folder, "log")
        path = os.path.join(self.folder, "plan.json")
        if os.path.exists(log):
            os.remove(log)
        whole = {"schema": "reconverge-trials/1", "log": log, "launches": 2,
                 "budget": 0, "orders": 4, "samples": 0, "seconds": 60,
                 "images": [{"compiler": by, "module": self.module, "path":
                             os.path.join(self.folder, image + ".image")}
                            for by, image in images],
                 "kernels": [
                     {"name": KERNELS[k], "module": self.module,
                      "launches": 0,
                      "candidates": [{"remedy": r, "parameters": p}
                                     for r, p in c]}
                     for k, c in wanted.items()]}
        whole.update(plan)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(whole, file)
        env = {"RECONVERGE_TRIALS": path, "RECONVERGE_GPU": "hang=1,cache="
               + os.path.join(self.folder, "cache")}
        if not self.on_gpu:
            env["RECONVERGE_BACKEND_PATH"] = self.args.backend
            env["RECONVERGE_GPU"] += ",code=bitcode"
            env["RECONVERGE_VM"] = "threads=1"
        code, output, errors = self.run(env)
        events = []
        if os.path.exists(log):
            with open(log, encoding="utf-8") as file:
                events = [json.loads(line) for line in file]
        self.shown = "\n".join(
            [f"exit code {code}", output, errors]
            + [f"  {e['event']} {e['candidate']} {e['why']} {e['verdict']}"
               for e in events])
        if code != ENDED:
            self.expect(f"{variant}: the program's output",
                        (code, output) == (0, self.output), self.shown)
        if self.args.verbose:
            print(f"--- {variant}\n{self.shown}")
        return code, events

    def kinds(self, events, remedy="nvcc"):
        return [e["event"] for e in events
                if e["candidate"]["remedy"] == remedy]

    def verdicts(self, events, remedy="nvcc"):
        return [e["verdict"]["kind"] for e in events
                if e["candidate"]["remedy"] == remedy and e["event"] == "end"]


NVCC = [("nvcc", "")]
CLANG = [("clang", "")]


def check_all(c):
    # The honest code, a remedy, and the same again under another name; rounds.
    code, events = c.trial("NOTHING", {"work": NVCC + [
        ("meld", ""), ("meld", ""), ("meld", "threshold=nonsense")]}, samples=7)
    meld = [e for e in events if e["candidate"]["remedy"] == "meld"]
    c.expect("nvcc's code", c.kinds(events) == ["begin", "end", "timed"] * 2,
             c.shown)
    c.expect("nvcc's code is right",
             c.verdicts(events) == ["identical"] * 2, c.shown)
    c.expect("a melded kernel is right",
             c.verdicts(events, "meld") == ["identical"] * 2, c.shown)
    refused = [e["why"] for e in meld if e["event"] == "refused"]
    c.expect("refusals", len(refused) == 2
             and refused[0] == "the same code as meld"
             and "nonsense" in refused[1], c.shown)
    for launch in (1, 2):
        timed = [e for e in events
                 if e["event"] == "timed" and e["launch"] == launch]
        counts = [len(e[side]) for e in timed
                  for side in ("originalMs", "variantMs")]
        # Of a short launch up to five times as many as were asked for. A remedy
        # that has lost six rounds on end has no more, and then there may be no
        # more to tell: on a busy machine that happens to any code.
        full = counts[0] if counts else 0
        c.expect("times", counts[:3] == [full] * 3 and len(counts) == 4
                 and full in {*range(7, 36, 7), *range(6, 36, 6)}
                 and counts[3] in {full, *range(6, full, 6)}
                 and timed[0]["originalMs"] == timed[1]["originalMs"], c.shown)

    # What a remedy should save is counted, in the form that ptxas gets: what
    # both arms end with, a division, stands there once, and twice in what a
    # profile on the warp VM counts.
    ends = [e for e in meld if e["event"] == "end"]
    def slots(event, side):
        return sum(asked["slots"] for asked in event[side])

    c.expect("issue slots", len(ends) == 2 and all(
        slots(e, "original") >= slots(e, "variant") > 0 for e in ends), c.shown)
    c.expect("accesses", all(asked["hasMemory"] and asked["loadSectors"] > 0
                             for e in ends for asked in e["variant"]), c.shown)
    c.expect("issue slots of the original",
             all(0.4 * c.slots("work") < slots(e, "original")
                 < 0.9 * c.slots("work") for e in ends),
             f"{c.slots('work')}, {ends}")
    c.expect("nvcc's code has no slots", all(
        e["original"] == e["variant"] == [] for e in events
        if e["candidate"]["remedy"] == "nvcc"), c.shown)

    # Under a limit of time it is tried as well, and nothing is counted.
    code, events = c.trial("NOTHING", {"work": [("meld", "")]}, hurried=True)
    c.expect("in a hurry", c.verdicts(events, "meld") == ["identical"] * 2
             and all(e["original"] == e["variant"] == [] for e in events),
             c.shown)

    # Launches by recipes: other grids, a kernel before, memory of their own;
    # then what ties threads, but not blocks, to their places.
    orders = [("permute", ""), ("permute", "order=reversed;block=96"),
              ("permute", "order=same;block=1024")]
    code, events = c.trial("NOTHING", {"places": orders}, samples=7)
    c.expect("permuted threads", c.kinds(events, "permute")
             == ["begin", "end"] * 6 # a proof is not timed
             and c.verdicts(events, "permute") == ["identical"] * 6, c.shown)
    code, events = c.trial("NOTHING", {"work": [
        ("permute", ""), ("permute", "unit=block;order=reversed")]})
    c.expect("permuted blocks",
             c.verdicts(events, "permute") == ["identical"] * 2
             and "[RC311]" in events[0]["why"], c.shown)

    # What is wrong. Other bytes than the program's, its own untouched.
    code, events = c.trial("WRONG_BYTE", {"work": NVCC})
    c.expect("a wrong byte", c.verdicts(events) == ["differs"] * 2
             and events[1]["verdict"]["offset"] == 37 * 4
             and "by call 1 of cudaMalloc" in events[1]["verdict"]["where"],
             c.shown)
    code, events = c.trial("WRONG_VARIABLE", {"work": NVCC})
    c.expect("a wrong variable", c.verdicts(events) == ["differs"] * 2
             and events[1]["verdict"]["where"].startswith(
                 "the __device__ variable 'Spare'")
             and events[1]["verdict"]["offset"] == 12, c.shown)

    # Two other compilers' code of one kernel: each has its own image, and its
    # own variables, which are those of the program only while it is tried.
    for nvcc, clang in (("NOTHING", "WRONG_VARIABLE"),
                        ("WRONG_VARIABLE", "NOTHING")):
        code, events = c.trial(nvcc, {"work": NVCC + CLANG}, clang, samples=7)
        for by, variant in (("nvcc", nvcc), ("clang", clang)):
            wrong = variant == "WRONG_VARIABLE"
            c.expect(f"{by}'s code of two compilers'", c.verdicts(events, by)
                     == ["differs" if wrong else "identical"] * 2, c.shown)
            c.expect(f"{by}'s times", c.kinds(events, by)
                     == ["begin", "end"] * 2 if wrong
                     else ["begin", "end", "timed"] * 2, c.shown)
            wheres = {e["verdict"]["where"].split(" of ")[0] for e in events
                      if e["verdict"]["kind"] == "differs"}
            c.expect("which variable is wrong", wheres
                     == {"the __device__ variable 'Spare'"}, c.shown)
    code, events = c.trial("NOTHING", {"work": NVCC + CLANG}, "NO_KERNELS")
    c.expect("a kernel that clang's code lacks",
             c.verdicts(events) == ["identical"] * 2
             and c.kinds(events, "clang") == ["refused"]
             and "clang's code has no such kernel" in next(
                 e["why"] for e in events if e["event"] == "refused"), c.shown)
    code, events = c.trial("NOTHING", {"work": NVCC + CLANG})
    c.expect("no code of clang's", c.verdicts(events) == ["identical"] * 2
             and [e["why"] for e in events if e["event"] == "refused"]
             == ["there is no code of clang's for it"], c.shown)

    # What ends the run: it is the last line of the log.
    code, events = c.trial("WILD_STORE", {"work": NVCC + [("meld", "")]})
    c.expect("a wild store", code == ENDED
             and c.kinds(events) == ["begin", "fault"]
             and events[-1]["event"] == "fault"
             and "cudaErrorIllegalAddress" in events[-1]["why"], c.shown)
    code, events = c.trial("ENDLESS_LOOP", {"work": NVCC + [("meld", "")]})
    c.expect("an endless loop", code == ENDED
             and c.kinds(events) == ["begin", "hang"]
             and events[-1]["event"] == "hang"
             and events[-1]["why"].startswith("no end within "), c.shown)

    # Order of threads. The VM repeats itself; a GPU does not.
    code, events = c.trial("OTHER_ORDER", {"tally": NVCC})
    c.expect("another order of additions", c.verdicts(events) in (
        [["identical-up-to-order"], ["identical"]] if c.on_gpu
        else [["differs"]]), c.shown)
    code, events = c.trial("OTHER_SLOTS", {"compact": NVCC})
    c.expect("other slots", c.verdicts(events) in (
        [["unknown"], ["differs"], ["identical-up-to-order"]] if c.on_gpu
        else [["differs"]]), c.shown)

    # What is not tried.
    code, events = c.trial("NO_KERNELS", {"work": NVCC})
    c.expect("a kernel that is not there", c.kinds(events) == ["refused"]
             and "nvcc's code has no such kernel" in events[0]["why"], c.shown)
    code, events = c.trial("MISSING", {"work": NVCC})
    c.expect("an image that is not there", c.kinds(events) == ["refused"],
             c.shown)
    code, events = c.trial("NOTHING", {"prints": NVCC})
    c.expect("a kernel that prints", c.kinds(events) == ["untried"]
             and events[0]["why"].endswith("it prints"), c.shown)
    code, events = c.trial("NOTHING", {"reports": NVCC})
    c.expect("a launch that prints nothing", code == 0
             and c.verdicts(events) == ["identical"], c.shown)
    code, events = c.trial("CHATTER", {"reports": NVCC})
    c.expect("a candidate that prints", code == 0
             and c.kinds(events) == ["begin", "fault"]
             and events[1]["why"].startswith("it prints"), c.shown)
    code, events = c.trial("FAILED_ASSERT", {"reports": NVCC})
    c.expect("a candidate that asserts", code == ENDED
             and c.kinds(events) == ["begin", "fault"]
             and "Assert" in events[1]["why"], c.shown)
    # An error that the program has not read hinders nothing, and stays for it:
    # what it prints of it is compared by trial().
    code, events = c.trial("NOTHING", {"places": NVCC})
    c.expect("an unread error", c.kinds(events) == ["begin", "end"] * 2,
             c.shown)
    code, events = c.trial("NOTHING", {"hides": NVCC})
    c.expect("a kernel with a hidden variable", c.kinds(events) == ["untried"]
             and "the host code does not know" in events[0]["why"], c.shown)
    code, events = c.trial("NOTHING", {"work": NVCC}, budget=1000)
    c.expect("no memory for copies", c.kinds(events) == ["untried"] * 2
             and "would take more than" in events[0]["why"], c.shown)
    code, events = c.trial("NOTHING", {"work": NVCC}, seconds=0)
    c.expect("no time", c.kinds(events) == ["untried"] * 2
             and "as long as they may" in events[0]["why"], c.shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--reconverge")
    parser.add_argument("--backend", help="libCountingOnVm.so, for cpu")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--arch", default="90", help="of the GPU")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or os.path.join(
        os.environ.get("CUDA_PATH", "/usr/local/cuda"), "bin", "nvcc"))
    parser.add_argument("--lib", help="lib/reconverge of an archive, for what "
                        "was built elsewhere")
    parser.add_argument("--build", metavar="FOLDER", help="build there, only")
    parser.add_argument("--from", metavar="FOLDER", dest="built",
                        help="run what was built there")
    parser.add_argument("--verbose", action="store_true",
                        help="show every log")
    args = parser.parse_args()
    if args.lib:
        os.environ["LD_LIBRARY_PATH"] = args.lib
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.built or args.build or temporary
        if not args.built:
            os.makedirs(folder, exist_ok=True)
            build(args, folder)
        if args.build:
            return 0
        checks = Checks(args, os.path.abspath(folder))
        check_all(checks)
    print(f"check_trials: {checks.failures} failures")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
