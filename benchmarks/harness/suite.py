# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a suite of benchmarks is.

A file in suites/ says what is measured, as data, and has a function for what is
truly its own; the runner (bench.py) does the rest, for each suite in the same
order:

  1. cases     programs with their parameters, chosen by --only
  2. ways      every build of every case's program; as many at once as there
               are cores
  3. prepare   what may run beside others (counting, deciding), case by case,
               as soon as the case's builds are there
  4. measure   case by case, alone on the machine; what it yields are the rows,
               and the file is written after each case
  5. finish    rows over all cases
  6. show      the tables of the terminal
  7. page      the page in docs/, made of result files by `run --page`

Only cases, metrics and measure are needed. A suite that compares builds of the
programs in kernels/ has nothing but data: see suites/meld.py and compare.py.
"""

import dataclasses
import importlib
import os
from typing import Any, Callable, NamedTuple

import programs


class Case(NamedTuple):
    """One line of a suite: a name, most often a program's, and parameters."""
    name: str
    params: dict
    program: str = ""  # where the name is another

    def source_name(self):
        return self.program or self.name

    def words(self):
        return programs.words(self.params)

    def label(self):
        return " ".join([self.name, *self.words()])


class Build(NamedTuple):
    """How a program is made: a compiler of builds.Compilers, and flags."""
    compiler: str
    flags: tuple = ()


class Metric(NamedTuple):
    """What a row's value is, said once for the suite."""
    unit: str
    baseline: str = ""  # what a ratio is over


class Option(NamedTuple):
    """A word of the command line that this suite alone knows."""
    name: str
    default: Any
    what: str
    choices: tuple = ()


class Part(NamedTuple):
    """A part of another page of docs/, between <!-- mark --> and
    <!-- /mark -->: lines(results.Store) gives its text."""
    name: str
    mark: str
    lines: Callable


class Page(NamedTuple):
    """A page of docs/: lines(results.Store) gives its text, and plots(store)
    the text of files in docs/ that it shows, by their names."""
    name: str
    lines: Callable
    parts: tuple = ()
    plots: Callable = lambda store: {}


# Parameters: of all these functions a bench.Bench, but where another is named.
@dataclasses.dataclass(frozen=True)
class Suite:
    name: str
    about: str  # a line of --help
    cases: Callable = lambda options: ()  # of the command line: Cases
    metrics: dict = dataclasses.field(default_factory=dict)  # name to Metric
    measure: Callable | None = None  # bench, case[, prepared]: yields rows
    where: str = "gpu"  # whose numbers these are; or "cpu"
    timed: bool = True  # numbers of a debug build mean nothing
    source: Callable = programs.kernel  # name: the file
    ways: dict | Callable = dataclasses.field(default_factory=dict)
    small: Callable = lambda case: {}  # parameters that prove the script
    rounds: int = 2
    repeat: int = 12
    threads: int = 1  # of one preparation
    start: Callable | None = None  # before all; bench.own is what it returns
    prepare: Callable | None = None  # bench, case
    finish: Callable | None = None  # yields rows
    show: Callable | None = None  # prints tables
    flags: Callable | None = None  # for the file's environment
    options: tuple = ()
    page: Page | None = None
    script: Callable | None = None  # a command in place of all this


def every():
    """Name to suite, in the order of the files' names."""
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "suites")
    names = sorted(leaf[:-3] for leaf in os.listdir(folder)
                   if leaf.endswith(".py"))
    return {suite.name: suite for name in names
            for suite in importlib.import_module("suites." + name).SUITES}
