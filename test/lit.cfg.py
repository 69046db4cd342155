# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A test is a file with RUN lines. In them:
#   opt           opt of the LLVM that we link, with our passes loaded
#   FileCheck     prints the whole input where a check fails
#   opt-viewer    LLVM's, which shows remarks
#   not, split-file, llvm-dis, ...   LLVM's own, of the same version
#   %reconverge   the tool as built
#   %clangxx      the same tool under its name as a compiler
#   %plugin       our passes, for clang
#   %pragmas      our pragmas, for clang
#   %source       the root of the repository
import glob
import os
import shutil

import lit.formats
import lit.llvm

config.name = "Reconverge"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".cu", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build, "test")

# What a user's environment says must not change a result.
for name in list(os.environ):
    if name.startswith("RECONVERGE_"):
        config.environment.pop(name, None)
for name in ["CUDA_PATH", "HOME", "CCACHE_DIR", "TMPDIR"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]
# What a program leaves to be compiled would take the CPU from later tests.
config.environment["RECONVERGE_VM"] = "later=off"
# clang through ccache, where that is there.
clang = os.path.join(config.build, "test", "clang.sh")
if os.path.exists(clang):
    config.environment["RECONVERGE_CLANG"] = clang
    config.available_features.add("ccache")
config.environment["PATH"] = os.pathsep.join(
    [config.llvm_tools, config.environment.get("PATH", "")])


def tool(name):
    return os.path.join(config.llvm_tools, name)


# Whole words only, not parts of paths or options.
def word(name):
    return r"(?<![\w./-])" + name + r"(?![\w.-])"


config.substitutions += [
    (word("opt"), f"{tool('opt')} -load-pass-plugin={config.plugin}"),
    (word("FileCheck"), f"{tool('FileCheck')} --dump-input-filter=all"),
    (word("opt-viewer"), "python3 " + os.path.join(
        config.llvm_tools, "../share/opt-viewer/opt-viewer.py")),
    (word("not"), tool("not")),
    (word("split-file"), tool("split-file")),
    ("%reconverge", os.path.join(config.build, "bin", "reconverge")),
    ("%clangxx", os.path.join(config.build, "bin", "reconverge-clang++")),
    ("%plugin", config.plugin),
    ("%pragmas", os.path.join(config.build, "lib", "libReconvergeClang.so")),
    ("%source", config.source),
]
# Tests of minutes run on request: --param slow=1, as `make test-slow` does.
if lit_config.params.get("slow"):
    config.available_features.add("slow")
if os.path.exists(os.path.join(config.build, "bin", "reconverge")):
    config.available_features.add("reconverge")
# Shells whose completions we write.
for shell in ("fish", "zsh"):
    if shutil.which(shell):
        config.available_features.add(shell)
# Nets are trained by dlib, which is optional.
config.available_features.add("train" if config.train else "no-train")
# LLVM's OpenMP runtime, of whatever version, is optional.
if any(glob.glob(f"{root}/lib/libomp.so") and
       glob.glob(f"{root}/lib/clang/*/include/omp.h")
       for root in glob.glob("/usr/lib/llvm-*")):
    config.available_features.add("openmp")
