//===- unittests/remedies/RunKernels.cu - Random kernels on a GPU --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   EmitKernels kernels 1 500                       where LLVM is
//   nvcc -O2 RunKernels.cu -lcuda -o RunKernels     where the GPU is
//   RunKernels kernels/*.ptx
//
// Runs before_<seed> and after_<seed> of every file from the same memory and
// compares every byte that they leave. Exit code 1 if any differs.
//
//===----------------------------------------------------------------------===//
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

static void check(CUresult Result, const char *What) {
  if (Result == CUDA_SUCCESS)
    return;
  const char *Name = nullptr;
  cuGetErrorName(Result, &Name);
  std::fprintf(stderr, "%s: %s\n", What, Name ? Name : "?");
  std::exit(2);
}
#define CHECK(CALL) check(CALL, #CALL)

// As in unittests/warpvm/RandomKernel.h.
static constexpr unsigned InWords = 256, OutWords = 16, Sums = 16;

/// xorshift64*.
struct Random {
  uint64_t State;
  explicit Random(uint64_t Seed) : State(Seed * 0x9e3779b97f4a7c15 + 1) {}
  uint32_t below(uint32_t N) {
    State ^= State >> 12, State ^= State << 25, State ^= State >> 27;
    return uint32_t((State * 0x2545f4914f6cdd1d >> 33) % N);
  }
};

/// What the kernel leaves in `out` and `sums`.
static std::vector<uint32_t> run(CUmodule M, const std::string &Name,
                                 uint64_t Seed) {
  Random R(Seed ^ 0xabcdef);
  const unsigned Sizes[] = {1, 32, 33, 48, 64, 96, 128};
  const unsigned Threads = Sizes[R.below(7)], Blocks = 1 + R.below(8);
  unsigned N = R.below(8);
  std::vector<uint32_t> In(InWords);
  for (uint32_t &X : In)
    X = R.below(2) ? R.below(32) : R.below(0xffffffff);
  std::vector<uint32_t> Out(Blocks * Threads * OutWords + Sums, 0xdeadbeef);
  for (unsigned I = 0; I != Sums; ++I)
    Out[Out.size() - Sums + I] = 0;

  CUfunction F;
  CUdeviceptr DIn, DOut;
  CHECK(cuModuleGetFunction(&F, M, Name.c_str()));
  CHECK(cuMemAlloc(&DIn, In.size() * 4));
  CHECK(cuMemAlloc(&DOut, Out.size() * 4));
  CHECK(cuMemcpyHtoD(DIn, In.data(), In.size() * 4));
  CHECK(cuMemcpyHtoD(DOut, Out.data(), Out.size() * 4));
  CUdeviceptr DSums = DOut + (Out.size() - Sums) * 4;
  void *Args[] = {&DIn, &DOut, &DSums, &N};
  check(
      cuLaunchKernel(F, Blocks, 1, 1, Threads, 1, 1, 0, nullptr, Args, nullptr),
      Name.c_str());
  check(cuCtxSynchronize(), Name.c_str());
  CHECK(cuMemcpyDtoH(Out.data(), DOut, Out.size() * 4));
  CHECK(cuMemFree(DIn));
  CHECK(cuMemFree(DOut));
  return Out;
}

int main(int argc, char **argv) {
  CUdevice Device;
  CUcontext Context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&Device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&Context, Device));
  CHECK(cuCtxSetCurrent(Context));
  unsigned Kernels = 0, Differ = 0;
  for (int I = 1; I < argc; ++I) {
    std::ifstream File(argv[I]);
    std::stringstream Text;
    Text << File.rdbuf();
    const std::string Ptx = Text.str();
    CUmodule M;
    check(cuModuleLoadData(&M, Ptx.c_str()), argv[I]);
    std::set<uint64_t> Seeds;
    const std::string Mark = ".entry before_";
    for (size_t At = 0; (At = Ptx.find(Mark, At)) != std::string::npos; ++At)
      Seeds.insert(std::strtoull(Ptx.c_str() + At + Mark.size(), nullptr, 10));
    for (uint64_t Seed : Seeds) {
      const auto Before = run(M, "before_" + std::to_string(Seed), Seed),
                 After = run(M, "after_" + std::to_string(Seed), Seed);
      ++Kernels;
      size_t Word = 0;
      while (Word != Before.size() && Before[Word] == After[Word])
        ++Word;
      if (Word == Before.size())
        continue;
      ++Differ;
      std::printf("seed %llu: word %zu is %08x before, %08x after\n",
                  (unsigned long long)Seed, Word, Before[Word], After[Word]);
    }
    CHECK(cuModuleUnload(M));
  }
  std::printf("%u random kernels, %u differ\n", Kernels, Differ);
  return Differ || !Kernels ? 1 : 0;
}
