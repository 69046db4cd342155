//===- unittests/analysis/MachineLimitsTest.cpp - Units of allocation -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "analysis/Costs.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace reconverge::analysis;

static MachineLimits limitsOf(StringRef Name) {
  auto Machine = MachineModel::load((MACHINES_DIR "/" + Name + ".json").str());
  if (!Machine) {
    ADD_FAILURE() << toString(Machine.takeError());
    return {};
  }
  return *Machine->limits();
}

TEST(MachineLimits, UnitsOfAllocation) {
  const MachineLimits H200 = limitsOf("h200"), Fermi = limitsOf("gtx480");
  EXPECT_EQ(H200.RegisterUnit, 256);
  EXPECT_EQ(H200.SharedUnit, 128);
  EXPECT_EQ(H200.SharedReserved, 1024);
  EXPECT_EQ(Fermi.RegisterUnit, 64);
  EXPECT_EQ(Fermi.SharedUnit, 128);
  EXPECT_EQ(Fermi.SharedReserved, 0);
}

/// gtx480.json with "limits" as \p Change leaves it.
static Expected<MachineModel>
changed(function_ref<void(json::Object &)> Change) {
  auto File = MemoryBuffer::getFile(MACHINES_DIR "/gtx480.json");
  json::Value Root = cantFail(json::parse((*File)->getBuffer()));
  Change(*Root.getAsObject()->getObject("limits"));
  std::string Text;
  raw_string_ostream(Text) << Root;
  return MachineModel::parse(Text, "m.json");
}

TEST(MachineLimits, UnitsMayBeLeftOut) {
  auto Machine = changed([](json::Object &Limits) {
    for (StringRef Key : {"register-unit", "shared-unit", "shared-reserved"})
      Limits.erase(Key);
  });
  ASSERT_TRUE(bool(Machine)) << toString(Machine.takeError());
  EXPECT_EQ(Machine->limits()->RegisterUnit, 256);
  EXPECT_EQ(Machine->limits()->SharedUnit, 128);
  EXPECT_EQ(Machine->limits()->SharedReserved, 1024);
}

TEST(MachineLimits, BadUnitsAreNamed) {
  auto MessageOf = [](StringRef Key, json::Value Entry) {
    auto Machine = changed([&](json::Object &L) { L[Key] = std::move(Entry); });
    return toString(Machine.takeError());
  };
  EXPECT_EQ(MessageOf("shared-unit", 128),
            "m.json: \"limits.shared-unit\": must be an object\n  "
            "docs/machines.md describes machine files");
  const json::Object Zero{{"value", 0}, {"measured", true}, {"source", "none"}};
  EXPECT_EQ(MessageOf("register-unit", json::Object(Zero)),
            "m.json: \"limits.register-unit.value\": must lie between 1 and "
            "1000000000\n  docs/machines.md describes machine files");
  auto Taken = changed(
      [&](json::Object &L) { L["shared-reserved"] = json::Object(Zero); });
  EXPECT_TRUE(bool(Taken)) << "nothing is reserved there: "
                           << toString(Taken.takeError());
}
