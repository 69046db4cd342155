# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What one step of an operation became, from cuobjdump's listing.

A kernel of micro.h reads the clock three times. The section after the second
reading has 2 N steps more than the one before it, and nothing else more, so
the difference of the two lists of instructions is 2 N times the step.
"""

import collections
import re

FUNCTION = re.compile(r"\s*Function : (\S+)")
INSTRUCTION = re.compile(
    r"\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*);")
CLOCK = "SR_CLOCKLO"
SUBOPERATIONS = ("MUFU", "IMAD", "F2F", "F2I", "I2F", "SHF")


def functions(lines):
    """{symbol: [(opcode, operands), ...]} of cuobjdump --dump-sass."""
    found, current = {}, None
    for line in lines:
        if begin := FUNCTION.match(line):
            current = found.setdefault(begin.group(1), [])
        elif current is not None and (code := INSTRUCTION.match(line)):
            current.append(code.groups())
    return found


def short(opcode):
    """The opcode as far as it names an operation: MUFU.RCP, SHF.L, IADD3."""
    parts = opcode.split(".")
    return ".".join(parts[:2 if parts[0] in SUBOPERATIONS else 1])


def step(code, steps):
    """{opcode: how often in one step}; empty where the sections are unclear.

    steps is N times the number of chains.
    """
    clocks = [i for i, (_, operands) in enumerate(code) if CLOCK in operands]
    if len(clocks) == 3 + 4 * steps:  # an operation that reads the clock
        return {short(code[clocks[1]][0]): 1.0}
    if len(clocks) != 3:
        return {}
    first, second = (
        collections.Counter(short(op) for op, _ in code[a:b])
        for a, b in zip(clocks, clocks[1:]))
    second.subtract(first)
    counts = {op: round(count / (2 * steps), 2)
              for op, count in sorted(second.items())}
    # What is not in every step is the loop's, laid out in another order.
    return {op: count for op, count in counts.items() if abs(count) > 0.2}


def folded(counts, expected, per):
    """Whether a step has fewer of the expected opcodes than it should.

    expected is "A|B*N": N of A or B; per of them where N is missing.
    """
    names, _, number = expected.partition("*")
    found = sum(count for op, count in counts.items()
                if any(name in op for name in names.split("|")))
    return found < float(number or per) - 0.1  # the loop's own may be missing
