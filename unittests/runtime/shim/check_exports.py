#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The shims export what the toolkit's libraries do, and need no C++ runtime.

usage: check_exports.py <generator> <llvm-nm> <llvm-readelf> <libcudart> <shim>
                        <stub of libcuda> <shim of libcuda>
"""
import importlib.util
import re
import subprocess
import sys

generator, nm, readelf, cudart, shim, cuda, driver = sys.argv[1:]
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

theirs, ours = [set(generate.driver_functions(
    output(nm, "-D", "--defined-only", library))) for library in (cuda, driver)]
assert ours == theirs, sorted(theirs ^ ours)
since = dict(zip(sorted(theirs), generate.versions(
    sorted(theirs), "typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v3020)(int);"
    "typedef CUresult (CUDAAPI *PFN_cuMemAlloc_v2000)(int);")))
assert (since["cuMemAlloc"], since["cuMemAlloc_v2"], since["cuInit"]) == (
    2000, 3020, 0), since

for library, name in (shim, their_node), (driver, "libcuda.so.1"):
    dynamic = output(readelf, "-d", library)
    assert f"[{name}]" in re.search(r"SONAME.*", dynamic).group(0), dynamic
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
try:
    generate.driver_functions("0000 T cuInit")
except ValueError as error:
    assert "lacks cuGetProcAddress_v2" in str(error), error
else:
    raise AssertionError("accepted half a driver")
