//===- frontend/ptx/Tiles.cpp - Matrices over the lanes of a warp ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mma, ldmatrix, stmatrix and movmatrix are functions of ours: LLVM's
// intrinsics for the first two are not convergent, and it has none for the
// others. A register is an integer of its bits whatever its elements are. wmma
// is NVVM's intrinsics, as clang makes them of mma.h.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"
#include "analysis/Tiles.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

using analysis::TileForm;
using analysis::TileMatrix;

static constexpr Type B32{Type::Bits, 32, 1}, B64{Type::Bits, 64, 1};

/// The registers of a fragment: {a, b, ...}, or one without braces.
static ArrayRef<Operand> fragment(const Operand &O) {
  return O.K == Operand::Vector ? ArrayRef(O.Parts) : ArrayRef(O);
}

/// "{$2, $3}", counting on from \p Next.
static std::string numbered(size_t Count, size_t &Next) {
  std::string Text = "{";
  for (size_t N = 0; N != Count; ++N)
    Text += (N ? ", $" : "$") + std::to_string(Next++);
  return Text + "}";
}

/// A list of \p Count constraints \p One.
static std::string constraints(size_t Count, StringRef One) {
  return join(SmallVector<StringRef, 16>(Count, One), ",");
}

static llvm::Type *manyOf(Lowering &L, Type Each, size_t Count) {
  llvm::Type *T = L.llvmType(Each);
  return Count == 1 ? T
                    : StructType::get(L.B.getContext(),
                                      SmallVector<llvm::Type *, 8>(Count, T));
}

/// Writes the parts of \p V, a struct if there are several.
static void writeFragment(Lowering &L, ArrayRef<Operand> To, Type Each,
                          Value *V) {
  for (auto [N, O] : enumerate(To)) {
    Value *Part = To.size() == 1 ? V : L.B.CreateExtractValue(V, N);
    L.write(O, Each, L.B.CreateBitCast(Part, L.llvmType(Each)));
  }
}

/// All lanes of the warp must come, and come together.
static CallInst *convergent(CallInst *Call) {
  Call->getCalledFunction()->setConvergent();
  return Call;
}

static CallInst *withoutMemory(CallInst *Call) {
  Call->getCalledFunction()->setDoesNotAccessMemory();
  return Call;
}

/// mma.sync.aligned.shape.row.col{.satfinite}.d.a.b.c d, a, b, c
static void emitMma(Lowering &L) {
  const std::string Whole = L.modifiers();
  const std::optional<TileForm> Form = analysis::parseTileForm("mma." + Whole);
  L.arity(4);
  L.takeAll();
  if (!Form || !StringRef(Whole).starts_with("sync.aligned.m") ||
      !StringRef(Whole).contains(".row.col."))
    return L.refuse("the shape or its types are not supported");
  const bool Double = Form->A == analysis::TileElement::F64;
  const Type Each = Double ? B64 : B32;
  ArrayRef<Operand> Parts[4];
  size_t Total = 0, Next = 0;
  std::string Text = "mma." + Whole;
  SmallVector<Value *, 16> Args;
  constexpr TileMatrix Order[] = {TileMatrix::D, TileMatrix::A, TileMatrix::B,
                                  TileMatrix::C};
  for (size_t N = 0; N != 4; ++N) {
    Parts[N] = fragment(L.operand(N));
    if (Parts[N].size() != analysis::registersOf(*Form, Order[N]))
      return L.refuse("a fragment's number of registers is wrong");
    Text += (N ? ", " : " ") + numbered(Parts[N].size(), Next);
    if (N)
      for (const Operand &O : Parts[N])
        Args.push_back(L.read(O, Each));
    Total = Next;
  }
  const StringRef Letter = Double ? "l" : "r";
  const size_t Results = Parts[0].size();
  CallInst *V = withoutMemory(convergent(callPtx(
      L, analysis::TileProduct, manyOf(L, Each, Results), Args, Text + ";",
      constraints(Results, Double ? "=l" : "=r") + "," +
          constraints(Total - Results, Letter))));
  writeFragment(L, Parts[0], Each, V);
}

