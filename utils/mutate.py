#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Feeds damaged input to every reader of ours, and fails if one crashes.

    mutate.py --reconverge BIN/reconverge [--count N] [--seed S] [--jobs J]
              [--only source|json|container] [--keep FOLDER] [--first I]

Three kinds of input in turn, each mutated from a good one by mutation number
and seed alone, so that `--first I --count 1` repeats mutation I:

  source     a CUDA file: characters, tokens, lines lost, doubled, swapped, cut,
             or replaced by what is odd. The device's part of a program of ours
             is compiled and, if that works, run; whole examples are compiled.
  json       a divergence.json: bytes, and values replaced by odd ones;
             `reconverge report` reads it.
  container  the device code in a built program: bits flipped; header fields
             replaced, with their check made right; bitcode damaged or cut, with
             all checks made right, which makes it another writer's ("foreign");
             `reconverge profile` runs it.

What must hold: reconverge answers with exit code 0, 1 or 2 and in time. A
signal, exit code 70 (a fault of ours) or a time-out is a crash. So is the end
of a program by a signal, as the host code that is run has none of its own
making. Crashes of clang, a process of its own, are counted and no fault.

The last line is "N mutations of seed S, 0 crashes"; exit code 1 if there were
any.
"""

import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

KINDS = ("source", "json", "container")
TIMEOUT = 120  # seconds; a step limit ends endless kernels long before

PROGRAM = r"""
#include <cstdio>
// device
__constant__ float factor = 2.5f;
__device__ int counter;
struct Pair { int first; float second; };

__device__ int walk(int value, int limit) {
  int steps = 0;
  while (value > 1 && steps < limit) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++steps;
  }
  return steps;
}

__global__ void compute(Pair *pairs, int count) {
  __shared__ float tile[64];
  int at = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = at * factor;
  __syncthreads();
  if (at < count) {
    switch (at % 5) {
    case 0: pairs[at].first = walk(at, 50); break;
    case 1: pairs[at].first = __popc(at); break;
    case 3: pairs[at].second = sqrtf(tile[63 - threadIdx.x]); break;
    default: pairs[at].second += sinf(tile[threadIdx.x]);
    }
    for (int i = 0; i < at % 7; ++i)
      if (i & 1)
        atomicAdd(&counter, i);
    unsigned mask = __ballot_sync(__activemask(), at & 4);
    pairs[at].first ^= __shfl_sync(__activemask(), (int)mask, 3);
  }
}
// host
int main() {
  Pair *pairs = nullptr;
  const int count = 200;
  if (cudaMalloc(&pairs, 256 * sizeof(Pair)) != cudaSuccess)
    return 3;
  cudaMemset(pairs, 0, 256 * sizeof(Pair));
  compute<<<4, 64>>>(pairs, count);
  cudaError_t status = cudaDeviceSynchronize();
  std::printf("%d\n", int(status));
  return status == cudaSuccess ? 0 : 4;
}
"""

ODD_TOKENS = [
    "__syncthreads();", "__shared__ int s[1 << 20];", "asm(\"bar.sync 0;\");",
    "asm volatile(\"mov.u32 %0, %%laneid;\" : \"=r\"(at));", "return;", "for(;;)",
    "-1", "0", "1u << 31", "0x7fffffffffffffff", "1e39f", "nullptr", "/*", "//",
    "\"", "'", "{", "}", "(", ")", ";", "#", "#include \"none.h\"", "#if 1",
    "__trap();", "assert(0);", "volatile", "goto x;", "template<class T>", "@",
    "\0", "\xc3\xa9", "\\", "%", "? :", "__noinline__", "double", "long long",
    "unsigned char", "__half", "alloca(9)", "*(int*)0 = 1;", "new int",
    "__nanosleep(1);", "printf(\"%d %s\\n\", at);", "extern", "[[likely]]",
    "__builtin_unreachable();", "__ldg(&counter)", "__int128", "while(true);",
    "__launch_bounds__(0)", "atomicCAS(&counter, 1, 2);", "/ 0", "% 0", "<< 99",
]
ODD_NUMBERS = [0, 1, 31, 32, 63, 64, 255, 2**16, 2**31 - 1, 2**31, 2**32 - 1,
               2**32, 2**47, 2**63 - 1, 2**63, 2**64 - 1]
ODD_JSON = [None, True, False, -1, 0, 1, 2**31, 2**53, 2**63, 2**64, -2**63,
            1e308, -1e308, 1e-320, 0.5, "", "x", "\u0000", "\ud7ff", "a" * 5000,
            "%s%n", "\x1b[2J", [], {}, [[]], [{}], [None] * 100, {"": {}}]


#===-----------------------------------------------------------------------===#
# Text
#===-----------------------------------------------------------------------===#

def mutate_text(rng, text):
    """text with one to four changes."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if not text:
            return text
        at = rng.randrange(len(text))
        how = rng.randrange(9)
        tokens = list(re.finditer(r"\w+|[^\w\s]", text))
        if how == 0:  # another character
            text = text[:at] + chr(rng.randrange(1, 256)) + text[at + 1:]
        elif how == 1:  # cut
            text = text[:at]
        elif how == 2:  # a part lost
            text = text[:at] + text[at + rng.randrange(1, 40):]
        elif how == 3:  # a part doubled
            text = text[:at] + text[at:at + rng.randrange(1, 400)] + text[at:]
        elif how == 4:  # a line moved
            lines = text.split("\n")
            line = lines.pop(rng.randrange(len(lines)))
            lines.insert(rng.randrange(len(lines) + 1), line)
            text = "\n".join(lines)
        elif how == 5 or not tokens:  # something odd
            text = text[:at] + " " + rng.choice(ODD_TOKENS) + " " + text[at:]
        else:  # a token: lost, another of the file, or odd
            token = rng.choice(tokens)
            new = rng.choice(["", rng.choice(tokens).group(),
                              rng.choice(tokens).group(),
                              rng.choice(ODD_TOKENS)])
            text = text[:token.start()] + new + text[token.end():]
    return text


