#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns measurements into a machine file (docs/machines.md).

  machine.py benchmarks/results/<gpu>/micro.json machines/<gpu>.json

CLASSES says for each class which measurements its two numbers come from: a
name, or a sum in which a step's helpers are taken off again. An issue cost is
never taken apart where the helper runs on another unit beside it.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "harness"))

import pipes  # noqa: E402
import results  # noqa: E402

# class: latency | issue (empty: the same) | in words
CLASSES = """
abs.f16: abs_f16 | | folded into an addition, as ptxas does
abs.f32: abs_f32 | | folded into an addition, as ptxas does
abs.f64: abs_f64 | | folded into an addition, as ptxas does
abs.i32: abs_i32 - add_i32 | abs_i32 | the latency less the subtraction between two
abs.i64: abs_i64 - add_i64 | | less the subtraction between two
add.f16: add_f16
add.f32: add_f32
add.f64: add_f64
add.i32: add_i32
add.i64: add_i64 | | until both halves are there
addr: addr_i64 | | a widening multiply-add
asm: add_i32 | | taken for one instruction
atom.global: atom_global | | 32 words in a row, in L2, with the old value
atom.shared: atom_shared | | 32 words in a row, with the old value
bar.sync: bar_block/256 | bar_groups | blocks of 256 threads
bar.warp: bar_warp | | a full warp needs no instruction
bits.i32: bits_i32 | | population count
bits.i64: bits_i64 - logic_i64 | bits_i64 | population count, the latency less what widens it again
branch: br_uniform_taken | | taken by the whole warp, condition ready
call: 0.5 call_ret - 0.5 logic_i32 | | half of a call and its return
clock: clock_32 - guard_i32 + add_i32 | clock_32 | the 32-bit clock, the latency less the condition that chains two
cmp.f16: cmp_select_f16 - sel_b32 | | less the select that chains two
cmp.f32: cmp_select_f32 - sel_b32 | | less the select that chains two
cmp.f64: cmp_select_f64 - sel_b32 | cmp_f64 | the latency less the select that chains two
cmp.i32: cmp_select_i32 - sel_b32 | | less the select that chains two
cmp.i64: cmp_select_i64 - sel_b32 | cmp_select_i64 - 2 sel_b32 | less the select that chains two
cvt.32: cvt_s32_f32 | | mean of int to float and back
cvt.64: cvt_f32_f64 | | mean of float to double and back
div.approx.f32: div_approx_f32
div.f16: div_f16
div.f32: div_f32
div.f64: div_f64
div.s32: div_s32
div.s64: div_s64
div.u32: div_u32
div.u64: div_u64
exp.f32: exp_f32 | | __expf()
exp.f64: exp_f64
exp2.f32: exp2_f32 | | ex2.approx
exp2.f64: exp2_f64
fence: st_fence_gl | fence_gl | __threadfence(), latency with a store before it
fma.f16: fma_f16
fma.f32: fma_f32
fma.f64: fma_f64
ld.const: ld_const | | all lanes one word, in the constant cache
ld.generic: ld_global_near | ld_generic | latency: as ld.global; issue: hits in L1
ld.global: ld_global_near | ld_global | latency: device memory; issue: hits in L1
ld.local: ld_local | | a hit in L1
ld.shared: ld_shared | | no bank conflict
log.f32: log_f32 | | __logf()
log.f64: log_f64 - add_f64 | log_f64 | the latency less an addition
log2.f32: log2_f32 | | lg2.approx
log2.f64: log2_f64 - add_f64 | log2_f64 | the latency less an addition
logic.i32: logic_i32
logic.i64: logic_i64
match: match_same - logic_i32 | match_same | one value in the warp, the latency less a logic operation
minmax.f16: minmax_f16
minmax.f32: minmax_f32
minmax.f64: minmax_f64
minmax.s32: minmax_s32
minmax.s64: minmax_s64
minmax.u32: minmax_u32
minmax.u64: minmax_u64
mov: mov_b32 | | a conditional one, which ptxas makes a select; others are renamed away
mul.f16: mul_f16
mul.f32: mul_f32
mul.f64: mul_f64
mul.i32: mul_i32
mul.i64: mul_i64
mul24.i32: mul24_i32
pow.f32: pow_f32 | | __powf()
pow.f64: pow_f64
rcp.f32: rcp_f32 | | rcp.rn
rcp.f64: rcp_f64 | | rcp.rn
redux: redux_add
rem.f16: rem_f16 - add_f32 | rem_f16 | the latency less an addition
rem.f32: rem_f32 - add_f32 | rem_f32 | the latency less an addition
rem.f64: rem_f64 - add_f64 | rem_f64 | the latency less an addition
rem.s32: rem_s32 - logic_i32 | | less a logic operation
rem.s64: rem_s64 - logic_i64 | | less a logic operation
rem.u32: rem_u32 - logic_i32 | | less a logic operation
rem.u64: rem_u64 - logic_i64 | | less a logic operation
ret: 0.5 call_ret - 0.5 logic_i32 | | half of a call and its return
rsqrt.f32: rsqrt_f32 | | rsqrt.approx
rsqrt.f64: rsqrt_f64
select: sel_b32
shfl: shfl_idx - add_i32 | shfl_idx | the latency less an addition
shift.i32: shift_i32
shift.i64: shift_i64
sin.f32: sin_f32 | | sin.approx
sin.f64: sin_f64
sqrt.f16: sqrt_f16
sqrt.f32: sqrt_f32 | | sqrt.rn
sqrt.f64: sqrt_f64 | | sqrt.rn
sreg: sreg_smid - guard_i32 + add_i32 | sreg_smid | the latency less the condition that chains two
st.generic: st_ld_global - ld_global_l2 - add_i64 | st_generic | as st.global
st.global: st_ld_global - ld_global_l2 - add_i64 | st_global_one | latency: until a load that follows sees it, less that load from L2; issue: one word
st.local: st_ld_local - ld_local | st_local | latency: until a load that follows sees it, less that load
st.shared: st_ld_shared - ld_shared | st_shared | latency: until a load that follows sees it, less that load
switch: switch_8 - 6 mad_i32 | | eight dense cases, less a case's six multiply-adds
tan.f32: tan_f32 | | __tanf()
tan.f64: tan_f64
tex: tex_1d | | a hit, without filtering
vote: vote_ballot - cmp_i32 | | ballot, less the comparison that feeds it
"""

