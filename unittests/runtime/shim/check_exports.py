#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shim exports what the toolkit's libcudart does, and needs no C++ runtime.

usage: check_exports.py <generator> <llvm-nm> <llvm-readelf> <libcudart> <shim>
"""
import importlib.util
import re
import subprocess
import sys

generator, nm, readelf, cudart, shim = sys.argv[1:]
spec = importlib.util.spec_from_file_location("generator", generator)
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


theirs, their_node = generate.exported_functions(
    output(nm, "-D", "--defined-only", cudart))
ours, our_node = generate.exported_functions(
    output(nm, "-D", "--defined-only", shim))
assert our_node == their_node, (our_node, their_node)
assert set(ours) - set(theirs) == {
        "reconverge_shim_has_clock", "reconverge_shim_version"}, ours
assert set(theirs) <= set(ours), sorted(set(theirs) - set(ours))

dynamic = output(readelf, "-d", shim)
assert f"[{their_node}]" in re.search(r"SONAME.*", dynamic).group(0), dynamic
for needed in re.findall(r"NEEDED.*\[(.*)\]", dynamic):
    assert re.match(r"lib(c|dl|pthread)\.so|ld-linux", needed), needed

# What is no CUDA runtime is refused, with the reason.
for text, reason in [
    ("", "no versioned function"),
    ("0000 T printf@@GLIBC_2.2", "lacks __cudaRegisterFatBinary, cudaMalloc"),
    ("00 T cudaMalloc@@libcudart.so.12\n00 T f@@libcudart.so.13", "one version"),
]:
    try:
        generate.exported_functions(text)
    except ValueError as error:
        assert reason in str(error), error
    else:
        raise AssertionError(f"accepted {text!r}")
