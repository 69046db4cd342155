//===- runtime/vm/Features.cpp - What foretells threads, read -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel's module once more, with a kernel that writes a row a thread, and
// that launched in the shape of the launch which comes.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Features.h"

#include "remedies/common/Features.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using reconverge::warpvm::DeviceMemory;
using reconverge::warpvm::MemoryKind;

namespace reconverge::runtime {

Error FeatureReader::make(const RepeatedLaunch &L, Reading &New) {
  SmallString<0> Bitcode;
  raw_svector_ostream OS(Bitcode);
  WriteBitcodeToFile(L.Home.module(), OS);
  LLVMContext Context;
  auto Copy = parseBitcodeFile({Bitcode, "features"}, Context);
  if (!Copy)
    return Copy.takeError();
  Function &Kernel = *(*Copy)->getFunction(L.Kernel.name());
  const auto Made = remedies::addFeatureKernel(Kernel);
  if (!Made)
    return Error::success();
  Bitcode.clear();
  WriteBitcodeToFile(**Copy, OS);
  auto Code = L.On.loadVariant({Bitcode, "features"}, L.Home);
  if (!Code)
    return Code.takeError();
  auto Reads = (*Code)->kernel(remedies::featureKernelName(L.Kernel.name()));
  if (!Reads)
    return Reads.takeError();
  New.Code = std::move(*Code);
  New.Kernel = *Reads;
  New.Loads = Made->Loads;
  return Error::success();
}

Error FeatureReader::launch(const RepeatedLaunch &L, const Reading &By,
                            VectorSample &Sample) {
  const uint64_t Values = L.Shape.threads() * By.Loads.size();
  auto Rows = DeviceMemory::instance().allocate(Values * sizeof(float),
                                                MemoryKind::Scratch);
  if (!Rows)
    return Rows.takeError();
  void *At = *Rows;
  SmallVector<void *> Args(L.Args, L.Args + L.Kernel.parameters().size());
  Args.push_back(&At);
  warpvm::LaunchOptions How;
  How.Quiet = true;
  How.Seed = 0;
  Error Failed = L.On.launch(*By.Kernel, L.Shape, Args.data(), How);
  if (!Failed)
    Sample.note(By.Loads, [&](uint64_t First, MutableArrayRef<float> To) {
      copy(ArrayRef(static_cast<const float *>(At) + First, To.size()),
           To.begin());
    });
  DeviceMemory::instance().release(At);
  return Failed;
}

Error FeatureReader::read(const RepeatedLaunch &L, VectorSample &Sample) {
  const auto [At, IsNew] = Known.try_emplace(&L.Kernel);
  if (IsNew)
    if (Error Failed = make(L, At->second))
      return Failed;
  return At->second.Kernel ? launch(L, At->second, Sample) : Error::success();
}

} // namespace reconverge::runtime
