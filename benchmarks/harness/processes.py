# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs other programs; where one fails, a BenchError says which and why."""

import os
import re
import subprocess

from errors import BenchError


def run(command, timeout=None, folder=None, **environment):
    """The finished process, whatever its exit code."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, timeout=timeout, cwd=folder,
            env=dict(os.environ, **environment))
    except subprocess.TimeoutExpired as late:
        raise BenchError(f"{' '.join(command)}: still running after "
                         f"{timeout} s") from late
    except OSError as why:
        raise BenchError(f"{command[0]}: {why.strerror}") from why


def call(command, codes=(0,), timeout=None, folder=None, **environment):
    """What a command prints; its exit code must be one of these."""
    done = run(command, timeout, folder, **environment)
    if done.returncode not in codes:
        raise BenchError(f"{' '.join(command)}: exit code {done.returncode}\n"
                         f"{done.stdout}{done.stderr}")
    return done.stdout


def line(output, key):
    """What follows "key: " in a program's output."""
    found = re.search(rf"^{key}: *(.*)$", output, re.MULTILINE)
    if not found:
        raise BenchError(f"no line '{key}:' in\n{output}")
    return found.group(1)
