//===- analysis/MachineCode.cpp - What blocks became in ptxas -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The IR does not say what a GPU executes: ptxas makes six instructions of a
// vote, none of many a cast, and predicates of small branches. So where its
// machine code is at hand, the cycles of a block's pipes are those of the
// instructions that were made for the block:
//
//   busy(b) = sum over the instructions i for block b of cycles(opcode of i)
//             / copies(b)
//
// Copies. Where ptxas has unrolled a loop or given a block to each of those
// that run into it, its code lies there several times, and an execution of the
// block runs one of them. An instruction of the IR becomes different opcodes,
// each as a rule once, so the least often that one of its opcodes lies there is
// how often the instruction does. The median over the block's instructions,
// weighted by what they became, is copies(b). Accesses to memory and
// floating-point arithmetic, which have one twin each in each copy, are asked
// alone where a block has some.
//
// Blocks of the IR that share a number (LLVM has unrolled a loop) are counted
// together, and an execution runs one of them: their mean.
//
// Predicates. Where ptxas has replaced a branch by predicates, the warp issues
// the code of the side also where no lane takes that. If most of what became of
// a block is guarded, it is charged to the block that decides over it: its
// immediate dominator. Branches do not count here: they are guarded by nature.
//
// Code without a line (the compiler's own) belongs to what lies before it.
// Behind the kernel's end lie routines that it calls where a division cannot go
// the short way: rarely, so they are not counted.
//
// Latency. The machine code says itself when its next instruction may start, so
// a lone warp's time in a block can be read off it (timesOf below). Blocks whose
// code lies in one straight piece, as that of predicated sides does, are under way
// at the same time.
//
// Limitation: what ptxas moves out of a loop stays charged to the block it came
// from.
//
//===----------------------------------------------------------------------===//

#include "analysis/MachineCode.h"

#include "analysis/Costs.h"
#include "analysis/Numbering.h"
#include "core/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace reconverge::analysis {

static unsigned numberOf(const MachineInstruction &I) { return I.Low & 0x1ff; }

StringRef opcodeOf(const MachineInstruction &I) {
  switch (numberOf(I)) {
#define OPCODE(NUMBER, NAME)                                                   \
  case NUMBER:                                                                 \
    return NAME;
#include "analysis/device/Opcodes.def"
#undef OPCODE
  default:
    return "";
  }
}

bool isGuarded(const MachineInstruction &I) {
  return ((I.Low >> 12) & 7) != 7; // 7: the predicate that is always true
}

/// Where lanes go, rather than what they compute.
static bool isControl(StringRef Opcode) {
  return StringSwitch<bool>(Opcode)
      .Cases("BRA", "BRX", "EXIT", "CALL", "RET", "BREAK", true)
      .Cases("BSSY", "BSYNC", "BAR", "WARPSYNC", "ENDCOLLECTIVE", true)
      .Cases("YIELD", "NOP", true)
      .Default(false);
}

/// Whether a warp may be elsewhere behind \p I, or come from elsewhere.
static bool endsStraightCode(const MachineInstruction &I) {
  const StringRef Opcode = opcodeOf(I);
  return StringSwitch<bool>(Opcode)
      .Cases("BRA", "BRX", "CALL", "RET", "BREAK", "BSYNC", true)
      .Case("EXIT", !isGuarded(I))
      .Default(false);
}

/// Whether \p I loads from memory that may lie outside of the multiprocessor.
static bool mayLeave(const MachineInstruction &I) {
  return opcodeOf(I) == "LDG" || opcodeOf(I) == "LD";
}

/// Whether \p For becomes one such machine instruction, in each copy of its own:
/// an access to memory, or an addition or multiplication of floating-point
/// values. Of counters and addresses unrolled code has fewer.
static bool isTwin(const Instruction &For, StringRef Opcode) {
  if (For.mayReadOrWriteMemory())
    return Opcode != "LDC" &&
           (Opcode.starts_with("LD") || Opcode.starts_with("ST") ||
            Opcode.starts_with("ATOM"));
  const auto *Call = dyn_cast<IntrinsicInst>(&For);
  const bool IsFma = Call && Call->getIntrinsicID() == Intrinsic::fma;
  if (!IsFma &&
      !is_contained({Instruction::FAdd, Instruction::FSub, Instruction::FMul},
                    For.getOpcode()))
    return false;
  return StringSwitch<bool>(Opcode.drop_front())
      .Cases("ADD", "MUL", "FMA", "ADD2", "MUL2", "FMA2", true)
      .Default(false);
}