# What the machine code of a step does not show: the pipes of those classes.
# A routine that is called counts as so many instructions as src/analysis/
# Counting.cpp gives it, on the pipe that is busy for the measured time.
GIVEN = {
    "bar.warp": {"issue": 1},
    "call": {"issue": 1, "control": 7},
    "ret": {"issue": 1, "control": 7},
    "branch": {"issue": 1, "control": 2.4},
    "switch": {"issue": 3, "control": 7.7},
    "fence": {"issue": 4, "control": 43},
    "vote": {"issue": 1, "alu": 2},
    "asm": {"issue": 1, "alu": 2},
}
ROUTINES = {"div.u64": 26, "div.s64": 26, "rem.u64": 26, "rem.s64": 26,
            "pow.f64": 60}

MEMORY = ("ld.", "st.", "atom.", "shfl", "match", "redux", "tex")

# The GPU's limits: value or measurement, or a value where there is none | in
# words | of that value. Those of "guide" are the CUDA C++ Programming Guide's
# for compute capability 9.0, those of "calculator" what NVIDIA's occupancy
# calculator (cuda_occupancy.h) has for it.
LIMITS = """
multiprocessors: =sms | as the driver says
clock-mhz: =clock-mhz | as the driver says
schedulers: 4 | guide
threads: 2048 | guide
blocks: 32 | guide
registers: 65536 | guide
shared-bytes: 233472 | guide
register-unit: 256 | calculator
shared-unit: 128 | calculator
shared-reserved: 1024 | calculator
l1-bytes: 262144 | guide
l1-latency: latency ld_global_l1 | loads that hit in L1
l2-bytes: 62914560 | as the driver says
l2-latency: latency ld_global_l2 | loads that hit in L2 (8 MB)
l2-bytes-per-cycle: per-cycle ld_global_l2_rate 128 | loads of 128 bytes a warp that hit in L2
dram-latency: latency ld_global_near | loads from device memory, in order
atomic-turns-per-cycle: 34.4 | atomicAdd with the old value, each warp at one of 4096 lines, all SMs
atomic-turns-at-one: 0.69 | the same, all warps at one word
blocks-per-cycle: 0.84 | an empty kernel: 632 us more for 2^20 thread blocks of 32 to 512 threads
launch-cycles: 11300 | an empty kernel of one thread block, from event to event: 5.7 us
dram-bytes-per-cycle: per-cycle ld_dram 512, or 2424 | loads of 16 bytes a lane, all SMs, 4 GB | estimate: 4.8 TB/s by the datasheet, at the clock above
norm: 8 | estimate: of 3, 4, 6 and 8 the one that predicts 67 candidates of 18 kernels best; so it is without any one of the kernels
"""

