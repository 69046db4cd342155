//===- unittests/analysis/MachineModelTest.cpp - Machine files ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parsed.h"
#include "analysis/Costs.h"
#include "core/Error.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::analysis;

namespace {

std::string machineFile(StringRef Name) {
  return (MACHINES_DIR "/" + Name + ".json").str();
}

constexpr StringLiteral Limits =
    R"({"multiprocessors": {"value": 132, "measured": true, "source": "s"},
 "clock-mhz": {"value": 1980, "measured": true, "source": "s"},
 "schedulers": {"value": 4, "measured": true, "source": "s"},
 "threads": {"value": 2048, "measured": true, "source": "s"},
 "blocks": {"value": 32, "measured": true, "source": "s"},
 "registers": {"value": 65536, "measured": true, "source": "s"},
 "shared-bytes": {"value": 233472, "measured": true, "source": "s"},
 "l1-bytes": {"value": 262144, "measured": true, "source": "s"},
 "l1-latency": {"value": 34, "measured": true, "source": "s"},
 "l2-bytes": {"value": 62914560, "measured": true, "source": "s"},
 "l2-latency": {"value": 285, "measured": true, "source": "s"},
 "l2-bytes-per-cycle": {"value": 5097, "measured": true, "source": "s"},
 "dram-latency": {"value": 702, "measured": true, "source": "s"},
 "dram-bytes-per-cycle": {"value": 2424, "measured": false, "source": "s"},
 "norm": {"value": 4, "measured": false, "source": "s"}})";

/// A file with every class, in which \p From is replaced by \p To.
std::string edited(StringRef From, StringRef To) {
  std::string Text = R"({"format": 2, "name": "m", "description": "d",)"
                     R"( "limits": )" +
                     Limits.str() + R"(, "classes": {)";
  for (StringRef Class : instructionClasses())
    Text += ("\n\"" + Class + "\": {\"latency\": 4, \"issue\": 1, " +
             "\"busy\": {\"issue\": 1, \"alu\": 2}, \"source\": \"s\", " +
             "\"measured\": true},")
                .str();
  Text.pop_back();
  Text += "}}";
  if (From.empty())
    return Text;
  size_t At = Text.find(From.str());
  EXPECT_NE(At, std::string::npos) << From.str();
  return Text.replace(At, From.size(), To.str());
}

std::string messageFor(StringRef Text) {
  auto Model = MachineModel::parse(Text, "m.json");
  if (!Model)
    return toString(Model.takeError());
  return "accepted";
}

TEST(MachineModel, ClassesAreSortedAndDistinct) {
  auto Names = instructionClasses();
  for (size_t I = 1; I < Names.size(); ++I)
    EXPECT_LT(Names[I - 1], Names[I]);
}

/// Numbers of paper 1's Table III, as printed there.
TEST(MachineModel, Gtx480HoldsTableIII) {
  MachineModel Model = cantFail(MachineModel::load(machineFile("gtx480")));
  EXPECT_EQ(Model.name(), "gtx480");
  EXPECT_TRUE(Model.estimated());
  auto Latency = [&](StringRef Class) { return Model.cost(Class).Latency; };
  EXPECT_EQ(Latency("add.i32"), 18);
  EXPECT_EQ(Latency("add.f64"), 24);
  EXPECT_EQ(Latency("div.u32"), 264);
  EXPECT_EQ(Latency("div.s32"), 300);
  EXPECT_EQ(Latency("div.f32"), 984);
  EXPECT_EQ(Latency("div.f64"), 1188);
  EXPECT_EQ(Latency("minmax.u32"), 36);
  EXPECT_EQ(Latency("minmax.s32"), 20);
  EXPECT_EQ(Latency("minmax.f32"), 36);
  EXPECT_EQ(Latency("minmax.f64"), 48);
  EXPECT_EQ(Latency("fma.f32"), 20);
  EXPECT_EQ(Latency("rem.s32"), 297);
  EXPECT_EQ(Latency("sin.f32"), 40);
  EXPECT_EQ(Latency("tan.f32"), 116);
  EXPECT_EQ(Latency("tex"), 220);
  EXPECT_EQ(Latency("sqrt.f32"), 208);
  EXPECT_EQ(Latency("rsqrt.f32"), 70);
  EXPECT_EQ(Latency("rcp.f32"), 228);
  EXPECT_EQ(Latency("exp.f32"), 106);
  EXPECT_EQ(Latency("exp2.f32"), 88);
  EXPECT_EQ(Latency("log2.f32"), 70);
  EXPECT_EQ(Latency("pow.f32"), 110);
  EXPECT_EQ(Latency("div.approx.f32"), 88);
  EXPECT_EQ(Latency("bar.sync"), 16);
  EXPECT_EQ(Latency("ld.const"), 46);
  EXPECT_EQ(Latency("ld.shared"), 44);
  EXPECT_EQ(Latency("st.shared"), 44);
}

