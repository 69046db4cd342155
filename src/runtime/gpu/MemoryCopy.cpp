//===- runtime/gpu/MemoryCopy.cpp - Memory as it was ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies live on the device, and are compared with memory there, at the speed
// of its memory: a kernel of ours says which pages differ, and only those come
// to the host to be looked at.
//
// The kernel reads whole words of eight bytes. A copy lies as its area does,
// modulo 256, so that both are aligned or neither is; the page with the last
// few bytes of an area, and all pages of an area that is not aligned or is the
// host's, are compared on the host alone.
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/MemoryCopy.h"

#include "analysis/Numbering.h"
#include "core/Error.h"
#include "runtime/gpu/Build.h"
#include "runtime/gpu/Cudart.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/SourceMgr.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace reconverge::gpu {

//===----------------------------------------------------------------------===//
// On the device
//===----------------------------------------------------------------------===//

/// for (i = thread; i < n; i += threads) if (a[i] != b[i]) flags[i / 512] = 1;
static const char Kernel[] = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
define void @reconverge_compare_pages(ptr %a, ptr %b, i64 %n, ptr %flags) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %t = zext i32 %tid to i64
  %size = zext i32 %ntid to i64
  %block = zext i32 %ctaid to i64
  %blocks = zext i32 %nctaid to i64
  %begin = mul i64 %block, %size
  %first = add i64 %begin, %t
  %step = mul i64 %blocks, %size
  %any = icmp ult i64 %first, %n
  br i1 %any, label %loop, label %exit
loop:
  %i = phi i64 [ %first, %entry ], [ %next, %latch ]
  %pa = getelementptr inbounds i64, ptr %a, i64 %i
  %pb = getelementptr inbounds i64, ptr %b, i64 %i
  %x = load i64, ptr %pa, align 8
  %y = load i64, ptr %pb, align 8
  %same = icmp eq i64 %x, %y
  br i1 %same, label %latch, label %differ
differ:
  %page = lshr i64 %i, 9
  %flag = getelementptr inbounds i8, ptr %flags, i64 %page
  store i8 1, ptr %flag, align 1
  br label %latch
latch:
  %next = add i64 %i, %step
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %exit
exit:
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{ptr @reconverge_compare_pages, !"kernel", i32 1}
)";
static char KernelName[] = "reconverge_compare_pages";
static constexpr uint64_t WordBytes = 8;

Error PageComparer::load(const Options &O) {
  if (Image)
    return Error::success();
  LLVMContext Context;
  SMDiagnostic Problem;
  std::unique_ptr<Module> M = parseAssemblyString(Kernel, Problem, Context);
  if (!M)
    return internalError("the comparing kernel: " + Problem.getMessage());
  analysis::numberBlocks(*M);
  if (Error E = buildPlainImage(*M, O).moveInto(Image))
    return E;
  Wrapper = {FatbinWrapper::ItsMagic, 1, Image->getBufferStart(), nullptr};
  const Cudart &C = cudart();
  void **Handle = C.RegisterFatBinary(&Wrapper);
  C.RegisterFunction(Handle, &Stub, KernelName, KernelName, -1, nullptr,
                     nullptr, nullptr, nullptr, nullptr);
  if (C.RegisterFatBinaryEnd)
    C.RegisterFatBinaryEnd(Handle);
  return Error::success();
}

