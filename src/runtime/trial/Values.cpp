//===- runtime/trial/Values.cpp - What bytes in memory mean --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A difference between two results is told as a value of the type that the
// kernel most likely wrote there: of the types in its stores, floating-point
// numbers first, the first that is aligned there and makes numbers that people
// write. How far apart two floating-point numbers are is counted in units in
// the last place, so that rounding is told apart from a wrong result.
//
//===----------------------------------------------------------------------===//

#include "runtime/trial/Values.h"

#include "analysis/Numbering.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace reconverge::runtime {

namespace {
struct TypeFacts {
  const char *Name;
  unsigned Bytes;
};
} // namespace

static TypeFacts factsOf(ValueType T) {
  switch (T) {
  case ValueType::Double:
    return {"double", 8};
  case ValueType::Float:
    return {"float", 4};
  case ValueType::Int:
    return {"int", 4};
  case ValueType::Long:
    return {"long long", 8};
  case ValueType::Short:
    return {"short", 2};
  case ValueType::Char:
    return {"char", 1};
  }
  llvm_unreachable("a type has a name");
}

std::vector<ValueType> writtenTypes(const Function &Kernel) {
  bool Seen[6] = {};
  auto Note = [&](Type *T) {
    T = T->getScalarType();
    if (T->isDoubleTy())
      Seen[int(ValueType::Double)] = true;
    else if (T->isFloatTy())
      Seen[int(ValueType::Float)] = true;
    else if (T->isIntegerTy(32))
      Seen[int(ValueType::Int)] = true;
    else if (T->isIntegerTy(64))
      Seen[int(ValueType::Long)] = true;
    else if (T->isIntegerTy(16))
      Seen[int(ValueType::Short)] = true;
    else if (T->isIntegerTy(8))
      Seen[int(ValueType::Char)] = true;
  };
  for (const Function *Part : analysis::functionsOf(Kernel))
    for (const Instruction &In : instructions(*Part)) {
      if (const auto *Store = dyn_cast<StoreInst>(&In))
        Note(Store->getValueOperand()->getType());
      else if (isa<AtomicRMWInst>(In))
        Note(In.getType());
      else if (const auto *Swap = dyn_cast<AtomicCmpXchgInst>(&In))
        Note(Swap->getNewValOperand()->getType());
    }
  std::vector<ValueType> Types;
  for (int T = 0; T != 6; ++T)
    if (Seen[T])
      Types.push_back(ValueType(T));
  return Types;
}

template <typename T> static T read(const uint8_t *At) {
  T X;
  std::memcpy(&X, At, sizeof(T));
  return X;
}

/// A number that a program may well mean.
static bool isPlausible(double X) {
  return X == 0 ||
         (std::isfinite(X) && std::abs(X) > 1e-30 && std::abs(X) < 1e30);
}

/// The same of the value at \p At. Of integers all are.
static bool isPlausible(ValueType T, const uint8_t *At) {
  if (T == ValueType::Double)
    return isPlausible(read<double>(At));
  return T != ValueType::Float || isPlausible(read<float>(At));
}

std::string textOf(ValueType T, const uint8_t *At) {
  std::string Text;
  raw_string_ostream OS(Text);
  switch (T) {
  case ValueType::Double:
    OS << format("%.17g", read<double>(At));
    break;
  case ValueType::Float:
    OS << format("%.9g", double(read<float>(At)));
    break;
  case ValueType::Int:
    OS << read<int32_t>(At);
    break;
  case ValueType::Long:
    OS << read<int64_t>(At);
    break;
  case ValueType::Short:
    OS << read<int16_t>(At);
    break;
  case ValueType::Char:
    OS << int(read<int8_t>(At));
    break;
  }
  return Text;
}

std::optional<ValuePair> valueAt(ArrayRef<ValueType> Types, uint64_t Address,
                                 ArrayRef<uint8_t> A, ArrayRef<uint8_t> B,
                                 size_t At) {
  for (ValueType T : Types) {
    const unsigned Size = factsOf(T).Bytes;
    const uint64_t Before = Address % Size;
    if (Before > At || At - Before + Size > A.size())
      continue;
    const uint8_t *X = &A[At - Before], *Y = &B[At - Before];
    if (isPlausible(T, X) && isPlausible(T, Y))
      return ValuePair{T, At - Before, Size, factsOf(T).Name};
  }
  return std::nullopt;
}

/// The position of a number among all of its type, from its bits.
template <typename Bits> static Bits placeOf(Bits X) {
  constexpr Bits Sign = Bits(1) << (8 * sizeof(Bits) - 1);
  return X & Sign ? Sign - (X & ~Sign) : Sign + X;
}

template <typename Bits>
static uint64_t placesBetween(const uint8_t *A, const uint8_t *B) {
  const Bits X = placeOf(read<Bits>(A)), Y = placeOf(read<Bits>(B));
  return X > Y ? X - Y : Y - X;
}

std::optional<uint64_t> ulpsBetween(ValueType T, const uint8_t *A,
                                    const uint8_t *B) {
  if (T == ValueType::Double)
    return placesBetween<uint64_t>(A, B);
  if (T == ValueType::Float)
    return placesBetween<uint32_t>(A, B);
  return std::nullopt;
}

double numberAt(ValueType T, const uint8_t *At) {
  switch (T) {
  case ValueType::Double:
    return read<double>(At);
  case ValueType::Float:
    return read<float>(At);
  case ValueType::Int:
    return read<int32_t>(At);
  case ValueType::Long:
    return double(read<int64_t>(At));
  case ValueType::Short:
    return read<int16_t>(At);
  case ValueType::Char:
    return read<int8_t>(At);
  }
  llvm_unreachable("a type has values");
}

} // namespace reconverge::runtime
