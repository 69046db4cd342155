//===- runtime/outputs/Watch.cpp - What buffers hold in the end -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   launch of the kernel --> which pointer the argument was
//   cudaFree of its block --> the block is read, whole, and written to the file
//   end of the process --> the same of blocks that nobody has freed
//
// A later launch asks for its own buffer: what was read before is dropped.
//
// The end of the process. CUDA's runtime takes itself apart in an exit handler
// that it registers as it makes a context. Handlers run last come first, so ours
// is registered after the first launch that is of interest, and runs before
// CUDA's. Where there is no such launch one that needs no device, registered
// as this is loaded, says so. A process that is killed or ends by _exit leaves
// no file.
//
// Reading waits for the device, so that whatever stream the kernel ran in, it
// has ended. All calls go to the runtime below, whether that is a GPU's or the
// warp VM's.
//
// Limitation: memory of the driver's API is not known, nor are launches by it
// or by nodes that a program adds to a graph itself.
//
//===----------------------------------------------------------------------===//

#include "runtime/outputs/Watch.h"

#include "core/OutputBuffers.h"
#include "core/Remedied.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace reconverge::outputs {

Watch &Watch::get() {
  static Watch &Only = *new Watch;
  return Only;
}

/// The function \p Name of the runtime below, as a \p Function.
template <typename Function>
static Function *below(const Watch &W, const char *Name) {
  return reinterpret_cast<Function *>(W.below(Name));
}

static void atExit() { Watch::get().finish(); }

bool Watch::configure(const char *RequestFile, Lookup NewNext) {
  Next = NewNext;
  std::ifstream In(RequestFile);
  Buffer B;
  while (In >> B.Kernel >> B.Argument && B.Argument &&
         std::getline(In >> std::ws, B.File))
    Buffers.push_back(B);
  return In.eof() && !Buffers.empty() && !std::atexit(atExit);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void Watch::addKernel(const void *Stub, const char *Name) {
  std::string Asked = Name;
  const std::string Suffix = RemediedSuffix;
  if (Asked.size() > Suffix.size() &&
      !Asked.compare(Asked.size() - Suffix.size(), Suffix.size(), Suffix))
    Asked.resize(Asked.size() - Suffix.size());
  std::lock_guard<std::mutex> Guard(Lock);
  for (const Buffer &B : Buffers)
    if (B.Kernel == Asked)
      Kernels[Stub] = Asked;
}

void Watch::launched(const void *Stub, void **Args) {
  std::lock_guard<std::mutex> Guard(Lock);
  const auto Found = Kernels.find(Stub);
  if (Found == Kernels.end() || !Args || IsOver)
    return;
  for (Buffer &B : Buffers) {
    if (B.Kernel != Found->second)
      continue;
    B.WasLaunched = true;
    B.IsTaken = false;
    B.Pointer = *static_cast<void *const *>(Args[B.Argument - 1]);
    below<cudaError_t(int *)>(*this, "cudaGetDevice")(&B.Device);
  }
  if (!IsLast)
    IsLast = !std::atexit(atExit);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

const void *Watch::blockOf(const void *Pointer) const {
  auto After = Blocks.upper_bound(Pointer);
  if (After == Blocks.begin())
    return nullptr;
  const auto &[Base, Bytes] = *--After;
  return uint64_t(Pointer) - uint64_t(Base) < Bytes ? Base : nullptr;
}

void Watch::add(const void *Base, uint64_t Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Base && Bytes)
    Blocks[Base] = Bytes;
}

void Watch::beforeFree(const void *Base) {
  std::lock_guard<std::mutex> Guard(Lock);
  const auto Block = Blocks.find(Base);
  if (Block == Blocks.end())
    return;
  for (Buffer &B : Buffers)
    if (B.WasLaunched && !B.IsTaken && !IsOver && blockOf(B.Pointer) == Base)
      take(B, Base, Block->second);
  Blocks.erase(Block);
}

void Watch::beforeReset() {
  std::vector<const void *> All;
  {
    std::lock_guard<std::mutex> Guard(Lock);
    for (const auto &[Base, Bytes] : Blocks)
      All.push_back(Base);
  }
  for (const void *Base : All)
    beforeFree(Base);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Leaves \p Bytes in \p File, and nothing if that does not go.
static bool write(const std::string &File, const std::vector<char> &Bytes) {
  std::ofstream Out(File, std::ios::binary | std::ios::trunc);
  Out.write(Bytes.data(), std::streamsize(Bytes.size()));
  Out.close();
  if (Out.good())
    return true;
  std::remove(File.c_str());
  return false;
}

static void sayWhyNot(const std::string &File, const std::string &Why) {
  std::remove(File.c_str());
  std::ofstream(File + WhyNoOutput) << Why << '\n';
}

/// Reads the block of \p Bytes at \p Base for \p B.
void Watch::take(Buffer &B, const void *Base, uint64_t Bytes) {
  B.IsTaken = true;
  int Before = 0;
  below<cudaError_t(int *)>(*this, "cudaGetDevice")(&Before);
  auto *SetDevice = below<cudaError_t(int)>(*this, "cudaSetDevice");
  if (B.Device != Before)
    SetDevice(B.Device);
  std::vector<char> Read(Bytes);
  cudaError_t E = below<cudaError_t()>(*this, "cudaDeviceSynchronize")();
  if (!E)
    E = below<cudaError_t(void *, const void *, size_t, cudaMemcpyKind)>(
        *this, "cudaMemcpy")(Read.data(), Base, Bytes, cudaMemcpyDefault);
  if (B.Device != Before)
    SetDevice(Before);
  if (E)
    sayWhyNot(B.File, std::string("it cannot be read: ") +
                          below<const char *(cudaError_t)>(
                              *this, "cudaGetErrorName")(E));
  else if (!write(B.File, Read))
    sayWhyNot(B.File, "it cannot be written to a file");
  else
    std::remove((B.File + WhyNoOutput).c_str());
}

void Watch::finish() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (IsOver)
    return;
  IsOver = true;
  for (Buffer &B : Buffers) {
    if (B.IsTaken)
      continue;
    if (!B.WasLaunched)
      sayWhyNot(B.File, "the kernel is never launched");
    else if (const void *Base = blockOf(B.Pointer))
      take(B, Base, Blocks.find(Base)->second);
    else
      sayWhyNot(B.File, B.Pointer
                            ? "the argument of the last launch points to no "
                              "memory of cudaMalloc's family"
                            : "the argument of the last launch is null");
  }
}

} // namespace reconverge::outputs
