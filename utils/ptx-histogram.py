#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the PTX instructions in inline asm of the CUDA toolkit and of clang.

    utils/ptx-histogram.py [--cuda /usr/local/cuda] [--write docs/ptx.md]

Prints a Markdown table: for each opcode, in how many places each group of
headers writes it, and whether the lowering has it (the table in docs/ptx.md
says so). With --write, puts it between that file's histogram markers. A macro
counts once, where it is defined; asm whose opcode is a macro's argument is
counted as "(macro)".
"""
import argparse
import collections
import glob
import os
import re
import subprocess

BEGIN = "<!-- histogram: written by utils/ptx-histogram.py -->\n"
END = "<!-- end of histogram -->\n"
COLUMNS = ["fp16", "bf16", "groups", "cub", "libcu++", "cuda/ptx", "other", "clang",
           "libdevice"]


def group(path):
    """The column that counts the file at `path` (under the include folder)."""
    name = os.path.basename(path)
    if name.startswith("cuda_fp16"):
        return "fp16"
    if name.startswith("cuda_bf16"):
        return "bf16"
    if "cooperative_groups" in path:
        return "groups"
    if "/cub/" in path or "/thrust/" in path:
        return "cub"
    if "/__ptx/" in path:
        return "cuda/ptx"
    if "/cccl/" in path:
        return "libcu++"
    return "other"


def asm_texts(source):
    """The text of each asm statement: its adjacent string literals, joined."""
    source = re.sub(r"/\*.*?\*/", " ", source, flags=re.S)
    source = source.replace("\\\n", "\n")
    literal = r'(?:R"YYY\((.*?)\)YYY"|"((?:[^"\\\n]|\\.)*)")'
    for match in re.finditer(
            r"\b(?:__)?asm(?:__)?\s*(?:(?:__)?volatile(?:__)?)?\s*\(", source):
        at, text = match.end(), ""
        while True:
            piece = re.compile(r"\s*(?://[^\n]*\n\s*)*" + literal, re.S).match(
                source, at)
            macro = re.compile(r"\s*(?:#\s*)?[A-Za-z_]\w*(?:\s*\([^()]*\))?").match(
                source, at)
            if piece:
                raw = piece.group(1)
                text += raw if raw is not None else piece.group(2)
                at = piece.end()
            elif macro and macro.end() > at:
                text += " MACRO"
                at = macro.end()
            else:
                break
        yield text


def opcodes(text):
    """The opcodes of the statements in `text`."""
    text = re.sub(r"\\[nt]", " ", text).replace("\\\\", "")
    text = re.sub(r"//[^\n]*", " ", text)
    depth_free = re.sub(r"\{[^{};]*\}(?=\s*[,;\]])", "V", text)  # vector operands
    for statement in re.split(r"[;{}]", depth_free):
        statement = re.sub(r"^\s*@!?[\w%$]+\s+", "", statement.strip())
        if not statement or statement.startswith(".") or re.match(r"^[\w$]+:", statement):
            continue
        word = re.match(r"[a-z][a-z0-9_]*(?=[\s.;]|$)", statement)
        if word:
            yield word.group(0)
        elif statement.startswith("MACRO"):
            yield "(macro)"


def known(document):
    with open(document) as file:
        return set(re.findall(r"^\| `(\w+)` \|", file.read(), flags=re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    here = os.path.dirname(os.path.abspath(__file__))
    document = os.path.join(here, "..", "docs", "ptx.md")
    parser.add_argument("--cuda", default=os.environ.get("CUDA_PATH", "/usr/local/cuda"))
    parser.add_argument("--clang-headers", default="/usr/lib/llvm-19/lib/clang/19/include")
    parser.add_argument("--write", metavar="FILE")
    options = parser.parse_args()

    counts = collections.defaultdict(collections.Counter)
    include = os.path.join(options.cuda, "include")
    sources = [(group(path), path) for path in sorted(
        glob.glob(os.path.join(include, "**", "*"), recursive=True))]
    sources += [("clang", path) for path in sorted(
        glob.glob(os.path.join(options.clang_headers, "__clang_cuda*.h")))]
    for column, path in sources:
        if not os.path.isfile(path):
            continue
        with open(path, errors="replace") as file:
            for text in asm_texts(file.read()):
                for opcode in opcodes(text):
                    counts[opcode][column] += 1
    for bitcode in glob.glob(os.path.join(options.cuda, "nvvm/libdevice/*.bc")):
        text = subprocess.run(["llvm-dis-19", bitcode, "-o", "-"], check=True,
                              capture_output=True, text=True).stdout
        for asm in re.findall(r'\basm (?:sideeffect )?"([^"]*)"', text):
            for opcode in opcodes(re.sub(r"\\0[9A]", " ", asm)):
                counts[opcode]["libdevice"] += 1

    lowered = known(options.write or document)
    lines = ["| opcode | lowered | " + " | ".join(COLUMNS) + " | all |",
             "| --- | --- |" + " ---: |" * (len(COLUMNS) + 1)]
    total, covered = collections.Counter(), collections.Counter()
    for opcode, row in sorted(counts.items(), key=lambda item: (-sum(item[1].values()),
                                                                item[0])):
        total.update(row)
        if opcode in lowered:
            covered.update(row)
        lines.append("| `" + opcode + "` | " + ("yes" if opcode in lowered else "no") +
                     " | " + " | ".join(str(row[c] or "") for c in COLUMNS) +
                     f" | {sum(row.values())} |")
    lines.append("| **all** | | " + " | ".join(str(total[c]) for c in COLUMNS) +
                 f" | {sum(total.values())} |")
    lines.append("| **lowered** | | " + " | ".join(str(covered[c]) for c in COLUMNS) +
                 f" | {sum(covered.values())} |")
    table = "\n".join(lines) + "\n"
    if not options.write:
        print(table, end="")
        return
    with open(options.write) as file:
        text = file.read()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    with open(options.write, "w") as file:
        file.write(text[:begin] + "\n" + table + "\n" + text[end:])


main()
