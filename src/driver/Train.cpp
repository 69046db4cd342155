//===- driver/Train.cpp - From rows of threads to a net -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   rows --model: classes of time--> labels --train--> net, judged by held-out rows
//                                                            and by another run's
//                                                    |
//                                                    +--> a file, and CUDA source
//
//===----------------------------------------------------------------------===//

#include "driver/Train.h"

#include "core/Error.h"
#include "core/File.h"
#include "driver/NetHeader.h"
#include "driver/OptionTable.h"
#include "driver/Profile.h"
#include "model/ThreadRows.h"
#include "train/Train.h"

#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

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
    return unknownOption(Unknown->getSpelling(), Subcommand::Train);
  if (Inputs.empty())
    return userError("train: no file of rows",
                     "Name one, as reconverge profile --paths writes it.");
  TrainRequest Request;
  Request.Inputs = Inputs;
  const StringRef Classes = Parsed.getLastArgValue(OPT_classes_EQ, "32");
  if (Classes.getAsInteger(10, Request.Classes) || Request.Classes < 2 ||
      Request.Classes > PathNet::MostClasses)
    return userError("--classes=" + Classes + ": a net tells 2 to " +
                         Twine(PathNet::MostClasses) + " classes apart",
                     "Name such a number.");
  Request.Output = Parsed.getLastArgValue(OPT_o, Request.Output).str();
  Request.Kernel = Parsed.getLastArgValue(OPT_kernel_EQ).str();
  Request.Other = Parsed.getLastArgValue(OPT_rows_EQ).str();
  Request.Header = Parsed.getLastArgValue(OPT_header_EQ).str();
  return Request;
}

/// Whether \p Word names \p Kernel: mangled, with its parameters or without, and,
/// of a template, with what it returns or without.
static bool isCalled(StringRef Kernel, StringRef Word) {
  const std::string Whole = demangle(Kernel);
  StringRef Shown = Whole;
  if (!Word.starts_with("void "))
    Shown.consume_front("void ");
  return Kernel == Word || Shown == Word || Shown.split('(').first == Word;
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

/// Those of all files, as if they were thread blocks of one launch.
static Expected<KernelRows> rowsOfAll(ArrayRef<std::string> Files,
                                      StringRef Word) {
  auto All = rowsOf(Files.front(), Word);
  for (const std::string &File : Files.drop_front()) {
    if (!All)
      break;
    auto More = rowsOf(File, All->Kernel);
    if (!More)
      return More.takeError();
    if (More->Module != All->Module || More->Loads != All->Loads ||
        More->OfBlock != All->OfBlock)
      return userError(File + ": rows of another build of " +
                           demangle(All->Kernel) + " than those of " +
                           Files.front() + ", or of other thread blocks",
                       "Write both by runs of one program.");
    uint64_t First = 0;
    for (uint64_t Number : All->Rows.Number)
      First = std::max(First, alignTo(Number + 1, All->OfBlock));
    for (size_t Row = 0; Row != More->Rows.size(); ++Row)
      All->Rows.add(More->Rows.read(Row), First + More->Rows.Number[Row],
                    More->Rows.Took[Row]);
  }
  return All;
}

static void print(const Twine &Rows, const train::Judgement &J,
                  raw_ostream &OS) {
  const auto Share = [&](uint64_t Count, const Twine &Of = "") {
    OS << Count << Of;
    if (J.Rows)
      OS << format(" (%.1f%%)", 100.0 * double(Count) / double(J.Rows));
  };
  OS << "  " << Rows << ": ";
  Share(J.Right, " of " + std::to_string(J.Rows));
  OS << " in their class";
  if (J.OutOfRange)
    OS << "; " << J.OutOfRange << " load something beyond what was fitted";
  OS << "; on tensor cores ";
  Share(J.RightByTiles);
  OS << '\n';
}

/// Trains a net on rows, and says what those that were held out say of it.
static Expected<PathNet> trainOn(const TrainRequest &Request, raw_ostream &OS) {
  auto Rows = rowsOfAll(Request.Inputs, Request.Kernel);
  if (!Rows)
    return Rows.takeError();
  // What is wrong with the other rows is said before long work, not after it.
  if (!Request.Other.empty())
    if (auto Other = rowsOf(Request.Other, Rows->Kernel); !Other)
      return Other.takeError();
  const train::NetShape Shape;
  const std::vector<uint32_t> Classes =
      model::timeClasses(Rows->Rows.Took, Request.Classes);
  const std::vector<bool> HeldOut = train::drawHeldOut(*Rows, Shape.Seed);
  auto Net = train::trainNet(*Rows, Classes, HeldOut, Shape);
  if (!Net)
    return Net.takeError();
  OS << demangle(Net->Kernel) << ": " << Net->Inputs.size() << " loads, "
     << Net->Hidden.Biases.size() << " units, " << Net->Classes.size()
     << " classes, fitted to " << Net->Trained.Fitted << " threads\n";
  print("held out", train::judgeHeldOut(*Net, *Rows, Classes, HeldOut), OS);
  return Net;
}

/// Whether \p File is a net rather than rows, which no brace begins.
static Expected<bool> isNet(StringRef File) {
  auto Bytes = readFile(File);
  if (!Bytes)
    return Bytes.takeError();
  return (*Bytes)->getBuffer().ltrim().starts_with("{");
}

Error train(const TrainRequest &Request, raw_ostream &OS) {
  for (const std::string &Path : {Request.Output, Request.Header})
    if (Error E = checkOutput(Path))
      return E;
  const std::string &First = Request.Inputs.front();
  auto IsThere = isNet(First);
  if (!IsThere)
    return IsThere.takeError();
  if (*IsThere && Request.Inputs.size() > 1)
    return userError("train: " + First + " is a net already, and rows besides",
                     "Name rows alone; --rows tries a net on other rows.");
  if (*IsThere && Request.Header.empty() && Request.Other.empty())
    return userError("train: " + First + " is a net already",
                     "Name rows, as reconverge profile --paths writes them; or "
                     "--header to have the net as CUDA, or --rows to try it.");
  auto Net = *IsThere ? readPathNet(First) : trainOn(Request, OS);
  if (!Net)
    return Net.takeError();
  if (!Request.Other.empty()) {
    auto Rows = rowsOf(Request.Other, Net->Kernel);
    if (!Rows)
      return Rows.takeError();
    auto J = train::judge(*Net, *Rows);
    if (!J)
      return J.takeError();
    print(Request.Other, *J, OS);
  }
  if (!Request.Header.empty())
    if (Error E = writeNetHeader(*Net, Request.Header))
      return E;
  return *IsThere ? Error::success() : writePathNet(*Net, Request.Output);
}

} // namespace reconverge::driver
