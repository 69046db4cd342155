//===- report/Remarks.cpp - A report as LLVM's optimization remarks -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `clang -fsave-optimization-record` writes, by LLVM's own writer: a branch
// at which warps diverge, or an access that takes more than it must, is an
// optimization that was missed. The hotness of a branch is in issue slots, so
// readers of such files show the dearest first.
//
// Limitation: opt-viewer copies messages into its pages as they are. So that
// nothing of a program becomes markup there, a `<` that would begin a tag has a
// space behind it.
//
//===----------------------------------------------------------------------===//

#include "report/Text.h"
#include "report/Writers.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkSerializer.h"

#include <cmath>

using namespace llvm;

namespace reconverge::report {

static std::string withoutTags(StringRef Raw) {
  const std::string Text = cleanText(Raw);
  std::string Safe;
  for (size_t I = 0; I != Text.size(); ++I) {
    Safe += Text[I];
    const char Next = I + 1 < Text.size() ? Text[I + 1] : ' ';
    if (Text[I] == '<' && (isAlpha(Next) || StringRef("/!?").contains(Next)))
      Safe += ' ';
  }
  return Safe;
}

namespace {
/// A remark while it is put together; what it points to is in here.
class RemarkText {
public:
  /// \p Name: what kind of thing is at \p Where in the function \p Function.
  RemarkText(StringRef Name, StringRef Function, const SourceLoc &Where)
      : Function(withoutTags(Function)), File(withoutTags(Where.File)) {
    if (this->Function.empty()) // no reader takes that
      this->Function = "unnamed";
    R.RemarkType = remarks::Type::Missed;
    R.PassName = "reconverge";
    R.RemarkName = Name;
    R.FunctionName = this->Function;
    if (Where.Line)
      R.Loc = {File, Where.Line, Where.Column};
  }

  /// A part of the message; tools find values by their keys.
  RemarkText &add(const char *Key, StringRef Value) {
    Parts.emplace_back(Key, withoutTags(Value));
    return *this;
  }
  RemarkText &text(const char *Words) {
    Parts.emplace_back("String", Words);
    return *this;
  }

  void emit(remarks::RemarkSerializer &To, std::optional<uint64_t> Hotness) {
    R.Hotness = Hotness;
    for (const auto &[Key, Value] : Parts) {
      remarks::Argument &A = R.Args.emplace_back();
      A.Key = Key;
      A.Val = Value;
    }
    To.emit(R);
  }

private:
  remarks::Remark R;
  std::string Function, File;
  std::vector<std::pair<const char *, std::string>> Parts;
};
} // namespace

void printRemarks(const View &V, const Profile &P, const RunCost &Cost,
                  raw_ostream &OS) {
  auto To = cantFail(remarks::createRemarkSerializer(
      remarks::Format::YAML, remarks::SerializerMode::Standalone, OS));
  auto NameOf = [&](uint32_t Kernel) -> StringRef {
    return P.Kernels[Kernel].Info.Name;
  };
  for (const PlaceView &Place : V.Places) {
    RemarkText R("DivergentBranch", NameOf(Place.Kernels.front()), Place.Where);
    R.add("Condition", Place.What).text(": ");
    R.add("Self", percent(Place.Self));
    R.text(" of the run is lost where lanes part here, ");
    R.add("Total", percent(Place.Total)).text(" with the branches inside; ");
    R.add("Split", percent(Place.Split)).text(" of ");
    R.add("Warps", counted(Place.Warps, "warp")).text(" split");
    for (const std::string &Line : Place.Advice)
      R.text("; ").add("Advice", Line);
    R.emit(*To, uint64_t(std::llround(Cost.Places[Place.Place].SelfSlots)));
  }
  for (const AccessView &A : V.Accesses) {
    RemarkText R("MemoryAccess", NameOf(A.Kernel), A.Where);
    R.add("Found", A.What).text(": ").add("Access", A.Which).text(", ");
    R.add("OfKernel", percent(A.OfKernel));
    R.text(" of what the kernel takes of this");
    R.emit(*To, std::nullopt);
  }
}

} // namespace reconverge::report
