#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Installs a build into a temporary folder, moves it, and uses it from there.

    check_install.py --build BUILD --source SOURCE --cmake CMAKE

What must hold:
  1. No file in it names the build or the source folder as a run path.
  2. `profile` from the moved tree compiles and counts an example; so every part
     is found from the running tool, and clang as a user's machine has it.
  3. A project outside of both that finds it by find_package, with its toolchain
     file, builds a program that uses the device library; its target
     profile-app counts that; and the licence, manual pages and completions
     are there. So it is with an archive by CPack, unpacked.
  4. benchmarks/timer, preloaded into a program of ours, times each launch once a
     repetition, and leaves the program's result as it was: the kernels write
     what they read, so a repetition from the wrong state would change it.
  5. The target `uninstall` takes away all that an installation has brought, and
     nothing else.
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

REPEAT = 3


def check(condition, what, text=""):
    if not condition:
        sys.exit(f"not so: {what}\n{text}")


def run(command, **environment):
    done = subprocess.run([str(word) for word in command], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env=dict(clean_environment(), **environment))
    check(done.returncode == 0, f"{command} returns 0", done.stdout)
    return done.stdout


def clean_environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("RECONVERGE_", "LD_"))}


def install(args, folder):
    first, moved = folder / "first", folder / "moved"
    run([args.cmake, "--install", args.build, "--prefix", first])
    first.rename(moved)
    return moved


def check_run_paths(args, tree):
    for path in sorted(tree.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        if path.read_bytes()[:4] != b"\x7fELF":
            continue
        listing = run(["readelf", "-d", path])
        paths = re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", listing)
        for word in ":".join(paths).split(":"):
            check(not word or word.startswith("$ORIGIN"),
                  f"{path.name} has a relative run path, not {word}")


def check_profile(tree, source, folder):
    report = folder / "divergence.json"
    output = run([tree / "bin" / "reconverge", "profile", "--device", "cpu",
                  "--no-cache", source / "examples/nqueens/nqueens.cu", "-o",
                  report, "--", "n=8"])
    check("countQueens" in output, "profile prints its table", output)
    check(json.loads(report.read_text())["kernels"], "kernels are counted")


def unpack_archive(args, folder):
    """With the parts of CPack's TXZ, compressed in a tenth of the time."""
    run([args.cmake.parent / "cpack", "-G", "TZST", "-B", folder, "--config",
         args.build / "CPackConfig.cmake"])
    archive, = folder.glob("*.tar.zst")
    subprocess.run([args.cmake, "-E", "tar", "xf", archive], cwd=folder,
                   check=True)
    return folder / archive.name.removesuffix(".tar.zst")


def check_uninstall(args, folder):
    prefix, staged = folder / "prefix", folder / "staged"
    run([args.cmake, "--install", args.build, "--prefix", prefix],
        DESTDIR=str(staged))
    before = [p for p in staged.rglob("*") if not p.is_dir()]
    check(len(before) > 50, f"an installation has its files: {before}")
    kept = [before[0].parent / "mine", staged / str(prefix)[1:]
            / "lib/cmake/reconverge/mine.cmake"]
    for path in kept:
        path.write_text("mine")
    output = run([args.cmake, "--build", args.build, "--target", "uninstall"],
                 DESTDIR=str(staged))
    check(f"Removed {len(before)} files" in output, "it says what it did",
          output)
    left = {p for p in staged.rglob("*") if not p.is_dir()}
    check(left == set(kept), f"all else is gone: {left}")
    check(not (kept[1].parents[3] / "share/reconverge").exists(),
          "and so are our folders")


def check_consumer(args, tree, source, folder):
    project, build = folder / "consumer", folder / "consumer-build"
    for old in (project, build):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(source / "test/install/consumer", project)
    run([args.cmake, "-G", "Ninja", "-S", project, "-B", build, "--toolchain",
         tree / "lib/cmake/reconverge/toolchain.cmake"])
    output = run([args.cmake, "--build", build, "--target", "profile-app"],
                 RECONVERGE_DEVICE="cpu")
    check("odd: 512" in output, "the program runs with its arguments", output)
    check("countOdd" in output, "its table is printed", output)
    check(json.loads((build / "app.divergence.json").read_text())["kernels"],
          "its report is in the build folder")
    pages = {p.name for p in (tree / "share/man/man1").iterdir()}
    check({"reconverge.1", "reconverge-profile.1", "reconverge-diff.1"} <= pages,
          f"manual pages are installed: {pages}")
    for name in ("share/doc/reconverge/copyright",
                 "share/bash-completion/completions/reconverge",
                 "share/zsh/site-functions/_reconverge",
                 "share/zsh/vendor-completions/_reconverge",
                 "share/fish/vendor_completions.d/reconverge.fish"):
        check((tree / name).stat().st_size, f"{name} is installed")
    check((tree / "bin/reconverge-clang++").is_symlink(), "the link is one")


def check_timer(args, tree, source, folder):
    program, times = folder / "lu", folder / "times.json"
    run([tree / "bin" / "reconverge", "cc", source / "examples/lu/lu.cu", "-o",
         program])
    command = [program, "n=96"]
    plain = run(command, RECONVERGE_DEVICE="cpu")
    timed = run(command, RECONVERGE_DEVICE="cpu",
                LD_PRELOAD=str(args.build / "lib/reconverge"
                               / "libReconvergeTimer.so"),
                RECONVERGE_TIMER=str(times), RECONVERGE_TIMER_REPEAT=str(REPEAT))
    check(timed == plain, "a timed program prints what it prints otherwise",
          plain + timed)
    kernels = {k["display"].partition("(")[0]: k
               for k in json.loads(times.read_text())["kernels"]}
    # 96 is six tiles: six on the diagonal, and five steps with a rest.
    launches = {name: k["launches"] for name, k in kernels.items()}
    check(launches == {"luDiagonal": 6, "luPerimeter": 5, "luInternal": 5},
          f"every launch is seen: {launches}")
    for name, kernel in kernels.items():
        samples = kernel["milliseconds"]
        check(len(samples) == REPEAT and min(samples) > 0,
              f"{name} has {REPEAT} samples: {samples}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", 1)[0])
    for name in ("build", "source", "cmake"):
        parser.add_argument("--" + name, required=True, type=pathlib.Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        tree = install(args, folder)
        check_run_paths(args, tree)
        check_profile(tree, args.source, folder)
        check_consumer(args, tree, args.source, folder)
        check_timer(args, tree, args.source, folder)
        archive = unpack_archive(args, folder / "packed")
        check_run_paths(args, archive)
        check_consumer(args, archive, args.source, folder)
        check((archive / "bin/clang-19").exists(), "the archive has a compiler")
        check_uninstall(args, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
