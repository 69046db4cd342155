//===- instrument/BlockSample.cpp - Who counts ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   block    0 1 2 3   4 5 6 7   8 9 10 11   12 13     Bits = 2, Tail = 12
//   counts       x     x              x       x  x
//   weight       4     4              4       1  1     sum: the grid's 14
//
// Which one of a row it is, a hash of the row's number says: a fixed stride
// would meet the same column of a two-dimensional grid again and again. It is
// arithmetic rather than a table, since every thread block asks before it
// begins: a table would cost each a trip to memory.
//
// Weights are whole numbers and sum up to the grid. So scaled counts are whole,
// obey flow conservation like the counts that they are sums of, and the threads
// that enter are those of the launch.
//
//===----------------------------------------------------------------------===//

#include "instrument/BlockSample.h"

#include "instrument/Instrument.h"

#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Support/MathExtras.h"

#include <cstddef>

using namespace llvm;

namespace reconverge::instrument {

// Odd, of no pattern; the constants of well-known integer hashes.
static constexpr uint32_t First = 0x9E3779B1, Second = 0x85EBCA77;

BlockSample BlockSample::of(uint64_t Blocks, uint64_t Least) {
  BlockSample S;
  // Kernels compute the number of their block with 32 bits.
  if (Least == 0 || !isUInt<32>(Blocks))
    return S;
  while (S.Bits != MostBits && Blocks >> (S.Bits + 1) >= Least)
    ++S.Bits;
  if (S.Bits)
    S.Tail = uint32_t(Blocks >> S.Bits << S.Bits);
  return S;
}

/// Whether \p Number is the one of its 1 << Bits in a row.
static bool isChosen(uint32_t Number, unsigned Bits) {
  uint32_t Hash = (Number >> Bits) * First;
  Hash = (Hash ^ Hash >> 15) * Second;
  return ((Hash >> 16 ^ Number) & ((uint32_t(1) << Bits) - 1)) == 0;
}

bool BlockSample::counts(uint32_t Block) const {
  return Block >= Tail || isChosen(Block, Bits);
}

MemorySample MemorySample::of(uint64_t Blocks, const BlockSample &Who,
                              uint64_t Most) {
  MemorySample S;
  if (!isUInt<32>(Blocks) || !Most)
    return S;
  const uint64_t Rows = Blocks >> Who.Bits;
  while (S.Bits != BlockSample::MostBits && Rows >> S.Bits > Most)
    ++S.Bits;
  S.Blocks = uint32_t(std::min(Rows >> S.Bits, Most));
  return S;
}

bool MemorySample::counts(uint32_t Row) const {
  return Row >> Bits < Blocks && isChosen(Row, Bits);
}

Value *BlockSampleCode::setting(unsigned Offset, Type *Type) {
  return B.CreateLoad(
      Type, B.CreateConstInBoundsGEP1_64(B.getInt8Ty(), &Config, Offset));
}

Value *BlockSampleCode::block() {
  using namespace Intrinsic;
  auto Special = [&](ID Id) {
    return B.CreateIntrinsic(B.getInt32Ty(), Id, {});
  };
  if (Block)
    return Block;
  Value *Plane = B.CreateAdd(Special(nvvm_read_ptx_sreg_ctaid_y),
                             B.CreateMul(Special(nvvm_read_ptx_sreg_nctaid_y),
                                         Special(nvvm_read_ptx_sreg_ctaid_z)));
  Block = B.CreateAdd(Special(nvvm_read_ptx_sreg_ctaid_x),
                      B.CreateMul(Special(nvvm_read_ptx_sreg_nctaid_x), Plane));
  return Block;
}

Value *BlockSampleCode::isInTail() {
  return B.CreateICmpUGE(block(),
                         setting(offsetof(ProbeConfig, Tail), B.getInt32Ty()));
}

Value *BlockSampleCode::isChosen(Value *Number, Value *Bits) {
  Value *Hash = B.CreateMul(B.CreateLShr(Number, Bits), B.getInt32(First));
  Hash = B.CreateMul(B.CreateXor(Hash, B.CreateLShr(Hash, 15)),
                     B.getInt32(Second));
  Value *Mask = B.CreateNot(B.CreateShl(B.getInt32(~0u), Bits));
  Value *Other = B.CreateXor(B.CreateLShr(Hash, 16), Number);
  return B.CreateIsNull(B.CreateAnd(Other, Mask));
}

Value *BlockSampleCode::counts() {
  Value *Bits = setting(offsetof(ProbeConfig, SampleBits), B.getInt32Ty());
  return B.CreateOr(isChosen(block(), Bits), isInTail());
}

Value *BlockSampleCode::memoryRow() {
  return B.CreateLShr(
      block(), setting(offsetof(ProbeConfig, SampleBits), B.getInt32Ty()));
}

Value *BlockSampleCode::countsMemory() {
  Type *I32 = B.getInt32Ty();
  Value *Bits = setting(offsetof(ProbeConfig, MemoryBits), I32);
  Value *IsThere =
      B.CreateICmpULT(B.CreateLShr(memoryRow(), Bits),
                      setting(offsetof(ProbeConfig, MemoryBlocks), I32));
  // A block may be here for its threads' row alone.
  return B.CreateAnd(B.CreateAnd(IsThere, isChosen(memoryRow(), Bits)),
                     counts());
}

Value *BlockSampleCode::area() {
  Type *I64 = B.getInt64Ty();
  Value *Bits = setting(offsetof(ProbeConfig, MemoryBits), B.getInt32Ty());
  Value *Number = B.CreateZExt(B.CreateLShr(memoryRow(), Bits), I64);
  return B.CreateAdd(
      setting(offsetof(ProbeConfig, Memory), I64),
      B.CreateMul(Number, setting(offsetof(ProbeConfig, MemoryStride), I64)));
}

Value *BlockSampleCode::row() {
  return B.CreateUDiv(block(),
                      setting(offsetof(ProbeConfig, Stride), B.getInt32Ty()));
}

Value *BlockSampleCode::hasRow(Value *Row) {
  Value *Table =
      B.CreateIntToPtr(setting(offsetof(ProbeConfig, Sampled), B.getInt64Ty()),
                       B.getPtrTy(/*global*/ 1));
  Value *Entry = B.CreateInBoundsGEP(B.getInt32Ty(), Table,
                                     B.CreateZExt(Row, B.getInt64Ty()));
  return B.CreateICmpEQ(B.CreateLoad(B.getInt32Ty(), Entry), block());
}

} // namespace reconverge::instrument
