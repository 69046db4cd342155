#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""corrupt.py <program> <offset>: flips a bit of a program's device code, so
many bytes into its container, which starts with the magic of core/Container.h."""

import sys

path, offset = sys.argv[1], int(sys.argv[2])
with open(path, "rb") as program:
    data = bytearray(program.read())
at = data.index(b"CNVERGE1")
data[at + offset] ^= 0x10
with open(path, "wb") as program:
    program.write(data)