/// {ld,st}matrix.sync.aligned.m8n8.num{.trans}{.shared}.b16, an address and a
/// fragment.
static void emitTileAccess(Lowering &L) {
  const bool Load = L.opcode() == "ldmatrix";
  const std::string Whole = L.modifiers();
  const bool Sound = L.take("sync") && L.take("aligned") && L.take("m8n8");
  const StringRef Number = L.takeOneOf({"x1", "x2", "x4"});
  L.take("trans");
  const bool Shared = !L.takeOneOf({"shared", "shared::cta"}).empty();
  L.arity(2);
  ArrayRef<Operand> Parts = fragment(L.operand(Load ? 0 : 1));
  if (!Sound || Number.empty() || L.type() != Type{Type::Bits, 16, 1})
    return L.refuse("the form is not supported");
  if (std::to_string(Parts.size()) != Number.drop_front())
    return L.refuse("a fragment's number of registers is wrong");
  Value *P = L.pointer(L.operand(Load ? 1 : 0), Shared ? 3 : 0);
  const std::string Address = Shared ? "r" : "l";
  size_t Next = Load ? 0 : 1;
  const std::string Registers = numbered(Parts.size(), Next);
  if (Load)
    return writeFragment(
        L, Parts, B32,
        convergent(callPtx(
            L, analysis::TileLoad, manyOf(L, B32, Parts.size()), {P},
            "ldmatrix." + Whole + " " + Registers + ", [$" +
                std::to_string(Next) + "];",
            constraints(Parts.size(), "=r") + "," + Address + ",~{memory}")));
  SmallVector<Value *, 5> Args{P};
  for (const Operand &O : Parts)
    Args.push_back(L.read(O, B32));
  convergent(
      callPtx(L, analysis::TileStore, L.B.getVoidTy(), Args,
              "stmatrix." + Whole + " [$0], " + Registers + ";",
              Address + "," + constraints(Parts.size(), "r") + ",~{memory}"));
}

/// movmatrix.sync.aligned.m8n8.trans.b16 d, a
static void emitTileMove(Lowering &L) {
  const std::string Whole = L.modifiers();
  L.arity(2);
  L.takeAll();
  if (Whole != "sync.aligned.m8n8.trans.b16")
    return L.refuse("the form is not supported");
  L.write(0, B32,
          withoutMemory(convergent(
              callPtx(L, analysis::TileMove, L.B.getInt32Ty(), {L.read(1, B32)},
                      "movmatrix." + Whole + " $0, $1;", "=r,r"))));
}

/// The intrinsic "llvm.nvvm.wmma." + \p Name; refuses if there is none.
static Function *wmmaFunction(Lowering &L, const Twine &Name,
                              ArrayRef<llvm::Type *> Overloads) {
  const Intrinsic::ID Id =
      Function::lookupIntrinsicID(("llvm.nvvm.wmma." + Name).str());
  if (Id != Intrinsic::not_intrinsic)
    return Intrinsic::getDeclaration(L.B.GetInsertBlock()->getModule(), Id,
                                     Overloads);
  L.refuse("the shape or its types are not supported");
  return nullptr;
}

static Type registerType(const llvm::Type &T) {
  return T.getPrimitiveSizeInBits() == 64 ? B64 : B32;
}

/// Reads the fragments \p From as the operands of \p F that follow \p Args.
static bool readFragments(Lowering &L, Function &F, ArrayRef<Operand> From,
                          SmallVectorImpl<Value *> &Args) {
  for (const Operand &O : From) {
    if (Args.size() == F.arg_size()) {
      L.refuse("a fragment's number of registers is wrong");
      return false;
    }
    llvm::Type *T = F.getFunctionType()->getParamType(Args.size());
    Args.push_back(L.B.CreateBitCast(L.read(O, registerType(*T)), T));
  }
  return true;
}

/// The call, whose results go to fragment \p To.
static void callWmma(Lowering &L, Function &F, ArrayRef<Value *> Args,
                     ArrayRef<Operand> To) {
  llvm::Type *T = F.getReturnType();
  auto *Struct = dyn_cast<StructType>(T);
  const size_t Results = T->isVoidTy() ? 0
                         : Struct      ? Struct->getNumElements()
                                       : 1;
  if (Args.size() != F.arg_size() || Results != To.size())
    return L.refuse("a fragment's number of registers is wrong");
  Value *V = L.B.CreateCall(&F, Args);
  if (Results)
    writeFragment(L, To, registerType(Struct ? *Struct->getElementType(0) : *T),
                  V);
}

