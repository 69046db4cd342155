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
  4. The examples in docs/remap.md and docs/regroup.md are the consumers', word
     by word.
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


def every_header(include):
    return "".join(f'#include "{header.relative_to(include)}"\n'
                   for header in headers(include))


def examples(include):
    """The code in the comments of the headers, as one source."""
    text = every_header(include)
    for header in headers(include):
        for code in re.findall(r"/// \\code\n(.*?)/// \\endcode",
                               header.read_text(), re.DOTALL):
            text += f"namespace {header.stem} {{\n"
            text += re.sub(r"^/// ?", "", code, flags=re.MULTILINE) + "}\n"
    check(text.count("namespace ") >= 5, "all that is offered has an example")
    return text


def check_consumer(args, tree, folder):
    build = folder / "consumer"
    run(args.cmake, "-G", "Ninja", "-S", args.source / "test/remap/consumer",
        "-B", build, f"-DCMAKE_PREFIX_PATH={tree}",
        f"-DCMAKE_CUDA_COMPILER={tree / 'bin/reconverge-clang++'}")
    run(args.cmake, "--build", build)
    by_key = run(build / "by_key", RECONVERGE_DEVICE="cpu")
    check(by_key.startswith("0 of 100000 wrong"),
          "the grid's order is right on the warp VM", by_key)
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
    (folder / "every.cu").write_text(every_header(include))
    consumer, by_key = (args.source / "test/remap/consumer" / name
                        for name in ("one_branch.cu", "by_key.cu"))
    for source, arch in ((consumer, 90), (by_key, 90), (all_examples, 90),
                         (consumer, 80), (folder / "every.cu", 80)):
        log = run(nvcc, "-std=c++17", f"-arch=sm_{arch}", "-I", include,
                  "-Werror", "all-warnings", "-c", source, "-o",
                  folder / "out.o")
        check("warning" not in log, "nvcc has nothing to say", log)


def check_page(args):
    for name, page in (("one_branch", "remap"), ("by_key", "regroup")):
        source = args.source / f"test/remap/consumer/{name}.cu"
        code = re.search(r"// begin example\n(.*)// end example",
                         source.read_text(), re.DOTALL)[1]
        check(code in (args.source / f"docs/{page}.md").read_text(),
              f"docs/{page}.md shows {name}.cu", code)


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