def mutate_gently(rng, text):
    """text with changes that often still compile: a number, an operator or a
    name for another, a line lost or doubled."""
    operators = [["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"],
                 ["<", ">", "<=", ">=", "==", "!="], ["+=", "-=", "^=", "%=",
                                                      "/=", "<<=", "="],
                 ["&&", "||"], ["++", "--"]]
    for _ in range(rng.choice([1, 1, 2, 3])):
        how = rng.randrange(5)
        if how == 0:
            tokens = list(re.finditer(r"(?<![\w.])\d+(?![\w.])", text))
            choices = [str(n) for n in ODD_NUMBERS if n < 2**64]
        elif how == 1:
            row = rng.choice(operators)
            tokens = list(re.finditer(
                r"(?<=[\w )])(" + "|".join(map(re.escape, row))
                + r")(?=[\w (;])", text))
            choices = row
        elif how == 2:
            tokens = list(re.finditer(r"\b[a-zA-Z]\w*\b", text))
            choices = [token.group() for token in tokens]
        else:
            lines = text.split("\n")
            at = rng.randrange(len(lines))
            lines[at:at + 1] = [lines[at]] * rng.choice([0, 2])
            text = "\n".join(lines)
            continue
        if tokens:
            token = rng.choice(tokens)
            text = text[:token.start()] + rng.choice(choices) + text[token.end():]
    return text


def mutate_json(rng, text):
    if rng.random() < 0.3:
        return mutate_text(rng, text)
    value = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place, key = value, None
        for _ in range(rng.randrange(1, 9)):
            keys = (list(place) if isinstance(place, dict)
                    else list(range(len(place))) if isinstance(place, list)
                    else [])
            if not keys:
                break
            parent, key = place, rng.choice(keys)
            place = parent[key]
        if key is None:
            continue
        how = rng.randrange(5)
        if how == 0:
            del parent[key]
        elif how == 1 and isinstance(place, int):
            parent[key] = rng.choice(ODD_NUMBERS) * rng.choice([1, 1, -1])
        elif how == 2 and isinstance(parent, list):
            parent.insert(key, place)
        elif how == 3 and isinstance(place, list):
            rng.shuffle(place)
        else:
            parent[key] = rng.choice(ODD_JSON)
        if not isinstance(value, (dict, list)):
            break
    return json.dumps(value)


#===-----------------------------------------------------------------------===#
# Containers (src/core/Container.h)
#===-----------------------------------------------------------------------===#

HEADER = struct.Struct("<QIHHQQQQQQ")
MAGIC = b"CNVERGE1"


