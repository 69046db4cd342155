# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long machine instructions of compute capability 9.0 keep a scheduler's
pipes busy, in cycles for one warp.

Each is the rate at which the micro-benchmark of that instruction alone ran; what
runs beside what follows from classes whose steps mix instructions: a step takes
as long as its busiest pipe where warps are many.
"""

import re

# pipe and cycles: opcodes, as sass.short() names them.
PIPES = """
alu 2: IADD3 LOP3 SHF SEL ISETP PRMT VIMNMX FMNMX FSETP FSEL LEA IABS VIADD
  PLOP3 MOV HMNMX2 HSETP2 VIADDMNMX I2FP F2FP R2P FCHK VOTE CS2R P2R LEPC
  IMNMX VIMNMX3 SGXT BMSK FSET HSET2 B2R
fma 2: IMAD IDP HADD2 HMUL2 HFMA2 FSWZADD
fma 4: IMAD.HI IMAD.WIDE
fma 1: FADD FMUL FFMA
fp64 2: DADD DMUL DFMA DSETP
xu 8: MUFU POPC FLO BREV I2F F2I F2F FRND
lsu 4: LD LDG LDS LDL ST STG STS STL ATOM ATOMS ATOMG RED REDG SHFL LDSM
lsu 8: MATCH REDUX LDC S2R
tex 16: TEX TLD TLD4 SULD SUST
control 2: BRA BRX
control 8: CALL RET
control 9: BAR
control 4: BSSY BSYNC WARPSYNC ENDCOLLECTIVE BREAK BMOV NANOSLEEP YIELD EXIT
  MEMBAR ERRBAR
"""
# They are issued and take no pipe that a warp could wait for.
FREE = """NOP CCTL CGAERRBAR DEPBAR R2UR S2UR VOTEU ULDC UBMSK UFLO UIADD3 UIMAD
  UISETP ULEA ULOP3 UMOV UPLOP3 UPOPC UPRMT USEL USGXT USHF"""


def table(text):
    """{opcode: (pipe, cycles)}"""
    found = {}
    for line in re.sub(r"\n\s+", " ", text.strip()).split("\n"):
        head, opcodes = line.split(":")
        pipe, cycles = head.split()
        for opcode in opcodes.split():
            found[opcode] = pipe, float(cycles)
    return found


BUSY = table(PIPES)


def pipe_of(opcode):
    """(pipe, cycles), (None, 0) of one that takes none; KeyError: unknown."""
    for name in (opcode, opcode.split(".")[0]):
        if name in BUSY:
            return BUSY[name]
    if opcode.split(".")[0] in FREE.split():
        return None, 0.0
    raise KeyError(opcode)


def busy(counts):
    """{pipe: cycles} of so many of each opcode, "issue" among them. A count may
    be below zero: a helper was taken off."""
    cycles = {"issue": 0.0}
    for opcode, count in counts.items():
        pipe, each = pipe_of(opcode)
        cycles["issue"] += count
        if pipe:
            cycles[pipe] = cycles.get(pipe, 0.0) + count * each
    return {pipe: value for pipe, value in cycles.items() if value > 0.05}


def opcodes():
    """{opcode: {pipe: cycles}} of all that have one price, "issue" among them;
    IMAD.WIDE and IMAD.HI have numbers of their own in machine code."""
    prices = {opcode: {"issue": 1, pipe: cycles}
              for opcode, (pipe, cycles) in BUSY.items()}
    prices.update((opcode, {"issue": 1}) for opcode in FREE.split())
    return dict(sorted(prices.items()))
