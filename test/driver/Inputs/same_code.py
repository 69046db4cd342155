# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_code.py CUBIN KERNEL[:SUFFIX]=CUBIN...: the kernels have equal machine
code. SUFFIX is what the kernel's name has more in the first.

Of ELF files, the sections .text.<kernel> are compared, instruction by
instruction, but for the place in the module's table of addresses from which a
variable's is loaded.
"""
import struct
import sys


def sections(path):
    with open(path, "rb") as file:
        data = file.read()
    start, = struct.unpack_from("<Q", data, 40)
    size, count, names = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, start + i * size)
             for i in range(count)]

    def name(head):
        begin = heads[names][4] + head[0]
        return data[begin:data.index(b"\0", begin)].decode()
    return {name(h): data[h[4]:h[4] + h[5]] for h in heads}


LOADS = (b"\xb9\x7a", b"\x82\x7b")  # ULDC, LDC


def instructions(code):
    for at in range(0, len(code), 16):
        one = code[at:at + 16]
        yield one[:5] + one[7:] if one[:2] in LOADS else one


whole = sections(sys.argv[1])
for word in sys.argv[2:]:
    names, path = word.split("=")
    kernel, _, suffix = names.partition(":")
    ours = whole[".text." + kernel + suffix]
    other = sections(path)[".text." + kernel]
    if list(instructions(ours)) != list(instructions(other)):
        sys.exit(f"{kernel}: {len(ours)} bytes in {sys.argv[1]} are not the "
                 f"{len(other)} in {path}")
