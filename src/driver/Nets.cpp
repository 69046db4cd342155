//===- driver/Nets.cpp - Nets for the kernels of a run --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "driver/Nets.h"

#include "core/Error.h"
#include "core/TensorNet.h"
#include "model/Regression.h"
#include "model/ThreadRows.h"
#include "train/Train.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge::driver {

/// What a net has to gain, of a kernel's warps' time, more than what is cheaper; and
/// at least.
static constexpr double LeastMore = 0.02, LeastGain = 0.05;

Expected<std::optional<PathNet>> forecastNet(const KernelProfile &K,
                                             const KernelProfile *Test,
                                             EstimateForecast &F) {
  const KernelRows Fit = model::kernelRows(
      K, Test ? K.Vectors : model::everyOtherBlock(K.Vectors, 0));
  auto Net = train::trainNet(
      Fit, model::timeClasses(Fit.Rows.Took, PathNet::MostClasses),
      std::vector<bool>(Fit.Rows.size()));
  if (!Net) {
    if (Error E = handleErrors(Net.takeError(), [&](const UserError &Why) {
          F.WhyNoNet = StringRef(Why.message()).split('\n').first.str();
        }))
      return std::move(E);
    return std::nullopt;
  }
  const KernelProfile &On = Test ? *Test : K;
  const ThreadVectors V =
      Test ? Test->Vectors : model::everyOtherBlock(K.Vectors, 1);
  const ThreadRows Rows = model::threadRows(On, V);
  const auto By = [&](const auto &Judge) {
    std::vector<double> Taken;
    for (size_t Row = 0; Row != Rows.size(); ++Row)
      Taken.push_back(Net->Classes[Judge.classOf(Rows.read(Row))]);
    return model::qualityOf(On, V, Rows, Taken);
  };
  F.ByNet = By(*Net);
  F.ByTiles = By(TensorNet(*Net));
  return std::optional(std::move(*Net));
}

/// By which people know the kernel, and none has that of another.
static std::string fileNameOf(const KernelInfo &Info) {
  std::string Name;
  for (char C : StringRef(Info.Display).take_until([](char C) {
         return C == '(' || C == '<';
       }))
    Name += isAlnum(C) ? C : '_';
  return Name.substr(0, 40) + "-" +
         utohexstr(xxh3_64bits(Info.Name + Info.Module), /*LowerCase=*/true,
                   16) +
         ".json";
}

Error addNets(MutableArrayRef<HotKernel> Kernels, StringRef Folder,
              const Sandbox &Box) {
  if (!train::canTrain())
    return userError("--nets=" + Folder +
                         ": this build of reconverge cannot train nets",
                     "Build it with cmake -DRECONVERGE_TRAIN=ON, which needs "
                     "dlib (libdlib-dev); or leave --nets out.");
  if (Folder.contains(';'))
    return userError("--nets=" + Folder + ": the folder has a ; in its name",
                     "Name one without.");
  if (std::error_code EC = sys::fs::create_directories(Folder))
    return userError("--nets=" + Folder + ": " + EC.message());
  for (HotKernel &K : Kernels) {
    auto F = model::estimateFor(*K.Counted, /*Test=*/nullptr);
    if (!F)
      continue;
    auto Net = forecastNet(*K.Counted, /*Test=*/nullptr, *F);
    if (!Net)
      return Net.takeError();
    double Else = 0;
    (void)textOfBest(*F, Else);
    if (!*Net || F->ByNet->Gain < LeastGain ||
        F->ByNet->Gain < Else + LeastMore)
      continue;
    SmallString<128> Path(Folder);
    sys::path::append(Path, fileNameOf(K.Counted->Info));
    if (Error E = writePathNet(**Net, Path))
      return E;
    if (Error E = Box.add(Path))
      return E;
    K.Asked.push_back({"regroup", ("order=" + Path).str()});
    if (F->ByTiles->Gain >= F->ByNet->Gain - LeastMore &&
        TensorNet(**Net).instructions() < TensorNet::instructionsByFma(**Net))
      K.Asked.push_back({"regroup", ("order=" + Path + ";net=mma").str()});
  }
  return Error::success();
}

} // namespace reconverge::driver
