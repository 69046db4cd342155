//===- warpvm/emit/LateRegions.cpp - Compiled when they first run ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of a template library has code for every size of its input, of which
// a launch runs a part. To make machine code is most of the time that a kernel
// takes before it runs for the first time, so Effort::Fast does that a piece at
// a time, when it is entered:
//
//   plan:   regions = { way0, way1, ... }
//           way1(...) { f = late.Regions[1]; if (!f) f = enter(late, piece, 1);
//                       return f(...); }
//   piece:  region1, region2, and a table of these
//
// A piece is a module of neighbouring regions with all constants that these
// name. What is in which piece follows from the kernel alone, so pieces are kept
// in the cache, each for itself, and whoever has the plan from there and lacks a
// piece emits the kernel again and finds the same one.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/LateRegions.h"

#include "llvm/IR/IRBuilder.h"

#include <atomic>

using namespace llvm;

namespace reconverge::warpvm {

/// Instructions, before they are optimised, after which a piece is full: a few
/// milliseconds of the code generator, beside which a file and a link are
/// little.
static constexpr uint64_t PieceSize = 250;

//===----------------------------------------------------------------------===//
// Emission
//===----------------------------------------------------------------------===//

static StructType *tableType(LLVMContext &C, uint64_t Regions) {
  Type *PtrTy = PointerType::getUnqual(C);
  return StructType::get(PtrTy, Type::getInt64Ty(C),
                         ArrayType::get(PtrTy, Regions));
}

PieceBuilder::PieceBuilder(Module &Plan)
    : Plan(Plan),
      Table(new GlobalVariable(Plan, tableType(Plan.getContext(), 1), false,
                               GlobalValue::ExternalLinkage, nullptr)) {}

Module &PieceBuilder::module() {
  if (InPiece >= PieceSize)
    finishPiece();
  if (Open.empty()) {
    Pieces.push_back(
        std::make_unique<Module>(Plan.getName(), Plan.getContext()));
    Pieces.back()->setTargetTriple(Plan.getTargetTriple());
    Pieces.back()->setDataLayout(Plan.getDataLayout());
  }
  return *Pieces.back();
}

Function *PieceBuilder::wayTo(Function &Region) {
  const uint64_t Index = Regions++, Size = Region.getInstructionCount();
  Open.push_back({&Region, Index});
  InPiece += Size;
  Instructions += Size;

  LLVMContext &C = Plan.getContext();
  auto *Way = Function::Create(Region.getFunctionType(),
                               GlobalValue::InternalLinkage, "way", Plan);
  Way->addFnAttr(Attribute::NoUnwind);
  IRBuilder<> B(BasicBlock::Create(C, "entry", Way));
  auto *Known = B.GetInsertBlock();
  auto *Missing = BasicBlock::Create(C, "missing", Way);
  auto *Enter = BasicBlock::Create(C, "enter", Way);
  Value *Slot = B.CreateConstInBoundsGEP1_64(
      B.getInt8Ty(), Table, offsetof(LateTable, Regions) + 8 * Index);
  auto *There = B.CreateAlignedLoad(B.getPtrTy(), Slot, Align(8));
  There->setAtomic(AtomicOrdering::Acquire);
  B.CreateCondBr(B.CreateIsNull(There), Missing, Enter);
  B.SetInsertPoint(Missing);
  auto Late = Plan.getOrInsertFunction(EnterSymbol, B.getPtrTy(), B.getPtrTy(),
                                       B.getInt32Ty(), B.getInt32Ty());
  Value *Made = B.CreateCall(
      Late, {Table, B.getInt32(Pieces.size() - 1), B.getInt32(Index)});
  B.CreateBr(Enter);
  B.SetInsertPoint(Enter);
  PHINode *Run = B.CreatePHI(B.getPtrTy(), 2);
  Run->addIncoming(There, Known);
  Run->addIncoming(Made, Missing);
  SmallVector<Value *> Arguments;
  for (Argument &A : Way->args())
    Arguments.push_back(&A);
  B.CreateCall(Region.getFunctionType(), Run, Arguments)->setTailCall();
  B.CreateRetVoid();
  return Way;
}

void PieceBuilder::finishPiece() {
  if (Open.empty())
    return;
  Module &M = *Pieces.back();
  IRBuilder<> B(M.getContext());
  SmallVector<Constant *> Entries;
  for (auto [Region, Index] : Open)
    Entries.push_back(ConstantStruct::getAnon({Region, B.getInt64(Index)}));
  Entries.push_back(Constant::getNullValue(Entries.front()->getType()));
  auto *T = ArrayType::get(Entries.front()->getType(), Entries.size());
  new GlobalVariable(M, T, true, GlobalValue::ExternalLinkage,
                     ConstantArray::get(T, Entries),
                     PieceSymbol + Twine(Pieces.size() - 1));
  Open.clear();
  InPiece = 0;
}

std::vector<std::unique_ptr<Module>> PieceBuilder::take() {
  finishPiece();
  LLVMContext &C = Plan.getContext();
  StructType *T = tableType(C, Regions);
  Constant *Fields[] = {Constant::getNullValue(T->getElementType(0)),
                        ConstantInt::get(T->getElementType(1), Instructions),
                        Constant::getNullValue(T->getElementType(2))};
  auto *Whole = new GlobalVariable(Plan, T, false, GlobalValue::ExternalLinkage,
                                   ConstantStruct::get(T, Fields), LateSymbol);
  Table->replaceAllUsesWith(Whole);
  Table->eraseFromParent();
  return std::move(Pieces);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Puts the regions of \p Piece into \p Table; why it could not, or "".
std::string LateRegions::fill(LateTable &Table, uint32_t Piece) {
  auto Entries = Make(Piece);
  if (!Entries)
    return toString(Entries.takeError());
  for (const LateEntry *E = *Entries; E->Run; ++E)
    std::atomic_ref(Table.Regions[E->Index])
        .store(E->Run, std::memory_order_release);
  return "";
}

/// End leaves this for good with the text, and nothing else has a destructor.
RegionFunction LateRegions::enter(LateTable *Table, uint32_t Piece,
                                  uint32_t Index) {
  auto &Here = *static_cast<LateRegions *>(Table->Owner);
  if (std::string Why = Here.fill(*Table, Piece); !Why.empty())
    Here.End(std::move(Why));
  return std::atomic_ref(Table->Regions[Index]).load(std::memory_order_acquire);
}

} // namespace reconverge::warpvm
