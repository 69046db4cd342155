#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants each violation that check-dependencies.py must catch, and its nearest
innocent neighbour, which it must not."""
import importlib.util
import pathlib
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("check",
                                              HERE / "check-dependencies.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)


def problems(**tree):
    """Broken rules of a tree; `src__core__A_h` is the file src/core/A.h."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = pathlib.Path(folder, *name.split("__"))
            if "_" in path.name:
                path = path.with_name(".".join(path.name.rsplit("_", 1)))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return [f"{p}:{line}: {what}"
                for p, line, what in check.check_tree(folder)]


def include(header):
    return f'// first\n#include "{header}"\n'


class Includes(unittest.TestCase):
    def assert_caught(self, file, header, words):
        found = problems(**{file: include(header)})
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])
        self.assertIn(":2: ", found[0])

    def test_planted(self):
        for file, header, words in [
            ("src__core__A_h", "analysis/Costs.h", "core may not see analysis"),
            ("src__model__A_cpp", "warpvm/Machine.h", "model may not see warpvm"),
            ("src__warpvm__A_cpp", "remedies/meld/Meld.h", "may not see remedies"),
            ("src__report__A_cpp", "analysis/Costs.h", "report may not see analysis"),
            ("src__report__A_cpp", "model/Model.h", "report may not see model"),
            ("src__frontend__deep__A_cpp", "warpvm/Machine.h", "may not see warpvm"),
            ("src__runtime__profile__A_cpp", "runtime/vm/Api.h", "may not see runtime/vm"),
            ("src__runtime__vm__A_cpp", "report/Terminal.h", "may not see report"),
            ("src__runtime__shim__A_cpp", "core/Error.h", "only core/Container.h"),
            ("src__runtime__shim__A_cpp", "llvm/Support/Error.h", "no LLVM"),
            ("src__remedies__meld__A_cpp", "runtime/vm/Trials.h", "may not see"),
        ]:
            with self.subTest(file=file, header=header):
                self.assert_caught(file, header, words)

    def test_allowed(self):
        self.assertEqual(problems(
            src__core__A_cpp=include("core/Error.h") + include("llvm/IR/Module.h"),
            src__model__A_cpp=include("analysis/Costs.h") + include("core/Cost.h"),
            src__runtime__shim__A_cpp=include("core/Container.h")
            + include("runtime/shim/Shim.h") + include("dlfcn.h"),
            src__runtime__vm__A_cpp=include("runtime/shim/Backend.h"),
            src__driver__A_cpp=include("report/Terminal.h"),
            tools__A_cpp=include("report/Terminal.h"),
            unittests__model__A_cpp=include("warpvm/Machine.h")), [])

    def test_rooms_planted(self):
        for file, header, words in [
            ("src__warpvm__prepare__A_cpp", "warpvm/emit/Emitter.h",
             "warpvm/prepare may not see warpvm/emit"),
            ("src__warpvm__prepare__A_cpp", "warpvm/memory/Arena.h",
             "warpvm/prepare may not see warpvm/memory"),
            ("src__warpvm__emit__A_h", "warpvm/run/Library.h",
             "warpvm/emit may not see warpvm/run"),
            ("src__warpvm__run__A_cpp", "warpvm/emit/Compile.h",
             "warpvm/run may not see warpvm/emit"),
            ("src__warpvm__memory__A_cpp", "warpvm/run/Library.h",
             "warpvm/memory may not see warpvm/run"),
            ("src__warpvm__run__A_cpp", "warpvm/Program.h", "sees all rooms"),
            ("src__warpvm__Layout_h", "warpvm/run/Code.h", "may see none"),
            ("src__warpvm__cellar__A_cpp", "warpvm/Layout.h", "is no room"),
            ("src__warpvm__A_cpp", "warpvm/cellar/A.h", "is no room"),
            ("src__runtime__vm__A_cpp", "warpvm/run/Order.h", "warpvm's own"),
            ("src__runtime__vm__A_cpp", "warpvm/Program.h", "warpvm's own"),
        ]:
            with self.subTest(file=file, header=header):
                self.assert_caught(file, header, words)

    def test_rooms_allowed(self):
        self.assertEqual(problems(
            src__warpvm__prepare__A_cpp=include("warpvm/prepare/B.h")
            + include("warpvm/Layout.h") + include("analysis/Places.h"),
            src__warpvm__emit__A_cpp=include("warpvm/prepare/B.h")
            + include("warpvm/Machine.h"),
            src__warpvm__run__A_cpp=include("warpvm/memory/B.h"),
            src__warpvm__A_cpp=include("warpvm/Program.h")
            + include("warpvm/emit/B.h") + include("warpvm/run/B.h"),
            src__runtime__vm__A_cpp=include("warpvm/Machine.h")
            + include("warpvm/memory/B.h"),
            unittests__warpvm__A_cpp=include("warpvm/run/B.h")), [])

    def test_commented_include(self):
        self.assertEqual(problems(
            src__core__A_h='// #include "analysis/Costs.h"\n'), [])

    def test_unknown_stage(self):
        self.assertIn("no stage", problems(src__misc__A_cpp="")[0])


