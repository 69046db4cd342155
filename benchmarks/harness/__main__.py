# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests and benchmarks: runs suites, and makes pages of what they wrote.

  run [options] [SUITE...]            default: tests baseline
  run --page [SUITE...]               docs/ from results/, default: every page
  run --check-page [SUITE...]         is it what the results say?

The exit code is 0 if everything passed, 1 otherwise, 2 for what cannot start.
"""

import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True  # leave no __pycache__ in the source tree

import bench
import environment
import publish
import suite as suites
from errors import BenchError, exit_code
from places import default_prefix


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise BenchError(message)


def listed(text):
    return [word for word in text.split(",") if word]


def parser_of(known):
    """The options of all suites, then those that one alone knows."""
    lines = [f"  {name:18} {suite.about}" for name, suite in known.items()]
    parser = Parser(prog="run", description=__doc__,
                    epilog="suites:\n" + "\n".join(lines), allow_abbrev=False,
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("suites", nargs="*", metavar="SUITE")
    add("--output", metavar="FOLDER", help="for the result files; default: "
        "results/<gpu or cpu>, for runs of all cases at full size")
    add("--only", type=listed, default=[], metavar="CASE,...")
    add("--device", choices=["gpu", "cpu"], help="cpu: only our builds, small, "
        "on the warp VM; tries the script of a GPU's suite")
    add("--quick", action="store_true", help="at the programs' own small sizes")
    add("--rounds", type=int, help="default: as the suite says")
    add("--repeat", type=int, help="launches timed in a run; default as above")
    add("--prefix", default=default_prefix(),
        help="a build or an archive: where bin/reconverge is")
    add("--cuda", default=environment.cuda_path(), help="the toolkit")
    add("--clang", help="default: the archive's, or clang++-19")
    add("--arch", type=int, default=90)
    add("--jobs", type=int, default=len(os.sched_getaffinity(0)),
        help="builds and preparations at once")
    add("--keep", metavar="FOLDER", help="leave the builds there")
    add("--build-only", action="store_true")
    add("--page", action="store_true")
    add("--check-page", action="store_true")
    for suite in known.values():
        for option in suite.options:
            flag = {"action": "store_true"} if option.default is False else {
                "default": option.default, "type": type(option.default),
                "choices": option.choices or None}
            add("--" + option.name, help=f"{suite.name}: {option.what}", **flag)
    return parser


def wanted(known, options):
    """The suites named, each with some of the cases."""
    making = options.page or options.check_page
    names = options.suites or (
        [name for name, suite in known.items() if suite.page] if making
        else ["tests", "baseline"])
    for name in names:
        if name not in known:
            raise BenchError(f"no suite '{name}'; there are {', '.join(known)}")
        if making and not known[name].page:
            raise BenchError(f"the suite {name} has no page")
    found = [known[name] for name in names]
    cases = dict.fromkeys(case.name for suite in found
                          for case in suite.cases(options))
    for name in options.only:
        if name not in cases:
            raise BenchError(f"no case '{name}'; there are {', '.join(cases)}")
    return found


def run_script(suite, options):
    if options.device == "cpu":
        raise BenchError(f"the suite {suite.name} needs a GPU")
    bench.need_gpu()
    return subprocess.run(suite.script(options), check=False).returncode == 0


def main():
    known = suites.every()
    options = parser_of(known).parse_intermixed_args()
    found = wanted(known, options)
    if options.page or options.check_page:
        return publish.make(found, options.check_page)
    passed = True
    for suite in found:
        print(f"== {suite.name}", flush=True)
        passed &= (run_script if suite.script else bench.run)(suite, options)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(exit_code("run", main))
