#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Follows docs/testing.md with examples/testing/sums, as a user would.

    check_example.py --prefix BUILD --source SOURCE --cmake CMAKE --ctest CTEST

What must hold:
  1. With the toolchain file alone, the project configures and builds, and its
     test is green.
  2. Without the barrier it is red, and says the race's two lines.
  3. The page shows the project's CMakeLists.txt as it is.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


def check(condition, what, text=""):
    if not condition:
        sys.exit(f"not so: {what}\n{text}")


class Project:
    def __init__(self, args, folder):
        self.args, self.source = args, folder / "sums"
        self.build = folder / "build"
        shutil.copytree(args.source / "examples/testing/sums", self.source)
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith(("RECONVERGE_", "CUDA_PATH", "CUDA_HOME",
                                    "LD_LIBRARY_PATH", "CMAKE_"))}
        self.environment["XDG_CACHE_HOME"] = str(folder / "cache")

    def run(self, *command):
        return subprocess.run(
            [str(word) for word in command], text=True, env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def configure(self):
        toolchain = self.args.prefix / "lib/cmake/reconverge/toolchain.cmake"
        toolkit = os.environ.get("CUDA_PATH")
        done = self.run(self.args.cmake, "-S", self.source, "-B", self.build,
                        f"-DCMAKE_TOOLCHAIN_FILE={toolchain}",
                        *([f"-DCUDAToolkit_ROOT={toolkit}"] if toolkit else []))
        check(done.returncode == 0, "the project configures", done.stdout)

    def make(self):
        done = self.run(self.args.cmake, "--build", self.build)
        check(done.returncode == 0, "the project builds", done.stdout)

    def test(self):
        return self.run(self.args.ctest, "--test-dir", self.build,
                        "--output-on-failure")


def check_page(source):
    page = (source / "docs/testing.md").read_text()
    shown = page.partition("<!-- sums -->\n```\n")[2].partition("```\n")[0]
    check(shown == (source / "examples/testing/sums/CMakeLists.txt").read_text(),
          "docs/testing.md shows the project's CMakeLists.txt", shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("prefix", "source", "cmake", "ctest"):
        parser.add_argument("--" + name, type=pathlib.Path, required=True)
    args = parser.parse_args()
    check_page(args.source)
    # What compiles kernels after a program's end may still write to its cache.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        project = Project(args, pathlib.Path(folder))
        project.configure()
        project.make()
        green = project.test()
        check(green.returncode == 0 and "100% tests passed" in green.stdout,
              "the test is green", green.stdout)
        header = project.source / "sums.cuh"
        lines = header.read_text().splitlines(keepends=True)
        without = [line for line in lines if "__syncthreads" not in line]
        check(len(without) == len(lines) - 1, "the kernel has a barrier")
        header.write_text("".join(without))
        project.make()
        red = project.test()
        check(red.returncode != 0, "the test is red", red.stdout)
        for words in ("race: sumBlocks", "sums.cuh:9", "sums.cuh:12",
                      "found: race"):
            check(words in red.stdout, f"it says '{words}'", red.stdout)
    print("as expected")


if __name__ == "__main__":
    main()