static unsigned copiesOf(ArrayRef<MachineInstruction> Code) {
  // Instruction of the IR -> how often each opcode of its lies there; the same
  // of twins alone.
  using Counts = std::map<unsigned, unsigned>;
  MapVector<const Instruction *, Counts> Made, Twins;
  for (const MachineInstruction &I : Code) {
    const StringRef Opcode = opcodeOf(I);
    if (!I.For || isControl(Opcode))
      continue;
    ++Made[I.For][numberOf(I)];
    if (isTwin(*I.For, Opcode))
      ++Twins[I.For][numberOf(I)];
  }
  std::vector<std::pair<unsigned, unsigned>> OfEach; // copies, weight
  unsigned All = 0;
  for (const auto &[For, Opcodes] : Twins.empty() ? Made : Twins) {
    unsigned Least = ~0u, Sum = 0;
    for (const auto &[Number, Times] : Opcodes) {
      Least = std::min(Least, Times);
      Sum += Times;
    }
    OfEach.push_back({Least, Sum});
    All += Sum;
  }
  llvm::sort(OfEach);
  unsigned Before = 0;
  for (const auto &[Copies, Weight] : OfEach)
    if (2 * (Before += Weight) >= All)
      return Copies;
  return 1;
}

/// Most of what is not control is guarded.
static bool isPredicated(ArrayRef<MachineInstruction> Code) {
  size_t Guarded = 0, Plain = 0;
  for (const MachineInstruction &I : Code)
    if (!isControl(opcodeOf(I)))
      ++(isGuarded(I) ? Guarded : Plain);
  return Guarded > 4 * Plain;
}

/// \p Code without what lies behind the kernel's end and returns.
static ArrayRef<MachineInstruction>
withoutRoutines(ArrayRef<MachineInstruction> Code) {
  size_t End = Code.size();
  while (End && opcodeOf(Code[End - 1]) != "EXIT")
    --End;
  const bool Returns = any_of(
      Code.drop_front(End), [](const auto &I) { return opcodeOf(I) == "RET"; });
  return End && Returns ? Code.take_front(End) : Code;
}

MapVector<const BasicBlock *, MachineBlock>
machineBlocksOf(const Function &F, ArrayRef<MachineInstruction> Code) {
  MapVector<const BasicBlock *, MachineBlock> Blocks;
  Code = withoutRoutines(Code);
  const BasicBlock *In = &F.getEntryBlock();
  for (const MachineInstruction &I : Code) {
    if (opcodeOf(I) == "NOP")
      continue; // fills the last line of code up
    if (I.For)
      In = I.For->getParent();
    Blocks[In].Code.push_back(I);
  }
  const DominatorTree Dominators(const_cast<Function &>(F));
  for (auto &[BB, B] : Blocks) {
    B.Copies = copiesOf(B.Code);
    B.IssuedBy = BB;
    for (auto At = Blocks.find(BB);
         At != Blocks.end() && isPredicated(At->second.Code);
         At = Blocks.find(B.IssuedBy)) {
      const DomTreeNode *Node = Dominators.getNode(B.IssuedBy);
      if (!Node || !Node->getIDom())
        break;
      B.IssuedBy = Node->getIDom()->getBlock();
    }
  }
  return Blocks;
}

static Error noPriceOf(const MachineInstruction &I) {
  const StringRef Opcode = opcodeOf(I);
  return createStringError(
      "no price of machine instruction " +
      (Opcode.empty() ? "0x" + utohexstr(I.Low & 0xfff) : Opcode.str()));
}

/// Runs \p Code for a lone warp, as its control bits say: how many cycles the
/// next instruction has to wait, which of six scoreboards is free when the
/// result is there, and on which ones to wait before the start. Says for how many
/// cycles each instruction holds the warp up, if loads that may leave the
/// multiprocessor take \p Farther cycles more; where straight code ends, it is the
/// one whose result is last.
static std::vector<double> timesOf(ArrayRef<MachineInstruction> Code,
                                   const MachineModel &Machine,
                                   double Farther) {
  constexpr unsigned Scoreboards = 6;
  struct Scoreboard {
    double FreeAt = 0;
    size_t SetBy = 0;
  } All[Scoreboards];
  std::vector<double> Times(Code.size());
  double Now = 0;
  for (auto [At, I] : enumerate(Code)) {
    const uint64_t Control = I.High >> 41;
    const unsigned Stall = Control & 15, Sets = (Control >> 5) & 7,
                   WaitsFor = (Control >> 11) & 63;
    const double Before = Now;
    for (unsigned S = 0; S != Scoreboards; ++S)
      if ((WaitsFor >> S) & 1)
        Now = std::max(Now, All[S].FreeAt);
    const auto Cost = Machine.opcode(opcodeOf(I));
    const double Latency =
        (Cost ? Cost->Latency : 0) + (mayLeave(I) ? Farther : 0);
    if (Sets < Scoreboards && All[Sets].FreeAt < Now + Latency)
      All[Sets] = {Now + Latency, At};
    Now += std::max(Stall, 1u);
    Times[At] = Now - Before;
    if (!endsStraightCode(I) && At + 1 != Code.size())
      continue;
    const Scoreboard &Last =
        *std::ranges::max_element(All, {}, &Scoreboard::FreeAt);
    if (Last.FreeAt > Now) {
      Times[Last.SetBy] += Last.FreeAt - Now;
      Now = Last.FreeAt;
    }
  }
  return Times;
}