cudaError_t PageComparer::launch(const void *A, const void *B, uint64_t Words,
                                 void *Flags) const {
  constexpr unsigned Threads = 256, MostBlocks = 4096;
  const auto Blocks =
      unsigned(std::min<uint64_t>(divideCeil(Words, Threads), MostBlocks));
  void *Args[] = {&A, &B, &Words, &Flags};
  return Blocks ? cudart().LaunchKernel(&Stub, dim3(Blocks), dim3(Threads),
                                        Args, 0, nullptr)
                : cudaSuccess;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

static constexpr uint64_t Alignment = 256;
static constexpr uint64_t PageBytes = PageComparer::PageBytes;

static bool isComparedOnDevice(const Area &A) {
  return !A.OnHost && A.Base % WordBytes == 0;
}

uint64_t MemoryCopy::bytesFor(ArrayRef<Area> Areas) {
  uint64_t Sum = 0;
  for (const Area &A : Areas)
    Sum += alignTo(A.Base % Alignment + A.Bytes, Alignment);
  return Sum;
}

MemoryCopy::~MemoryCopy() {
  if (Memory)
    (void)cudart().Free(Memory); // an error of it is no one's
}

cudaError_t MemoryCopy::reserve() {
  return Memory
             ? cudaSuccess
             : cudart().Malloc(&Memory, std::max<uint64_t>(bytesFor(Areas), 1));
}

cudaError_t MemoryCopy::take() {
  const Cudart &C = cudart();
  if (cudaError_t E = reserve())
    return E;
  uint64_t At = uint64_t(Memory);
  for (const Area &A : Areas) {
    Places.push_back(At + A.Base % Alignment);
    At += alignTo(A.Base % Alignment + A.Bytes, Alignment);
    if (cudaError_t E = C.Memcpy(reinterpret_cast<void *>(Places.back()),
                                 reinterpret_cast<void *>(A.Base), A.Bytes,
                                 cudaMemcpyDefault))
      return E;
  }
  return C.DeviceSynchronize();
}

cudaError_t MemoryCopy::restore(const BitVector &Which,
                                cudaStream_t Stream) const {
  for (unsigned I : Which.set_bits())
    if (cudaError_t E =
            cudart().MemcpyAsync(reinterpret_cast<void *>(Areas[I].Base),
                                 reinterpret_cast<void *>(Places[I]),
                                 Areas[I].Bytes, cudaMemcpyDefault, Stream))
      return E;
  return cudaSuccess;
}

namespace {
/// Device memory for one call.
struct Scratch {
  void *Memory = nullptr;
  ~Scratch() {
    if (Memory)
      (void)cudart().Free(Memory);
  }
};
} // namespace

cudaError_t MemoryCopy::differences(const PageComparer &Compare,
                                    Visitor Visit) const {
  const Cudart &C = cudart();
  std::vector<uint64_t> FirstPage(1);
  for (const Area &A : Areas)
    FirstPage.push_back(FirstPage.back() + divideCeil(A.Bytes, PageBytes));
  std::vector<uint8_t> Flags(FirstPage.back());
  if (Flags.empty())
    return cudaSuccess;
  Scratch OnDevice;
  if (cudaError_t E = C.Malloc(&OnDevice.Memory, Flags.size()))
    return E;
  if (cudaError_t E = C.Memset(OnDevice.Memory, 0, Flags.size()))
    return E;
  for (size_t I = 0; I != Areas.size(); ++I)
    if (isComparedOnDevice(Areas[I]))
      if (cudaError_t E = Compare.launch(
              reinterpret_cast<void *>(Areas[I].Base),
              reinterpret_cast<void *>(Places[I]), Areas[I].Bytes / WordBytes,
              static_cast<char *>(OnDevice.Memory) + FirstPage[I]))
        return E;
  if (cudaError_t E = C.Memcpy(Flags.data(), OnDevice.Memory, Flags.size(),
                               cudaMemcpyDefault))
    return E;

  // Neighbours come together.
  constexpr uint64_t MostPages = 256;
  std::vector<uint8_t> Then(MostPages * PageBytes), Now(MostPages * PageBytes);
  for (size_t I = 0; I != Areas.size(); ++I) {
    const Area &A = Areas[I];
    const uint64_t Pages = FirstPage[I + 1] - FirstPage[I];
    uint8_t *Mine = &Flags[FirstPage[I]];
    if (!isComparedOnDevice(A))
      std::fill_n(Mine, Pages, 1);
    else if (A.Bytes % WordBytes)
      Mine[Pages - 1] = 1;
    for (uint64_t P = 0, End; P < Pages; P = End) {
      End = P + 1;
      if (!Mine[P])
        continue;
      while (End < Pages && Mine[End] && End - P < MostPages)
        ++End;
      const uint64_t Begin = P * PageBytes;
      const uint64_t Bytes = std::min(End * PageBytes, A.Bytes) - Begin;
      if (cudaError_t E =
              C.Memcpy(Then.data(), reinterpret_cast<void *>(Places[I] + Begin),
                       Bytes, cudaMemcpyDefault))
        return E;
      if (cudaError_t E =
              C.Memcpy(Now.data(), reinterpret_cast<void *>(A.Base + Begin),
                       Bytes, cudaMemcpyDefault))
        return E;
      for (uint64_t Q = 0; Q < Bytes; Q += PageBytes) {
        const uint64_t Size = std::min(PageBytes, Bytes - Q);
        if (std::memcmp(&Then[Q], &Now[Q], Size) &&
            Visit(I, Begin + Q, ArrayRef(&Then[Q], Size),
                  ArrayRef(&Now[Q], Size)) == Next::Area) {
          End = Pages;
          break;
        }
      }
    }
  }
  return cudaSuccess;
}

} // namespace reconverge::gpu
