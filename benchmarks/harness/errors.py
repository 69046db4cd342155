# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ends a command with one message and exit code 2."""

import sys


class BenchError(Exception):
    """Said to the user as it is."""


def exit_code(command, main):
    """What main() returns; 2 where it raises a BenchError, after saying it."""
    try:
        return main()
    except BenchError as why:
        print(f"{command}: error: {why}", file=sys.stderr)
        return 2
