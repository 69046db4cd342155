//===- warpvm/prepare/Tiles.cpp - Matrices over the lanes of a warp -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions of a warp on matrices, in a lane's own terms. Lane 4g + t:
//
//   wmma.load, wmma.store   loads and stores of the elements that the lane
//                           holds (analysis/Tiles.h), so they are counted,
//                           checked and placed like any others
//   ldmatrix                row g of matrix i begins where lane 8i + g says;
//                           the lane takes elements 2t and 2t + 1 of it. With
//                           .trans, element g of rows 2t and 2t + 1
//   stmatrix                the same the other way round
//   movmatrix               elements (2t, g) and (2t + 1, g) are halves of what
//                           lanes 8t + g/2 and 8t + 4 + g/2 hold
//   mma, wmma.mma           a call, for all lanes at once, of a function that
//                           has the form in its name (TileProduct.cpp)
//
// All lanes of the warp must have come. bar.warp.sync sees to that, once for
// instructions that follow each other with nothing between at which lanes could
// part.
//
//===----------------------------------------------------------------------===//

#include "warpvm/prepare/Tiles.h"

#include "analysis/PtxFunctions.h"
#include "analysis/Tiles.h"
#include "analysis/device/AddressSpace.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::warpvm {

using analysis::TileElement;
using analysis::TileForm;
using analysis::TileMatrix;
using analysis::TilePlace;

static constexpr StringLiteral ProductName = "rcvm.tile.product.";

namespace {
class TileLowering {
public:
  explicit TileLowering(CallInst &Call)
      : Call(Call), Name(Call.getCalledFunction()->getName()), B(&Call) {}

  /// False if the call is none of these.
  static bool knows(StringRef Name);
  void run();

private:
  void access();
  void matrixAccess(bool Load);
  void move();
  void product(const TileForm &Form);

  Value *word(uint64_t X) { return B.getInt32(X); }
  Value *fromLane(Value *X, Value *Lane);
  Value *pointerOfLane(Value *P, Value *Lane);
  Value *elementPointer(Value *P, const TilePlace &Place, Value *Stride,
                        bool RowMajor, Type *T);
  Value *bits(Value *X);
  void finish(ArrayRef<Value *> Registers);

  CallInst &Call;
  StringRef Name;
  IRBuilder<> B;
  Value *G = nullptr, *T = nullptr; ///< lane / 4, lane % 4
};
} // namespace

namespace {
/// llvm.nvvm.wmma.SHAPE.{load,store}.MATRIX.LAYOUT{.stride}.TYPE{.pN}
struct Access {
  bool Load, RowMajor, HasStride;
  TileMatrix Which;
  TileForm Form; ///< all of whose matrices have the one's elements
};
} // namespace

static std::optional<Access> parseAccess(StringRef Name) {
  SmallVector<StringRef, 10> Words;
  if (!Name.consume_front("llvm.nvvm.wmma."))
    return std::nullopt;
  Name.split(Words, '.');
  if (Words.size() < 5 || (Words[1] != "load" && Words[1] != "store"))
    return std::nullopt;
  Access A;
  A.Load = Words[1] == "load";
  A.RowMajor = Words[3] == "row";
  A.HasStride = Words[4] == "stride";
  A.Which = Words[2] == "a"   ? TileMatrix::A
            : Words[2] == "b" ? TileMatrix::B
                              : TileMatrix::C;
  A.Form.Wmma = true;
  const auto Element = analysis::parseTileElement(Words[A.HasStride ? 5 : 4]);
  if (!Element || analysis::bitsOf(*Element) < 8 ||
      !analysis::parseTileShape(Words[0], A.Form) || A.Form.K > 16)
    return std::nullopt;
  A.Form.A = A.Form.B = A.Form.C = A.Form.D = *Element;
  return A;
}

