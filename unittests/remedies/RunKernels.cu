//===- unittests/remedies/RunKernels.cu - Random kernels on a GPU --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where LLVM is, any test of random kernels writes them (Seeds.h):
//
//   mkdir kernels && RECONVERGE_WRITE_KERNELS=kernels
//   RECONVERGE_RANDOM_SEEDS=1,300 build/unittests/RefillTests --gtest_filter='Seeds*'
//
// Where the GPU is, with src/launch and src/core beside, which need no LLVM:
//
//   nvcc -O2 -std=c++20 -Isrc unittests/remedies/RunKernels.cu
//   src/launch/Execute.cpp src/launch/RecipeText.cpp src/launch/Rows.cpp
//   src/launch/Trips.cpp -lcuda
//   -o RunKernels
//   ./RunKernels kernels/*.ptx
//
// Runs each kernel, by its recipe if it has one, and compares every byte that
// it leaves with what the original left on the CPU. Exit code 1 if any differs.
//
//===----------------------------------------------------------------------===//
#include "launch/Execute.h"
#include "launch/RecipeText.h"

#include <cuda.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

using namespace reconverge;

using Words = std::vector<uint32_t>;

static void check(CUresult Result, const char *What) {
  if (Result == CUDA_SUCCESS)
    return;
  const char *Name = nullptr;
  cuGetErrorName(Result, &Name);
  std::fprintf(stderr, "%s: %s\n", What, Name ? Name : "?");
  std::exit(2);
}
#define CHECK(CALL) check(CALL, #CALL)

namespace {

/// Launches of a module's kernels. Scratch lives until the end.
class GpuPlace final : public launch::Place {
public:
  explicit GpuPlace(CUmodule M) : M(M) {
    CUdevice Device;
    CHECK(cuCtxGetDevice(&Device));
    CHECK(cuDeviceGetAttribute(
        &Processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, Device));
  }
  ~GpuPlace() {
    for (CUdeviceptr Each : Scratch)
      CHECK(cuMemFree(Each));
    if (Side)
      CHECK(cuStreamDestroy(Side));
  }

  CUfunction find(const std::string &Kernel) {
    CUfunction F;
    check(cuModuleGetFunction(&F, M, Kernel.c_str()), Kernel.c_str());
    return F;
  }

  void *allocate(uint64_t Bytes, bool Zeroed) override {
    CUdeviceptr New;
    CHECK(cuMemAlloc(&New, std::max<uint64_t>(Bytes, 1)));
    CHECK(cuMemsetD8(New, Zeroed ? 0 : 0xcd, Bytes));
    Scratch.push_back(New);
    return reinterpret_cast<void *>(New);
  }
  void release(void *) override {}
  uint64_t resident(const RecipeStep &Step, uint64_t BlockThreads,
                    uint64_t DynamicShared) override {
    int Blocks = 0;
    CHECK(cuOccupancyMaxActiveBlocksPerMultiprocessor(
        &Blocks, find(Step.Kernel), int(BlockThreads), DynamicShared));
    return uint64_t(Blocks) * uint64_t(Processors);
  }
  std::optional<launch::MemoryRange> rangeOf(uint64_t Address) override {
    CUdeviceptr Begin = 0;
    size_t Size = 0;
    if (cuMemGetAddressRange(&Begin, &Size, Address))
      return std::nullopt;
    return launch::MemoryRange{Begin, Begin + Size};
  }
  bool launch(const RecipeStep &Step, const LaunchShape &Shape,
              void **Args) override {
    return run(Step.Kernel, Shape, Args);
  }
  bool run(const std::string &Kernel, const LaunchShape &S, void **Args) {
    return cuLaunchKernel(find(Kernel), S.Grid[0], S.Grid[1], S.Grid[2],
                          S.Block[0], S.Block[1], S.Block[2],
                          unsigned(S.DynamicShared), Stream, Args,
                          nullptr) == CUDA_SUCCESS;
  }
  bool fork() override {
    if (!Side)
      CHECK(cuStreamCreate(&Side, CU_STREAM_NON_BLOCKING));
    CHECK(cuCtxSynchronize());
    return true;
  }
  void beside() override { Stream = Side; }
  void join() override {
    CHECK(cuStreamSynchronize(Side));
    Stream = nullptr;
  }

private:
  CUmodule M;
  CUstream Stream = nullptr, Side = nullptr;
  int Processors = 0;
  std::vector<CUdeviceptr> Scratch;
};

/// What Differential.cpp wrote.
struct Kernel {
  std::string Ptx, RecipeText;
  LaunchShape Shape;
  unsigned N = 0;
  Words In, Out, Sums, LeftOut, LeftSums;
};

} // namespace

