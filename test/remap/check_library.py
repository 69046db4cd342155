#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device library as a user has it: installed, by nvcc and by clang.

    check_library.py --build BUILD --source SOURCE --cmake CMAKE --cuda CUDA

What must hold:
  1. From an installation, test/remap/consumer finds reconverge::reconverge and
     is built by reconverge-clang++, and its program is right on the warp VM.
  2. nvcc, where the toolkit has one, compiles the same project's source, for
     an architecture with clusters and one without, without a warning; and each
     header alone.
  3. Both compile every example in the headers' comments.
  4. The example in docs/remap.md is the consumer's, word by word.
  5. The version in the headers is the project's.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def check(condition, what, text=""):
    if not condition:
        sys.exit(f"not so: {what}\n{text}")


def run(*command, **more):
    # What a user's environment says must not change a result.
    environment = {
        name: value for name, value in os.environ.items()
        if not name.startswith(("RECONVERGE_", "CUDAFLAGS", "CUDAARCHS",
                                "LD_LIBRARY_PATH", "CMAKE_"))}
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(environment, **more))
    check(done.returncode == 0, f"{' '.join(map(str, command))} returns 0",
          done.stdout)
    return done.stdout


def headers(include):
    """What users include."""
    return [header for header in sorted((include / "reconverge").rglob("*.cuh"))
            if header.parent.name != "detail"]


def examples(include):
    """The code in the comments of the headers, as one source."""
    text = "#include <reconverge/reconverge.cuh>\n"
    for header in headers(include):
        for code in re.findall(r"/// \\code\n(.*?)/// \\endcode",
                               header.read_text(), re.DOTALL):
            text += f"namespace {header.stem} {{\n"
            text += re.sub(r"^/// ?", "", code, flags=re.MULTILINE) + "}\n"
    check(text.count("__global__") >= 4, "the four classes have an example")
    return text


def check_consumer(args, tree, folder):
    build = folder / "consumer"
    run(args.cmake, "-G", "Ninja", "-S", args.source / "test/remap/consumer",
        "-B", build, f"-DCMAKE_PREFIX_PATH={tree}",
        f"-DCMAKE_CUDA_COMPILER={tree / 'bin/reconverge-clang++'}")
    run(args.cmake, "--build", build)
    output = run(build / "consumer", RECONVERGE_DEVICE="cpu")
    check(output.endswith("cudaSuccess, 0 of 5120 wrong\n"),
          "the consumer is right on the warp VM", output)
    return output


def check_version(args, output):
    major, minor, patch = map(int, re.search(
        r"project\(Reconverge VERSION (\d+)\.(\d+)\.(\d+)",
        (args.source / "CMakeLists.txt").read_text()).groups())
    check(f"version {major * 1000000 + minor * 1000 + patch}," in output,
          "the headers' version is the project's", output)


def check_nvcc(args, include, all_examples, folder):
    nvcc = args.cuda / "bin/nvcc"
    if not nvcc.exists():
        print(f"without nvcc: {nvcc} is not there")
        return
    every = "".join(f'#include "{h.relative_to(include)}"\n'
                    for h in headers(include))
    (folder / "every.cu").write_text(every)
    consumer = args.source / "test/remap/consumer/one_branch.cu"
    for source, arch in ((consumer, 90), (all_examples, 90), (consumer, 80),
                         (folder / "every.cu", 80)):
        log = run(nvcc, "-std=c++17", f"-arch=sm_{arch}", "-I", include,
                  "-Werror", "all-warnings", "-c", source, "-o",
                  folder / "out.o")
        check("warning" not in log, "nvcc has nothing to say", log)


def check_page(args):
    source = (args.source / "test/remap/consumer/one_branch.cu").read_text()
    code = re.search(r"// begin example\n(.*)// end example", source,
                     re.DOTALL)[1]
    page = (args.source / "docs/remap.md").read_text()
    check(code in page, "docs/remap.md shows the consumer's kernel", code)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    for name in ("build", "source", "cmake", "cuda"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    args = parser.parse_args()
    check_page(args)
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tree = folder / "installed"
        run(args.cmake, "--install", args.build, "--prefix", tree)
        include = tree / "include"
        check_version(args, check_consumer(args, tree, folder))
        all_examples = folder / "examples.cu"
        all_examples.write_text(examples(include))
        # The cluster's code is for sm_90: the VM's container takes it as it
        # is, and only a launch would be refused.
        run(tree / "bin/reconverge", "cc", "-std=c++17", "-I", include, "-c",
            all_examples, "-o", folder / "examples.o")
        for header in headers(include):
            alone = folder / "alone.cu"
            alone.write_text(f'#include "{header.relative_to(include)}"\n')
            run(tree / "bin/reconverge", "cc", "-std=c++17", "-Wall", "-Wextra",
                "-Werror", "-I", include, "-c", alone, "-o", folder / "alone.o")
        check_nvcc(args, include, all_examples, folder)
    print("as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
