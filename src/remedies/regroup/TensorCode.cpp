//===- remedies/regroup/TensorCode.cpp - A net on tensor cores, as code ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reconverge::warp_net (include/reconverge/warp/warp_net.cuh, whose comment
// shows how items lie over the lanes) does, as IR, with the weights in a constant
// of the module, which lanes read in words of 16 bytes. What comes of it is what
// TensorNet::classOf says, to the bit.
//
// All lanes of a warp compute together, those without work, too: a recipe with such
// a kernel is for blocks of whole warps.
//
//===----------------------------------------------------------------------===//

#include "remedies/regroup/Predictor.h"

#include "analysis/PtxFunctions.h"
#include "analysis/device/AddressSpace.h"
#include "core/TensorNet.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/xxhash.h"

#include <array>

using namespace llvm;

namespace reconverge::remedies::regroup {

namespace {
using Pair = std::array<Value *, 2>;

class TensorCode {
public:
  TensorCode(const TensorNet &Net, IRBuilderBase &B);
  Value *classOf(ArrayRef<Value *> Inputs);

private:
  Value *mixed(ArrayRef<Value *> X, size_t Row);
  std::array<Pair, 4> quarters(ArrayRef<Value *> Inputs);
  Pair trade(unsigned Apart, Value *IsUpper, Value *First, Value *Second);
  void classesOf(const Pair &Upper, const Pair &Lower, Value **Most,
                 Value **Best);
  std::array<Value *, 4> multiply(std::array<Value *, 4> D,
                                  std::array<Value *, 4> A, unsigned Word);
  std::array<Value *, 4> biases(unsigned Word);
  Pair leakyHalves(const std::array<Value *, 4> &D);
  void merge(unsigned Apart, Value *IsUpper, Value *&Most, Value *SecondMost,
             Value *&Best, Value *SecondBest);

  Value *constant(float V) { return ConstantFP::get(B.getFloatTy(), V); }
  Value *halves(Value *Low, Value *High) {
    Type *Both = FixedVectorType::get(B.getHalfTy(), 2);
    Value *V =
        B.CreateIntrinsic(Both, Intrinsic::nvvm_ff2f16x2_rn, {High, Low});
    return B.CreateBitCast(V, B.getInt32Ty());
  }
  Value *fromLane(unsigned Apart, Value *Word) {
    return B.CreateIntrinsic(
        Intrinsic::nvvm_shfl_sync_bfly_i32, {},
        {B.getInt32(~0u), Word, B.getInt32(Apart), B.getInt32(31)});
  }
  Value *isLess(Value *X, Value *Y) { return B.CreateFCmpOLT(X, Y); }

  const TensorNet &Net;
  IRBuilderBase &B;
  FunctionCallee Product;
  SmallVector<Value *> Words;
  Value *Lane, *IsOdd, *IsHigh;
};
} // namespace

/// The function that stands for mma (analysis/PtxFunctions.h).
static FunctionCallee productIn(Module &M) {
  const std::string Form = "sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  Type *Word = Type::getInt32Ty(M.getContext());
  Type *Four = StructType::get(M.getContext(), {Word, Word, Word, Word});
  const SmallVector<Type *> Fragments(10, Word);
  FunctionCallee Callee =
      M.getOrInsertFunction((analysis::TileProduct + "~" + Form).str(),
                            FunctionType::get(Four, Fragments, false));
  auto &F = *cast<Function>(Callee.getCallee());
  F.addFnAttr(analysis::PtxTextAttribute,
              "mma." + Form +
                  " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, "
                  "{$10, $11, $12, $13};");
  F.addFnAttr(analysis::PtxConstraintsAttribute,
              "=r,=r,=r,=r,r,r,r,r,r,r,r,r,r,r");
  F.setConvergent();
  F.setDoesNotAccessMemory();
  F.setDoesNotThrow();
  return Callee;
}

static constexpr StringLiteral TableName = "reconverge.net.";

bool isNetTable(const Value &V) {
  return isa<GlobalVariable>(V) && V.getName().starts_with(TableName);
}

/// One for all kernels with such a net.
static GlobalVariable &tableIn(Module &M, ArrayRef<uint32_t> Words) {
  const std::string Name =
      TableName.str() +
      utohexstr(
          xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(Words.data()),
                               Words.size() * sizeof(uint32_t))),
          /*LowerCase=*/true, 16);
  if (GlobalVariable *There = M.getNamedGlobal(Name))
    return *There;
  Constant *Data = ConstantDataArray::get(M.getContext(), Words);
  auto *Table = new GlobalVariable(
      M, Data->getType(), /*isConstant=*/true, GlobalValue::InternalLinkage,
      Data, Name, nullptr, GlobalValue::NotThreadLocal, analysis::GlobalSpace);
  Table->setAlignment(Align(16));
  Table->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  return *Table;
}

