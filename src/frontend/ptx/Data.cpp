//===- frontend/ptx/Data.cpp - Moves, selection, special registers --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `mov` also packs and unpacks: `mov.b64 {lo, hi}, x` splits, with lane 0 in
// the low bits, and `mov.b32 x, {a, b}` joins. The width of a part is that of
// the register that takes or gives it; a literal or a sink has the width that
// is left for it.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

/// The width of a vector operand's lanes, all equal, \p Total bits in sum; 0 if
/// that cannot be.
static unsigned laneWidth(Lowering &L, const Operand &V, unsigned Total) {
  unsigned N = V.Parts.size();
  if ((N != 2 && N != 4) || Total % N != 0)
    return 0;
  for (const Operand &Part : V.Parts)
    if (unsigned W = L.widthOf(Part); W != 0 && W != Total / N)
      return 0;
  return Total / N;
}

static void emitMov(Lowering &L) {
  Type T = L.type();
  L.arity(2);
  const Operand &To = L.operand(0), &From = L.operand(1);
  if (To.K != Operand::Vector && From.K != Operand::Vector) {
    if (T.Lanes != 1 || T.Width == 8)
      L.refuse("the type is not supported");
    return L.write(To, T, L.read(From, T));
  }
  if (T.K != Type::Bits)
    return L.refuse("only .b types are packed and unpacked");
  const Operand &Vector = To.K == Operand::Vector ? To : From;
  unsigned Width = laneWidth(L, Vector, T.Width);
  if (Width < 8 || (To.K == Operand::Vector && From.K == Operand::Vector))
    return L.refuse("the vector's parts do not fit");
  Type Lane{Type::Bits, Width, 1};
  llvm::Type *Whole = L.llvmType(T);
  if (To.K == Operand::Vector) {
    Value *V = L.read(From, T);
    for (auto [N, Part] : enumerate(To.Parts))
      L.write(Part, Lane,
              L.B.CreateTrunc(L.B.CreateLShr(V, N * Width), L.llvmType(Lane)));
    return;
  }
  Value *V = L.B.getIntN(T.Width, 0);
  for (auto [N, Part] : enumerate(From.Parts)) {
    Value *Bits = L.B.CreateZExt(L.read(Part, Lane), Whole);
    V = L.B.CreateOr(V, L.B.CreateShl(Bits, N * Width));
  }
  L.write(To, T, V);
}

static void emitSelp(Lowering &L) {
  Type T = L.type();
  L.arity(4);
  if (T.Lanes != 1 || T.K == Type::Pred || T.Width < 16 || T.Width > 64)
    L.refuse("the type is not supported");
  Value *A = L.read(1, T), *Other = L.read(2, T);
  L.write(0, T, L.B.CreateSelect(L.readPredicate(3), A, Other));
}

static void emitSlct(Lowering &L) {
  bool Flush = L.take("ftz");
  Type T = L.type(), By = L.type();
  L.arity(4);
  if (T.Lanes != 1 || T.Width < 16 || T.Width > 64)
    L.refuse("the type is not supported");
  Value *A = L.read(1, T), *Other = L.read(2, T), *C = L.read(3, By);
  // A denormal, flushed or not, decides as its sign does unless it is a zero
  // afterwards: -0 >= 0 holds, a negative denormal does not.
  Value *First;
  if (By == Type{Type::Signed, 32, 1} && !Flush)
    First = L.B.CreateICmpSGE(C, L.B.getInt32(0));
  else if (By == Type{Type::Float, 32, 1})
    First = L.B.CreateFCmpOGE(
        C, Flush ? ConstantFP::get(C->getType(), -0x1p-126 * (1 - 0x1p-23))
                 : ConstantFP::get(C->getType(), 0.0));
  else
    return L.refuse("the selecting type is not supported");
  L.write(0, T, L.B.CreateSelect(First, A, Other));
}

ArrayRef<Row> dataRows() {
  static const Row Rows[] = {
      {"mov", AnyClass, false, emitMov,
       ".pred .b16-.b128 .u .s .f; vectors of 2 or 4; special registers",
       "plain IR; `llvm.nvvm.read.ptx.sreg.*`"},
      {"selp", AnyClass, false, emitSelp, ".b .u .s .f, 16 to 64 bits",
       "select"},
      {"slct", AnyClass, false, emitSlct, "{.ftz}.type.{s32,f32}", "select"},
  };
  return Rows;
}

FunctionCallee specialRegister(Module &M, StringRef Name) {
  for (StringRef Own : {analysis::ReservedSharedOffset,
                        analysis::DynamicSharedSize, analysis::TotalSharedSize})
    if (Own.ends_with(("." + Name).str()))
      return ownFunction(M, Own, llvm::Type::getInt32Ty(M.getContext()), {});
  // NVVM's names are PTX's own but for these.
  std::string Nvvm = ("llvm.nvvm.read.ptx.sreg." +
                      (Name == "WARP_SZ" ? StringRef("warpsize") : Name))
                         .str();
  if (Name.starts_with("lanemask_") || Name.starts_with("cluster_"))
    Nvvm[Nvvm.rfind('_')] = '.';
  Intrinsic::ID Id = Function::lookupIntrinsicID(Nvvm);
  return Id == Intrinsic::not_intrinsic ? nullptr
                                        : Intrinsic::getDeclaration(&M, Id);
}

} // namespace reconverge::frontend::ptx
