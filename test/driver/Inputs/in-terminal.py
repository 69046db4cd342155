#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""in-terminal.py COLUMNS COMMAND...: runs the command in a terminal of that
width and prints what that was sent, escapes as <esc>. A line that is longer than
the terminal is wide, and no path, ends in <too long>."""
import fcntl
import os
import pty
import re
import struct
import sys
import termios

child, terminal = pty.fork()
if child == 0:
    os.environ.pop("COLUMNS", None)
    os.environ["TERM"] = "xterm"
    size = struct.pack("HHHH", 25, int(sys.argv[1]), 0, 0)
    fcntl.ioctl(1, termios.TIOCSWINSZ, size)
    os.execvp(sys.argv[2], sys.argv[2:])
sent = b""
try:
    while chunk := os.read(terminal, 65536):
        sent += chunk
except OSError:
    pass  # the other side has closed it
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
for line in sent.decode(errors="replace").replace("\r\n", "\n").splitlines():
    shown = re.sub(r"\x1b\[[\d;]*[mK]|\r", "", line)
    wrong = len(shown) > int(sys.argv[1]) and "/" not in shown
    print(line.replace("\x1b", "<esc>") + ("<too long>" if wrong else ""))
sys.exit(status)
