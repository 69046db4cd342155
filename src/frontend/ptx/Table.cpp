//===- frontend/ptx/Table.cpp - What is lowered, row by row ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is an opcode, and the kind of its first type where one opcode has
// several (integer add, float add, half add). The rows live beside their
// emitters; this file joins them. Rows are few, texts are short and each
// distinct asm text is lowered once, so a linear search is fast enough.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "frontend/ptx/InlinePtx.h"

#include "analysis/PtxFunctions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::frontend {

namespace ptx {

static unsigned classOf(const Instruction &I) {
  for (const std::string &Modifier : I.Modifiers)
    if (std::optional<Type> T = parseType(Modifier))
      return !T->isFloat() ? IntClass : T->isHalf() ? HalfClass : FloatClass;
  return AnyClass;
}

const Row *findRow(const Instruction &I) {
  unsigned Class = classOf(I);
  for (const RowGroup &Group : allRows())
    for (const Row &R : Group.Rows)
      if (R.Opcode == I.Opcode && (R.Class == AnyClass || R.Class & Class))
        return &R;
  return nullptr;
}

ArrayRef<RowGroup> allRows() {
  static const RowGroup Groups[] = {
      {"Moves and selection", dataRows()},
      {"Integer arithmetic", integerRows()},
      {"Bits", bitRows()},
      {"Bytes and halves of a word", simdRows()},
      {"Floating point", floatRows()},
      {"Half and bfloat16", halfRows()},
      {"Comparison", compareRows()},
      {"Conversion", convertRows()},
      {"Memory", memoryRows()},
      {"Atomics", atomicRows()},
      {"Warp, barriers, control", syncRows()},
      {"Asynchronous copies", asyncRows()},
      {"Matrices", tileRows()},
      {"Textures and surfaces", textureRows()},
  };
  return Groups;
}

FunctionCallee ownFunction(Module &M, StringRef Name, llvm::Type *Result,
                           ArrayRef<llvm::Type *> Parameters) {
  FunctionCallee Callee =
      M.getOrInsertFunction(Name, FunctionType::get(Result, Parameters, false));
  auto *F = cast<Function>(Callee.getCallee());
  F->setDoesNotThrow();
  F->setWillReturn();
  if (Parameters.empty())
    F->setDoesNotAccessMemory();
  return Callee;
}

static CallInst *callFunction(Lowering &L, StringRef Name, llvm::Type *Result,
                              ArrayRef<Value *> Args) {
  SmallVector<llvm::Type *, 8> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  return L.B.CreateCall(
      ownFunction(*L.B.GetInsertBlock()->getModule(), Name, Result, Types),
      Args);
}

Value *callOwn(Lowering &L, StringRef Name, llvm::Type *Result,
               ArrayRef<Value *> Args) {
  return callFunction(L, Name, Result, Args);
}

CallInst *callPtx(Lowering &L, const Twine &Name, llvm::Type *Result,
                  ArrayRef<Value *> Args, const Twine &Text,
                  const Twine &Constraints) {
  CallInst *Call =
      callFunction(L, (Name + "~" + L.modifiers()).str(), Result, Args);
  Function *F = Call->getCalledFunction();
  F->addFnAttr(analysis::PtxTextAttribute, Text.str());
  F->addFnAttr(analysis::PtxConstraintsAttribute, Constraints.str());
  return Call;
}

} // namespace ptx

void printPtxTable(raw_ostream &OS) {
  // A pipe inside a cell would end it.
  auto Cell = [](StringRef Text) {
    std::string Out;
    for (char C : Text)
      Out += C == '|' ? std::string("\\|") : std::string(1, C);
    return Out;
  };
  for (const ptx::RowGroup &Group : ptx::allRows()) {
    OS << "### " << Group.Title << "\n\n| PTX | forms | becomes |\n| --- | --- "
       << "| --- |\n";
    for (const ptx::Row &R : Group.Rows)
      OS << "| `" << R.Opcode << "` | " << Cell(R.Forms) << " | "
         << Cell(R.Becomes) << " |\n";
    OS << "\n";
  }
}

} // namespace reconverge::frontend