bool TileLowering::knows(StringRef Name) {
  const StringRef Own = analysis::functionOf(Name);
  return Name.starts_with("llvm.nvvm.ldmatrix.") || Own == analysis::TileLoad ||
         Own == analysis::TileStore || Own == analysis::TileMove ||
         analysis::parseTileForm(Name) || parseAccess(Name);
}

/// \p X as an integer of its bits.
Value *TileLowering::bits(Value *X) {
  const unsigned Bits = X->getType()->getPrimitiveSizeInBits();
  return B.CreateBitCast(X, B.getIntNTy(Bits));
}

Value *TileLowering::fromLane(Value *X, Value *Lane) {
  return B.CreateIntrinsic(Intrinsic::nvvm_shfl_sync_idx_i32, {},
                           {word(~0u), X, Lane, word(31)});
}

/// What lane \p Lane has as pointer \p P.
Value *TileLowering::pointerOfLane(Value *P, Value *Lane) {
  if (P->getType()->getPointerAddressSpace() == analysis::SharedSpace)
    return B.CreateIntToPtr(fromLane(B.CreatePtrToInt(P, B.getInt32Ty()), Lane),
                            P->getType());
  Value *Address = B.CreatePtrToInt(P, B.getInt64Ty());
  Value *Low = fromLane(B.CreateTrunc(Address, B.getInt32Ty()), Lane);
  Value *High =
      fromLane(B.CreateTrunc(B.CreateLShr(Address, 32), B.getInt32Ty()), Lane);
  Address = B.CreateOr(B.CreateZExt(Low, B.getInt64Ty()),
                       B.CreateShl(B.CreateZExt(High, B.getInt64Ty()), 32));
  return B.CreateIntToPtr(Address, P->getType());
}

/// Replaces the call by its results, integers of the registers' bits.
void TileLowering::finish(ArrayRef<Value *> Registers) {
  auto *Struct = dyn_cast<StructType>(Call.getType());
  auto As = [&](unsigned N) {
    return B.CreateBitCast(Registers[N],
                           Struct ? Struct->getElementType(N) : Call.getType());
  };
  if (!Struct) {
    if (!Registers.empty())
      Call.replaceAllUsesWith(As(0));
  } else {
    for (User *U : make_early_inc_range(Call.users()))
      if (auto *Part = dyn_cast<ExtractValueInst>(U)) {
        Part->replaceAllUsesWith(As(Part->getIndices().front()));
        Part->eraseFromParent();
      }
    if (!Call.use_empty()) {
      Value *Whole = PoisonValue::get(Struct);
      for (unsigned N = 0; N != Registers.size(); ++N)
        Whole = B.CreateInsertValue(Whole, As(N), N);
      Call.replaceAllUsesWith(Whole);
    }
  }
  Call.eraseFromParent();
}

/// Where the element at \p Place is in the matrix at \p P.
Value *TileLowering::elementPointer(Value *P, const TilePlace &Place,
                                    Value *Stride, bool RowMajor, Type *Each) {
  Value *ByPlace = B.CreateMul(T, word(Place.Step));
  Value *Row = B.CreateAdd(Place.RowByGroup ? G : ByPlace, word(Place.Row));
  Value *Column =
      B.CreateAdd(Place.RowByGroup ? ByPlace : G, word(Place.Column));
  if (!RowMajor)
    std::swap(Row, Column);
  Type *Wide = B.getInt64Ty();
  Value *Index = B.CreateAdd(B.CreateMul(B.CreateZExt(Row, Wide), Stride),
                             B.CreateZExt(Column, Wide));
  return B.CreateGEP(Each, P, Index);
}

