#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""zsh-complete.py FOLDER LINE...: types each line into a zsh that has the
completions in FOLDER, with a tab behind it, and prints what stands there then,
a list of choices too."""
import os
import pty
import re
import select
import sys
import time

folder, *lines = sys.argv[1:]
with open(os.path.join(folder, ".zshrc"), "w", encoding="utf-8") as text:
    text.write(f"fpath=({folder} $fpath)\nautoload -U compinit\n"
               "compinit -u -D\nunsetopt zle_bracketed_paste\nPS1='READY>'\n")
child, terminal = pty.fork()
if child == 0:
    os.environ.update(ZDOTDIR=folder, TERM="dumb")
    os.execvp("zsh", ["zsh", "-i"])


def read(least):
    """What comes: more than that many characters, and then nothing for a while."""
    got, end = "", time.monotonic() + 20
    while time.monotonic() < end:
        ready, _, _ = select.select([terminal], [], [], 0.2)
        if ready:
            got += os.read(terminal, 65536).decode(errors="replace")
            got = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]|\r|\x07", "", got)
        elif len(got.strip()) > least:
            break
    return got


read(len("READY"))
for line in lines:
    os.write(terminal, (line + "\t").encode())
    print(read(len(line.rstrip())).removesuffix("\n"))
    os.write(terminal, b"\x03")
    read(len("READY"))
os.write(terminal, b"exit\n")
os.waitpid(child, 0)