/// The same for all of \p Code, and how often it waits for loads, of which those
/// that are under way together are one: the slope over what they take.
static std::vector<MachineInstruction>
withTimes(ArrayRef<MachineInstruction> Code, const MachineModel &Machine) {
  constexpr double Far = 1 << 16;
  std::vector<MachineInstruction> Timed = Code.vec();
  for (auto [I, Near, Farther] : zip_equal(Timed, timesOf(Code, Machine, 0),
                                           timesOf(Code, Machine, Far))) {
    I.Cycles = Near;
    I.Loads = std::max(0.0, Farther - Near) / Far;
  }
  return Timed;
}

static Expected<BlockPrice> priceOf(ArrayRef<MachineInstruction> Code,
                                    const MachineModel &Machine) {
  BlockPrice Price;
  for (const MachineInstruction &I : Code) {
    const auto Cost = Machine.opcode(opcodeOf(I));
    if (!Cost)
      return noPriceOf(I);
    for (auto [Sum, Cycles] : zip_equal(Price.Busy, Cost->Busy))
      Sum += Cycles;
    Price.Path += I.Cycles;
    Price.Loads += I.Loads;
  }
  return Price;
}

/// \p Sum and \p Share times \p Of.
static void add(BlockPrice &Sum, const BlockPrice &Of, double Share) {
  for (auto [All, Cycles] : zip_equal(Sum.Busy, Of.Busy))
    All += Cycles * Share;
  Sum.Path += Of.Path * Share;
  Sum.Loads += Of.Loads * Share;
}

Expected<MapVector<const BasicBlock *, BlockPrice>>
pricesOf(const Function &F, ArrayRef<MachineInstruction> Code,
         const MachineModel &Machine) {
  MapVector<const BasicBlock *, BlockPrice> Prices;
  const auto Timed = withTimes(withoutRoutines(Code), Machine);
  for (const auto &[BB, B] : machineBlocksOf(F, Timed)) {
    auto Price = priceOf(B.Code, Machine);
    if (!Price)
      return Price.takeError();
    add(Prices[B.IssuedBy], *Price, 1.0 / B.Copies);
  }
  return Prices;
}

Error priceByMachineCode(KernelInfo &Info, const Function &Kernel,
                         const MachineCode &Code, const MachineModel &Machine) {
  DenseMap<uint32_t, BlockPrice> Prices;
  DenseMap<uint32_t, unsigned> Numbered; // blocks that share the number
  for (const Function *F : functionsOf(Kernel)) {
    const auto Found = Code.Functions.find(F->getName());
    if (Found == Code.Functions.end())
      return createStringError("there is no machine code of " + F->getName());
    for (const BasicBlock &BB : *F)
      if (const auto Number = blockNumber(BB))
        ++Numbered[*Number];
    auto Here = pricesOf(*F, Found->second, Machine);
    if (!Here)
      return Here.takeError();
    for (const auto &[BB, Price] : *Here)
      if (const auto Number = blockNumber(*BB))
        add(Prices[*Number], Price, 1);
  }
  for (BlockInfo &B : Info.Blocks) {
    const unsigned Times = std::max(Numbered.lookup(B.Id), 1u);
    const BlockPrice Price = Prices.lookup(B.Id);
    for (auto [Busy, Cycles] : zip_equal(B.Busy, Price.Busy))
      Busy = Cycles / Times;
    B.Path = Price.Path / Times;
    B.PathLoads = Price.Loads / Times;
  }
  Info.Registers = Code.Registers.lookup(Kernel.getName());
  Info.HasMachineCode = true;
  return Error::success();
}

} // namespace reconverge::analysis
