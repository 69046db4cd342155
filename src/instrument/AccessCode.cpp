//===- instrument/AccessCode.cpp - What a request costs, counted ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lanes that run an access together are the request; the mask m says who:
//
//   a lane's neighbour is the next lane of m below it
//
// Global memory. Distinct sectors:
//
//   s = address / 32;  p = the neighbour's s
//   nowhere s > p, or nowhere s < p:  1 + the lanes where s is not p
//   else:                             lanes that are the lowest with their s,
//                                     by match.any
//
// The first is exact where sectors only rise or only fall from lane to lane, as
// they mostly do, and takes a shuffle and two votes; match.any takes up to 256
// cycles.
//
// Local memory lies so that a word of all lanes is one line: s is the word's
// number and the lane's eighth of the warp. Its wavefronts are distinct lines,
// found likewise.
//
// Wavefronts of global and shared memory. Units are as wide as the access, 4
// bytes at least; as many as 128 bytes hold go at once, and a warp in as many
// parts as that takes, or half as many where lanes that load from shared memory
// agree in pairs (docs/memory.md):
//
//   all units of each part within 128 bytes:  one wavefront a part
//   else: a lane leads if it is the lowest with its unit; the wavefronts of a
//         part are the most leaders in one bank
//   of atomics on shared memory: all lanes lead, since those at one address
//         take turns
//
// Global memory takes as many if more of the request's lines have their tags in
// one bank; a lane leads if it is the lowest with its line. Where each part lies
// in one line, that cannot be.
//
// Turns of an atomic: the most lanes with one address, by match.any.
//
// Generic addresses go to one of these lane by lane; the lanes that go one way
// are a request of their own.
//
// Sectors that a block loads go into a sketch: of a hash's 32 bits, 10 choose a
// register, which keeps the most leading zeros that any of the others had
// (Flajolet and others, "HyperLogLog", AofA 2007). Lanes that are first with a
// sector do that.
//
// Counts go to memory at once, by the request's lowest lane, two to an atomic.
//
// Limitation: two counts share 64 bits; a block that makes more than 2^32 of
// one spills into the other (a second and more, at one access). An access that
// is not aligned to its width counts with its first byte's sector. Sectors that
// are a multiple of 128 GiB apart count as one.
//
//===----------------------------------------------------------------------===//

#include "instrument/AccessCode.h"

#include "analysis/device/AddressSpace.h"
#include "instrument/AccessProbes.h"
#include "instrument/CellUpdate.h"

#include "llvm/ADT/bit.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::instrument {

static constexpr unsigned LineBytes = 128, WarpLanes = 32;

namespace {
/// The body of a probe.
class Body {
public:
  Body(Function &F, MemoryUse Use, uint32_t Bytes, bool Portable)
      : F(F), Use(Use), Bytes(std::max(Bytes, 1u)), Portable(Portable),
        B(BasicBlock::Create(F.getContext(), "", &F)), I1(B.getInt1Ty()),
        I32(B.getInt32Ty()), I64(B.getInt64Ty()), Address(F.getArg(0)),
        Mask(F.getArg(3)) {}
  void global();
  void local();
  void shared();
  /// By the code for each space.
  void generic(Function *Global, Function *Shared, Function *Local);

private:
  Value *special(Intrinsic::ID Id) { return B.CreateIntrinsic(I32, Id, {}); }
  Value *popc(Value *X) { return B.CreateUnaryIntrinsic(Intrinsic::ctpop, X); }
  Value *ballot(Value *Condition) {
    return B.CreateIntrinsic(I32, Intrinsic::nvvm_vote_ballot_sync,
                             {Mask, Condition});
  }
  Value *most(Value *X) {
    return B.CreateIntrinsic(I32, Intrinsic::nvvm_redux_sync_umax, {X, Mask});
  }
  Value *least(Value *X) {
    return B.CreateIntrinsic(I32, Intrinsic::nvvm_redux_sync_umin, {X, Mask});
  }
  /// Lanes of the request with the same \p X.
  Value *alike(Value *X) {
    return B.CreateIntrinsic(I32,
                             X->getType() == I64
                                 ? Intrinsic::nvvm_match_any_sync_i64
                                 : Intrinsic::nvvm_match_any_sync_i32,
                             {Mask, X});
  }
  Value *isLowest(Value *Lanes) {
    return B.CreateIsNull(B.CreateAnd(Lanes, Below));
  }
  Value *roundedUp(Value *N, unsigned Each, unsigned To) {
    return B.CreateUDiv(
        B.CreateAdd(B.CreateMul(N, B.getInt32(Each)), B.getInt32(To - 1)),
        B.getInt32(To));
  }
  void findLanes();
  Value *partsOf(unsigned Lanes);
  Value *pairsAgree(unsigned Bit);
  Value *mostInTags(Value *Line);
  struct Sectors {
    Value *Number; ///< of sectors
    Value *IsNew;  ///< this lane is the first with its sector
    Value *Lines;  ///< if asked for
  };
  Sectors sectorsOf(Value *Sector, bool WithLines);
  struct Wavefronts {
    Value *All, *Least;
  };
  Wavefronts wavefrontsOf(Value *Unit, bool IsShared);
  Value *times(Value *N, unsigned Width) {
    return B.CreateMul(N, B.getInt32(divideCeil(Bytes, Width)));
  }
  unsigned width() const {
    return std::clamp<unsigned>(llvm::bit_ceil(Bytes), 4, LineBytes);
  }
  void sketch(Value *Sector, Value *IsNew);
  void count(Value *Sectors, Value *LeastSectors, Value *Wavefronts,
             Value *LeastWavefronts);

