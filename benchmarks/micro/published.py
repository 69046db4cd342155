# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Machine files of GPUs that we have not measured: what their makers publish,
and for the rest what was measured on the H200.

Limits are NVIDIA's own figures, each with its source. An instruction's cost is
the H200's, by the ratio of the throughputs in the CUDA C++ Programming Guide's
table (results a clock and multiprocessor) where that differs: the busy time of
the pipe grows by it, and the latency by as many cycles as the pipe is busy
longer. Nothing here is marked as measured.
"""
import json

GUIDE = ("CUDA C++ Programming Guide, technical specifications of compute "
         "capability {}")
TABLE = "CUDA C++ Programming Guide, throughput of arithmetic instructions"
OCCUPANCY = ("NVIDIA's occupancy calculator (cuda_occupancy.h), compute "
             "capability {}")
H200 = "estimate: as measured on the H200"
# What streams reach of the H200's 4.8 TB/s.
REACHED = 0.905


class Gpu:
    """What is published of a GPU; called: its name in NVIDIA's driver."""

    def __init__(self, name, called, full, capability, source, multiprocessors,
                 clock, clock_source, l1, shared, threads, blocks, l2, l2_rate,
                 gigabytes, factors, same_chip=False):
        self.__dict__.update(locals())


# The factors: (what classes' names end in, pipe) -> times the H200's busy time.
GPUS = [
    Gpu("a100", "NVIDIA A100-SXM4-40GB", "NVIDIA A100 SXM4 40 GB", "8.0",
        "NVIDIA A100 Tensor Core GPU Architecture (whitepaper, 2020)", 108,
        1410, "boost clock", 196608, 167936, 2048, 32, 41943040,
        (5120, "NVIDIA A100 whitepaper: 5120 bytes a clock"), 1555,
        {(".f32", "fma"): (2, "64 results, not 128"),
         (".f64", "fp64"): (2, "32 results, not 64")}),
    Gpu("h100", "NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM5 80 GB", "9.0",
        "NVIDIA H100 Tensor Core GPU Architecture (whitepaper, 2022)", 132,
        1980, "67 TFLOPS of 132 x 128 fused operations a clock",
        262144, 233472, 2048, 32, 52428800,
        (5097, H200 + ", which is the same chip"), 3352, {}, same_chip=True),
    Gpu("rtx4090", "NVIDIA GeForce RTX 4090", "NVIDIA GeForce RTX 4090", "8.9",
        "NVIDIA Ada GPU Architecture (whitepaper, 2022)", 128, 2520,
        "boost clock", 131072, 102400, 1536, 24, 75497472,
        (2048, "estimate: 16 bytes a clock and multiprocessor"), 1008,
        {(".f64", "fp64"): (32, "2 results, not 64"),
         (".f16", "fma"): (2, "128 results, not 256"),
         ("cvt.64", "xu"): (8, "2 results, not 16")}),
]


def limits(gpu, h200):
    """(key, value, source) of each limit."""
    guide, occupancy = (text.format(gpu.capability)
                        for text in (GUIDE, OCCUPANCY))
    yield "multiprocessors", gpu.multiprocessors, gpu.source
    yield "clock-mhz", gpu.clock, f"{gpu.source}: {gpu.clock_source}"
    yield "schedulers", 4, guide
    yield "threads", gpu.threads, guide
    yield "blocks", gpu.blocks, guide
    yield "registers", 65536, guide
    yield "shared-bytes", gpu.shared, guide
    for key in ("register-unit", "shared-unit", "shared-reserved"):
        yield key, h200[key]["value"], occupancy
    yield "l1-bytes", gpu.l1, guide
    yield "l1-latency", h200["l1-latency"]["value"], H200
    yield "l2-bytes", gpu.l2, gpu.source
    yield "l2-latency", h200["l2-latency"]["value"], H200
    yield "l2-bytes-per-cycle", *gpu.l2_rate
    yield "dram-latency", h200["dram-latency"]["value"], H200
    if gpu.same_chip:
        for key in ("atomic-turns-per-cycle", "atomic-turns-at-one",
                    "blocks-per-cycle"):
            yield key, h200[key]["value"], H200 + ", which is the same chip"
    microseconds = h200["launch-cycles"]["value"] / h200["clock-mhz"]["value"]
    yield ("launch-cycles", round(microseconds * gpu.clock, -2),
           f"{H200}: {microseconds:.1f} us")
    yield ("dram-bytes-per-cycle",
           round(REACHED * gpu.gigabytes * 1000 / gpu.clock),
           f"estimate: {gpu.gigabytes} GB/s by {gpu.source}, of which the H200 "
           f"reaches {100 * REACHED:.1f} %")
    yield "norm", h200["norm"]["value"], "estimate: as h200"


def cost(name, entry, gpu):
    """A class of the H200's as it should be on gpu, and the source of that."""
    busy, words = dict(entry["busy"]), []
    for (ending, pipe), (factor, why) in gpu.factors.items():
        if name.endswith(ending) and pipe in busy:
            busy[pipe] *= factor
            words.append(f"{pipe} x {factor} ({TABLE}: {why})")
    before, after = max(entry["busy"].values()), max(busy.values())
    latency = entry["latency"] + round(after - before)
    issue = round(entry["issue"] * after / before, 2)
    source = "; ".join([H200] + words)
    return {"latency": latency,
            "issue": int(issue) if issue == int(issue) else issue,
            "busy": busy}, source


def machine_files(h200):
    """(name, text) of each file, from the H200's as read."""
    for gpu in GPUS:
        about = (f"{gpu.full} (compute capability {gpu.capability}), NOT "
                 "measured by us: limits as published, the costs of "
                 "instructions the H200's, by the published ratio of "
                 "throughputs (benchmarks/micro/published.py). On that GPU, "
                 "benchmarks/micro/run.py writes a file that is measured.")
        lines = [f'  "{key}": {{"value": {value:g}, "measured": false, '
                 f'"source": {json.dumps(source)}}}'
                 if isinstance(value, float) else
                 f'  "{key}": {{"value": {value}, "measured": false, '
                 f'"source": {json.dumps(source)}}}'
                 for key, value, source in limits(gpu, h200["limits"])]
        classes = []
        for name, entry in h200["classes"].items():
            numbers, source = cost(name, entry, gpu)
            classes.append(
                f'  "{name}": {{"latency": {numbers["latency"]}, '
                f'"issue": {numbers["issue"]}, "measured": false,\n'
                f'   "busy": {json.dumps(numbers["busy"])},\n'
                f'   "source": {json.dumps(source)}}}')
        yield gpu.name, (
            f'{{\n "format": 2,\n "name": {json.dumps(gpu.name)},\n'
            f' "gpu": {json.dumps(gpu.called)},\n'
            f' "description": {json.dumps(about)},\n "limits": {{\n'
            + ",\n".join(lines) + '\n },\n "classes": {\n'
            + ",\n".join(classes) + "\n }\n}\n")