# What no class says, for docs/machines.md: in words: latency | issue; - if none.
DETAILS = """
global load, hit in L1: ld_global_l1 | ld_global
read-only load (ld.global.nc), hit in L1: ld_readonly_l1 | ld_readonly
generic load, hit in L1: ld_generic_l1 | ld_generic
global load, hit in L2 (8 MB): ld_global_l2 | ld_global_l2_rate
global load, device memory (256 MB), in order: ld_global_near | -
global load, device memory (8 GB), at random: ld_global_far | -
global load, device memory (256 MB), half of the bandwidth taken: ld_dram_half | -
global load, device memory (256 MB), all bandwidth taken: ld_dram_full | -
global load, hit in L1, 32 lines in a warp: - | ld_global_lines
global load, hit in L2 (8 MB), 32 sectors at random in a warp, all SMs at once: - | ld_l2_random
global load, device memory, 16 bytes a lane, all SMs at once: - | ld_dram
global store, device memory, 16 bytes a lane, all SMs at once: - | st_dram
copy in device memory, 16 bytes a lane each way, all SMs at once: - | copy_dram
shared load, one word for all: ld_shared_same |
shared load, 2 lanes to a bank: ld_shared_2 |
shared load, 8 lanes to a bank: ld_shared_8 |
shared load, 32 lanes to a bank: ld_shared_32 |
shared store, 32 lanes to a bank: - | st_shared_32
constant load, 2 words in a warp: ld_const_2 |
constant load, 32 words in a warp: ld_const_32 |
global store, 32 words: - | st_global
global store, 32 words, all SMs at once: - | st_global_rate
shared atomic, all lanes one word: atom_shared_same |
shared compare-and-swap, 32 words: atom_shared_cas |
shared atomic without the old value, 32 words: - | red_shared
shared atomic without the old value, one word: - | red_shared_same
global atomic, all lanes one word: atom_global_same |
global atomic without the old value, 32 words: - | red_global
global atomic without the old value, one word: - | red_global_same
fence of the block: fence_cta |
fence of the GPU, nothing to wait for: fence_gl |
fence of the GPU after a store: st_fence_gl | -
barrier, 32 threads: bar_block/32 | -
barrier, 64 threads: bar_block/64 | -
barrier, 128 threads: bar_block/128 | -
barrier, 512 threads: bar_block/512 | -
barrier, 1024 threads: bar_block/1024 | -
branch around 24 instructions, uniform for the compiler, taken: br_uniform_taken |
branch around 24 instructions, uniform for the compiler, not taken: br_uniform_not |
branch around 24 instructions, taken by all: br_taken |
branch around 24 instructions, taken by none: br_not |
branch around 24 instructions, taken by half a warp: br_diverge |
the 24 instructions alone: br_body |
two sides of 24 and 25 instructions, one taken by all: br_two_taken |
two sides of 24 and 25 instructions, the other taken by all: br_two_not |
two sides of 24 and 25 instructions, half a warp each: br_two_diverge |
shuffle across (bfly), and an addition: shfl_bfly |
vote (any), with comparison and select: vote_any |
match.any, 32 values: match_any |
match.all: match_all |
redux.min: redux_min |
multiplication, high half: mulhi_i32 |
multiply-add of integers: mad_i32 |
comparison and an addition under its condition: guard_i32 |
dp4a: dp4a_u32 |
byte permutation: prmt_i32 |
funnel shift: funnel_i32 |
leading zeros: clz_i32 |
bit reversal, and a byte permutation: brev_i32 |
fma.f16x2, two units in turn: fma_f16x2 |
rcp.approx.ftz.f32, and an addition: rcp_approx_f32 |
rsqrt.approx.ftz.f32: rsqrt_ftz_f32 |
ex2.approx.ftz.f32: exp2_ftz_f32 |
tanh.approx.f32: tanh_f32 |
sinf(), small argument: sinf_f32 |
expf(): expf_f32 |
logf(): logf_f32 |
float to half or back: cvt_f16_f32 |
float rounded to integer, and an addition: round_f32 |
sign extension of 8 bits, and an addition: cvt_s8 |
int to double or back: cvt_s32_f64 |
long to double or back: cvt_s64_f64 |
sign extension to 64 bits, and a shift: sext_i64 |
"""

TERM = re.compile(r"([+-]?)\s*(?:([\d.]+)\s+)?([a-z]\w*)(?:/(\d+))?\s*")


