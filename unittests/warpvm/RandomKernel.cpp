//===- unittests/warpvm/RandomKernel.cpp - Kernels made by dice -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel is a call of
//
//   body(tid, ctaid, ntid, in, out, sums, n, shared)
//
// which knows of its thread by its arguments alone and so can run on the host
// as it stands. Its variables are stack slots while it is written and SSA
// values afterwards (mem2reg), which makes PHIs of all kinds without any care
// here.
//
// A statement is one of
//   assignment of a random expression, store to the thread's own words in
//   global, shared or local memory, addition to a shared sum, if, if-else,
//   switch (its default possibly unreachable), counted loop (uniform or
//   divergent trips, tested at the top or the bottom), break, continue, return,
//   barrier, jump into a loop, twins.
// Twins are an if-else whose sides come from the same dice: every statement has
// dice of its own, and the second side now and then leaves one out, adds one,
// trades it with the next, or changes a constant, an operator or a condition.
// Nothing has undefined behaviour: divisors are odd and small, shifts masked,
// conversions clamped, indices masked.
//
//===----------------------------------------------------------------------===//

#include "RandomKernel.h"
#include "Harness.h"

#include "analysis/AnalysisManagers.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Mem2Reg.h"

#include <optional>

using namespace llvm;

namespace reconverge::warpvm {

namespace {

enum : unsigned { SharedSpace = 3 };
constexpr unsigned SharedWords = RandomKernelSharedWords;
constexpr unsigned LocalWords = 8;
constexpr const char *BodyName = RandomKernelBody;

class Writer {
public:
  Writer(Module &M, Function &F, uint64_t Seed, const RandomKernelOptions &O)
      : M(M), F(F), O(O), R(Seed), B(M.getContext()), I32(B.getInt32Ty()) {}

  void write();

private:
  struct LoopScope {
    BasicBlock *Continue, *Break;
    bool Together; ///< all threads of the block make each round
  };

  // Values.
  Value *argument(unsigned N) { return F.getArg(N); }
  Value *word(uint32_t X) { return B.getInt32(X); }
  Value *load(AllocaInst *Slot) {
    return B.CreateLoad(Slot->getAllocatedType(), Slot);
  }
  AllocaInst *pick(ArrayRef<AllocaInst *> Of) {
    const auto Count = unsigned(Of.size()), At = R.below(Count);
    return Of[differs(8) ? Noise->below(Count) : At];
  }
  AllocaInst *slot(Type *T) {
    return new AllocaInst(T, 0, "", F.getEntryBlock().begin());
  }
  Value *leaf();
  Value *expression(unsigned Depth);
  Value *arithmetic(Value *X, Value *Y);
  Value *wide(Value *X, Value *Y);
  Value *real(Value *X, Value *Y);
  Value *condition();
  Value *uniformTrips() {
    return B.CreateAnd(R.chance(50) ? argument(6) : word(R.below(6)), word(3));
  }
  Value *ownWord(unsigned Space, Value *Index);

  /// In the second of twins, with some chance: be different here.
  bool differs(unsigned Percent) { return Noise && Noise->chance(Percent); }

  // Statements.
  BasicBlock *block() { return BasicBlock::Create(M.getContext(), "", &F); }
  void statements(unsigned Depth);
  void statement(unsigned Depth);
  void assignment();
  void store();
  void addToSum();
  void ifElse(unsigned Depth);
  void multiway(unsigned Depth);
  void loop(unsigned Depth);
  void jumpIntoLoop(unsigned Depth);
  void twins(unsigned Depth);
  void twin(unsigned Depth, uint64_t Seed, unsigned Count);
  void leave(BasicBlock *To);

