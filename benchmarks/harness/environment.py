# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a number was measured on: the CPU, the tools, the commit."""

import datetime
import os
import re
import shutil
import subprocess


def output_of(command, cwd=None):
    """First line that a command prints, or an empty string."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, cwd=cwd,
                             check=False)
    except OSError:
        return ""
    lines = run.stdout.strip().split("\n")
    return lines[0] if run.returncode == 0 else ""


def cpu():
    """Model name, instruction-set flags, family and model of the first core."""
    facts = {}
    with open("/proc/cpuinfo", encoding="utf-8") as text:
        for line in text:
            key, _, value = line.partition(":")
            if not line.strip():
                break
            facts[key.strip()] = value.strip()
    flags = set(facts.get("flags", "").split())
    return {
        "model": facts.get("model name", "unknown CPU"),
        "family": facts.get("cpu family", ""),
        "number": facts.get("model", ""),
        "avx512": {"avx512f", "avx512dq", "avx512bw", "avx512vl"} <= flags,
        "avx2": {"avx2", "fma"} <= flags,
    }


def instruction_set(facts):
    if facts["avx512"]:
        return "AVX-512"
    return "AVX2" if facts["avx2"] else "SSE2"


def cuda_path():
    """The toolkit, as the tool itself looks for one."""
    for name in ("CUDA_PATH", "CUDA_HOME"):
        if os.environ.get(name):
            return os.environ[name]
    nvcc = shutil.which("nvcc")
    if nvcc:
        root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
        if os.path.exists(os.path.join(root, "include", "cuda.h")):
            return root
    return "/usr/local/cuda"


def gpu():
    """Name and driver of the first GPU, empty where there is none."""
    line = output_of(["nvidia-smi", "--query-gpu=name,driver_version",
                      "--format=csv,noheader"])
    name, _, driver = line.partition(",")
    return {"gpu": re.sub(r"^NVIDIA ", "", name.strip()),
            "driver": driver.strip()}


def commit(root):
    """What is measured: of a checkout, or as an unpacked archive notes it."""
    noted = os.path.join(root, "share", "reconverge", "commit")
    if os.path.exists(noted):
        with open(noted, encoding="utf-8") as text:
            return text.read().strip()
    head = output_of(["git", "rev-parse", "HEAD"], cwd=root)
    if output_of(["git", "status", "--porcelain", "--untracked-files=no"],
                 cwd=root):
        head += "-dirty"
    return head


def slug(model):
    """A folder's name: 'AMD EPYC 7763 64-Core Processor' -> 'amd-epyc-7763-...'."""
    model = re.sub(r"\((r|tm|c)\)|\bcpu\b|@.*", " ", model.lower())
    return re.sub(r"[^a-z0-9]+", "-", model).strip("-") or "unknown-cpu"


def cuda_release(cuda_path):
    text = ""
    nvcc = os.path.join(cuda_path, "bin", "nvcc")
    if os.path.exists(nvcc):
        run = subprocess.run([nvcc, "--version"], capture_output=True,
                             text=True, check=False)
        text = run.stdout
    found = re.search(r"release ([\d.]+)", text)
    return found.group(1) if found else ""


def describe(root, cuda_path, clang, flags):
    """The environment of a result file (docs of the format: README.md)."""
    facts = cpu()
    return {
        "cpu": facts["model"],
        "cpu-family": facts["family"],
        "cpu-model": facts["number"],
        "instruction-set": instruction_set(facts),
        "cores": len(os.sched_getaffinity(0)),
        "driver": "",
        "cuda": cuda_release(cuda_path),
        "clang": output_of([clang, "--version"]),
        "commit": commit(root),
        "flags": flags,
        "date": datetime.date.today().isoformat(),
    }