def hasher(reconverge):
    """LLVM's xxh3, from the library that reconverge itself is linked with."""
    needed = subprocess.run(["ldd", reconverge], capture_output=True, text=True,
                            check=True).stdout
    library = ctypes.CDLL(re.search(r"=> (\S*libLLVM\S*)", needed)[1])
    function = library["_ZN4llvm11xxh3_64bitsENS_8ArrayRefIhEE"]
    function.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    function.restype = ctypes.c_uint64
    return lambda data: function(bytes(data), len(data))


class Container:
    def __init__(self, program, xxh3):
        self.xxh3 = xxh3
        self.program = program
        self.at = program.index(MAGIC)
        fields = HEADER.unpack_from(program, self.at)
        self.bytes = fields[4]
        self.bitcode_at, self.bitcode_bytes = fields[5], fields[6]

    def whole(self):
        return bytearray(self.program[self.at:self.at + self.bytes])

    def sealed(self, data):
        """data with hash and check made right, as another writer's."""
        fields = list(HEADER.unpack_from(data))
        fields[2], fields[3] = 0, 0
        if fields[4] <= len(data):
            fields[9] = self.xxh3(data[HEADER.size:fields[4]])
        fields[2] = self.xxh3(HEADER.pack(*fields)) & 0xffff
        HEADER.pack_into(data, 0, *fields)
        return data

    def mutated(self, rng):
        data = self.whole()
        how = rng.randrange(6)
        if how == 0:  # bits, anywhere
            for _ in range(rng.choice([1, 1, 3, 20])):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif how == 1:  # a field of the header
            fields = list(HEADER.unpack_from(data))
            at = rng.randrange(4, 10)
            fields[at] = rng.choice([rng.choice(ODD_NUMBERS), fields[at] + 8,
                                     fields[at] ^ (1 << rng.randrange(64))])
            fields[at] %= 2**64
            HEADER.pack_into(data, 0, *fields)
            if rng.random() < 0.7:
                self.sealed(data)
        else:
            self.damage_bitcode(rng, data)
            self.sealed(data)
        program = bytearray(self.program)
        program[self.at:self.at + self.bytes] = data[:self.bytes]
        return program

    def damage_bitcode(self, rng, data):
        begin, end = self.bitcode_at, self.bitcode_at + self.bitcode_bytes
        how = rng.randrange(6)
        if how == 0:  # shorter than it was
            fields = list(HEADER.unpack_from(data))
            fields[6] = rng.randrange(self.bitcode_bytes)
            HEADER.pack_into(data, 0, *fields)
        elif how == 1:  # a part from elsewhere
            length = rng.randrange(1, min(256, self.bitcode_bytes))
            source = rng.randrange(begin, end - length)
            target = rng.randrange(begin, end - length)
            data[target:target + length] = data[source:source + length]
        elif how == 2:  # a run of bytes
            length = rng.randrange(1, 64)
            target = rng.randrange(begin, end - length)
            data[target:target + length] = bytes(
                [rng.choice([0, 255, rng.randrange(256)])]) * length
        else:  # bits
            for _ in range(rng.choice([1, 1, 1, 2, 8, 64])):
                data[rng.randrange(begin, end)] ^= 1 << rng.randrange(8)


#===-----------------------------------------------------------------------===#
# Trials
#===-----------------------------------------------------------------------===#

