//===- runtime/profile/OrderMaker.cpp - Files of orders -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal vectors are kept once, so that a launch of millions of threads takes
// four bytes a thread and its different vectors. Thread blocks report in any
// order; classes are numbered anew when all are there.
//
//===----------------------------------------------------------------------===//

#include "runtime/profile/OrderMaker.h"

#include "analysis/Costs.h"
#include "core/Error.h"
#include "core/OrderFile.h"
#include "model/BlockVectorTime.h"
#include "model/LaunchOrders.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/EndianStream.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge::runtime {

void OrderMaker::record(uint64_t LinearBlock, unsigned Threads,
                        ArrayRef<uint32_t> Vectors, ArrayRef<uint64_t> AsRun) {
  if (Sample && Sample->wants(LinearBlock))
    Sample->record(LinearBlock, Threads, Vectors, AsRun);
  std::lock_guard<std::mutex> Guard(Lock);
  std::vector<uint32_t> &Classes = ClassOf[LinearBlock];
  for (unsigned T = 0; T != Threads; ++T)
    Classes.push_back(
        Seen.add(Vectors.slice(T * Seen.blocks(), Seen.blocks())));
}

ThreadVectors OrderMaker::take() {
  ThreadVectors All;
  All.Shape = Shape;
  std::vector<uint32_t> Numbers(Seen.size(), UINT32_MAX);
  for (auto &[Number, Classes] : ClassOf) {
    for (uint32_t &Class : Classes) {
      if (Numbers[Class] == UINT32_MAX) {
        Numbers[Class] = uint32_t(All.Classes.size());
        All.Classes.push_back(Seen.vector(Class).vec());
      }
      Class = Numbers[Class];
    }
    All.Blocks.push_back({Number, std::move(Classes)});
  }
  ClassOf.clear();
  return All;
}

/// "longest blocks first" as a folder: "longest-blocks-first".
static std::string folderOf(StringRef Algorithm) {
  std::string Name = Algorithm.lower();
  std::ranges::replace(Name, ' ', '-');
  return Name;
}

static Error failed(const Twine &Path, std::error_code Why) {
  return userError("cannot write " + Path + ": " + Why.message());
}

static Error writeOrder(const Twine &Folder, StringRef Name,
                        ArrayRef<uint32_t> Order) {
  if (std::error_code Why = sys::fs::create_directories(Folder))
    return failed(Folder, Why);
  SmallString<256> Path;
  sys::path::append(Path, Folder, Name);
  std::error_code Why;
  raw_fd_ostream File(Path, Why);
  if (Why)
    return failed(Path, Why);
  support::endian::Writer(File, llvm::endianness::little).write(Order);
  File.close();
  if (!File.has_error())
    return Error::success();
  Why = File.error();
  File.clear_error();
  return failed(Path, Why);
}

Error OrderMaker::write(StringRef Folder, const KernelInfo &Info,
                        uint32_t WarpSize, uint64_t Launch,
                        const analysis::MachineLimits *Limits) {
  std::vector<double> Latency;
  for (const BlockInfo &B : Info.Blocks)
    Latency.push_back(B.Latency);
  KernelProfile K;
  K.Info = Info;
  K.WarpSize = WarpSize;
  K.Vectors = take();
  K.Vectors.Launch = Launch;
  std::string Times;
  const auto AddTime = [&](StringRef Way, model::ThreadOrder Order) {
    if (!Limits)
      return;
    if (const auto T = model::blockVectorTimes(K, *Limits, Order))
      Times += formatv("{0} {1} {2} {3:f0} {4:f0}\n", Info.Name,
                       Shape.threads(), Way, T->Weighted, T->Scheduled)
                   .str();
  };
  AddTime("as-launched", {});
  const std::string Name = orderFileName(Info.Name, Shape.threads());
  for (const model::LaunchOrder &By :
       model::ordersOf(K.Vectors, Latency, WarpSize)) {
    if (Error E =
            writeOrder(Folder + "/" + folderOf(By.Algorithm), Name, By.Threads))
      return E;
    AddTime(folderOf(By.Algorithm), By.Threads);
  }
  std::error_code Why;
  const std::string Path = (Folder + "/times").str();
  raw_fd_ostream File(Path, Why, sys::fs::OF_Append);
  if (Why)
    return failed(Path, Why);
  File << Times;
  return Error::success();
}

} // namespace reconverge::runtime