/// wmma.{load.{a,b,c},store.d}.sync.aligned.layout.shape{.space}.type
///   fragment and address, in that order for a load{, stride}
static void emitWmmaAccess(Lowering &L, bool Load, StringRef Which,
                           StringRef Layout, StringRef Shape) {
  const StringRef Space = L.takeOneOf({"global", "shared", "shared::cta"});
  const bool Stride = L.count() == 3;
  if (!Stride)
    L.arity(2);
  const std::string Element = StringRef(L.modifiers()).rsplit('.').second.str();
  L.take(Element);
  Value *P = L.pointer(L.operand(Load ? 1 : 0), Space == "global" ? 1
                                                : Space.empty()   ? 0
                                                                  : 3);
  Function *F =
      wmmaFunction(L,
                   Shape + (Load ? ".load." : ".store.") + Which + "." +
                       Layout + (Stride ? ".stride." : ".") + Element,
                   {P->getType()});
  SmallVector<Value *, 10> Args{P};
  ArrayRef<Operand> Parts = fragment(L.operand(Load ? 0 : 1));
  if (!F || (!Load && !readFragments(L, *F, Parts, Args)))
    return;
  if (Stride)
    Args.push_back(L.read(2, B32));
  callWmma(L, *F, Args, Load ? Parts : ArrayRef<Operand>());
}

/// wmma.mma.sync.aligned.alayout.blayout.shape{.rnd}.types{.satfinite}
///   d, a, b, c
static void emitWmmaProduct(Lowering &L, StringRef LayoutA, StringRef LayoutB,
                            StringRef Shape) {
  const StringRef Rounding = L.takeOneOf({"rn", "rz", "rm", "rp"});
  const bool Saturate = L.take("satfinite");
  SmallVector<StringRef, 16> Words;
  const std::string Whole = L.modifiers();
  SplitString(Whole, Words, ".");
  SmallVector<StringRef, 4> Types;
  for (StringRef Word : Words)
    if (analysis::parseTileElement(Word))
      Types.push_back(Word);
  L.takeAll();
  L.arity(4);
  std::string Signature;
  if (Types.size() == 2) // of halves: D and C
    Signature = (Types[0] + "." + Types[1]).str();
  else if (Types.size() == 4)
    Signature =
        (Types[1] == Types[2] ? Types[1] : Types[1] + "." + Types[2]).str();
  Function *F =
      wmmaFunction(L,
                   Shape + ".mma." + LayoutA + "." + LayoutB +
                       (Rounding.empty() ? "" : "." + Rounding) + "." +
                       Signature + (Saturate ? ".satfinite" : ""),
                   {});
  SmallVector<Value *, 24> Args;
  for (size_t N = 1; F && N != 4; ++N)
    if (!readFragments(L, *F, fragment(L.operand(N)), Args))
      return;
  if (F)
    callWmma(L, *F, Args, fragment(L.operand(0)));
}

static void emitWmma(Lowering &L) {
  const StringRef What = L.takeOneOf({"load", "store", "mma"});
  const StringRef Which = L.takeOneOf({"a", "b", "c", "d"});
  const bool Sound = L.take("sync") && L.take("aligned");
  const StringRef First = L.takeOneOf({"row", "col"});
  const StringRef Second =
      What == "mma" ? L.takeOneOf({"row", "col"}) : StringRef();
  const StringRef Shape =
      L.takeOneOf({"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8", "m8n8k4"});
  if (!Sound || What.empty() || First.empty() || Shape.empty() ||
      (What == "mma" ? Second.empty()
                     : Which.empty() || (What == "store") != (Which == "d")))
    return L.refuse("the form is not supported");
  if (What == "mma")
    return emitWmmaProduct(L, First, Second, Shape);
  emitWmmaAccess(L, What == "load", Which, First, Shape);
}

ArrayRef<Row> tileRows() {
  static const Row Rows[] = {
      {"mma", AnyClass, true, emitMma,
       ".sync.aligned.shape.row.col{.satfinite}.d.a.b.c: f16, bf16 "
       "m16n8k{8,16}; tf32 m16n8k{4,8}; f64 m8n8k4, m16n8k{4,8,16}; s8, u8 "
       "m8n8k16, m16n8k{16,32}; s4, u4 m8n8k32, m16n8k{32,64}; e4m3, e5m2 "
       "m16n8k32",
       "a function of ours"},
      {"wmma", AnyClass, true, emitWmma,
       ".{load.{a,b,c},store.d}.sync.aligned.layout.shape{.space}.type, "
       ".mma.sync.aligned.layout.layout.shape.types{.satfinite}",
       "`llvm.nvvm.wmma.*`"},
      {"ldmatrix", AnyClass, true, emitTileAccess,
       ".sync.aligned.m8n8.{x1,x2,x4}{.trans}{.shared}.b16",
       "a function of ours"},
      {"stmatrix", AnyClass, true, emitTileAccess,
       ".sync.aligned.m8n8.{x1,x2,x4}{.trans}{.shared}.b16",
       "a function of ours"},
      {"movmatrix", AnyClass, true, emitTileMove,
       ".sync.aligned.m8n8.trans.b16", "a function of ours"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
