#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the rules of ARCHITECTURE.md that a compiler does not.

1. A stage includes and links only what its row in ALLOWED names.
2. The shim includes nothing of LLVM and of ours only what SHIM_HEADERS names;
   it is no reconverge_stage, because those link LLVM.
3. CUDA libraries are linked in src/runtime/gpu alone.
4. No file is longer than 800 lines, and no source file in src, plugin and
   tools than 500, but for tables (*.def, *.td, *.inc); no function in src has
   100 lines or more (see functions).
5. No files include each other, not even by way of others.
6. Every check in a lit test checks something: a misspelt directive is a
   comment to FileCheck, and the test passes (see lint_test).
7. A .cpp of more than 150 lines begins with a banner that is more than a title.
8. The rooms of a stage see what ROOMS names, and other stages see what it opens.

usage: check-dependencies.py [ROOT]   exit code 1 if a rule is broken
"""
import os
import pathlib
import re
import sys

# Who may see whom. `core` sees nobody and is seen by all but the shim; folders
# that are not listed (tools, plugin, unittests, benchmarks) see everything.
ALLOWED = {
    "core": [],
    "analysis": [],
    "launch": [],
    "frontend": ["analysis", "launch"],
    "instrument": ["analysis"],
    "model": ["analysis"],
    "train": [],
    "remedies": ["analysis", "launch", "model"],
    "warpvm": ["analysis"],
    "runtime/profile": ["analysis", "model"],
    "runtime/trial": ["analysis", "remedies"],
    "runtime/vm": ["analysis", "launch", "model", "remedies", "warpvm",
                   "runtime/profile", "runtime/shim", "runtime/trial"],
    "runtime/gpu": ["analysis", "frontend", "instrument", "launch", "model",
                    "remedies", "runtime/profile", "runtime/shim", "runtime/trial"],
    "runtime/shim": [],
    "runtime/outputs": ["runtime/shim"],
    "report": [],
    "rewrite": ["analysis", "remedies"],
    "driver": ["frontend", "analysis", "remedies", "rewrite", "warpvm", "model",
               "train", "runtime/profile", "report"],
}
# Stages that have rooms: which other rooms each may see, which headers beside
# the rooms all of them see (these see no room themselves), and which rooms are
# open to other stages, as all headers of the first kind are. What else lies
# beside the rooms puts them together and sees them all.
ROOMS = {
    "warpvm": {
        "rooms": {"prepare": [], "emit": ["prepare"], "memory": [],
                  "run": ["memory"]},
        "contracts": ["Machine.h", "Layout.h"],
        "open": ["memory"],
    },
}
SHIM = "runtime/shim"
SHIM_HEADERS = ["core/Container.h"]

MAX_LINES = 800
MAX_SOURCE_LINES = 500  # in SOURCE_FOLDERS, but for TABLES
SOURCE_FOLDERS = ("src", "plugin", "tools")
TABLES = {".def", ".td", ".inc"}
MAX_FUNCTION_LINES = 99
# From here on a file's banner has to say what it does and why it is right.
BANNER_LINES = 150
SOURCES = {".cpp", ".h", ".c", ".S", ".inc", ".def", ".cu", ".cuh", ".cmake",
           ".py", ".sh", ".ll", ".ts"}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
STAGE = re.compile(r"reconverge_stage\s*\(\s*(\w+)([^)]*)\)")
LINK = re.compile(r"target_link_libraries\s*\(([^)]*)\)")


def files(root):
    """Every file of ours, in a fixed order: no build folder, nothing hidden
    except .ci."""
    for folder, names, leaves in os.walk(root):
        if pathlib.Path(folder) == root:
            names[:] = [n for n in names if not n.startswith("build")]
        names[:] = sorted(n for n in names
                          if n not in ("node_modules", "__pycache__", "dist")
                          and (not n.startswith(".") or n == ".ci"))
        for leaf in sorted(leaves):
            yield pathlib.Path(folder, leaf)


def stage_of(path):
    """The key in ALLOWED that path, relative to src, belongs to."""
    parts = pathlib.PurePath(path).parts
    if parts[0] == "runtime" and len(parts) > 2:
        return "/".join(parts[:2])
    return parts[0]


def room_of(path):
    """(stage, room, rest) of a path, relative to src, in a stage that has rooms;
    the room is "" beside them. None in any other stage."""
    parts = pathlib.PurePath(path).parts
    if parts[0] not in ROOMS or len(parts) < 2:
        return None
    room = parts[1] if len(parts) > 2 else ""
    return parts[0], room, "/".join(parts[2 if room else 1:])


def wrong_room(path, header):
    """Why path may not include header as far as rooms go, or None."""
    if not (to := room_of(header)):
        return None
    stage, room, rest = to
    plan = ROOMS[stage]
    if room and room not in plan["rooms"]:
        return f"{stage}/{room} is no room"
    here = room_of(path)
    if not here:
        if room in plan["open"] or (not room and rest in plan["contracts"]):
            return None
        return f"{stage_of(path)} may not see {header}, which is {stage}'s own"
    _, own, leaf = here
    if not own:
        if room and leaf in plan["contracts"]:
            return f"{stage}/{leaf} is for all rooms and may see none ({header})"
        return None
    if own not in plan["rooms"]:
        return f"{stage}/{own} is no room"
    if not room:
        return (None if rest in plan["contracts"] else
                f"{stage}/{own} may see no {header}, which sees all rooms")
    if room == own or room in plan["rooms"][own]:
        return None
    return f"{stage}/{own} may not see {stage}/{room} ({header})"


def without_comments(cmake):
    return re.sub(r"#.*", "", cmake)


def check_includes(relative, text, report):
    stage = stage_of(relative)
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        header = match.group(1)
        if stage == SHIM and re.match(r"(llvm|llvm-c|clang|clang-c)/", header):
            report(number, f"the shim includes {header}: no LLVM there")
        if "/" not in header or stage_of(header) not in ALLOWED:
            continue  # not of ours
        seen = stage_of(header)
        if seen == stage:
            if wrong := wrong_room(relative, header):
                report(number, wrong)
            continue
        if stage == SHIM:
            if header not in SHIM_HEADERS:
                report(number, f"the shim includes {header}; it may see only "
                       + ", ".join(SHIM_HEADERS))
        elif seen != "core" and seen not in ALLOWED.get(stage, ALLOWED):
            report(number, f"{stage} may not see {seen} ({header})")
        elif wrong := wrong_room(relative, header):
            report(number, wrong)


def check_cmake(relative, text, folder_of, report):
    text = without_comments(text)
    stage = stage_of(relative)

    def check(names, line):
        for name in names:
            seen = folder_of.get(name)
            if (seen and seen not in (stage, "core")
                    and seen not in ALLOWED.get(stage, ALLOWED)):
                report(line, f"{stage} may not depend on {seen} ({name})")
            if (re.match(r"CUDA::|cudart|cuda$", name)
                    and stage != "runtime/gpu"):
                report(line, f"{name} is linked in {stage}: CUDA is linked "
                       "only in runtime/gpu")
            if stage == SHIM and re.match(r"LLVM|clang|Reconverge", name):
                report(line, f"the shim is linked with {name}")

    for match in STAGE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if stage == SHIM:
            report(line, "the shim is no reconverge_stage: those link LLVM")
        depends = match.group(2).partition("DEPENDS")[2].split()
        check(["Reconverge" + name for name in depends], line)
    for match in LINK.finditer(text):
        check(match.group(1).split()[1:],
              text.count("\n", 0, match.start()) + 1)


#===-----------------------------------------------------------------------===#
# Lengths
#===-----------------------------------------------------------------------===#

# What looks like code and is none. A quote in a number (1'000) is no literal.
NO_CODE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\[^'\n]+|[^'\\\n])'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.S | re.M)
SCOPE = re.compile(r"(?:template\b.*>\s*)?(?:inline\s+)?"
                   r"(?:namespace|extern|class|struct|union|enum)\b", re.S)


def functions(text):
    """The functions that text, C++ as clang-format leaves it, defines: the
    lines of their first and their last word. Lambdas and members of local
    classes belong to the function around them.

    A brace that opens outside functions opens one if parentheses stand before
    it and no class, namespace or `=` does."""
    text = NO_CODE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    begin = 0     # of what stands before the next brace
    depth = 0     # braces open in a function, or in data
    first = None  # line of the function; None: data
    for match in re.finditer(r"[{};]", text):
        sign, at = match[0], match.start()
        if depth:
            depth += {"{": 1, "}": -1, ";": 0}[sign]
            if depth:
                continue
            if re.match(r"\s*[,){]", text[at + 1:]):
                continue  # a value, of a constructor's list say
            if first:
                yield first, text.count("\n", 0, at) + 1
            first, begin = None, at + 1
            continue
        before = text[begin:at]
        head = re.sub(r"\b(?:public|private|protected)\s*:", "", before).strip()
        if sign == "{" and not SCOPE.match(head):
            depth, first = 1, None
            if "(" in head and not head.endswith("="):
                # Blank lines part it from what is no code.
                start = begin + before.rindex(re.split(r"\n\s*\n", head)[-1])
                first = text.count("\n", 0, start) + 1
            continue
        begin = at + 1


def check_lengths(path, text, report):
    lines = text.count("\n")
    is_ours = path.parts[0] in SOURCE_FOLDERS and path.suffix not in TABLES
    most = MAX_SOURCE_LINES if is_ours else MAX_LINES
    if lines > most:
        report(lines, f"{lines} lines; {most} are the most")
    if path.parts[0] == "src" and path.suffix in (".cpp", ".h"):
        for first, last in functions(text):
            if last - first + 1 > MAX_FUNCTION_LINES:
                report(first, f"a function of {last - first + 1} lines; "
                       f"{MAX_FUNCTION_LINES} are the most")


#===-----------------------------------------------------------------------===#
# Files that include each other
#===-----------------------------------------------------------------------===#

def included_files(path, text, known):
    """(line, file) of each include that names a file of ours: by its path in
    src or include, or beside path."""
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        for folder in (path.parent, pathlib.Path("src"),
                       pathlib.Path("include")):
            if folder / match.group(1) in known:
                yield number, folder / match.group(1)
                break


def check_cycles(texts, report):
    """Follows includes from each file, first to last, and reports each that
    leads back to a file on the way to it."""
    edges = {path: list(included_files(path, text, texts))
             for path, text in texts.items()
             if path.parts[0] in SOURCE_FOLDERS + ("include",)}
    done = set()

    def follow(path, way):
        if path in done:
            return
        way.append(path)
        for line, other in edges.get(path, []):
            if other in way:
                circle = way[way.index(other):] + [other]
                report(path, line, "files include each other: "
                       + " -> ".join(map(str, circle)))
            else:
                follow(other, way)
        done.add(way.pop())

    for path in sorted(edges):
        follow(path, [])


#===-----------------------------------------------------------------------===#
# Tests that check nothing
#===-----------------------------------------------------------------------===#

SUFFIX = r"(?:-(?:NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?"
COMMENT = r"^\s*(?:;|//|#|/\*)+\s*"


def lint_test(text, is_test, report):
    """Finds directives that FileCheck or lit would read as plain comments:
    without a colon, with another sign for it, with an unknown suffix, or of a
    prefix that no RUN line names; and prefixes that are named and not used.
    Where is_test is true, it must have a RUN line; others are input to one."""
    runs = re.findall(COMMENT + r"RUN:(.*)", text, re.M)
    if not runs:
        if is_test:
            report(1, "no RUN line")
        return
    # A command a line, unless it goes on in the next.
    command = re.sub(r"\\\s*;", " ", " ; ".join(runs))
    prefixes = set()
    # A prefix may come from a substitution that the test defines.
    for name in re.findall(r"-check-prefix(?:es)?[= ](%\{[\w-]+\})", text):
        for value in re.findall(r"DEFINE: " + re.escape(name) + r" = ([\w,-]+)",
                                text):
            prefixes |= set(value.split(","))
    for names in re.findall(r"-check-prefix(?:es)?[= ]([\w,-]+)", command):
        prefixes |= set(names.split(","))
    if re.search(r"FileCheck(?![^|;&]*-check-prefix)", command):
        prefixes.add("CHECK")
    used = set()
    # "CHECK-FOO" may itself be a prefix, so the longest is tried first.
    known = "|".join(map(re.escape, sorted(prefixes, key=len, reverse=True)))
    directive = re.compile(rf"(?<![\w-])({known}){SUFFIX}(?:{{LITERAL}})?:") \
        if prefixes else None
    shaped = re.compile(COMMENT + r"(([A-Za-z][\w-]*?)[-_=.](?:NEXT|NXT|SAME|"
                        r"NOT|DAG|LABEL|LABLE|EMPTY|COUNT(?:-\d+)?)\b\s*\S?)",
                        re.I)
    begins = re.compile(COMMENT
                        + rf"((?:{known or 'CHECK'})(?:\b\S*|\w+:)\s*\S?)")
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(COMMENT + r"RUN\b(?!:)", line):
            report(number, "RUN without its colon")
        match = directive.search(line) if directive else None
        if match:
            used.add(match.group(1))
            continue
        match = shaped.match(line) or begins.match(line)
        if match:
            report(number, f"\"{match.group(1).strip()}\" checks nothing: "
                   + (f"the prefixes are {', '.join(sorted(prefixes))}"
                      if prefixes else "no RUN line calls FileCheck"))
    for prefix in sorted(prefixes - used):
        report(1, f"prefix {prefix} is named by a RUN line and never used")


def check_tree(root):
    """The broken rules, as (path, line, what)."""
    problems = []
    root = pathlib.Path(root)
    texts = {}
    for path in files(root):
        if path.suffix in SOURCES or path.name in ("CMakeLists.txt", "Makefile"):
            texts[path.relative_to(root)] = path.read_text(errors="replace")

    folder_of = {}  # CMake target -> stage
    for path, text in texts.items():
        if path.parts[0] == "src" and path.name == "CMakeLists.txt":
            for match in STAGE.finditer(without_comments(text)):
                folder_of["Reconverge" + match.group(1)] = stage_of(
                    path.relative_to("src"))

    for path, text in texts.items():
        def report(line, what, path=path):
            problems.append((str(path), line, what))

        check_lengths(path, text, report)
        if (path.parts[0] in ("src", "plugin") and path.suffix == ".cpp"
                and text.count("\n") > BANNER_LINES
                and len(re.match(r"(?://.*\n)*", text)[0].splitlines()) < 5):
            report(1, f"more than {BANNER_LINES} lines and no banner that says what they do")
        if path.parts[0] == "src" and len(path.parts) > 2:
            inside = path.relative_to("src")
            if path.name == "CMakeLists.txt":
                if stage_of(inside) in ALLOWED:
                    check_cmake(inside, text, folder_of, report)
            elif stage_of(inside) not in ALLOWED:
                report(1, f"src/{stage_of(inside)} is no stage of ARCHITECTURE")
            else:
                check_includes(inside, text, report)
        if (path.parts[0] == "test" and path.suffix in (".ll", ".cu", ".test")
                and "Inputs" not in path.parts):
            lint_test(text, path.suffix != ".cu", report)
    check_cycles(texts, lambda path, line, what: problems.append(
        (str(path), line, what)))
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1
                        else pathlib.Path(__file__).resolve().parent.parent)
    problems = check_tree(root)
    for path, line, what in problems:
        print(f"{path}:{line}: {what}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