TensorCode::TensorCode(const TensorNet &Net, IRBuilderBase &B)
    : Net(Net), B(B) {
  Module &M = *B.GetInsertBlock()->getModule();
  Product = productIn(M);
  // They come from different ways, and shuffle and multiply together from here.
  B.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {}, {B.getInt32(~0u)});
  Lane = B.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_laneid, {}, {});
  IsOdd = B.CreateIsNotNull(B.CreateAnd(Lane, 1u));
  IsHigh = B.CreateIsNotNull(B.CreateAnd(Lane, 2u));
  GlobalVariable &Table = tableIn(M, Net.words());
  Type *Four = FixedVectorType::get(B.getInt32Ty(), 4);
  for (unsigned Quad = 0; Quad != Net.wordsOfLane() / 4; ++Quad) {
    Value *At =
        B.CreateGEP(Four, &Table, B.CreateAdd(Lane, B.getInt32(32 * Quad)));
    LoadInst *All = B.CreateAlignedLoad(Four, At, Align(16));
    All->setMetadata(LLVMContext::MD_invariant_load,
                     MDNode::get(B.getContext(), {}));
    for (unsigned I = 0; I != 4; ++I)
      Words.push_back(B.CreateExtractElement(All, I));
  }
}

Value *TensorCode::mixed(ArrayRef<Value *> X, size_t Row) {
  const std::vector<float> &By = Net.Mix[Row];
  Value *Sum = B.CreateFMul(X[Row], constant(By[0]));
  for (size_t I = 1; I != By.size(); ++I)
    Sum = B.CreateIntrinsic(Intrinsic::fma, {B.getFloatTy()},
                            {constant(By[I]), X[Row + I], Sum});
  Sum = B.CreateBinaryIntrinsic(Intrinsic::maxnum, Sum,
                                constant(-TensorNet::MostZ));
  return B.CreateBinaryIntrinsic(Intrinsic::minnum, Sum,
                                 constant(TensorNet::MostZ));
}

/// Of two lanes, the lower takes what both have first, the upper what they have
/// second: the lower's, the upper's.
Pair TensorCode::trade(unsigned Apart, Value *IsUpper, Value *First,
                       Value *Second) {
  Value *Own = B.CreateSelect(IsUpper, Second, First);
  Value *Other = fromLane(Apart, B.CreateSelect(IsUpper, First, Second));
  return {B.CreateSelect(IsUpper, Other, Own),
          B.CreateSelect(IsUpper, Own, Other)};
}

/// Of the quad's four items, the lane's quarter of z.
std::array<Pair, 4> TensorCode::quarters(ArrayRef<Value *> Inputs) {
  SmallVector<Value *> X, Z;
  for (auto [I, Input] : enumerate(Inputs))
    X.push_back(B.CreateIntrinsic(
        Intrinsic::fma, {B.getFloatTy()},
        {Input, constant(Net.Scale[I]), constant(Net.Shift[I])}));
  for (size_t Row = 0; Row != X.size(); ++Row)
    Z.push_back(mixed(X, Row));
  Z.resize(TensorNet::K, constant(0));
  Pair Half[2][2]; // [quarter 2 q or 2 q + 1][word]: of an even item, an odd
  for (unsigned Q = 0; Q != 2; ++Q)
    for (unsigned Word = 0; Word != 2; ++Word) {
      const unsigned At = 8 * Q + 2 * Word;
      Half[Q][Word] = trade(1, IsOdd, halves(Z[At], Z[At + 1]),
                            halves(Z[At + 4], Z[At + 5]));
    }
  std::array<Pair, 4> All;
  for (unsigned Item = 0; Item != 2; ++Item)
    for (unsigned Word = 0; Word != 2; ++Word) {
      const Pair Both =
          trade(2, IsHigh, Half[0][Word][Item], Half[1][Word][Item]);
      All[Item][Word] = Both[0];
      All[Item + 2][Word] = Both[1];
    }
  return All;
}

std::array<Value *, 4> TensorCode::biases(unsigned Word) {
  Value *Even = Words[Word], *Odd = Words[Word + 1];
  return {Even, Odd, Even, Odd};
}

/// \p D and \p A by the tile at \p Word, as words.
std::array<Value *, 4> TensorCode::multiply(std::array<Value *, 4> D,
                                            std::array<Value *, 4> A,
                                            unsigned Word) {
  SmallVector<Value *> Args(A.begin(), A.end());
  Args.append({Words[Word], Words[Word + 1]});
  Args.append(D.begin(), D.end());
  Value *Four = B.CreateCall(Product, Args);
  std::array<Value *, 4> All;
  for (unsigned I = 0; I != 4; ++I)
    All[I] = B.CreateExtractValue(Four, I);
  return All;
}