/// Every number of the file was measured: parse() has every class, and none is
/// marked as an estimate. The order is that of the hardware's units.
TEST(MachineModel, H200IsMeasured) {
  MachineModel Model = cantFail(MachineModel::load(machineFile("h200")));
  EXPECT_EQ(Model.name(), "h200");
  EXPECT_FALSE(Model.estimated());
  auto Latency = [&](StringRef Class) { return Model.cost(Class).Latency; };
  auto Issue = [&](StringRef Class) { return Model.cost(Class).Issue; };
  EXPECT_EQ(Latency("fma.f32"), 4);
  EXPECT_EQ(Issue("fma.f32"), 1);
  EXPECT_EQ(Latency("fma.f64"), 8);
  EXPECT_EQ(Issue("add.i32"), 2);
  EXPECT_EQ(Issue("sin.f32"), 8);
  EXPECT_EQ(Issue("shfl"), 4);
  EXPECT_LT(Latency("fma.f32"), Latency("ld.shared"));
  EXPECT_LT(Latency("ld.shared"), Latency("ld.local"));
  EXPECT_LT(Latency("ld.local"), Latency("ld.global"));
  EXPECT_LT(Latency("div.f32"), Latency("div.f64"));

  auto Text = cantFail(errorOrToExpected(
      MemoryBuffer::getFile(machineFile("h200"), /*IsText=*/true)));
  EXPECT_FALSE(
      Text->getBuffer().split("\"classes\"").second.contains("estimate"));
  json::Value File = cantFail(json::parse(Text->getBuffer()));
  const json::Object &Root = *File.getAsObject();
  for (StringRef Key : {"gpu", "driver", "cuda", "date"})
    EXPECT_TRUE(Root.getObject("measured-on")->getString(Key)) << Key.str();
  for (StringRef Class : instructionClasses()) {
    const json::Object &Entry = *Root.getObject("classes")->getObject(Class);
    EXPECT_TRUE(Entry.get("latency-spread")) << Class.str();
    EXPECT_TRUE(Entry.get("issue-spread")) << Class.str();
    EXPECT_TRUE(Entry.getString("source")->starts_with("micro-benchmarks: "))
        << Class.str();
  }
}

TEST(MachineModel, Unit) {
  EXPECT_EQ(MachineModel::unit().cost("div.f64").Latency, 1);
  EXPECT_EQ(MachineModel::unit().cost("div.f64").Issue, 1);
}

