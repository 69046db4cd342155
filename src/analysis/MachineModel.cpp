//===- analysis/MachineModel.cpp - Reading machine files ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine file is checked in full before any of it is used: unknown keys,
// missing classes and numbers out of range are errors that name the file and
// the key, because a misspelt class would otherwise price a kernel wrongly in
// silence. docs/machines.md describes the format.
//
//===----------------------------------------------------------------------===//

#include "analysis/Costs.h"
#include "core/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace reconverge::analysis {

static constexpr int64_t FormatVersion = 2;

namespace {

/// Where in the file we are, for messages.
struct Reader {
  StringRef Path;

  Error bad(const Twine &Key, const Twine &What) const {
    return userError(Path + ": \"" + Key + "\": " + What,
                     "docs/machines.md describes machine files");
  }

  Error onlyKeys(const json::Object &Object, const Twine &Where,
                 ArrayRef<StringRef> Allowed) const {
    SmallVector<StringRef, 8> Keys;
    for (const auto &Member : Object)
      Keys.push_back(Member.first);
    llvm::sort(Keys);
    for (StringRef Key : Keys)
      if (!is_contained(Allowed, Key))
        return bad(Where + Key, "unknown key");
    return Error::success();
  }

  Expected<StringRef> text(const json::Object &Object, const Twine &Where,
                           StringRef Key) const {
    auto Text = Object.getString(Key);
    if (!Text || Text->empty())
      return bad(Where + Key, "must be a string that is not empty");
    return *Text;
  }

  Expected<double> number(const json::Object &Object, const Twine &Where,
                          StringRef Key, double Least,
                          int64_t Most = 1000000) const {
    auto Number = Object.getNumber(Key);
    if (!Number)
      return bad(Where + Key, "must be a number");
    if (!(*Number >= Least && *Number <= double(Most)))
      return bad(Where + Key, "must lie between " + Twine(int(Least)) +
                                  " and " + Twine(Most));
    return *Number;
  }
};

} // namespace

/// Key-spread, where a measured number has one: the least and the most.
static Error checkSpread(const Reader &R, const json::Object &Entry,
                         const Twine &Where, StringRef Key, double Number) {
  std::string Name = (Key + "-spread").str();
  const json::Value *Spread = Entry.get(Name);
  if (!Spread)
    return Error::success();
  const json::Array *Ends = Spread->getAsArray();
  auto End = [&](size_t I) {
    return Ends && Ends->size() == 2 ? (*Ends)[I].getAsNumber() : std::nullopt;
  };
  if (!End(0) || !End(1) || !(*End(0) <= Number && Number <= *End(1)))
    return R.bad(Where + Name,
                 "must be two numbers, around that of \"" + Key + "\"");
  return Error::success();
}

/// "busy": cycles of pipes, those that are not named 0.
static Error readBusy(const Reader &R, const json::Object &Entry,
                      const Twine &Where, PipeCycles &Out) {
  const json::Object *Busy = Entry.getObject("busy");
  if (!Busy)
    return R.bad(Where + "busy", "must be an object of pipes");
  SmallVector<StringRef, NumPipes> Pipes;
  for (size_t P = 0; P != NumPipes; ++P)
    Pipes.push_back(wordOf(Unit(P)));
  const std::string Inside = (Where + "busy.").str();
  if (Error E = R.onlyKeys(*Busy, Inside, Pipes))
    return E;
  for (size_t P = 0; P != NumPipes; ++P) {
    if (!Busy->get(Pipes[P]))
      continue;
    auto Cycles = R.number(*Busy, Inside, Pipes[P], 0);
    if (!Cycles)
      return Cycles.takeError();
    Out[P] = *Cycles;
  }
  if (Out[size_t(Unit::Issue)] <= 0)
    return R.bad(Inside + "issue", "missing: whatever runs is issued");
  return Error::success();
}

using OpcodeCosts = std::map<std::string, OpcodeCost, std::less<>>;

/// "opcodes": costs of machine instructions, where the file has them.
static Error readOpcodes(const Reader &R, const json::Object &Root,
                         OpcodeCosts &Out) {
  if (!Root.get("opcodes"))
    return Error::success();
  const json::Object *Opcodes = Root.getObject("opcodes");
  if (!Opcodes)
    return R.bad("opcodes", "must be an object");
  std::map<StringRef, const json::Value *> Sorted; // one order of messages
  for (const auto &[Name, Entry] : *Opcodes)
    Sorted[Name] = &Entry;
  for (const auto &[Name, Entry] : Sorted) {
    const std::string Where = ("opcodes." + Name + ".").str();
    const json::Object *Object = Entry->getAsObject();
    if (!Object)
      return R.bad("opcodes." + Name, "must be an object");
    if (Error E = R.onlyKeys(*Object, Where, {"busy", "latency"}))
      return E;
    OpcodeCost &Cost = Out[Name.str()];
    if (Error E = readBusy(R, *Object, Where, Cost.Busy))
      return E;
    if (Object->get("latency"))
      if (Error E =
              R.number(*Object, Where, "latency", 0).moveInto(Cost.Latency))
        return E;
  }
  return Error::success();
}