void TileLowering::access() {
  const auto [Load, RowMajor, HasStride, Which, Form] = *parseAccess(Name);
  Value *P = Call.getArgOperand(0), *Stride;
  const unsigned Rows = Which == TileMatrix::B ? Form.K : Form.M;
  const unsigned Columns = Which == TileMatrix::A ? Form.K : Form.N;
  if (HasStride)
    Stride =
        B.CreateZExt(Call.getArgOperand(Call.arg_size() - 1), B.getInt64Ty());
  else
    Stride = B.getInt64(RowMajor ? Columns : Rows);
  const unsigned Bits = analysis::bitsOf(Form.A);
  const unsigned Each = analysis::elementsOf(Form, Which);
  Type *Element = B.getIntNTy(Bits), *Whole = B.getIntNTy(Bits * Each);
  SmallVector<Value *, 8> Registers;
  for (unsigned R = 0; R != analysis::registersOf(Form, Which); ++R) {
    const TilePlace First = analysis::placeOf(Form, Which, R, 0);
    // A register's elements lie together where rows, or columns, do.
    if (First.RowByGroup == RowMajor || Each == 1) {
      Value *At = elementPointer(P, First, Stride, RowMajor, Element);
      if (Load)
        Registers.push_back(
            B.CreateAlignedLoad(Whole, At, Align(Bits * Each / 8)));
      else
        B.CreateAlignedStore(bits(Call.getArgOperand(1 + R)), At,
                             Align(Bits * Each / 8));
      continue;
    }
    Value *Register =
        Load ? ConstantInt::get(Whole, 0) : bits(Call.getArgOperand(1 + R));
    for (unsigned E = 0; E != Each; ++E) {
      Value *At = elementPointer(P, analysis::placeOf(Form, Which, R, E),
                                 Stride, RowMajor, Element);
      if (Load)
        Register = B.CreateOr(
            Register,
            B.CreateShl(
                B.CreateZExt(B.CreateAlignedLoad(Element, At, Align(Bits / 8)),
                             Whole),
                Bits * E));
      else
        B.CreateAlignedStore(
            B.CreateTrunc(B.CreateLShr(Register, Bits * E), Element), At,
            Align(Bits / 8));
    }
    Registers.push_back(Register);
  }
  finish(Load ? ArrayRef(Registers) : ArrayRef<Value *>());
}

/// ldmatrix and stmatrix: one register a matrix of 8 by 8 elements of 16 bits.
void TileLowering::matrixAccess(bool Load) {
  Value *P = Call.getArgOperand(0);
  const bool Transposed = Name.contains(".trans");
  const unsigned Count = Name.contains(".x4")   ? 4
                         : Name.contains(".x2") ? 2
                                                : 1;
  Type *Short = B.getInt16Ty(), *Word = B.getInt32Ty();
  SmallVector<Value *, 4> Registers;
  for (unsigned N = 0; N != Count; ++N) {
    Value *Register = Load ? nullptr : Call.getArgOperand(1 + N);
    if (!Transposed) {
      Value *Row = pointerOfLane(P, B.CreateAdd(G, word(8 * N)));
      Value *At = B.CreateGEP(Word, Row, T);
      if (Load)
        Register = B.CreateAlignedLoad(Word, At, Align(4));
      else
        B.CreateAlignedStore(Register, At, Align(4));
    } else {
      Value *Halves[2];
      for (unsigned Half = 0; Half != 2; ++Half) {
        Value *Row = pointerOfLane(
            P, B.CreateAdd(B.CreateShl(T, 1), word(8 * N + Half)));
        Value *At = B.CreateGEP(Short, Row, G);
        if (Load)
          Halves[Half] =
              B.CreateZExt(B.CreateAlignedLoad(Short, At, Align(2)), Word);
        else
          B.CreateAlignedStore(
              B.CreateTrunc(B.CreateLShr(Register, 16 * Half), Short), At,
              Align(2));
      }
      if (Load)
        Register = B.CreateOr(Halves[0], B.CreateShl(Halves[1], 16));
    }
    Registers.push_back(Register);
  }
  finish(Load ? ArrayRef(Registers) : ArrayRef<Value *>());
}

