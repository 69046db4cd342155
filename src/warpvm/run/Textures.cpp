//===- warpvm/run/Textures.cpp - Fetches, and accesses of surfaces --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fetches as the CUDA C++ Programming Guide defines them ("Texture Fetching").
// A coordinate becomes a place among the N elements of a dimension:
//
//   normalised      u = N x, after x is wrapped or mirrored into range
//   nearest element i = floor(u)
//   linear          u - 1/2 in fixed point with 8 fractional bits, rounded to
//                   the nearest: i is its integer part, a its fraction, and the
//                   result (1 - a) T[i] + a T[i + 1], in each dimension
//
// and an index outside goes to the edge, round, back, or to the border's
// colour. Wrapping and mirroring need normalised coordinates; without, they go
// to the edge. Blends are summed up in double precision and rounded once.
//
// The weights of the 8 corners have 8 bits too, and are an H100's. Fractions of
// x and z give those of 4 columns: that of the second in both is the product,
// rounded to the nearest; the other three make up for what it lost. The
// fraction of y splits each column, to the nearest again; ties go to the second
// in y of the second in x, and to the first in y of the first in x. Where both
// indices of a dimension go to the edge, its fraction is 0. A row that is
// blended is a plane of height 1, looked at on its upper edge: where the second
// dimension has a border, half of the result is the border's colour.
//
// Surfaces are bytes in rows: their first coordinate counts bytes.
//
// Limitation: objects have one level; the level or the gradients of a fetch are
// not looked at. Cubes and anisotropy are refused where objects are made.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Textures.h"
#include "warpvm/memory/Images.h"
#include "warpvm/run/Library.h"
#include "warpvm/run/Notes.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

static float ofHalf(uint16_t Bits) {
  llvm::APFloat F(llvm::APFloat::IEEEhalf(), llvm::APInt(16, Bits));
  bool Inexact;
  F.convert(llvm::APFloat::IEEEsingle(), llvm::APFloat::rmNearestTiesToEven,
            &Inexact);
  return F.convertToFloat();
}

/// Whether what is read of \p G is floats.
static bool givesFloats(const ImageObject &G) {
  return G.Kind == ImageObject::Float || G.AsFloat;
}

/// One component as fetches give it: 32 bits.
static uint32_t componentAt(const ImageObject &G, const uint8_t *At) {
  uint32_t Raw = 0;
  std::memcpy(&Raw, At, G.Bits / 8);
  if (G.Kind == ImageObject::Float)
    return G.Bits == 16 ? std::bit_cast<uint32_t>(ofHalf(uint16_t(Raw))) : Raw;
  const unsigned Unused = 32 - G.Bits;
  const int32_t Number = int32_t(Raw << Unused) >> Unused;
  if (!G.AsFloat)
    return G.Kind == ImageObject::Signed ? uint32_t(Number) : Raw;
  const double Value =
      G.Kind == ImageObject::Signed
          ? std::max(double(Number) / ((1u << (G.Bits - 1)) - 1), -1.0)
          : double(Raw) / ((1u << G.Bits) - 1);
  return std::bit_cast<uint32_t>(float(Value));
}

/// Told of the elements that are read.
using Reader = llvm::function_ref<void(const uint8_t *At, unsigned Bytes)>;