static Expected<InstructionCost> readClass(const Reader &R,
                                           const json::Object &Classes,
                                           StringRef Class, bool &Estimated) {
  const json::Object *Entry = Classes.getObject(Class);
  if (!Entry)
    return R.bad("classes." + Class,
                 Classes.get(Class) ? "must be an object" : "missing");
  std::string Where = ("classes." + Class + ".").str();
  if (Error E = R.onlyKeys(*Entry, Where,
                           {"latency", "issue", "busy", "source", "measured",
                            "latency-spread", "issue-spread"}))
    return std::move(E);
  auto Latency = R.number(*Entry, Where, "latency", 0);
  if (!Latency)
    return Latency.takeError();
  auto Issue = R.number(*Entry, Where, "issue", 1);
  if (!Issue)
    return Issue.takeError();
  if (Error E = checkSpread(R, *Entry, Where, "latency", *Latency))
    return std::move(E);
  if (Error E = checkSpread(R, *Entry, Where, "issue", *Issue))
    return std::move(E);
  if (auto Source = R.text(*Entry, Where, "source"); !Source)
    return Source.takeError();
  auto Measured = Entry->getBoolean("measured");
  if (!Measured)
    return R.bad(Where + "measured", "must be true or false");
  Estimated |= !*Measured;
  InstructionCost Cost{*Latency, *Issue};
  if (Error E = readBusy(R, *Entry, Where, Cost.Busy))
    return std::move(E);
  return Cost;
}

namespace {
struct LimitKey {
  StringLiteral Name;
  double MachineLimits::*Of;
  double Least;
  bool MayLack = false; ///< then it is as MachineLimits has it
};
} // namespace

static constexpr LimitKey LimitKeys[] = {
    {"multiprocessors", &MachineLimits::Multiprocessors, 1},
    {"clock-mhz", &MachineLimits::ClockMHz, 1},
    {"schedulers", &MachineLimits::Schedulers, 1},
    {"threads", &MachineLimits::Threads, 32},
    {"blocks", &MachineLimits::Blocks, 1},
    {"registers", &MachineLimits::Registers, 1},
    {"shared-bytes", &MachineLimits::SharedBytes, 1},
    {"register-unit", &MachineLimits::RegisterUnit, 1, /*MayLack=*/true},
    {"shared-unit", &MachineLimits::SharedUnit, 1, /*MayLack=*/true},
    {"shared-reserved", &MachineLimits::SharedReserved, 0, /*MayLack=*/true},
    {"l1-bytes", &MachineLimits::L1Bytes, 1},
    {"l1-latency", &MachineLimits::L1Latency, 1},
    {"l2-bytes", &MachineLimits::L2Bytes, 1},
    {"l2-latency", &MachineLimits::L2Latency, 1},
    {"l2-bytes-per-cycle", &MachineLimits::L2BytesPerCycle, 1},
    {"dram-latency", &MachineLimits::DramLatency, 1},
    {"dram-bytes-per-cycle", &MachineLimits::DramBytesPerCycle, 1},
    {"atomic-turns-per-cycle", &MachineLimits::AtomicTurns, 0.001,
     /*MayLack=*/true},
    {"atomic-turns-at-one", &MachineLimits::AtomicTurnsAtOne, 0.001,
     /*MayLack=*/true},
    {"blocks-per-cycle", &MachineLimits::BlockStarts, 0.001, /*MayLack=*/true},
    {"launch-cycles", &MachineLimits::LaunchCycles, 0, /*MayLack=*/true},
    {"norm", &MachineLimits::Norm, 1}};

/// One limit: {"value": n, "measured": true, "source": "..."}.
static Expected<double> readLimit(const Reader &R, const json::Object &Limits,
                                  const LimitKey &Key) {
  const json::Object *Entry = Limits.getObject(Key.Name);
  if (!Entry)
    return R.bad("limits." + Key.Name,
                 Limits.get(Key.Name) ? "must be an object" : "missing");
  const std::string Where = ("limits." + Key.Name + ".").str();
  if (Error E = R.onlyKeys(*Entry, Where, {"value", "measured", "source"}))
    return std::move(E);
  if (!Entry->getBoolean("measured"))
    return R.bad(Where + "measured", "must be true or false");
  if (auto Source = R.text(*Entry, Where, "source"); !Source)
    return Source.takeError();
  return R.number(*Entry, Where, "value", Key.Least, 1000000000);
}