static Kernel read(const std::string &File) {
  Kernel K;
  std::ifstream Code(File),
      Data(File.substr(0, File.size() - 3) + "words", std::ios::binary);
  std::string Word, Line;
  size_t InWords = 0, SumWords = 0;
  Code >> Word >> K.Shape.Grid[0] >> K.Shape.Block[0] >> K.N >> InWords >>
      SumWords;
  std::getline(Code, Line);
  Code >> Word; // "//recipe"
  std::getline(Code >> std::ws, K.RecipeText);
  std::stringstream Rest;
  Rest << Code.rdbuf();
  K.Ptx = Rest.str();
  const std::vector<char> Bytes(std::istreambuf_iterator<char>(Data), {});
  const size_t All = Bytes.size() / 4;
  if (!Code || All < InWords + 2 * SumWords) {
    std::fprintf(stderr, "%s: not written by a test\n", File.c_str());
    std::exit(2);
  }
  const auto *At = reinterpret_cast<const uint32_t *>(Bytes.data());
  const size_t OutWords = (All - InWords - 2 * SumWords) / 2;
  const auto Take = [&](size_t Count) {
    Words Part(At, At + Count);
    At += Count;
    return Part;
  };
  K.In = Take(InWords);
  K.Out = Take(OutWords);
  K.Sums = Take(SumWords);
  K.LeftOut = Take(OutWords);
  K.LeftSums = Take(SumWords);
  return K;
}

static CUdeviceptr copyOf(const Words &W) {
  CUdeviceptr New;
  CHECK(cuMemAlloc(&New, W.size() * 4));
  CHECK(cuMemcpyHtoD(New, W.data(), W.size() * 4));
  return New;
}

static Words takeBack(CUdeviceptr From, size_t Count) {
  Words W(Count);
  CHECK(cuMemcpyDtoH(W.data(), From, Count * 4));
  CHECK(cuMemFree(From));
  return W;
}

/// Launches \p K; where what one launch makes serves later ones, twice, the second
/// time from the memory of before. Whether it was launched.
static bool launchOn(GpuPlace &Place, const Kernel &K, CUdeviceptr Out,
                     CUdeviceptr Sums, void **Args) {
  if (K.RecipeText == "plain")
    return Place.run("k", K.Shape, Args);
  const std::optional<Recipe> R = launch::parseRecipe(K.RecipeText);
  if (!R)
    return false;
  std::vector<void *> Kept(R->Scratch.size());
  std::vector<void *> OfNext = Kept;
  launch::Foretelling Next{Args, &OfNext};
  launch::Steps Which{.Making = true,
                      .Probing = false,
                      .Next = R->Ahead ? &Next : nullptr,
                      .Kept = &Kept};
  launch::Ended End = launch::execute(*R, K.Shape, Args, Place, Which);
  if ((R->servesLater() || Next.Done) && End == launch::Ended::Done) {
    CHECK(cuMemcpyHtoD(Out, K.Out.data(), K.Out.size() * 4));
    CHECK(cuMemcpyHtoD(Sums, K.Sums.data(), K.Sums.size() * 4));
    Which = {.Making = false, .Kept = Next.Done ? &OfNext : &Kept};
    End = launch::execute(*R, K.Shape, Args, Place, Which);
  }
  return End == launch::Ended::Done;
}

/// What differs, or "".
static std::string run(const Kernel &K, const std::string &File) {
  CUmodule M;
  check(cuModuleLoadData(&M, K.Ptx.c_str()), File.c_str());
  CUdeviceptr In = copyOf(K.In), Out = copyOf(K.Out), Sums = copyOf(K.Sums);
  unsigned N = K.N;
  void *Args[] = {&In, &Out, &Sums, &N};
  std::string Why;
  {
    GpuPlace Place(M);
    if (!launchOn(Place, K, Out, Sums, Args))
      Why = "it was not launched";
    check(cuCtxSynchronize(), File.c_str());
  }
  const Words OutNow = takeBack(Out, K.Out.size()),
              SumsNow = takeBack(Sums, K.Sums.size());
  CHECK(cuMemFree(In));
  CHECK(cuModuleUnload(M));
  for (size_t I = 0; Why.empty() && I != OutNow.size(); ++I)
    if (OutNow[I] != K.LeftOut[I])
      Why = "word " + std::to_string(I) + " of the output";
  return Why.empty() && SumsNow != K.LeftSums ? "the sums" : Why;
}

int main(int argc, char **argv) {
  CUdevice Device;
  CUcontext Context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&Device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&Context, Device));
  CHECK(cuCtxSetCurrent(Context));
  unsigned Differ = 0;
  const std::span<char *> Files(argv + 1, size_t(argc - 1));
  for (const std::string File : Files) {
    const std::string Why = run(read(File), File);
    if (Why.empty())
      continue;
    ++Differ;
    std::printf("%s: %s\n", File.c_str(), Why.c_str());
  }
  std::printf("%zu random kernels, %u differ\n", Files.size(), Differ);
  return Differ || Files.empty() ? 1 : 0;
}