Pair TensorCode::leakyHalves(const std::array<Value *, 4> &D) {
  SmallVector<Value *> H;
  for (Value *Word : D) {
    Value *V = B.CreateBitCast(Word, B.getFloatTy());
    H.push_back(B.CreateBinaryIntrinsic(
        Intrinsic::maxnum, V, B.CreateFMul(V, constant(PathNet::Leak))));
  }
  return {halves(H[0], H[1]), halves(H[2], H[3])};
}

/// Of two items, the greatest of the lane's outputs and its class, without 2
/// (lane % 4).
void TensorCode::classesOf(const Pair &Upper, const Pair &Lower, Value **Most,
                           Value **Best) {
  SmallVector<Pair> H;
  for (unsigned Tile = 0; Tile != Net.hiddenTiles(); ++Tile)
    H.push_back(leakyHalves(multiply(biases(Net.hiddenBiases() + 2 * Tile),
                                     {Upper[0], Lower[0], Upper[1], Lower[1]},
                                     2 * Tile)));
  for (unsigned Tile = 0; Tile != Net.classTiles(); ++Tile) {
    std::array<Value *, 4> O = biases(Net.outputBiases() + 2 * Tile);
    for (unsigned Step = 0; Step != Net.hiddenSteps(); ++Step) {
      const Pair &Left = H[2 * Step], &Right = H[2 * Step + 1];
      O = multiply(O, {Left[0], Left[1], Right[0], Right[1]},
                   Net.outputWeights() + 2 * (Step * Net.classTiles() + Tile));
    }
    for (unsigned At = 0; At != 4; ++At) {
      Value *V = B.CreateBitCast(O[At], B.getFloatTy());
      Value *C = B.getInt32(TensorNet::N * Tile + At % 2);
      Value *&More = Most[At / 2], *&Class = Best[At / 2];
      Value *IsMore = More ? isLess(More, V) : B.getTrue();
      Class = Class ? B.CreateSelect(IsMore, C, Class) : C;
      More = More ? B.CreateSelect(IsMore, V, More) : V;
    }
  }
}

/// Of two lanes, the lower gets the greater of what both have first, the upper of
/// what they have second.
void TensorCode::merge(unsigned Apart, Value *IsUpper, Value *&Most,
                       Value *SecondMost, Value *&Best, Value *SecondBest) {
  Value *Given = B.CreateSelect(IsUpper, Most, SecondMost);
  Value *V = B.CreateBitCast(
      fromLane(Apart, B.CreateBitCast(Given, B.getInt32Ty())), B.getFloatTy());
  Value *C = fromLane(Apart, B.CreateSelect(IsUpper, Best, SecondBest));
  Most = B.CreateSelect(IsUpper, SecondMost, Most);
  Best = B.CreateSelect(IsUpper, SecondBest, Best);
  Value *IsIt =
      B.CreateOr(isLess(Most, V), B.CreateAnd(B.CreateFCmpOEQ(Most, V),
                                              B.CreateICmpULT(C, Best)));
  Most = B.CreateSelect(IsIt, V, Most);
  Best = B.CreateSelect(IsIt, C, Best);
}

Value *TensorCode::classOf(ArrayRef<Value *> Inputs) {
  const std::array<Pair, 4> A = quarters(Inputs);
  Value *Most[4] = {}, *Best[4] = {};
  for (unsigned Half = 0; Half != 2; ++Half)
    classesOf(A[2 * Half], A[2 * Half + 1], Most + 2 * Half, Best + 2 * Half);
  Value *First = B.CreateShl(B.CreateAnd(Lane, 3u), 1);
  for (Value *&Class : Best)
    Class = B.CreateAdd(Class, First);
  merge(1, IsOdd, Most[0], Most[1], Best[0], Best[1]);
  merge(1, IsOdd, Most[2], Most[3], Best[2], Best[3]);
  merge(2, IsHigh, Most[0], Most[2], Best[0], Best[2]);
  return Best[0];
}

Value *classByTiles(const PathNet &N, IRBuilderBase &B,
                    function_ref<Value *(uint32_t)> ReadOf) {
  SmallVector<Value *> Inputs;
  for (const PathNet::Input &I : N.Inputs)
    Inputs.push_back(ReadOf(I.Load));
  return TensorCode(TensorNet(N), B).classOf(Inputs);
}

} // namespace reconverge::remedies::regroup
