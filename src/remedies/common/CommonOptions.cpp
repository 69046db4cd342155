//===- remedies/common/CommonOptions.cpp - What many remedies take --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/common/CommonOptions.h"

#include "remedies/common/Parameters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <set>
#include <string>
#include <vector>

using namespace llvm;

namespace reconverge::remedies {

bool readCommon(StringRef Key, StringRef Value, CommonOptions &Options) {
  if (Key == "occupancy")
    return readFlag(Value, Options.Occupancy);
  if (Key == "registers")
    return readBetween(Value, 24, 255, Options.Registers);
  return Key == "marked" && readFlag(Value, Options.Marked);
}

bool readOneBranch(StringRef Key, StringRef Value, OneBranchOptions &Options) {
  if (Key == "branch")
    return !Options.Branch && !Value.getAsInteger(10, Options.Branch.emplace());
  return readCommon(Key, Value, Options);
}

std::optional<std::string> joinBranches(StringRef A, StringRef B) {
  const StringRef Both[] = {A, B};
  std::vector<std::string> Rest[2];
  std::set<uint32_t> Branches;
  for (auto [Text, Others] : zip(Both, Rest)) {
    const size_t Before = Branches.size();
    for (StringRef Word : split(Text, ';')) {
      uint32_t Number;
      if (Word.consume_front("branch=") && !Word.getAsInteger(10, Number))
        Branches.insert(Number);
      else if (!Word.empty())
        Others.push_back(Word.str());
    }
    if (Branches.size() == Before)
      return std::nullopt; // all branches, or none more
    sort(Others);
  }
  if (Rest[0] != Rest[1])
    return std::nullopt;
  std::vector<std::string> Words = std::move(Rest[0]);
  for (uint32_t Number : Branches)
    Words.push_back("branch=" + std::to_string(Number));
  return join(Words, ";");
}

} // namespace reconverge::remedies