class CMake(unittest.TestCase):
    ANALYSIS = "reconverge_stage(Analysis SOURCES A.cpp DEPENDS Core)\n"

    def stage(self, folder, text):
        return problems(**{"src__analysis__CMakeLists.txt": self.ANALYSIS,
                           f"src__{folder}__CMakeLists.txt": text})

    def test_depends(self):
        found = self.stage("report", "# x\nreconverge_stage(Report\n  SOURCES "
                           "R.cpp\n  DEPENDS Core Analysis)\n")
        self.assertEqual(found, [
            "src/report/CMakeLists.txt:2: report may not depend on analysis "
            "(ReconvergeAnalysis)"])

    def test_linked(self):
        found = self.stage("report", "target_link_libraries(ReconvergeReport "
                           "PRIVATE ReconvergeAnalysis)\n")
        self.assertIn("may not depend on analysis", found[0])

    def test_shim(self):
        found = self.stage("runtime__shim", "target_link_libraries(S PRIVATE LLVM)")
        self.assertIn("the shim is linked with LLVM", found[0])
        found = self.stage("runtime__shim", "reconverge_stage(Shim SOURCES A.cpp)")
        self.assertIn("no reconverge_stage", found[0])

    def test_cuda(self):
        text = "target_link_libraries(V PRIVATE CUDA::cudart)\n"
        self.assertIn("only in runtime/gpu", self.stage("runtime__vm", text)[0])
        self.assertEqual(self.stage("runtime__gpu", text), [])

    def test_allowed(self):
        self.assertEqual(self.stage(
            "model", "# target_link_libraries(M PRIVATE CUDA::cudart)\n"
            "reconverge_stage(Model SOURCES M.cpp DEPENDS Core Analysis)\n"
            "get_target_property(x CUDA::cudart LOCATION)\n"), [])


class Length(unittest.TestCase):
    BANNER = "//\n" * 6

    def test_any_file(self):
        self.assertEqual(problems(utils__a_py="\n" * 800), [])
        self.assertIn("801 lines", problems(utils__a_py="\n" * 801)[0])
        self.assertEqual(problems(unittests__A_cpp="\n" * 501), [])

    def test_source(self):
        for folder in ("src__core", "plugin", "tools"):
            for name in ("A_cpp", "A_h"):
                file = f"{folder}__{name}"
                self.assertEqual(problems(**{file: self.BANNER + "\n" * 494}),
                                 [])
                self.assertIn("501 lines; 500 are the most", problems(
                    **{file: self.BANNER + "\n" * 495})[0])

    def test_table(self):
        for name in ("A_def", "A_inc"):
            self.assertEqual(problems(**{f"src__core__{name}": "\n" * 800}), [])

    def test_build_folder_is_not_ours(self):
        self.assertEqual(problems(**{"build-x__A_cpp": "\n" * 801}), [])