  Function &F;
  const MemoryUse Use;
  const uint32_t Bytes; ///< a lane
  const bool Portable;
  IRBuilder<> B;
  Type *I1, *I32, *I64;
  Value *Address;
  Value *Mask;              ///< the request
  Value *Below = nullptr;   ///< lanes below this one
  Value *Lane = nullptr;    ///< this one's number
  Value *IsFirst = nullptr; ///< it is the request's lowest
};
} // namespace

void Body::findLanes() {
  Below = special(Intrinsic::nvvm_read_ptx_sreg_lanemask_lt);
  Lane = special(Intrinsic::nvvm_read_ptx_sreg_laneid);
  IsFirst = isLowest(Mask);
}

/// Adds the request to its cells, and ends the function.
void Body::count(Value *Sectors, Value *LeastSectors, Value *Wavefronts,
                 Value *LeastWavefronts) {
  // All lanes take part in finding this, one adds.
  Value *Turns =
      Use == MemoryUse::Atomic ? most(popc(alike(Address))) : nullptr;
  auto *Add = BasicBlock::Create(F.getContext(), "add", &F);
  auto *End = BasicBlock::Create(F.getContext(), "end", &F);
  B.CreateCondBr(IsFirst, Add, End);
  B.SetInsertPoint(Add);
  Value *At = B.CreateAdd(
      F.getArg(1), B.CreateAdd(B.CreateMul(B.CreateZExt(F.getArg(2), I64),
                                           B.getInt64(8 * CellsOfAccess)),
                               B.getInt64(8 * HeaderCells)));
  Value *Cells = B.CreateIntToPtr(At, B.getPtrTy(analysis::GlobalSpace));
  auto AddTo = [&](unsigned Cell, Value *Low, Value *High) {
    Value *Both = B.CreateZExt(Low, I64);
    if (High)
      Both = B.CreateOr(Both, B.CreateShl(B.CreateZExt(High, I64), 32));
    emitUpdate(B, CellUpdate::Add,
               B.CreateConstInBoundsGEP1_64(I64, Cells, Cell), Both, Portable);
  };
  AddTo(0, B.getInt32(1), popc(Mask));
  if (Sectors)
    AddTo(1, Sectors, LeastSectors);
  AddTo(2, Wavefronts, LeastWavefronts);
  if (Turns)
    AddTo(3, Turns, nullptr);
  B.CreateBr(End);
  B.SetInsertPoint(End);
  B.CreateRetVoid();
}

