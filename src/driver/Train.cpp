//===- driver/Train.cpp - From rows of threads to a net -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   rows --model: classes of time--> labels --train--> net, judged by held-out rows
//                                                            and by another run's
//
//===----------------------------------------------------------------------===//

#include "driver/Train.h"

#include "core/Error.h"
#include "driver/OptionTable.h"
#include "driver/Profile.h"
#include "model/ThreadRows.h"
#include "train/Train.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

Expected<TrainRequest> parseTrainWords(ArrayRef<const char *> Words) {
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Subcommand::Train));
  const std::vector<std::string> Inputs = Parsed.getAllArgValues(OPT_INPUT);
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  if (const Arg *Unknown = Parsed.getLastArg(OPT_UNKNOWN))
    return userError("train: unknown option " + Unknown->getSpelling(),
                     "reconverge train --help lists the options.");
  if (Inputs.size() != 1)
    return userError("train: " + Twine(Inputs.size()) + " files of rows",
                     "Name one, as reconverge profile --paths writes it.");
  TrainRequest Request;
  Request.Rows = Inputs.front();
  Request.Output = Parsed.getLastArgValue(OPT_o, Request.Output).str();
  Request.Kernel = Parsed.getLastArgValue(OPT_kernel_EQ).str();
  Request.Other = Parsed.getLastArgValue(OPT_rows_EQ).str();
  return Request;
}

/// Whether \p Word names \p Kernel: mangled, with its parameters or without.
static bool isCalled(StringRef Kernel, StringRef Word) {
  const std::string Shown = demangle(Kernel);
  return Kernel == Word || Shown == Word ||
         StringRef(Shown).split('(').first == Word;
}

/// The rows of the kernel that \p Word names, of \p File; empty: of the only one.
static Expected<KernelRows> rowsOf(StringRef File, StringRef Word) {
  auto All = readRows(File);
  if (!All)
    return All.takeError();
  std::string Names;
  std::vector<KernelRows> Found;
  for (KernelRows &K : *All) {
    Names += (Names.empty() ? "" : ", ") + demangle(K.Kernel);
    if (Word.empty() || isCalled(K.Kernel, Word))
      Found.push_back(std::move(K));
  }
  if (Found.size() == 1)
    return std::move(Found.front());
  if (Found.empty() && !Word.empty())
    return userError(File + ": there are no rows of kernel '" + Word + "'",
                     "It has those of " + Names + ".");
  return userError(File + ": rows of " + Twine(Found.size()) + " kernels",
                   "Name one by --kernel: " + Names + ".");
}

static void print(const Twine &Rows, uint64_t Right, uint64_t Count,
                  uint64_t OutOfRange, raw_ostream &OS) {
  OS << "  " << Rows << ": " << Right << " of " << Count;
  if (Count)
    OS << format(" (%.1f%%)", 100.0 * double(Right) / double(Count));
  OS << " in their class";
  if (OutOfRange)
    OS << "; " << OutOfRange << " load something beyond what was fitted";
  OS << '\n';
}

Error train(const TrainRequest &Request, raw_ostream &OS) {
  if (Error E = checkFolderOf(Request.Output))
    return E;
  auto Rows = rowsOf(Request.Rows, Request.Kernel);
  if (!Rows)
    return Rows.takeError();
  std::optional<KernelRows> Other;
  if (!Request.Other.empty())
    if (Error E = rowsOf(Request.Other, Rows->Kernel).moveInto(Other))
      return E;
  const train::NetShape Shape;
  auto Net = train::trainNet(
      *Rows, model::timeClasses(Rows->Rows.Took, PathNet::MostClasses),
      train::drawHeldOut(*Rows, Shape.Seed), Shape);
  if (!Net)
    return Net.takeError();
  const PathNet::Training &T = Net->Trained;
  OS << demangle(Net->Kernel) << ": " << Net->Inputs.size() << " loads, "
     << Net->Hidden.Biases.size() << " units, " << Net->Classes.size()
     << " classes, fitted to " << T.Fitted << " threads\n";
  print("held out", uint64_t(std::llround(T.Accuracy * double(T.HeldOut))),
        T.HeldOut, T.OutOfRange, OS);
  if (Other) {
    auto J = train::judge(*Net, *Other);
    if (!J)
      return J.takeError();
    print(Request.Other, J->Right, J->Rows, J->OutOfRange, OS);
  }
  return writePathNet(*Net, Request.Output);
}

} // namespace reconverge::driver
