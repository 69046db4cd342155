#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configures, builds, runs and profiles test/cmake/project with
reconverge-clang++ as CMake's CUDA compiler, as a user would.

    check_project.py --reconverge BIN/reconverge --cmake CMAKE --generator NAME

What must hold:
  1. CMake takes the compiler for clang 19 and chooses its default architecture.
  2. Both programs (one linked by the C++ compiler, one by ours) run over the
     warp VM without any variable that helps them to find it, and print what
     Python computes; so does one over CMake's CUDA::cudart where our folder is
     on CMAKE_LIBRARY_PATH.
  3. `profile` sees the kernels of the program, the static and the shared
     library.
  4. A second build does nothing; a header that only the device's half includes
     makes its unit, and no other, compile again.
  5. CMake's way to relocatable device code, by nvlink, is refused by name.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

THREADS = 64


def collatz(value):
    steps = 0
    while value != 1:
        value = 3 * value + 1 if value % 2 else value // 2
        steps += 1
    return steps


STEPS = f"steps {sum(collatz(v) for v in range(1, THREADS + 1))}"
VOTES = "votes 32"  # only the first warp has a thread that votes yes
HALVES = f"halves {sum(range(0, THREADS, 2))}"


class Project:
    def __init__(self, args, folder):
        self.source = folder / "project"
        self.build = folder / "build"
        self.args = args
        # What a user's environment says must not change a result.
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("RECONVERGE_", "CUDAFLAGS", "CUDAARCHS",
                                    "LD_LIBRARY_PATH", "CMAKE_"))}
        shutil.copytree(pathlib.Path(__file__).parent / "project", self.source)

    def run(self, *command, expect=0, **environment):
        result = subprocess.run(
            [str(word) for word in command], cwd=self.build.parent, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=dict(self.environment, **environment))
        if (result.returncode == 0) != (expect == 0):
            sys.exit(f"{command}: returned {result.returncode}\n"
                     f"{result.stdout}")
        return result.stdout

    def configure(self, *options):
        compiler = self.args.reconverge.parent / "reconverge-clang++"
        return self.run(self.args.cmake, "-G", self.args.generator, "-S",
                        self.source, "-B", self.build,
                        f"-DCMAKE_CUDA_COMPILER={compiler}", *options)

    def make(self, expect=0):
        return self.run(self.args.cmake, "--build", self.build, "-j", 2,
                        "--verbose", expect=expect)


def check(condition, what, text=""):
    if not condition:
        sys.exit(f"not so: {what}\n{text}")


def compiled(log):
    """The CUDA sources that a build compiled."""
    return sorted(set(re.findall(r"-c \S*?/(\w+\.cu)\b", log)))


def check_identity(project, log):
    check("CUDA compiler identification is Clang 19." in log, "CMake takes the "
          "compiler for clang 19", log)
    cache = (project.build / "CMakeCache.txt").read_text()
    arch = re.search(r"CMAKE_CUDA_ARCHITECTURES:\w+=(\d+)", cache)
    check(arch and int(arch[1]) >= 52, "CMake finds a default architecture")


def check_output(project, program, lines, **environment):
    output = project.run(project.build / program, RECONVERGE_DEVICE="cpu",
                         **environment)
    check(output.splitlines() == lines, f"{program} prints {lines}", output)


def check_profile(project):
    report = project.build / "mixed.json"
    output = project.run(project.args.reconverge, "profile", "--no-cache",
                         project.build / "mixed", "-o", report)
    names = {kernel["name"]
             for kernel in json.loads(report.read_text())["kernels"]}
    check(names == {"_Z10countStepsv", "_Z4votePi", "_Z11writeHalvesPi"},
          f"the kernels of all three units are profiled: {names}", output)
    for place in ("collatz.cuh:6", "local.cu:5"):
        check(place in output, f"a branch at {place}", output)


def check_rebuild(project):
    check(compiled(project.make()) == [], "a second build does nothing")
    header = project.source / "device_only.cuh"
    header.write_text(header.read_text().replace("< 32", "< 64"))
    # Time stamps may be as coarse as a second.
    later = (project.build / "libvotes.so").stat().st_mtime + 2
    os.utime(header, (later, later))
    log = project.make()
    check(compiled(log) == ["votes.cu"],
          "a header of the device's half compiles its unit again", log)
    check_output(project, "mixed", [STEPS, "votes 64", HALVES])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reconverge", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--generator", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Project(args, pathlib.Path(folder))
        libraries = args.reconverge.parent.parent / "lib" / "reconverge"
        log = project.configure("-DLANES_TOOLKIT=ON",
                                f"-DCMAKE_LIBRARY_PATH={libraries}")
        check_identity(project, log)
        log = project.make()
        check(compiled(log) == ["local.cu", "pure.cu", "steps.cu", "votes.cu"],
              "every unit is compiled once", log)

        check_output(project, "mixed", [STEPS, VOTES, HALVES])
        check_output(project, "pure", [STEPS, VOTES,
                                       f"steps of 27: {collatz(27)}"])
        for program in ("toolkit", "toolkit-static"):
            check_output(project, program, [f"cudaSuccess, {STEPS}"])
        check_profile(project)
        check_rebuild(project)

        project.build = project.build.with_name("separable")
        project.configure("-DLANES_SEPARABLE=ON")
        log = project.make(expect=2)
        check("-fgpu-rdc: the linker of device code that goes with it" in log,
              "what asks for nvlink is refused by name", log)
    print("as expected")


if __name__ == "__main__":
    main()