/// The element at \p Index; one below 0 in any dimension is the border.
static void elementAt(const ImageObject &G, const int64_t *Index,
                      uint64_t Layer, uint32_t *Out, Reader Reads) {
  std::fill_n(Out, 4, 0);
  const bool Outside = Index[0] < 0 || Index[1] < 0 || Index[2] < 0;
  const uint8_t *At =
      Outside ? nullptr
              : G.Base + (uint64_t(Index[2]) + Layer) * G.PlanePitch +
                    uint64_t(Index[1]) * G.Pitch +
                    uint64_t(Index[0]) * (G.Bits / 8 * G.Count);
  if (!Outside && Reads)
    Reads(At, G.Bits / 8 * G.Count);
  for (unsigned C = 0; C < G.Count; ++C)
    if (!Outside)
      Out[C] = componentAt(G, At + C * (G.Bits / 8));
    else if (givesFloats(G))
      Out[C] = std::bit_cast<uint32_t>(G.BorderColor[C]);
    else
      Out[C] = uint32_t(int64_t(G.BorderColor[C]));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

namespace {
/// Where a fetch looks in one dimension.
struct Span {
  int64_t First, Second; ///< indices; below 0: the border
  int Weight;            ///< of the second, in 1/256
};
} // namespace

static int64_t indexIn(int64_t I, int64_t N, ImageObject::AddressMode Mode) {
  switch (Mode) {
  case ImageObject::Wrap:
    return (I % N + N) % N;
  case ImageObject::Mirror:
    I = (I % (2 * N) + 2 * N) % (2 * N);
    return I < N ? I : 2 * N - 1 - I;
  case ImageObject::Border:
    return I >= 0 && I < N ? I : -1;
  case ImageObject::Clamp:
    break;
  }
  return std::clamp<int64_t>(I, 0, N - 1);
}

static Span placeOf(const ImageObject &G, unsigned Dimension, float Coordinate,
                    bool Blends) {
  const int64_t N = int64_t(G.Extent[Dimension]);
  ImageObject::AddressMode Mode = G.Mode[Dimension];
  double U = std::isnan(Coordinate) ? 0 : double(Coordinate);
  if (G.Normalized) {
    if (Mode == ImageObject::Wrap)
      U -= std::floor(U);
    else if (Mode == ImageObject::Mirror)
      U -= 2 * std::floor(U / 2);
    U *= double(N);
  } else if (Mode == ImageObject::Wrap || Mode == ImageObject::Mirror) {
    Mode = ImageObject::Clamp;
  }
  if (std::isnan(U)) // infinitely far round
    U = 0;
  U = std::clamp(U, -0x1p31, 0x1p31);
  if (!Blends)
    return {indexIn(int64_t(std::floor(U)), N, Mode), 0, 0};
  const auto Fixed = int64_t(std::floor((U - 0.5) * 256 + 0.5));
  const int64_t I = Fixed >> 8;
  const int64_t First = indexIn(I, N, Mode), Second = indexIn(I + 1, N, Mode);
  const bool AtEdge = Mode == ImageObject::Clamp && First == Second;
  return {First, Second, AtEdge ? 0 : int(Fixed & 255)};
}

/// Weights, in 1/256, of the corners of a cell. Bit D of a corner's number says
/// that it is the second in dimension D.
static std::array<int, 8> cornerWeights(const Span *At) {
  const int X = At[0].Weight, Y = At[1].Weight, Z = At[2].Weight;
  const int Both = (X * Z + 128) >> 8;
  const int Columns[] = {256 - X - Z + Both, X - Both, Z - Both, Both};
  std::array<int, 8> W;
  for (unsigned K = 0; K < 4; ++K) {
    const unsigned First = (K & 1) | (K & 2) << 1;
    const int Second = (Columns[K] * Y + (K & 1 ? 128 : 127)) >> 8;
    W[First] = Columns[K] - Second;
    W[First | 2] = Second;
  }
  return W;
}

static float floatOf(uint32_t Bits) { return std::bit_cast<float>(Bits); }

/// What texture \p G has at \p Coordinates, floats or, if \p O says so,
/// integers.
static void fetch(const ImageObject &G, const ImageOperation &O,
                  const uint32_t *Coordinates, uint64_t Layer, uint32_t *Out,
                  Reader Reads) {
  int64_t Index[3] = {0, 0, 0};
  if (O.Integers) {
    for (unsigned D = 0; D < O.Coordinates; ++D)
      Index[D] = indexIn(int32_t(Coordinates[D]), int64_t(G.Extent[D]),
                         ImageObject::Border);
    elementAt(G, Index, Layer, Out, Reads);
    if (Index[0] < 0 || Index[1] < 0 || Index[2] < 0)
      std::fill_n(Out, 4, 0);
    return;
  }
  const bool Gathers = O.Kind == ImageOperation::Gather;
  const bool Blends = Gathers || (G.Linear && givesFloats(G));
  const unsigned Dimensions =
      Blends ? std::max<unsigned>(O.Coordinates, 2) : O.Coordinates;
  Span At[3] = {};
  for (unsigned D = 0; D < Dimensions; ++D)
    At[D] =
        placeOf(G, D, D < O.Coordinates ? floatOf(Coordinates[D]) : 0, Blends);
  auto Corner = [&](unsigned Number, uint32_t *Element) {
    for (unsigned D = 0; D < Dimensions; ++D)
      Index[D] = Number >> D & 1 ? At[D].Second : At[D].First;
    elementAt(G, Index, Layer, Element, Reads);
  };
  uint32_t Element[4];
  if (Gathers) {
    constexpr unsigned Corners[] = {2, 3, 1, 0}; // round, from the lower left
    for (unsigned I = 0; I < 4; ++I) {
      Corner(Corners[I], Element);
      Out[I] = Element[O.Which];
    }
    return;
  }
  if (!Blends)
    return Corner(0, Out);
  const std::array<int, 8> Weights = cornerWeights(At);
  double Sum[4] = {};
  for (unsigned Number = 0; Number < Weights.size(); ++Number) {
    if (Weights[Number] == 0)
      continue;
    Corner(Number, Element);
    for (unsigned C = 0; C < G.Count; ++C)
      Sum[C] += Weights[Number] * double(floatOf(Element[C]));
  }
  for (unsigned C = 0; C < 4; ++C)
    Out[C] = std::bit_cast<uint32_t>(float(Sum[C] / 256));
}

/// Where surface \p G has what \p O loads or stores at \p Coordinates; null
/// outside, unless it goes to the edge.
static uint8_t *addressIn(const ImageObject &G, const ImageOperation &O,
                          const uint32_t *Coordinates, uint64_t Layer) {
  const int64_t Access = O.Bytes * O.Count;
  const int64_t Row = int64_t(G.Extent[0]) * (G.Bits / 8 * G.Count);
  const int64_t Last[3] = {Row - Access, int64_t(G.Extent[1]) - 1,
                           int64_t(G.Extent[2]) - 1};
  int64_t At[3] = {0, 0, 0};
  for (unsigned D = 0; D < O.Coordinates; ++D) {
    At[D] = int32_t(Coordinates[D]);
    if (O.Which == ImageOperation::ToEdge)
      At[D] = std::clamp<int64_t>(At[D], 0, std::max<int64_t>(Last[D], 0));
    if (At[D] < 0 || At[D] > Last[D])
      return nullptr;
  }
  return G.Base + (uint64_t(At[2]) + Layer) * G.PlanePitch +
         uint64_t(At[1]) * G.Pitch + uint64_t(At[0]);
}

//===----------------------------------------------------------------------===//
// The entry point
//===----------------------------------------------------------------------===//

/// Carries out \p Op for \p Lanes. \p Places holds four rows of 32 bits a lane:
/// layers, then coordinates; \p Values a row of 64 bits a lane for each value.
static void image(WarpContext *Context, Mask Lanes, uint64_t Op,
                  const uint64_t *Objects, const uint32_t *Places,
                  uint64_t *Values, const FaultSite *Site) {
  const auto O = std::bit_cast<ImageOperation>(Op);
  const bool Surface =
      O.Kind == ImageOperation::Load || O.Kind == ImageOperation::Store;
  const bool Follows = writesOf(Context);
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    auto Fault = [&](const char *What) {
      raiseFault(FaultKind::IllegalAddress, What, Context, Mask(1) << Lane,
                 placeText(Site->File, Site->Line));
    };
    const ImageObject *G = Images::instance().find(Objects[Lane]);
    if (!G || G->Surface != Surface)
      Fault(Surface ? "an access to a surface object that there is not"
                    : "a fetch from a texture object that there is not");
    uint32_t At[3] = {};
    for (unsigned D = 0; D < O.Coordinates; ++D)
      At[D] = Places[(D + 1) * O.WarpSize + Lane];
    const int64_t Layer = O.Layered ? int32_t(Places[Lane]) : 0;
    auto Touch = [&](const uint8_t *P, unsigned Bytes) {
      laneTouches(Context, Lane,
                  O.Kind == ImageOperation::Store ? AccessKind::Write
                                                  : AccessKind::Read,
                  uint64_t(P), Bytes, *Site);
    };
    auto Value = [&](unsigned I) -> uint64_t & {
      return Values[I * O.WarpSize + Lane];
    };
    if (!Surface) {
      uint32_t Out[4];
      fetch(*G, O, At,
            uint64_t(std::clamp<int64_t>(Layer, 0, int64_t(G->Layers) - 1)),
            Out, Follows ? Reader(Touch) : Reader());
      for (unsigned I = 0; I < 4; ++I)
        Value(I) = Out[I];
      continue;
    }
    uint8_t *P = Layer >= 0 && Layer < int64_t(G->Layers)
                     ? addressIn(*G, O, At, uint64_t(Layer))
                     : nullptr;
    if (!P && O.Which == ImageOperation::Trap)
      Fault("an access outside of a surface");
    if (P && (P - G->Base) % (O.Bytes * O.Count))
      Fault("an access to a surface that is not at a multiple of its size");
    if (P && Follows)
      Touch(P, O.Bytes * O.Count);
    for (unsigned I = 0; I < O.Count; ++I)
      if (O.Kind == ImageOperation::Load) {
        Value(I) = 0;
        if (P)
          std::memcpy(&Value(I), P + I * O.Bytes, O.Bytes);
      } else if (P) {
        std::memcpy(P + I * O.Bytes, &Value(I), O.Bytes);
      }
  }
}

llvm::ArrayRef<std::pair<const char *, void *>> imageSymbols() {
  static const std::pair<const char *, void *> Symbols[] = {
      {"rcvm_image", reinterpret_cast<void *>(&image)}};
  return Symbols;
}

} // namespace reconverge::warpvm