static Expected<MachineLimits> readLimits(const Reader &R,
                                          const json::Object &Root) {
  const json::Object *Object = Root.getObject("limits");
  if (!Object)
    return R.bad("limits",
                 Root.get("limits") ? "must be an object" : "missing");
  SmallVector<StringRef, std::size(LimitKeys)> Names;
  for (const LimitKey &Key : LimitKeys)
    Names.push_back(Key.Name);
  if (Error E = R.onlyKeys(*Object, "limits.", Names))
    return std::move(E);
  MachineLimits Limits;
  for (const LimitKey &Key : LimitKeys) {
    if (Key.MayLack && !Object->get(Key.Name))
      continue;
    auto Value = readLimit(R, *Object, Key);
    if (!Value)
      return Value.takeError();
    Limits.*Key.Of = *Value;
  }
  return Limits;
}

Expected<MachineModel> MachineModel::parse(StringRef Text, StringRef Path) {
  Expected<json::Value> Parsed = json::parse(Text);
  if (!Parsed)
    return userError(Path + ": not JSON: " + toString(Parsed.takeError()),
                     "docs/machines.md describes machine files");
  Reader R{Path};
  const json::Object *Root = Parsed->getAsObject();
  if (!Root)
    return R.bad("", "the file must hold one object");
  if (Error E = R.onlyKeys(*Root, "",
                           {"format", "name", "description", "gpu",
                            "measured-on", "limits", "classes", "opcodes"}))
    return std::move(E);
  const std::optional<int64_t> Format = Root->getInteger("format");
  if (Format == 1)
    return R.bad("format", "1 says nothing of pipes and memory; " +
                               Twine(FormatVersion) +
                               " does: write the file anew");
  if (Format != FormatVersion)
    return R.bad("format", "must be " + Twine(FormatVersion));
  MachineModel Model;
  auto Name = R.text(*Root, "", "name");
  if (!Name)
    return Name.takeError();
  Model.Name = Name->str();
  if (auto About = R.text(*Root, "", "description"); !About)
    return About.takeError();
  if (Root->get("gpu")) {
    auto Gpu = R.text(*Root, "", "gpu");
    if (!Gpu)
      return Gpu.takeError();
    Model.Gpu = Gpu->str();
  }
  if (const json::Value *On = Root->get("measured-on")) {
    const json::Object *Facts = On->getAsObject();
    if (!Facts)
      return R.bad("measured-on", "must be an object");
    Model.Gpu = Facts->getString("gpu").value_or("").str();
  }
  auto Limits = readLimits(R, *Root);
  if (!Limits)
    return Limits.takeError();
  Model.Limits = *Limits;
  const json::Object *Classes = Root->getObject("classes");
  if (!Classes)
    return R.bad("classes", "must be an object");
  SmallVector<StringRef, 128> Known(instructionClasses());
  if (Error E = R.onlyKeys(*Classes, "classes.", Known))
    return std::move(E);
  for (StringRef Class : Known) {
    auto Cost = readClass(R, *Classes, Class, Model.Estimated);
    if (!Cost)
      return Cost.takeError();
    Model.Classes[Class.str()] = *Cost;
  }
  if (Error E = readOpcodes(R, *Root, Model.Opcodes))
    return std::move(E);
  return Model;
}

Expected<MachineModel> MachineModel::load(StringRef Path) {
  auto Buffer = MemoryBuffer::getFile(Path, /*IsText=*/true);
  if (!Buffer)
    return userError(Path + ": cannot read the machine file: " +
                     Buffer.getError().message());
  return parse((*Buffer)->getBuffer(), Path);
}

MachineModel MachineModel::unit() {
  MachineModel Model;
  Model.Name = "unit";
  for (StringRef Class : instructionClasses())
    Model.Classes[Class.str()] = {1, 1, {1}};
  return Model;
}

InstructionCost MachineModel::cost(StringRef Class) const {
  auto Found = Classes.find(Class);
  assert(Found != Classes.end() && "every class is in every model");
  return Found->second;
}

std::optional<OpcodeCost> MachineModel::opcode(StringRef Name) const {
  const auto Found = Opcodes.find(Name);
  if (Found == Opcodes.end())
    return std::nullopt;
  return Found->second;
}

InstructionCost MachineModel::cost(const Instruction &I) const {
  InstructionCost Cost = cost(classOf(I));
  const auto *Vector = dyn_cast<FixedVectorType>(I.getType());
  if (!Vector || isa<LoadInst>(I))
    return Cost;
  // The last element issues after the others, then takes its latency.
  double Others = Cost.Issue * (Vector->getNumElements() - 1);
  Cost.Latency += Others;
  Cost.Issue += Others;
  for (double &Cycles : Cost.Busy)
    Cycles *= Vector->getNumElements();
  return Cost;
}

} // namespace reconverge::analysis