TEST(MachineModel, MessagesNameFileAndKey) {
  EXPECT_EQ(messageFor(edited("", "")), "accepted");
  auto Expect = [](StringRef From, StringRef To, StringRef Part) {
    std::string Message = messageFor(edited(From, To));
    EXPECT_NE(Message.find(Part.str()), std::string::npos) << Message;
    EXPECT_NE(Message.find("m.json"), std::string::npos) << Message;
  };
  Expect("\"format\": 2", "\"format\": 3", "\"format\": must be 2");
  Expect("\"format\": 2", "\"format\": 1",
         "\"format\": 1 says nothing of pipes and memory");
  Expect("\"name\": \"m\"", "\"name\": 7", "\"name\": must be a string");
  Expect("\"description\"", "\"descriptoin\"", "\"descriptoin\": unknown key");
  Expect("\"fma.f32\"", "\"fma.f33\"", "\"classes.fma.f33\": unknown key");
  Expect("\"add.f32\": {\"latency\": 4", "\"add.f32\": {\"latency\": -4",
         "\"classes.add.f32.latency\": must lie between 0");
  Expect("\"add.f32\": {\"latency\": 4", "\"add.f32\": {\"latency\": \"4\"",
         "\"classes.add.f32.latency\": must be a number");
  Expect("\"issue\": 1", "\"issue\": 0", "\"classes.abs.f16.issue\"");
  // The first class, after the limits.
  const StringRef Busy = "\"busy\": {\"issue\": 1, \"alu\": 2}";
  const std::string Rest =
      (Busy + ", \"source\": \"s\", \"measured\": true").str();
  Expect(Rest, Busy.str() + ", \"source\": \"\", \"measured\": true",
         "\"classes.abs.f16.source\"");
  Expect(Rest, Busy.str() + ", \"source\": \"s\", \"measured\": 1",
         "\"classes.abs.f16.measured\": must be true or false");
  Expect(Rest, Rest + ", \"unit\": 1", "\"classes.abs.f16.unit\": unknown key");
  Expect(Busy, "\"busy\": 1", "\"classes.abs.f16.busy\": must be an object");
  Expect(Busy, "\"busy\": {\"alu\": 1}", "\"classes.abs.f16.busy.issue\"");
  Expect(Busy, "\"busy\": {\"issue\": 1, \"alv\": 1}",
         "\"classes.abs.f16.busy.alv\": unknown key");
  Expect(Busy, "\"busy\": {\"issue\": 1, \"alu\": -1}",
         "\"classes.abs.f16.busy.alu\": must lie between 0");
  Expect("\"limits\"", "\"limitz\"", "\"limitz\": unknown key");
  const StringRef Last = "\"classes\"";
  for (const auto &[Opcodes, Fault] :
       {std::pair("1", "\"opcodes\": must be an object"),
        std::pair("{\"LDS\": 4}", "\"opcodes.LDS\": must be an object"),
        std::pair("{\"LDS\": {}}", "\"opcodes.LDS.busy\": must be"),
        std::pair("{\"LDS\": {\"busy\": {\"lsu\": 4}}}",
                  "\"opcodes.LDS.busy.issue\": missing"),
        std::pair("{\"LDS\": {\"busy\": {\"issue\": 1}, \"latency\": -1}}",
                  "\"opcodes.LDS.latency\": must lie between 0"),
        std::pair("{\"LDS\": {\"busy\": {\"issue\": 1}, \"late\": 1}}",
                  "\"opcodes.LDS.late\": unknown key")})
    Expect(Last, (Twine("\"opcodes\": ") + Opcodes + ", " + Last).str(), Fault);
  Expect("\"norm\"", "\"morn\"", "\"limits.morn\": unknown key");
  Expect(",\n \"norm\": {\"value\": 4, \"measured\": false, \"source\": \"s\"}",
         "", "\"limits.norm\": missing");
  Expect("{\"value\": 132, ", "{", "\"limits.multiprocessors.value\": must be");
  Expect("{\"value\": 132, ", "{\"value\": 0, ",
         "\"limits.multiprocessors.value\": must lie between 1");
  for (StringRef Spread : {"[5, 6]", "[3, 3.5]", "[4]", "4"})
    Expect(Rest, (Rest + ", \"latency-spread\": " + Spread).str(),
           "\"classes.abs.f16.latency-spread\": must be two numbers");
  EXPECT_EQ(messageFor(edited(Rest, Rest + ", \"latency-spread\": [3.5, 4]")),
            "accepted");
  Expect("\"name\"", "\"measured-on\": 7, \"name\"",
         "\"measured-on\": must be an object");
  std::string Missing = messageFor(
      R"({"format": 2, "name": "m", "description": "d", "limits": )" +
      Limits.str() + R"(, "classes": {}})");
  EXPECT_NE(Missing.find("\"classes.abs.f16\": missing"), std::string::npos);
  EXPECT_NE(messageFor("{").find("not JSON"), std::string::npos);
  EXPECT_NE(messageFor("[]").find("one object"), std::string::npos);
}

TEST(MachineModel, MissingFile) {
  auto Model = MachineModel::load("no/such/machine.json");
  ASSERT_FALSE(static_cast<bool>(Model));
  EXPECT_NE(toString(Model.takeError()).find("no/such/machine.json"),
            std::string::npos);
}

/// A vector operation issues an element after the other; an access does not.
TEST(MachineModel, Vectors) {
  Parsed P(R"(
    define ptx_kernel void @k(ptr %p, <4 x float> %v) {
      %sum = fadd <4 x float> %v, %v
      %all = load <4 x float>, ptr %p
      ret void
    }
  )");
  MachineModel Model = cantFail(MachineModel::load(machineFile("gtx480")));
  EXPECT_EQ(Model.cost(P.value("sum")).Issue, 4);
  EXPECT_EQ(Model.cost(P.value("sum")).Latency, 18 + 3);
  EXPECT_EQ(Model.cost(P.value("sum")).Busy[size_t(Unit::Alu)], 4);
  EXPECT_EQ(Model.cost(P.value("all")).Busy[size_t(Unit::Lsu)], 2);
  EXPECT_EQ(Model.cost(P.value("all")).Latency, 400);
}

} // namespace
