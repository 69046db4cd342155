//===- analysis/Tiles.cpp - Matrices over the lanes of a warp -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lane holds what of a matrix (PTX ISA, "Matrix Fragments for mma").
// The layouts of all shapes and types are one. Lane 4g + t, a register of E
// elements (of 32 bits together):
//
//   - An operand, A or B, is stored along K: K runs over t and within a
//     register, the other side over g. In a tile of 8 (B, N = 8) each register
//     is 4E further along K. In a tile of 16 (A, M = 16) registers come in
//     pairs, the second 8 rows below the first.
//   - C and D are stored along N: a pair of elements, 2t and 2t + 1, in row g,
//     then, if M is 16, a pair in row g + 8.
//
// wmma leaves its layouts open, so its fragments are made of these tiles. Of
// m16n16 B has two tiles of 8, of m32n8 A has two of 16. m8n32 is m32n8 with
// the sides swapped: B has tiles of 16, A one of 8, and C and D are stored
// along M. Where a fragment has more registers than that takes (those of half
// precision), it begins again.
//
//===----------------------------------------------------------------------===//

#include "analysis/Tiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <tuple>

using namespace llvm;

namespace reconverge::analysis {

unsigned bitsOf(TileElement E) {
  switch (E) {
  case TileElement::S4:
  case TileElement::U4:
    return 4;
  case TileElement::S8:
  case TileElement::U8:
  case TileElement::E4M3:
  case TileElement::E5M2:
    return 8;
  case TileElement::F16:
  case TileElement::BF16:
    return 16;
  case TileElement::F64:
    return 64;
  default:
    return 32;
  }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

bool isTileIntrinsic(StringRef Name) {
  return Name.consume_front("llvm.nvvm.") &&
         (Name.starts_with("mma.") || Name.starts_with("wmma.") ||
          Name.starts_with("ldmatrix."));
}

std::optional<TileElement> parseTileElement(StringRef Text) {
  return StringSwitch<std::optional<TileElement>>(Text)
      .Case("f16", TileElement::F16)
      .Case("bf16", TileElement::BF16)
      .Case("tf32", TileElement::TF32)
      .Case("f32", TileElement::F32)
      .Case("f64", TileElement::F64)
      .Case("s8", TileElement::S8)
      .Case("u8", TileElement::U8)
      .Case("s4", TileElement::S4)
      .Case("u4", TileElement::U4)
      .Case("e4m3", TileElement::E4M3)
      .Case("e5m2", TileElement::E5M2)
      .Case("s32", TileElement::S32)
      .Default(std::nullopt);
}

bool parseTileShape(StringRef Text, TileForm &Form) {
  auto Number = [&](char Letter, uint8_t &Into) {
    unsigned Value;
    if (Text.empty() || Text.front() != Letter)
      return false;
    Text = Text.drop_front();
    if (Text.consumeInteger(10, Value) || Value == 0 || Value > 128)
      return false;
    Into = Value;
    return true;
  };
  return Number('m', Form.M) && Number('n', Form.N) && Number('k', Form.K) &&
         Text.empty();
}

/// The element that A's implies for C and D where a name does not say it.
static TileElement accumulatorOf(TileElement A) {
  return is_contained({TileElement::S8, TileElement::U8, TileElement::S4,
                       TileElement::U4},
                      A)
             ? TileElement::S32
         : A == TileElement::F64 ? TileElement::F64
                                 : TileElement::F32;
}

/// PTX has this combination of shape and types.
static bool exists(const TileForm &F) {
  const unsigned Bits = bitsOf(F.A);
  if (bitsOf(F.B) != Bits ||
      (accumulatorOf(F.A) != TileElement::S32 && F.A != F.B && Bits != 8))
    return false;
  const TileElement Wide = accumulatorOf(F.A);
  const bool Narrow = Bits <= 16 && Wide == TileElement::F32 &&
                      F.A != TileElement::BF16; // it may accumulate halves
  auto Accumulates = [&](TileElement E) {
    return E == Wide || (Narrow && E == TileElement::F16);
  };
  if (accumulatorOf(F.B) != Wide || !Accumulates(F.C) || !Accumulates(F.D) ||
      (F.Saturate && Wide != TileElement::S32))
    return false;
  auto Shape = [&](unsigned M, unsigned N, unsigned K) {
    return F.M == M && F.N == N && F.K == K;
  };
  if (F.Wmma)
    return Bits == 16 || accumulatorOf(F.A) == TileElement::S32
               ? Bits >= 8 &&
                     (Shape(16, 16, 16) || Shape(32, 8, 16) || Shape(8, 32, 16))
           : Bits == 32 ? Shape(16, 16, 8)
                        : Bits == 64 && Shape(8, 8, 4);
  switch (Bits) {
  case 4:
    return Shape(8, 8, 32) || Shape(16, 8, 32) || Shape(16, 8, 64);
  case 8:
    return (Wide == TileElement::S32 &&
            (Shape(8, 8, 16) || Shape(16, 8, 16))) ||
           Shape(16, 8, 32);
  case 16:
    return F.C == F.D && (Shape(16, 8, 8) || Shape(16, 8, 16));
  case 32:
    return Shape(16, 8, 4) || Shape(16, 8, 8);
  default:
    return Shape(8, 8, 4) || Shape(16, 8, 4) || Shape(16, 8, 8) ||
           Shape(16, 8, 16);
  }
}

std::optional<TileForm> parseTileForm(StringRef Name) {
  TileForm Form;
  SmallVector<TileElement, 4> Types;
  SmallVector<StringRef, 12> Words;
  SplitString(Name, Words, ".~");
  for (StringRef Word : Words) {
    if (std::optional<TileElement> E = parseTileElement(Word))
      Types.push_back(*E);
    else if (Word == "satfinite")
      Form.Saturate = true;
    else if (Word == "wmma")
      Form.Wmma = true;
    else if (!is_contained({"llvm", "nvvm", "reconverge", "mma", "sync",
                            "aligned", "row", "col", "rn"},
                           Word) &&
             !parseTileShape(Word, Form))
      return std::nullopt;
  }
  const bool Accumulators =
      Types.size() == 2 && all_of(Types, [](TileElement E) {
        return E == TileElement::F16 || E == TileElement::F32;
      });
  if (Types.size() == 4) // as PTX has it: D, A, B, C
    std::tie(Form.D, Form.A, Form.B, Form.C) =
        std::tuple(Types[0], Types[1], Types[2], Types[3]);
  else if (Accumulators) // of halves LLVM says D and C, of others A and B
    std::tie(Form.D, Form.C) = std::tuple(Types[0], Types[1]);
  else if (Types.size() == 1 || Types.size() == 2) {
    Form.A = Types.front();
    Form.B = Types.back();
    Form.C = Form.D = accumulatorOf(Form.A);
  } else {
    return std::nullopt;
  }
  return exists(Form) ? std::optional(Form) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static bool isOperand(TileMatrix Which) {
  return Which == TileMatrix::A || Which == TileMatrix::B;
}

/// m8n32 and its like.
static bool isSwapped(const TileForm &F) { return F.M == 8 && F.N > 8; }

/// How many rows of A, or columns of B, are a tile.
static unsigned tileOf(const TileForm &F, TileMatrix Operand) {
  if (F.M == 8 && F.N == 8)
    return 8;
  return (Operand == TileMatrix::A) != isSwapped(F) ? 16 : 8;
}

unsigned elementsOf(const TileForm &Form, TileMatrix Which) {
  return std::max(1u, 32 / bitsOf(Form.element(Which)));
}

/// Registers that the matrix takes when no element is held twice.
static unsigned registersTaken(const TileForm &F, TileMatrix Which) {
  const unsigned Elements = Which == TileMatrix::A   ? F.M * F.K
                            : Which == TileMatrix::B ? F.N * F.K
                                                     : F.M * F.N;
  return Elements / 32 / elementsOf(F, Which);
}

unsigned registersOf(const TileForm &Form, TileMatrix Which) {
  if (Form.Wmma && isOperand(Which) && Form.element(Which) == TileElement::F16)
    return 8;
  return registersTaken(Form, Which);
}

TilePlace placeOf(const TileForm &Form, TileMatrix Which, unsigned Register,
                  unsigned Element) {
  const unsigned Each = elementsOf(Form, Which);
  Register %= registersTaken(Form, Which);
  if (isOperand(Which)) {
    const unsigned Side = tileOf(Form, Which);
    const unsigned PerTile = Side * Form.K / 32 / Each;
    const unsigned Tile = Register / PerTile, In = Register % PerTile;
    const bool Pairs = Side == 16;
    const unsigned ByGroup = Tile * Side + (Pairs ? 8 * (In & 1) : 0);
    const unsigned Along = 4 * Each * (Pairs ? In / 2 : In) + Element;
    return Which == TileMatrix::A ? TilePlace{ByGroup, Along, Each, true}
                                  : TilePlace{Along, ByGroup, Each, false};
  }
  const bool Swapped = isSwapped(Form);
  const unsigned Tall = Swapped ? Form.N : Form.M;
  const unsigned Pairs = Tall == 8 ? 1 : 2, Tiles = std::max(1u, Tall / 16);
  const unsigned Index = Register * Each + Element;
  const unsigned Tile = Index / (2 * Pairs), In = Index % (2 * Pairs);
  const unsigned ByGroup = 16 * (Tile % Tiles) + 8 * (In / 2);
  const unsigned Along = 8 * (Tile / Tiles) + In % 2;
  return Swapped ? TilePlace{Along, ByGroup, 2, false}
                 : TilePlace{ByGroup, Along, 2, true};
}

} // namespace reconverge::analysis
