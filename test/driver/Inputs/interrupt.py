# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""interrupt.py SIGNAL FILE LINES command...

Starts the command, waits until FILE has LINES lines, sends the command alone
the signal and prints what was left: its exit code as a shell has it, temporary
files, and processes of the program that are still there. If FILE is a pipe,
waits until somebody reads from it, who gets its end after the signal.

With Ctrl-C for a signal the command runs in a terminal, in which that is typed.
"""
import os
import pty
import signal
import stat
import subprocess
import sys
import time

name, marker, lines, *command = sys.argv[1:]
temporary = os.path.abspath("temporary")
os.makedirs(temporary)

keyboard, terminal = pty.openpty() if name == "Ctrl-C" else (None, None)


def prepare():
    # lit's workers ignore SIGINT, and what is ignored is inherited.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if terminal is not None:
        os.login_tty(terminal)


process = subprocess.Popen(command, preexec_fn=prepare,
                           env=dict(os.environ, TMPDIR=temporary))


is_pipe = os.path.exists(marker) and stat.S_ISFIFO(os.stat(marker).st_mode)


def is_read():
    global pipe
    try:
        pipe = os.open(marker, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # there is no reader
        return False
    return True


def started():
    if is_pipe or not os.path.exists(marker):
        return []
    with open(marker, encoding="utf-8") as text:
        return text.read().split()


while not is_read() if is_pipe else len(started()) < int(lines):
    if process.poll() is not None:
        sys.exit(f"the command ended with {process.returncode}")
    time.sleep(0.05)
if keyboard is not None:
    os.write(keyboard, b"\x03")
else:
    process.send_signal(getattr(signal, name))
if is_pipe:
    os.close(pipe)
try:
    code = process.wait(60)
except subprocess.TimeoutExpired:
    process.kill()
    code = "none: it goes on"
    process.wait()
print("exit code", 128 - code if isinstance(code, int) and code < 0 else code)
print("temporary files", os.listdir(temporary))


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as text:
            return text.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def still_running():
    return [pid for pid in started() if is_alive(pid)]


end = time.monotonic() + 2  # a signal takes its time
while (alive := still_running()) and time.monotonic() < end:
    time.sleep(0.05)
print("still running", alive)
for pid in alive:
    os.kill(int(pid), signal.SIGKILL)