def slug(gpu):
    """A file's name: "NVIDIA H200" -> "h200"."""
    words = [w for w in re.split(r"[^a-z0-9]+", gpu.lower())
             if w and w not in ("nvidia", "geforce", "tesla")]
    return "-".join(words)


class Refused(Exception):
    """A number that would rest on a measurement that failed."""


class Measurements:
    def __init__(self, result):
        self.rows = {}
        for row in result["rows"]:
            threads = row["params"]["threads"]
            for key in (threads, None):
                place = row["case"], row["metric"], key
                known = self.rows.setdefault(place, row)
                # Issue may be taken twice: the faster is what the unit can do.
                if row["metric"] == "issue" and row["value"] < known["value"]:
                    self.rows[place] = row

    def has(self, metric, text):
        """Whether all of a sum was measured, well or badly."""
        return all((case, metric, int(threads) if threads else None) in self.rows
                   for _, _, case, threads in TERM.findall(text))

    def value(self, metric, text):
        """(value, lowest, highest over the SMs) of a sum of measurements."""
        value = low = high = 0
        for sign, factor, case, threads in TERM.findall(text):
            row = self.rows.get((case, metric, int(threads) if threads else None))
            if row is None or row["verdict"] != "ok":
                raise Refused(f"{case} {metric}: " +
                              (row["verdict"] if row else "not measured"))
            factor = float(factor or 1) * (-1 if sign == "-" else 1)
            ends = sorted(factor * end for end in row["sms"])
            value += factor * row["value"]
            low, high = low + ends[0], high + ends[1]
        return value, low, high


    def code(self, text):
        """{opcode: how often} of a sum of measurements' steps."""
        counts = {}
        for sign, factor, case, threads in TERM.findall(text):
            row = self.rows[case, "issue", int(threads) if threads else None]
            factor = float(factor or 1) * (-1 if sign == "-" else 1)
            for opcode, count in row.get("code", {}).items():
                counts[opcode] = counts.get(opcode, 0.0) + factor * count
        return counts


# The least that the format allows, and how near to a whole number is one.
# Chains and units take whole cycles; what the two sections of a benchmark do
# not have in common is spread over the steps, a few tenths where these are few.
LATENCY, ISSUE = (0, 0.25), (1, 0.1)


def rounded(value, kind):
    """Whole where it is nearly so or above 100, else with one decimal."""
    least, near = kind
    value = max(value, least)
    if value >= 100 or abs(value - round(value)) <= near:
        return round(value)
    return round(value, 1)


def entries(text):
    for line in text.strip().split("\n"):
        name, _, rest = line.partition(": ")
        yield name, [part.strip() for part in (rest + " | | ").split("|")][:3]


def spread(ends, kind):
    return [rounded(end, kind) for end in ends]


def busy(measured, name, issue, slots):
    """{pipe: cycles} of a class."""
    if name in GIVEN:
        return GIVEN[name]
    if name in ROUTINES:
        return {"issue": ROUTINES[name], "alu": rounded(slots, ISSUE)}
    code = measured.code(issue)
    if name.startswith(MEMORY):  # not what computes the step's address
        code = {opcode: count for opcode, count in code.items()
                if pipes.pipe_of(opcode)[0] in ("lsu", "tex")}
    cycles = {pipe: round(value, 1)
              for pipe, value in pipes.busy(code).items()}
    cycles["issue"] = max(cycles.get("issue", 0), 1)
    return cycles


# Machine instructions whose result comes when it comes: the code waits for it.
# Of all others the code itself says how long to wait. Opcodes: latency.
WAITED = """
LDS: ld_shared
LDSM: ld_shared
LDG LD: ld_global_l1
LDL: ld_local
LDC: ld_const
ATOMS: atom_shared
ATOM ATOMG: atom_global
SHFL: shfl_idx
MUFU: exp2_f32
POPC FLO BREV: bits_i32
F2I I2F FRND F2F: 0.5 cvt_s32_f64
VOTE: vote_ballot - cmp_i32
MATCH: match_all
REDUX: redux_add
S2R S2UR: sreg_smid - cmp_i32
TEX TLD TLD4: tex_1d
BAR: bar_block/256
BRA BRX: br_uniform_taken
"""


def opcode_lines(measured):
    """The lines of "opcodes"."""
    latency = {opcode: rounded(measured.value("latency", text)[0], LATENCY)
               for opcodes, (text, *_) in entries(WAITED)
               if measured.has("latency", text) for opcode in opcodes.split()}
    for opcode, busy in pipes.opcodes().items():
        price = {"busy": busy}
        if opcode in latency:
            price["latency"] = latency[opcode]
        yield f'  "{opcode}": {json.dumps(price)}'