  Module &M;
  Function &F;
  const RandomKernelOptions &O;
  Random R;
  IRBuilder<> B;
  Type *I32;
  SmallVector<AllocaInst *> Words, Wides, Reals;
  AllocaInst *Local = nullptr;
  BasicBlock *Return = nullptr;
  SmallVector<LoopScope> Loops;
  std::optional<Random> Noise; ///< in the second of twins: what differs
  bool Together = true;        ///< all threads of the block pass here alike
};

Value *Writer::leaf() {
  switch (R.below(9)) {
  case 0: {
    const auto X = uint32_t(R.next());
    return word(differs(20) ? uint32_t(Noise->next()) : X);
  }
  case 1: {
    const unsigned X = R.below(16);
    return word(differs(20) ? Noise->below(16) : X);
  }
  case 2:
    return argument(0); // thread
  case 3:
    return argument(R.chance(50) ? 1 : 6); // block, n
  case 4: {                                // a word of the input
    Value *At = B.CreateAnd(load(pick(Words)), word(RandomKernelInWords - 1));
    return B.CreateLoad(
        I32, B.CreateGEP(I32, argument(3), B.CreateZExt(At, B.getInt64Ty())));
  }
  case 5: { // a byte or a half word of it
    Type *T = R.chance(50) ? B.getInt8Ty() : B.getInt16Ty();
    Value *At = B.CreateAnd(load(pick(Words)), word(RandomKernelInWords - 1));
    Value *X = B.CreateLoad(
        T, B.CreateGEP(T, argument(3), B.CreateZExt(At, B.getInt64Ty())));
    return R.chance(50) ? B.CreateSExt(X, I32) : B.CreateZExt(X, I32);
  }
  case 6:
    return B.CreateLoad(I32, ownWord(R.below(3), load(pick(Words))));
  default:
    return load(pick(Words));
  }
}

/// A word that belongs to this thread, in global (0), shared or local memory.
Value *Writer::ownWord(unsigned Space, Value *Index) {
  if (Space == 2 && !O.Local)
    Space = 1;
  if (Space == 1 && !O.Shared)
    Space = 0;
  const unsigned Own[] = {RandomKernelOutBytes / 4, SharedWords, LocalWords};
  Value *At = O.Records && Space == 0
                  ? word(R.below(Own[0]))
                  : B.CreateAnd(Index, word(Own[Space] - 1));
  if (Space == 2)
    return B.CreateGEP(Local->getAllocatedType(), Local, {word(0), At});
  Value *Thread = argument(0);
  if (Space == 0)
    Thread = B.CreateAdd(Thread, B.CreateMul(argument(1), argument(2)));
  if (O.Rows && Space == 0) {
    auto Wide = [&](Value *V) { return B.CreateZExt(V, B.getInt64Ty()); };
    Value *Sum =
        O.RowsByInts
            ? B.CreateSExt(
                  B.CreateNSWAdd(B.CreateNSWMul(At, argument(8)), Thread),
                  B.getInt64Ty())
            : B.CreateAdd(B.CreateMul(Wide(At), Wide(argument(8))),
                          Wide(Thread));
    return B.CreateGEP(I32, argument(4), Sum);
  }
  At = B.CreateAdd(B.CreateMul(Thread, word(Own[Space])), At);
  return B.CreateGEP(I32, argument(Space == 0 ? 4 : 7),
                     B.CreateZExt(At, B.getInt64Ty()));
}

Value *Writer::arithmetic(Value *X, Value *Y) {
  switch (R.below(18)) {
  case 0:
    return B.CreateAdd(X, Y);
  case 1:
    return B.CreateSub(X, Y);
  case 2:
    return B.CreateMul(X, Y);
  case 3:
    return B.CreateAnd(X, Y);
  case 4:
    return B.CreateOr(X, Y);
  case 5:
    return B.CreateXor(X, Y);
  case 6:
    return B.CreateShl(X, B.CreateAnd(Y, word(31)));
  case 7:
    return B.CreateLShr(X, B.CreateAnd(Y, word(31)));
  case 8:
    return B.CreateAShr(X, B.CreateAnd(Y, word(31)));
  case 9:
  case 10: {
    // Never zero, and never minus one.
    Value *D = B.CreateOr(B.CreateAnd(Y, word(0x7fff)), word(1));
    const Instruction::BinaryOps Ops[] = {Instruction::UDiv, Instruction::SDiv,
                                          Instruction::URem, Instruction::SRem};
    return B.CreateBinOp(Ops[R.below(4)], X, D);
  }
  case 11:
    return B.CreateBinaryIntrinsic(
        R.chance(50) ? Intrinsic::smin : Intrinsic::umax, X, Y);
  case 12:
    return R.chance(50) ? B.CreateUnaryIntrinsic(Intrinsic::ctpop, X)
                        : B.CreateUnaryIntrinsic(Intrinsic::bswap, X);
  case 13:
    return B.CreateIntrinsic(Intrinsic::fshl, {I32}, {X, Y, Y});
  case 14: { // through a narrower type
    Type *T = R.chance(50) ? B.getInt8Ty() : B.getInt16Ty();
    Value *N = B.CreateAdd(B.CreateTrunc(X, T), B.CreateTrunc(Y, T));
    return R.chance(50) ? B.CreateSExt(N, I32) : B.CreateZExt(N, I32);
  }
  case 15:
    return wide(X, Y);
  case 16:
    return real(X, Y);
  default:
    return B.CreateSelect(condition(), X, Y);
  }
}

Value *Writer::wide(Value *X, Value *Y) {
  AllocaInst *Slot = pick(Wides);
  Value *P = B.CreateZExt(X, B.getInt64Ty()), *Q = load(Slot);
  Value *Z = R.chance(50) ? B.CreateMul(P, Q) : B.CreateAdd(P, Q);
  if (R.chance(40))
    Z = B.CreateURem(
        Z, B.CreateOr(B.CreateZExt(Y, B.getInt64Ty()), B.getInt64(1)));
  B.CreateStore(Z, Slot);
  return B.CreateTrunc(B.CreateLShr(Z, R.below(33)), I32);
}

/// Floats stay small and whole or halves: no NaN, whose bits nobody promises.
Value *Writer::real(Value *X, Value *Y) {
  AllocaInst *Slot = pick(Reals);
  Type *T = Slot->getAllocatedType();
  Value *P = B.CreateSIToFP(B.CreateAShr(X, 16), T), *Q = load(Slot);
  Value *Z = R.chance(30)   ? B.CreateFMul(P, ConstantFP::get(T, 0.5))
             : R.chance(50) ? B.CreateFAdd(P, Q)
                            : B.CreateFSub(Q, P);
  Value *Big = B.CreateFCmpOGT(B.CreateUnaryIntrinsic(Intrinsic::fabs, Z),
                               ConstantFP::get(T, 1e6));
  Z = B.CreateSelect(Big, ConstantFP::get(T, R.below(100)), Z);
  B.CreateStore(Z, Slot);
  return B.CreateFPToSI(Z, I32);
}

Value *Writer::expression(unsigned Depth) {
  if (Depth == 0 || R.chance(25))
    return leaf();
  Value *X = expression(Depth - 1);
  return arithmetic(X, expression(Depth - 1));
}

Value *Writer::condition() {
  if (R.chance(15)) { // uniform
    Value *X = B.CreateAnd(R.chance(50) ? argument(6) : argument(1), word(3));
    return B.CreateICmpULT(X, word(R.below(4)));
  }
  Value *X = R.chance(30) ? argument(0) : leaf();
  if (R.chance(50)) // about half of the lanes
    return B.CreateICmpNE(B.CreateAnd(X, word(1u << R.below(5))), word(0));
  const CmpInst::Predicate Ps[] = {CmpInst::ICMP_EQ, CmpInst::ICMP_ULT,
                                   CmpInst::ICMP_SLT, CmpInst::ICMP_UGE};
  return B.CreateICmp(Ps[R.below(4)], B.CreateAnd(X, word(31)),
                      R.chance(50) ? word(R.below(32))
                                   : B.CreateAnd(leaf(), word(31)));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Writer::assignment() {
  Value *X = expression(2);
  B.CreateStore(X, pick(Words));
}

void Writer::store() {
  Value *X = expression(1);
  B.CreateStore(X, ownWord(R.below(3), load(pick(Words))));
}

void Writer::addToSum() {
  Value *At = B.CreateAnd(load(pick(Words)), word(RandomKernelSums - 1));
  Value *P = B.CreateGEP(I32, argument(5), B.CreateZExt(At, B.getInt64Ty()));
  B.CreateAtomicRMW(R.chance(50) ? AtomicRMWInst::Add : AtomicRMWInst::Sub, P,
                    leaf(), MaybeAlign(4), AtomicOrdering::Monotonic);
}

/// Branches away under a condition; what follows runs for the rest.
void Writer::leave(BasicBlock *To) {
  BasicBlock *Next = block();
  B.CreateCondBr(condition(), To, Next);
  B.SetInsertPoint(Next);
  Together = false;
}

void Writer::ifElse(unsigned Depth) {
  BasicBlock *Then = block(), *Join = block();
  BasicBlock *Else = R.chance(50) ? block() : Join;
  const bool Before = Together;
  if (differs(20))
    B.CreateCondBr(B.CreateNot(condition()), Else, Then);
  else
    B.CreateCondBr(condition(), Then, Else);
  Together = false;
  B.SetInsertPoint(Then);
  statements(Depth - 1);
  B.CreateBr(Join);
  if (Else != Join) {
    B.SetInsertPoint(Else);
    statements(Depth - 1);
    B.CreateBr(Join);
  }
  B.SetInsertPoint(Join);
  Together = Before;
}

void Writer::multiway(unsigned Depth) {
  const unsigned Ways = 2 + R.below(3);
  BasicBlock *Join = block(), *Default = block();
  Value *X = B.CreateAnd(leaf(), word(3));
  auto *Switch = B.CreateSwitch(X, Default, Ways);
  const bool Before = Together;
  Together = false;
  SmallVector<BasicBlock *> Cases;
  for (unsigned I = 0; I < Ways; ++I) {
    Cases.push_back(I && R.chance(20) ? Cases.back() : block());
    Switch->addCase(B.getInt32(I), Cases.back());
  }
  for (unsigned I = 0; I < Ways; ++I) {
    if (I && Cases[I] == Cases[I - 1])
      continue;
    B.SetInsertPoint(Cases[I]);
    statements(Depth - 1);
    // Some fall through to the next case.
    const bool Fall = I + 1 < Ways && Cases[I + 1] != Cases[I] && R.chance(25);
    B.CreateBr(Fall ? Cases[I + 1] : Join);
  }
  B.SetInsertPoint(Default);
  if (Ways == 4 && R.chance(70)) {
    B.CreateUnreachable();
  } else {
    assignment();
    B.CreateBr(Join);
  }
  B.SetInsertPoint(Join);
  Together = Before;
}

void Writer::loop(unsigned Depth) {
  BasicBlock *Head = block(), *Body = block(), *Latch = block(),
             *Exit = block();
  AllocaInst *Count = slot(I32), *Trips = slot(I32);
  const bool Uniform = R.chance(30), Before = Together;
  B.CreateStore(word(0), Count);
  B.CreateStore(Uniform ? uniformTrips() : B.CreateAnd(leaf(), word(7)), Trips);
  B.CreateBr(R.chance(60) ? Head : Body); // tested first, or after a round
  B.SetInsertPoint(Head);
  B.CreateCondBr(B.CreateICmpULT(load(Count), load(Trips)), Body, Exit);
  B.SetInsertPoint(Body);
  Together = Before && Uniform;
  Loops.push_back({Latch, Exit, Together});
  statements(Depth - 1);
  Loops.pop_back();
  B.CreateBr(Latch);
  B.SetInsertPoint(Latch);
  B.CreateStore(B.CreateAdd(load(Count), word(1)), Count);
  B.CreateBr(Head);
  B.SetInsertPoint(Exit);
  Together = Before && Together;
}

/// A loop of two blocks that some threads enter at the second.
void Writer::jumpIntoLoop(unsigned Depth) {
  BasicBlock *First = block(), *Second = block(), *Exit = block();
  AllocaInst *Count = slot(I32);
  const bool Before = Together;
  B.CreateStore(word(0), Count);
  B.CreateCondBr(condition(), First, Second);
  Together = false;
  B.SetInsertPoint(First);
  statements(Depth - 1);
  B.CreateBr(Second);
  B.SetInsertPoint(Second);
  statements(Depth - 1);
  B.CreateStore(B.CreateAdd(load(Count), word(1)), Count);
  B.CreateCondBr(B.CreateICmpULT(load(Count), word(1 + R.below(4))), First,
                 Exit);
  B.SetInsertPoint(Exit);
  Together = Before;
}

/// One of the twins' sides: statement K has its dice from Seed and K.
void Writer::twin(unsigned Depth, uint64_t Seed, unsigned Count) {
  const Random Outer = R;
  SmallVector<unsigned, 8> Order;
  for (unsigned K = 0; K < Count; ++K) {
    if (differs(10))
      continue;
    Order.push_back(K);
    if (differs(10))
      Order.push_back(Count + K); // one that the other side does not have
    if (Order.size() > 1 && differs(15))
      std::swap(Order.back(), Order[Order.size() - 2]);
  }
  for (unsigned K : Order) {
    R = Random(Seed + K);
    statement(Depth);
  }
  R = Outer;
}

void Writer::twins(unsigned Depth) {
  BasicBlock *Sides[] = {block(), block()}, *Join = block();
  const bool Before = Together;
  B.CreateCondBr(condition(), Sides[0], Sides[1]);
  Together = false;
  const uint64_t Seed = R.next();
  const unsigned Count = 1 + R.below(O.Statements + 2);
  const bool Inner = Noise.has_value(); // twins within twins
  for (unsigned Side = 0; Side < 2; ++Side) {
    B.SetInsertPoint(Sides[Side]);
    if (Side && !Inner)
      Noise.emplace(Seed ^ 0x5eed);
    twin(Depth - 1, Seed, Count);
    B.CreateBr(Join);
  }
  if (!Inner)
    Noise.reset();
  B.SetInsertPoint(Join);
  Together = Before;
}

void Writer::statement(unsigned Depth) {
  if (O.Twins && Depth && R.chance(O.Twins))
    return twins(Depth);
  if (O.Loops && Depth && R.chance(O.Loops))
    return loop(Depth);
  const unsigned Dice = R.below(100);
  if (Depth && Dice < 18)
    return ifElse(Depth);
  if (Depth && Dice < 26)
    return multiway(Depth);
  if (Depth && Dice < 42)
    return loop(Depth);
  if (Depth && Dice < 45 && O.Irreducible)
    return jumpIntoLoop(Depth);
  // A barrier in a loop wants them all in each round.
  if (Dice < 50 && !Loops.empty() && !(O.Barriers && Loops.back().Together))
    return leave(R.chance(50) ? Loops.back().Break : Loops.back().Continue);
  if (Dice < 52 && O.Returns)
    return leave(Return);
  if (Dice < 56 && O.Barriers && Together) {
    B.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
    return;
  }
  if (Dice < 68)
    return store();
  if (Dice < 73)
    return addToSum();
  assignment();
}

void Writer::statements(unsigned Depth) {
  for (unsigned N = 1 + R.below(O.Statements); N; --N)
    statement(Depth);
}

void Writer::write() {
  BasicBlock *Entry = block();
  Return = block();
  B.SetInsertPoint(Return);
  B.CreateRetVoid();
  B.SetInsertPoint(Entry);
  auto *Start = B.CreateBr(block()); // slots go in front of it
  if (O.Local)
    Local = slot(ArrayType::get(I32, LocalWords));
  for (unsigned I = 0; I < 5; ++I)
    Words.push_back(slot(I32));
  for (unsigned I = 0; I < 2; ++I)
    Wides.push_back(slot(B.getInt64Ty()));
  Reals = {slot(B.getFloatTy()), slot(B.getDoubleTy())};
  B.SetInsertPoint(Start->getSuccessor(0));
  for (unsigned I = 0; O.Local && I < LocalWords; ++I)
    B.CreateStore(word(I * 77), ownWord(2, word(I)));
  for (unsigned I = 0; O.Shared && I < SharedWords; ++I)
    B.CreateStore(B.CreateXor(argument(0), word(I)), ownWord(1, word(I)));
  for (auto [I, Slot] : enumerate(Words))
    B.CreateStore(B.CreateAdd(argument(0), word(unsigned(I) * 3)), Slot);
  for (AllocaInst *Slot : Wides)
    B.CreateStore(B.CreateZExt(argument(0), B.getInt64Ty()), Slot);
  for (AllocaInst *Slot : Reals)
    B.CreateStore(B.CreateUIToFP(argument(1), Slot->getAllocatedType()), Slot);
  statements(O.Depth);
  statements(O.Depth);
  // What the variables hold at the end is part of the result.
  for (auto [I, Slot] : enumerate(Words))
    B.CreateStore(load(Slot), ownWord(0, word(unsigned(I))));
  B.CreateStore(B.CreateTrunc(load(Wides[0]), I32), ownWord(0, word(6)));
  B.CreateStore(B.CreateFPToSI(load(Reals[0]), I32), ownWord(0, word(7)));
  B.CreateStore(B.CreateFPToSI(load(Reals[1]), I32), ownWord(0, word(8)));
  B.CreateBr(Return);
}

} // namespace

/// At \p B: all threads of the block copy the words at \p In, and wait. Where
/// they then are, for any pointer's use.
static Value *copyToShared(IRBuilder<> &B, Value *In, Value *Thread,
                           Value *Threads) {
  Function &F = *B.GetInsertBlock()->getParent();
  auto *I32 = B.getInt32Ty();
  auto *TableTy = ArrayType::get(I32, RandomKernelInWords);
  auto *Table = new GlobalVariable(*F.getParent(), TableTy, false,
                                   GlobalValue::InternalLinkage,
                                   UndefValue::get(TableTy), "table", nullptr,
                                   GlobalValue::NotThreadLocal, SharedSpace);
  Table->setAlignment(Align(16));
  BasicBlock *Before = B.GetInsertBlock(),
             *Loop = BasicBlock::Create(B.getContext(), "copy", &F),
             *Done = BasicBlock::Create(B.getContext(), "copied", &F);
  auto InBounds = [&](Value *At) {
    return B.CreateICmpULT(At, B.getInt32(RandomKernelInWords));
  };
  B.CreateCondBr(InBounds(Thread), Loop, Done);
  B.SetInsertPoint(Loop);
  PHINode *At = B.CreatePHI(I32, 2);
  Value *Word = B.CreateLoad(I32, B.CreateGEP(I32, In, At));
  B.CreateStore(Word, B.CreateGEP(TableTy, Table, {B.getInt32(0), At}));
  Value *Next = B.CreateAdd(At, Threads);
  At->addIncoming(Thread, Before);
  At->addIncoming(Next, Loop);
  B.CreateCondBr(InBounds(Next), Loop, Done);
  B.SetInsertPoint(Done);
  B.CreateIntrinsic(Intrinsic::nvvm_barrier0, {}, {});
  return B.CreateAddrSpaceCast(Table, B.getPtrTy());
}

/// Kernel `k`: reads the special registers and calls the body.
static void writeKernel(Module &M, Function &Body,
                        const RandomKernelOptions &Options) {
  LLVMContext &C = M.getContext();
  IRBuilder<> B(C);
  auto *SharedTy =
      ArrayType::get(B.getInt32Ty(), RandomKernelMaxThreads * SharedWords);
  auto *Shared =
      new GlobalVariable(M, SharedTy, false, GlobalValue::InternalLinkage,
                         UndefValue::get(SharedTy), "shared", nullptr,
                         GlobalValue::NotThreadLocal, SharedSpace);
  Shared->setAlignment(Align(16));
  auto *Ptr = B.getPtrTy();
  auto *F = Function::Create(
      FunctionType::get(B.getVoidTy(), {Ptr, Ptr, Ptr, B.getInt32Ty()}, false),
      GlobalValue::ExternalLinkage, "k", M);
  F->setCallingConv(CallingConv::PTX_Kernel);
  for (unsigned I = 0; Options.Records && I != 3; ++I)
    F->addParamAttr(I, Attribute::NoAlias);
  B.SetInsertPoint(BasicBlock::Create(C, "entry", F));
  auto Register = [&](Intrinsic::ID Id) {
    return B.CreateIntrinsic(Id, {}, {});
  };
  Value *Thread = Register(Intrinsic::nvvm_read_ptx_sreg_tid_x),
        *Block = Register(Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
        *Threads = Register(Intrinsic::nvvm_read_ptx_sreg_ntid_x);
  Value *OfGrid = B.getInt32(0);
  if (Options.Rows)
    OfGrid =
        B.CreateMul(Register(Intrinsic::nvvm_read_ptx_sreg_nctaid_x), Threads);
  Value *In = F->getArg(0);
  if (Options.Table)
    In = copyToShared(B, In, Thread, Threads);
  B.CreateCall(&Body, {Thread, Block, Threads, In, F->getArg(1), F->getArg(2),
                       F->getArg(3), Shared, OfGrid});
  B.CreateRetVoid();
}

static void runPasses(Module &M, const RandomKernelOptions &Options) {
  analysis::AnalysisManagers Analyses;
  FunctionPassManager FPM;
  FPM.addPass(PromotePass());
  FPM.addPass(SimplifyCFGPass());
  if (Options.Optimise) {
    FPM.addPass(InstCombinePass());
    FPM.addPass(JumpThreadingPass());
    FPM.addPass(SimplifyCFGPass());
  }
  ModulePassManager MPM;
  if (Options.Inline)
    MPM.addPass(AlwaysInlinerPass());
  MPM.addPass(createModuleToFunctionPassAdaptor(std::move(FPM)));
  MPM.run(M, Analyses.Modules);
}

RandomKernelOptions randomOptions(uint64_t Seed) {
  Random R(Seed ^ 0x123456);
  RandomKernelOptions Options;
  Options.Depth = R.chance(70) ? 2 : 3;
  Options.Statements = 2 + R.below(3);
  Options.Irreducible = R.chance(50);
  Options.Optimise = R.chance(50);
  Options.Inline = R.chance(70);
  Options.Returns = R.chance(50);
  Options.Barriers = R.chance(70);
  return Options;
}

std::unique_ptr<Module> randomKernel(LLVMContext &C, uint64_t Seed,
                                     const RandomKernelOptions &Options) {
  auto M = std::make_unique<Module>("random", C);
  M->setDataLayout("e-i64:64-i128:128-v16:16-v32:32-n16:32:64");
  M->setTargetTriple("nvptx64-nvidia-cuda");
  auto *I32 = Type::getInt32Ty(C);
  auto *Ptr = PointerType::get(C, 0);
  auto *Body = Function::Create(
      FunctionType::get(Type::getVoidTy(C),
                        {I32, I32, I32, Ptr, Ptr, Ptr, I32,
                         PointerType::get(C, SharedSpace), I32},
                        false),
      GlobalValue::ExternalLinkage, BodyName, *M);
  Writer(*M, *Body, Seed, Options).write();
  writeKernel(*M, *Body, Options);
  if (Options.Inline)
    Body->addFnAttr(Attribute::AlwaysInline);
  runPasses(*M, Options);
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (verifyModule(*M, &OS))
    report_fatal_error(Twine("the random kernel is invalid: ") + Problem);
  return M;
}

} // namespace reconverge::warpvm
