# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every program on the GPU, at its own size.

Each is built with code for the GPU (reconverge's, nvcc's or clang's), must end
with 0 there (it checks its own results), and its output is compared with the
warp VM's: of clang's code, whose arithmetic is its own, it may well differ. One
row a program: metric `gpu-output`, 1 if it ran right, with the verdict on the
output; another verdict than identical is a failure.
"""

import processes
import programs
from suite import Build, Case, Metric, Option, Suite

CODE = {"reconverge": Build("reconverge", ("--fatbin",)),
        "nvcc": Build("reconverge", ("--device-code=nvcc",)),
        "clang": Build("reconverge", ("--device-code=clang",))}


def run(bench, case, device):
    done = processes.run([bench.program(case, bench.options.device_code)], 120,
                         RECONVERGE_DEVICE=device,
                         CUDA_PATH=bench.options.cuda)
    return done.returncode, done.stdout, done.stderr


def prepare(bench, case):
    """(1 or 0, verdict) of one program."""
    code, on_gpu, errors = run(bench, case, bench.device)
    if code != 0:
        return 0, f"differs (exit code {code}: {(on_gpu + errors).strip()})"
    code, on_vm, errors = run(bench, case, "cpu")
    if code != 0:
        return 0, f"unknown (on the VM exit code {code}: {errors.strip()})"
    if on_gpu == on_vm:
        return 1, "identical"
    apart = next((f"{a!r} on the GPU, {b!r} on the VM"
                  for a, b in zip(on_gpu.splitlines(), on_vm.splitlines())
                  if a != b), "one is longer")
    return 1, f"differs ({apart})"


def measure(bench, case, prepared):
    ran, verdict = prepared
    if verdict != "identical":
        bench.fail(f"{case.name}: {verdict}")
    yield bench.row(case, "gpu-output", [ran],
                    {"device-code": bench.options.device_code},
                    verdict=verdict)


def show(bench):
    good = sum(row["verdict"] == "identical" for row in bench.rows)
    print(f"{good} of {len(bench.cases)} run as on the VM")


SUITES = [Suite(
    name="tests", about="every program, its output against the warp VM's",
    cases=lambda _: [Case(name, {}) for name in programs.everything()],
    source=lambda name: programs.everything()[name], timed=False,
    ways=lambda options: {options.device_code: CODE[options.device_code]},
    metrics={"gpu-output": Metric("1")}, prepare=prepare, measure=measure,
    show=show, flags=lambda bench: "-O3",
    options=(Option("device-code", "reconverge", "whose", tuple(CODE)),))]