def limit_lines(measured, facts):
    """The lines of "limits"."""
    lines = []
    for name, (what, words, instead) in entries(LIMITS):
        what, _, value = what.partition(", or ")
        if value and not measured.has("issue", what.split()[1]):
            what, words = value, instead
        kind, _, rest = what.partition(" ")
        if what.startswith("="):
            value, is_measured = facts[what[1:]], True
        elif kind == "latency":
            value, is_measured = rounded(measured.value(kind, rest)[0], LATENCY), True
            words = f"micro-benchmarks: {rest} ({words})"
        elif kind == "per-cycle":
            case, each = rest.split()
            cycles = measured.value("issue", case)[0]
            value = round(int(each) * 4 * facts["sms"] / cycles)
            is_measured = True
            words = f"micro-benchmarks: {case} ({words})"
        else:
            value, is_measured = float(what), not words.startswith("estimate")
            value = int(value) if value == int(value) else value
        if words == "guide":
            words = ("CUDA C++ Programming Guide, technical specifications of "
                     "compute capability 9.0")
        if words == "calculator":
            words = ("NVIDIA's occupancy calculator (cuda_occupancy.h), "
                     "compute capability 9.0")
        lines.append(f'  "{name}": {{"value": {value}, "measured": '
                     f'{"true" if is_measured else "false"}, '
                     f'"source": {json.dumps(words)}}}')
    return lines


def machine_file(result, source):
    """The machine file's text, and the classes refused."""
    measured = Measurements(result)
    facts = result["environment"]
    lines, refused = [], []
    for name, (latency, issue, words) in entries(CLASSES):
        try:
            cycles, *over = measured.value("latency", latency)
            slots, *under = measured.value("issue", issue or latency)
        except Refused as why:
            refused.append(f"{name}: {why}")
            continue
        how = "micro-benchmarks: " + (
            latency if not issue or issue == latency
            else f"latency {latency}; issue {issue}")
        if words:
            how += f" ({words})"
        lines.append(
            f'  "{name}": {{"latency": {rounded(cycles, LATENCY)}, '
            f'"issue": {rounded(slots, ISSUE)}, "measured": true,\n'
            f'   "busy": {json.dumps(busy(measured, name, issue or latency, slots))},\n'
            f'   "latency-spread": {spread(over, LATENCY)}, '
            f'"issue-spread": {spread(under, ISSUE)},\n'
            f'   "source": {json.dumps(how)}}}')
    about = (
        f"{facts['gpu']} (compute capability {facts['compute-capability']}), "
        "measured by benchmarks/micro/run.py: cycles of the SM's clock; issue "
        "costs are cycles that one of an SM's four schedulers is busy with one "
        "warp. A spread is the least and the most over all SMs and runs. "
        f"Samples: {source}.")
    keys = ("gpu", "sms", "clock-mhz", "driver", "cuda", "date")
    on = {key: facts[key] for key in keys}
    text = ('{\n "format": 2,\n'
            f' "name": {json.dumps(slug(facts["gpu"]))},\n'
            f' "description": {json.dumps(about)},\n'
            f' "measured-on": {json.dumps(on)},\n'
            ' "limits": {\n' + ",\n".join(limit_lines(measured, facts)) +
            '\n },\n'
            ' "classes": {\n' + ",\n".join(lines) + "\n },\n"
            ' "opcodes": {\n' + ",\n".join(opcode_lines(measured)) +
            "\n }\n}\n")
    return text, refused


def details(result):
    """(what, latency, issue) of DETAILS; a number is (value, low, high) or None.
    What older results lack is left out."""
    measured = Measurements(result)
    for name, (latency, issue, _) in entries(DETAILS):
        if not all(text == "-" or measured.has(metric, text) for metric, text in
                   (("latency", latency), ("issue", issue or latency))):
            continue
        yield (name, *(
            None if text == "-" else measured.value(metric, text)
            for metric, text in (("latency", latency),
                                 ("issue", issue or latency))))


def write(samples, path):
    """Writes the machine file, or exits with what it would rest on."""
    result = results.read(samples)
    source = "benchmarks/results/" + "/".join(
        os.path.abspath(samples).split(os.sep)[-2:])
    text, refused = machine_file(result, source)
    if refused:
        sys.exit(f"{path}: not written:\n  " + "\n  ".join(refused))
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    write(*sys.argv[1:])