void Body::sketch(Value *Sector, Value *IsNew) {
  auto *Ask = BasicBlock::Create(F.getContext(), "sketch", &F);
  auto *Go = BasicBlock::Create(F.getContext(), "sketched", &F);
  B.CreateCondBr(IsNew, Ask, Go);
  B.SetInsertPoint(Ask);
  // The finalizer of MurmurHash3.
  Value *Hash = Sector;
  for (auto [Shift, Factor] : {std::pair(16u, 0x85EBCA6Bu), {13, 0xC2B2AE35}})
    Hash = B.CreateMul(B.CreateXor(Hash, B.CreateLShr(Hash, Shift)),
                       B.getInt32(Factor));
  Hash = B.CreateXor(Hash, B.CreateLShr(Hash, 16));
  constexpr unsigned Bits = 10;
  static_assert(SketchRegisters == 1u << Bits);
  Value *Rest = B.CreateLShr(Hash, Bits);
  Value *Rank =
      B.CreateSub(B.CreateBinaryIntrinsic(Intrinsic::ctlz, Rest, B.getFalse()),
                  B.getInt32(Bits - 1));
  Value *Registers =
      B.CreateIntToPtr(F.getArg(1), B.getPtrTy(analysis::GlobalSpace));
  Value *At = B.CreateInBoundsGEP(
      I32, Registers,
      B.CreateZExt(B.CreateAnd(Hash, SketchRegisters - 1), I64));
  // Nobody waits for it, as one would for what is there already.
  emitUpdate(B, CellUpdate::Highest, At, Rank, Portable);
  B.CreateBr(Go);
  B.SetInsertPoint(Go);
}

Body::Sectors Body::sectorsOf(Value *Sector, bool WithLines) {
  Value *Lower = B.CreateAnd(Mask, Below);
  // For the lowest, -1 by this; it stands for itself.
  Value *Next = B.CreateSub(
      B.getInt32(WarpLanes - 1),
      B.CreateBinaryIntrinsic(Intrinsic::ctlz, Lower, B.getFalse()));
  Next = B.CreateSelect(IsFirst, Lane, Next);
  Value *Neighbour =
      B.CreateIntrinsic(I32, Intrinsic::nvvm_shfl_sync_idx_i32,
                        {Mask, Sector, Next, B.getInt32(WarpLanes - 1)});
  // A line has four sectors.
  Value *Line = B.CreateLShr(Sector, 2);
  Value *Rises = ballot(B.CreateICmpUGT(Sector, Neighbour));
  Value *Falls = ballot(B.CreateICmpULT(Sector, Neighbour));
  auto OneMore = [&](Value *Lanes) {
    return B.CreateAdd(popc(Lanes), B.getInt32(1));
  };
  Value *QuickSectors = OneMore(B.CreateOr(Rises, Falls));
  Value *QuickLines =
      WithLines
          ? OneMore(ballot(B.CreateICmpNE(Line, B.CreateLShr(Neighbour, 2))))
          : nullptr;
  Value *QuickNew = B.CreateOr(IsFirst, B.CreateICmpNE(Sector, Neighbour));
  Value *IsQuick = B.CreateOr(B.CreateIsNull(Rises), B.CreateIsNull(Falls));
  BasicBlock *From = B.GetInsertBlock();
  auto *Match = BasicBlock::Create(F.getContext(), "match", &F);
  auto *Known = BasicBlock::Create(F.getContext(), "known", &F);
  B.CreateCondBr(IsQuick, Known, Match);
  B.SetInsertPoint(Match);
  Value *New = isLowest(alike(Sector));
  Value *All = popc(ballot(New));
  Value *AllLines = WithLines ? popc(ballot(isLowest(alike(Line)))) : nullptr;
  B.CreateBr(Known);
  B.SetInsertPoint(Known);
  auto Either = [&](Value *Quick, Value *Matched) {
    PHINode *P = B.CreatePHI(Quick->getType(), 2);
    P->addIncoming(Quick, From);
    P->addIncoming(Matched, Match);
    return P;
  };
  return {Either(QuickSectors, All), Either(QuickNew, New),
          WithLines ? Either(QuickLines, AllLines) : nullptr};
}

void Body::global() {
  findLanes();
  Value *Sector =
      B.CreateTrunc(B.CreateLShr(Address, Log2_32(SectorBytes)), I32);
  const Sectors S = sectorsOf(Sector, /*WithLines=*/false);
  if (Use == MemoryUse::Load)
    sketch(Sector, S.IsNew);
  const Wavefronts W = wavefrontsOf(
      B.CreateTrunc(B.CreateLShr(Address, Log2_32(width())), I32), false);
  // What is wider than the unit counted goes on into the next ones.
  count(times(S.Number, SectorBytes), roundedUp(popc(Mask), Bytes, SectorBytes),
        W.All, W.Least);
}