void TileLowering::move() {
  Value *X = Call.getArgOperand(0);
  Value *Lane = B.CreateAdd(B.CreateShl(T, 3), B.CreateLShr(G, 1));
  Value *Shift = B.CreateShl(B.CreateAnd(G, 1), 4);
  auto Half = [&](Value *From) {
    return B.CreateAnd(B.CreateLShr(fromLane(X, From), Shift), 0xffff);
  };
  Value *Low = Half(Lane), *High = Half(B.CreateAdd(Lane, word(4)));
  finish({B.CreateOr(Low, B.CreateShl(High, 16))});
}

/// All of a form in a number.
static uint64_t codeOf(const TileForm &F) {
  return F.M | F.N << 8 | F.K << 16 | uint64_t(F.A) << 24 |
         uint64_t(F.B) << 32 | uint64_t(F.C) << 40 | uint64_t(F.D) << 48 |
         uint64_t(F.Saturate | F.Wmma << 1) << 56;
}

void TileLowering::product(const TileForm &Form) {
  Type *Register = B.getIntNTy(Form.A == TileElement::F64 ? 64 : 32);
  const unsigned Count = analysis::registersOf(Form, TileMatrix::D);
  SmallVector<Value *, 24> Args;
  SmallVector<Type *, 24> Types;
  for (Value *Arg : Call.args()) {
    Args.push_back(bits(Arg));
    Types.push_back(Register);
  }
  auto *Result =
      StructType::get(B.getContext(), SmallVector<Type *, 8>(Count, Register));
  FunctionCallee Product = Call.getModule()->getOrInsertFunction(
      (ProductName + utohexstr(codeOf(Form))).str(),
      FunctionType::get(Result, Types, false));
  auto *F = cast<Function>(Product.getCallee());
  F->setDoesNotAccessMemory();
  F->setDoesNotThrow();
  F->setWillReturn();
  Value *D = B.CreateCall(Product, Args);
  SmallVector<Value *, 8> Registers;
  for (unsigned N = 0; N != Count; ++N)
    Registers.push_back(B.CreateExtractValue(D, N));
  finish(Registers);
}

void TileLowering::run() {
  if (std::optional<TileForm> Form = analysis::parseTileForm(Name))
    return product(*Form);
  Value *Lane = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  G = B.CreateLShr(Lane, 2);
  T = B.CreateAnd(Lane, 3);
  const StringRef Own = analysis::functionOf(Name);
  if (Own == analysis::TileMove)
    move();
  else if (Own == analysis::TileStore)
    matrixAccess(/*Load=*/false);
  else if (Own == analysis::TileLoad || Name.contains(".ldmatrix."))
    matrixAccess(/*Load=*/true);
  else
    access();
}

std::optional<uint64_t> tileProduct(StringRef Name) {
  uint64_t Code;
  if (!Name.consume_front(ProductName) || Name.getAsInteger(16, Code))
    return std::nullopt;
  return Code;
}

/// Lanes of a warp that ran the instruction before \p I together may not run
/// \p I so.
static bool mayPart(const Instruction &I) {
  auto *Call = dyn_cast<CallInst>(&I);
  return Call && (Call->isConvergent() || !Call->getCalledFunction() ||
                  !Call->getCalledFunction()->isDeclaration());
}

void lowerTiles(Function &F) {
  struct Found {
    CallInst *Call;
    bool Meets; ///< the lanes have not yet
  };
  SmallVector<Found> Calls;
  for (BasicBlock &BB : F) {
    bool Met = false;
    for (Instruction &I : BB) {
      auto *Call = dyn_cast<CallInst>(&I);
      const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
      if (Callee && TileLowering::knows(Callee->getName())) {
        Calls.push_back({Call, !Met});
        Met = true;
      } else if (mayPart(I)) {
        Met = false;
      }
    }
  }
  for (auto [Call, Meets] : Calls) {
    IRBuilder<> B(Call);
    if (Meets)
      B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {B.getInt32(~0u)});
    TileLowering(*Call).run();
  }
}

} // namespace reconverge::warpvm
