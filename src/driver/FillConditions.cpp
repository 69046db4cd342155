//===- driver/FillConditions.cpp - Conditions of a profile's branches -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources are read where debug information says that they were compiled: each
// once, and each place of a kernel once, however many copies of it there are.
//
// clang places the branch of a condition's last operand at the statement. In a
// condition of several lines the row is to lead to the operand's own.
//
//===----------------------------------------------------------------------===//

#include "driver/Condition.h"

#include "core/File.h"

#include "llvm/Support/MemoryBuffer.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

using namespace llvm;

namespace reconverge::driver {

namespace {
class SourceFiles {
public:
  /// Null if the file cannot be read.
  const ConditionText *get(const std::string &Path) {
    auto [It, New] = Files.try_emplace(Path);
    File &F = It->second;
    if (!New)
      return F.Text ? &*F.Text : nullptr;
    Expected<std::unique_ptr<MemoryBuffer>> Source = readFile(Path);
    if (!Source) {
      consumeError(Source.takeError()); // fillConditions says it
      return nullptr;
    }
    F.Source = std::move(*Source);
    F.Text.emplace(F.Source->getBuffer());
    return &*F.Text;
  }

private:
  struct File {
    std::unique_ptr<MemoryBuffer> Source;
    std::optional<ConditionText> Text;
  };
  std::map<std::string, File> Files;
};
} // namespace

std::vector<std::string> fillConditions(Profile &P) {
  SourceFiles Files;
  std::set<std::string> Missing;
  for (KernelProfile &Kernel : P.Kernels) {
    std::map<std::string, std::set<Place>> Places; // of this kernel
    for (const BranchInfo &Branch : Kernel.Info.Branches)
      if (!Branch.Where.empty())
        Places[Branch.Where.front().File].insert(
            {Branch.Where.front().Line, Branch.Where.front().Column});
    struct Written {
      std::string Condition;
      Place LeadTo;
    };
    std::map<std::pair<std::string, Place>, Written> Conditions;
    for (const auto &[Path, Of] : Places) {
      const ConditionText *Text = Files.get(Path);
      if (!Text) {
        Missing.insert(Path);
        continue;
      }
      const std::vector<Place> All(Of.begin(), Of.end());
      for (Place Where : All)
        Conditions[{Path, Where}] = {Text->at(Where, All),
                                     Text->leadingTo(Where, All)};
    }
    for (BranchInfo &Branch : Kernel.Info.Branches)
      if (!Branch.Where.empty() && Branch.Condition.empty()) {
        SourceLoc &At = Branch.Where.front();
        auto Found = Conditions.find({At.File, {At.Line, At.Column}});
        if (Found == Conditions.end())
          continue;
        Branch.Condition = Found->second.Condition;
        At.Line = Found->second.LeadTo.Line;
        At.Column = Found->second.LeadTo.Column;
      }
  }
  return {Missing.begin(), Missing.end()};
}

} // namespace reconverge::driver