void Body::local() {
  findLanes();
  const Sectors S = sectorsOf(
      B.CreateOr(B.CreateShl(B.CreateTrunc(B.CreateLShr(Address, 2), I32), 2),
                 B.CreateLShr(Lane, 3)),
      /*WithLines=*/true);
  Value *Lanes = popc(Mask);
  Value *Lines = times(S.Lines, 4);
  // Lanes that read the same need fewer than if they lay side by side.
  count(times(S.Number, 4), roundedUp(Lanes, Bytes, SectorBytes), Lines,
        B.CreateBinaryIntrinsic(Intrinsic::umin, Lines,
                                roundedUp(Lanes, Bytes, LineBytes)));
}

/// How many parts of so many lanes have some of the request's.
Value *Body::partsOf(unsigned Lanes) {
  Value *Parts = B.getInt32(0);
  for (unsigned First = 0; First < WarpLanes; First += Lanes)
    Parts = B.CreateAdd(
        Parts,
        B.CreateZExt(B.CreateIsNotNull(B.CreateAnd(
                         Mask, maskTrailingOnes<uint32_t>(Lanes) << First)),
                     I32));
  return Parts;
}

/// Whether each lane has the address of the one whose number differs in the bit
/// \p Bit, if that is there.
Value *Body::pairsAgree(unsigned Bit) {
  Value *Other = B.CreateXor(Lane, Bit);
  Value *IsThere = B.CreateTrunc(B.CreateLShr(Mask, Other), B.getInt1Ty());
  Value *Low = B.CreateTrunc(Address, I32); // of one window
  Value *Its =
      B.CreateIntrinsic(I32, Intrinsic::nvvm_shfl_sync_idx_i32,
                        {Mask, Low, B.CreateSelect(IsThere, Other, Lane),
                         B.getInt32(WarpLanes - 1)});
  return B.CreateIsNull(ballot(B.CreateICmpNE(Low, Its)));
}

/// The most lines that have their tags in one bank.
Value *Body::mostInTags(Value *Line) {
  Value *Lead = ballot(isLowest(alike(Line)));
  Value *Bits[2];
  for (auto [Bit, Of] : zip_equal(Bits, TagBits))
    Bit = ballot(B.CreateTrunc(popc(B.CreateAnd(Line, Of)), I1));
  Value *Most = nullptr;
  for (unsigned Bank = 0; Bank != 4; ++Bank) {
    Value *Lines = Lead;
    for (unsigned I = 0; I != 2; ++I)
      Lines =
          B.CreateAnd(Lines, Bank >> I & 1 ? Bits[I] : B.CreateNot(Bits[I]));
    Lines = popc(Lines);
    Most = Most ? B.CreateBinaryIntrinsic(Intrinsic::umax, Most, Lines) : Lines;
  }
  return Most;
}