class Trials:
    def __init__(self, args, folder):
        self.reconverge = str(args.reconverge.resolve())
        self.seed = args.seed
        self.folder = folder
        root = pathlib.Path(__file__).resolve().parent.parent
        self.examples = sorted(glob.glob(str(root / "examples/*/*.cu")))
        self.environment = {
            name: value for name, value in os.environ.items()
            if not name.startswith("RECONVERGE_")}
        self.prepare()

    def run(self, *words):
        """Exit code (negative: a signal, None: out of time) and output."""
        try:
            result = subprocess.run(
                [self.reconverge, *map(str, words)], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                cwd=self.folder, env=self.environment, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            return None, ""
        return result.returncode, result.stdout.decode(errors="replace")

    def profile(self, program, report):
        return self.run("profile", "--no-cache", "--threads=1",
                        "--step-limit=200000", program, "-o", report)

    def prepare(self):
        source = self.folder / "good.cu"
        source.write_text(PROGRAM)
        program, report = self.folder / "good", self.folder / "good.json"
        for code, output in (self.run("cc", source, "-o", program),
                             self.profile(program, report)):
            if code != 0:
                sys.exit(f"the program that is to be mutated fails:\n{output}")
        self.report = report.read_text()
        self.container = Container(program.read_bytes(),
                                   hasher(self.reconverge))
        untouched = self.folder / "resealed"
        data = bytearray(self.container.program)
        at, size = self.container.at, self.container.bytes
        data[at:at + size] = self.container.sealed(self.container.whole())
        untouched.write_bytes(data)
        untouched.chmod(0o755)
        code, output = self.profile(untouched, report)
        if code != 0:
            sys.exit("another writer's container is not read; are the hashes "
                     f"of this script right?\n{output}")

    def trial(self, number, kind):
        """(number, kind, what came of it, where its input is, output)"""
        rng = random.Random(f"{self.seed}-{number}")
        code, output, path = {"source": self.try_source,
                              "json": self.try_json,
                              "container": self.try_container}[kind](number, rng)
        lost_clang = "clang frontend command failed" in output
        if code is None:
            verdict = "out of time"
        elif code < 0 or code == 70 or code > 127:
            verdict = f"crash ({code})"
        elif re.search(r"ended by signal", output) and not lost_clang:
            verdict = "crash of the program"
        elif lost_clang:
            verdict = "clang crashed"
        else:
            verdict = "accepted" if code == 0 else "refused"
        return number, kind, verdict, path, output

    def try_source(self, number, rng):
        path = self.folder / f"{number}.cu"
        mutate = mutate_gently if rng.random() < 0.6 else mutate_text
        if self.examples and rng.random() < 0.3:
            text = pathlib.Path(rng.choice(self.examples)).read_text()
            path.write_text(mutate(rng, text), errors="surrogateescape")
            include = self.examples[0].rsplit("/", 2)[0]
            return *self.run("cc", "--emit-device-bc", f"-I{include}/common",
                             f"-I{include}/bitonic", path, "-o",
                             path.with_suffix(".bc")), path
        before, device, host = re.split("// (?:device|host)\n", PROGRAM)
        path.write_text(before + mutate(rng, device) + "\n" + host)
        program = path.with_suffix(".program")
        code, output = self.run("cc", path, "-o", program)
        if code == 0:
            code, output = self.profile(program, path.with_suffix(".json"))
        return code, output, path

    def try_json(self, number, rng):
        path = self.folder / f"{number}.json"
        path.write_bytes(mutate_json(rng, self.report).encode(
            "utf-8", errors="surrogatepass"))
        return *self.run("report", path), path

    def try_container(self, number, rng):
        path = self.folder / f"{number}.program"
        path.write_bytes(self.container.mutated(rng))
        path.chmod(0o755)
        return *self.profile(path, path.with_suffix(".json")), path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reconverge", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--keep", type=pathlib.Path,
                        help="folder for the inputs that crash something")
    args = parser.parse_args()

    tally, crashes = {}, 0
    with tempfile.TemporaryDirectory() as name, \
            concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        trials = Trials(args, pathlib.Path(name))
        # Sources cost most: every sixth. The number decides the kind.
        order = ("source", "json", "container", "json", "container", "container")
        numbers = range(args.first, args.first + args.count)
        jobs = [pool.submit(trials.trial, number,
                            args.only or order[number % len(order)])
                for number in numbers]
        for job in concurrent.futures.as_completed(jobs):
            number, kind, verdict, path, output = job.result()
            tally[kind, verdict] = tally.get((kind, verdict), 0) + 1
            if "crash" in verdict and "clang" not in verdict \
                    or verdict == "out of time":
                crashes += 1
                print(f"mutation {number} ({kind}): {verdict}\n{output[-3000:]}",
                      flush=True)
                if args.keep:
                    args.keep.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, args.keep)
            for leftover in glob.glob(str(path.with_suffix(".*"))):
                os.remove(leftover)
    for (kind, verdict), count in sorted(tally.items()):
        print(f"{kind}: {count} {verdict}")
    print(f"{args.count} mutations of seed {args.seed}, {crashes} crashes")
    return 1 if crashes else 0


if __name__ == "__main__":
    sys.exit(main())