def function(lines, head="int f(int X) {"):
    """A function of so many lines."""
    rest = "\n  g();" * (lines - 1 - head.count("\n") - 1)
    return head + rest + "\n}\n"


class Functions(unittest.TestCase):
    def assert_found(self, text, *expected):
        self.assertEqual(list(check.functions(text)), list(expected))

    def test_length(self):
        self.assertEqual(problems(src__core__A_h=function(99)), [])
        found = problems(src__core__A_h="\n" + function(100))
        self.assertEqual(found, ["src/core/A.h:2: a function of 100 lines; "
                                 "99 are the most"])
        self.assertEqual(problems(unittests__A_cpp=function(100)), [])

    def test_each_kind(self):
        for head in ["int f() {", "int f()\n    const {", "static A &\nf(B C) {",
                     "template <typename T>\nT f(T X) {", "X::X() : A(1) {",
                     "X::X()\n    : A{1}, B({2, 3}), C{} {", "auto f() -> int {",
                     "bool operator()(X Y) const override {",
                     "int f(struct stat *S) {", "int f(X Y = {}) {"]:
            with self.subTest(head=head):
                self.assert_found("int X = 1;\n\n// Why.\n"
                                  + function(7, head), (4, 10))

    def test_in_scopes(self):
        for head in ["namespace a::b {", "namespace {", "class X : Y {",
                     "struct X final : Y<int(int)> {", 'extern "C" {',
                     "template <typename T, int N = f(3)>\nstruct X {",
                     "class X {\npublic:", "enum { A };\nstruct X {"]:
            with self.subTest(head=head):
                line = head.count("\n") + 2
                self.assert_found(
                    head + "\n" + function(5) + "\n" + function(4) + "};\n",
                    (line, line + 4), (line + 6, line + 9))

    def test_belongs_to_the_function_around(self):
        self.assert_found("void f() {\n  struct X {\n    int g() { return 1; }\n"
                          "  };\n  auto L = [&](int Y) {\n    h();\n  };\n}\n",
                          (1, 8))

    def test_no_function(self):
        for text in ["int X[] = {f(1), f(2)};\n", "int X{3};\n", "struct X {};\n",
                     "static const T Table[] = {\n    {A(1), {2}},\n};\n",
                     "enum class X : decltype(f(1)) { A };\n", "int f(int X);\n",
                     '#define F(X) \\\n  int f() { \\\n  }\n', "// int f() {\n",
                     'const char *X = "int f() {";\n']:
            with self.subTest(text=text):
                self.assert_found(text)
                self.assert_found(text + function(5),
                                  (text.count("\n") + 1, text.count("\n") + 5))

    def test_braces_that_are_none(self):
        for line in ["  // }", "  /* } */", '  g("}");', "  g('}');",
                     "  g('\\'', 1'000, '}');", '  g(R"x(}")x");',
                     "#define X }", '  g("\\"}");']:
            with self.subTest(line=line):
                self.assert_found("int f() {\n" + line + "\n}\n", (1, 3))


class Cycles(unittest.TestCase):
    def test_two_headers(self):
        found = problems(src__core__A_h=include("core/B.h"),
                         src__core__B_h=include("core/A.h"))
        self.assertEqual(found, [
            "src/core/B.h:2: files include each other: src/core/A.h -> "
            "src/core/B.h -> src/core/A.h"])

    def test_by_way_of_others(self):
        found = problems(src__core__A_cpp=include("core/A.h"),
                         src__core__A_h=include("core/B.h"),
                         src__core__B_h=include("core/C.h"),
                         src__core__C_h=include("core/A.h"),
                         src__core__D_h=include("core/C.h"))
        self.assertEqual(len(found), 1, found)
        self.assertIn("core/C.h -> src/core/A.h", found[0])

    def test_in_other_folders(self):
        for folder in ("plugin", "tools", "include__reconverge"):
            found = problems(**{f"{folder}__A_h": include("B.h"),
                                f"{folder}__B_h": include("A.h")})
            self.assertEqual(len(found), 1, found)

    def test_itself(self):
        self.assertIn("each other", problems(
            src__core__A_h=include("core/A.h"))[0])

    def test_allowed(self):
        # Twice from one file, from two to one, and of one name elsewhere.
        self.assertEqual(problems(
            src__core__A_h=include("core/B.h") + include("core/C.h"),
            src__core__B_h=include("core/C.h"), src__core__C_h="",
            src__model__B_h=include("core/A.h"),
            src__core__B_cpp=include("core/B.h") + include("core/A.h")), [])