/// Units are numbered \p Unit, by width().
Body::Wavefronts Body::wavefrontsOf(Value *Unit, bool IsShared) {
  const unsigned Width = width();
  const unsigned Banks = LineBytes / Width, Parts = WarpLanes / Banks;
  const bool TakesTurns = IsShared && Use == MemoryUse::Atomic;
  Value *Part = B.CreateLShr(Lane, Log2_32(Banks));
  Value *Least = partsOf(Banks);
  if (IsShared && Use == MemoryUse::Load && (Width == 8 || Width == 16)) {
    Value *AtOnce = B.CreateOr(pairsAgree(1), pairsAgree(2));
    Part = B.CreateLShr(Part, B.CreateZExt(AtOnce, I32));
    Least = B.CreateSelect(AtOnce, partsOf(2 * Banks), Least);
  }
  // Parts that lie side by side are moved onto one another.
  Value *Moved =
      B.CreateAdd(Unit, B.CreateMul(B.CreateSub(B.getInt32(Parts - 1), Part),
                                    B.getInt32(Banks)));
  Value *Low = least(Moved), *High = most(Moved);
  Value *IsQuick =
      IsShared ? B.CreateICmpULT(B.CreateSub(High, Low), B.getInt32(Banks))
               : B.CreateICmpULT(B.CreateXor(High, Low), B.getInt32(Banks));
  BasicBlock *From = B.GetInsertBlock();
  auto *Match = BasicBlock::Create(F.getContext(), "match", &F);
  auto *Known = BasicBlock::Create(F.getContext(), "known", &F);
  B.CreateCondBr(TakesTurns ? B.getFalse() : IsQuick, Known, Match);
  B.SetInsertPoint(Match);
  Value *Company = Parts == 1 ? Mask : alike(Part);
  Value *InBank = B.CreateAnd(alike(B.CreateAnd(Unit, Banks - 1)), Company);
  if (!TakesTurns)
    InBank = B.CreateAnd(InBank,
                         ballot(isLowest(B.CreateAnd(alike(Unit), Company))));
  Value *Conflicts = popc(InBank);
  Value *Sum = B.getInt32(0);
  for (unsigned P = 0; P != Parts; ++P)
    Sum = B.CreateAdd(Sum,
                      most(B.CreateSelect(B.CreateICmpEQ(Part, B.getInt32(P)),
                                          Conflicts, B.getInt32(0))));
  if (!IsShared)
    Sum = B.CreateBinaryIntrinsic(
        Intrinsic::umax, Sum,
        mostInTags(
            B.CreateTrunc(B.CreateLShr(Address, Log2_32(LineBytes)), I32)));
  B.CreateBr(Known);
  B.SetInsertPoint(Known);
  PHINode *All = B.CreatePHI(I32, 2);
  All->addIncoming(Least, From);
  All->addIncoming(Sum, Match);
  return {times(All, LineBytes), times(Least, LineBytes)};
}

void Body::shared() {
  findLanes();
  // The window of shared memory begins at a multiple of 16 MiB.
  const Wavefronts W = wavefrontsOf(
      B.CreateLShr(B.CreateAnd(B.CreateTrunc(Address, I32), (1u << 24) - 1),
                   Log2_32(width())),
      true);
  count(nullptr, nullptr, W.All, W.Least);
}

void putInPlace(CallInst *Call) {
  InlineFunctionInfo Info;
  [[maybe_unused]] InlineResult Result = InlineFunction(*Call, Info);
  assert(Result.isSuccess() && "a probe has nothing that cannot be inlined");
}

void Body::generic(Function *Global, Function *Shared, Function *Local) {
  SmallVector<CallInst *> Calls;
  auto Call = [&](Function *Probe) {
    Value *Mine = special(Intrinsic::nvvm_activemask);
    Calls.push_back(
        B.CreateCall(Probe, {Address, F.getArg(1), F.getArg(2), Mine}));
  };
  Value *Pointer = B.CreateIntToPtr(Address, B.getPtrTy());
  for (auto [Probe, Asks] : {std::pair(Shared, Intrinsic::nvvm_isspacep_shared),
                             {Local, Intrinsic::nvvm_isspacep_local}}) {
    auto *Here = BasicBlock::Create(F.getContext(), "", &F);
    auto *Else = BasicBlock::Create(F.getContext(), "", &F);
    B.CreateCondBr(B.CreateIntrinsic(I1, Asks, {Pointer}), Here, Else);
    B.SetInsertPoint(Here);
    Call(Probe);
    B.CreateRetVoid();
    B.SetInsertPoint(Else);
  }
  Call(Global);
  B.CreateRetVoid();
  for_each(Calls, putInPlace);
}

void emitAccessCode(Function &F, const AccessShape &S, bool Portable,
                    function_ref<Function *(MemorySpace)> Of) {
  Body Code(F, S.Use, S.Bytes, Portable);
  switch (S.Space) {
  case MemorySpace::Global:
    return Code.global();
  case MemorySpace::Local:
    return Code.local();
  case MemorySpace::Shared:
    return Code.shared();
  case MemorySpace::Generic:
    return Code.generic(Of(MemorySpace::Global), Of(MemorySpace::Shared),
                        Of(MemorySpace::Local));
  }
}

} // namespace reconverge::instrument