class Lint(unittest.TestCase):
    RUN = "; RUN: opt %s | FileCheck %s\n; CHECK: fine\n"

    def lint(self, text):
        return problems(test__a_ll=text)

    def test_planted(self):
        for line in ["; CHECK foo", "; CHECK-NXT: foo", "; CHECK=LABEL: foo",
                     "; CHECK-LABEL foo", "; CHECK_NEXT: foo", "; CHECK : foo",
                     ";CHECK-DAG foo", "; CHECK-COUNT: foo", "; check-next: foo",
                     "; CHECKS: foo", "; OTHER-NEXT: foo", "// CHECK-LABLE: foo"]:
            with self.subTest(line=line):
                found = self.lint(self.RUN + line + "\n")
                self.assertEqual(len(found), 1, found)
                self.assertIn("checks nothing", found[0])
                self.assertIn(":3: ", found[0])

    def test_allowed(self):
        self.assertEqual(self.lint(
            self.RUN + "; CHECK-NEXT: a\n; CHECK-COUNT-3: b\n; CHECK-EMPTY:\n"
            "; CHECK{LITERAL}: c\n; CHECK-SAME: {{d}}\n; CHECK-NOT: e\n"
            "br label %x ; CHECK-DAG: beside the line it judges\n"
            "; What the checks check is checked.\n; Check this.\n; if (t < n) x = 1;\n"), [])

    def test_prefixes(self):
        run = "; RUN: a | FileCheck --check-prefix=ONE %s\n" \
              "; RUN: b | FileCheck -check-prefixes=ONE,TWO %s\n"
        self.assertEqual(self.lint(run + "; ONE: a\n; TWO-NEXT: b\n"), [])
        self.assertIn("prefix TWO", self.lint(run + "; ONE: a\n")[0])
        self.assertIn("checks nothing",
                      self.lint(run + "; ONE: a\n; TWO: b\n; CHECK-NEXT: c\n")[0])

    def test_no_run(self):
        self.assertIn("no RUN line", self.lint("; CHECK: foo\n")[0])
        self.assertEqual(problems(test__counts__a_cu="int x; // CHECK me\n"), [])
        self.assertIn("RUN without", self.lint(self.RUN + "; RUN opt\n")[0])
        self.assertIn("no RUN line calls FileCheck",
                      self.lint("; RUN: opt %s\n; CHECK-NEXT: foo\n")[0])


class OwnTree(unittest.TestCase):
    def test_own_tree(self):
        found = [f"{p}:{line}: {what}"
                 for p, line, what in check.check_tree(HERE.parent)]
        self.assertEqual(found, [])


class Banners(unittest.TestCase):
    TITLE = "//===- core/A.cpp - Sums ---===//\n// SPDX-License-Identifier: A\n"
    NOTE = TITLE + "//\n// What a stranger must know.\n//\n//===---===//\n"

    def test_a_long_file_has_one(self):
        long = "int X;\n" * 160
        found = problems(src__core__A_cpp=self.TITLE + long)
        self.assertEqual(len(found), 1, found)
        self.assertIn("no banner", found[0])
        self.assertEqual(problems(src__core__A_cpp=self.NOTE + long), [])

    def test_a_short_one_needs_none(self):
        self.assertEqual(problems(src__core__A_cpp=self.TITLE + "int X;\n"), [])


if __name__ == "__main__":
    unittest.main()
