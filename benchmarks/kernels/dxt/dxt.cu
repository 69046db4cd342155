//===- benchmarks/kernels/dxt/dxt.cu - DXT1 compression -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs 4 by 4 pixels into eight bytes (paper 4, dxtc): two colours of 16 bits,
// and two bits a pixel that say which of these, or of two between them, it is.
// A thread block has a square of pixels:
//
//   1. colours are sorted along the axis along which they differ most, the
//      first eigenvector of their covariance, found by multiplying with it
//   2. a thread takes some of the ways to cut the sorted 16 into four runs; for
//      each the best two colours follow by least squares, are rounded, and
//      their error is found
//   3. the best of all is written
//
// Every build computes the same bits; the reference does so on the CPU, one
// square after the other, and asks that no more is lost than with the darkest
// and the brightest colour of each square and two between them.
//
//===----------------------------------------------------------------------===//
#include "../common/exact.h"
#include "../common/output.h"
#include "../common/picture.h"

static constexpr int Side = 4, Pixels = Side * Side, Block = 64;

struct Colour {
  float R, G, B; ///< from 0 to 1
};
HD static float dot(const Colour &X, const Colour &Y) {
  return fmaf(X.R, Y.R, fmaf(X.G, Y.G, X.B * Y.B));
}

/// Two colours, as 5, 6 and 5 bits, and which of the four each pixel is.
struct Packed {
  float Error;
  unsigned Colours, Codes;
};

HD static Colour colourOf(uchar4 P) {
  return {float(P.x) / 255, float(P.y) / 255, float(P.z) / 255};
}

/// Along which the colours differ most; its largest part is 1, or all are 0.
HD static Colour axisOf(const Colour *Colours) {
  Colour Mean = {0, 0, 0};
  for (int I = 0; I < Pixels; ++I)
    Mean = {Mean.R + Colours[I].R, Mean.G + Colours[I].G,
            Mean.B + Colours[I].B};
  Mean = {Mean.R / Pixels, Mean.G / Pixels, Mean.B / Pixels};
  Colour Red = {0, 0, 0}, Green = Red, Blue = Red; // rows of the covariance
  for (int I = 0; I < Pixels; ++I) {
    const Colour D = {Colours[I].R - Mean.R, Colours[I].G - Mean.G,
                      Colours[I].B - Mean.B};
    Red = {fmaf(D.R, D.R, Red.R), fmaf(D.R, D.G, Red.G), fmaf(D.R, D.B, Red.B)};
    Green = {Red.G, fmaf(D.G, D.G, Green.G), fmaf(D.G, D.B, Green.B)};
    Blue = {Red.B, Green.B, fmaf(D.B, D.B, Blue.B)};
  }
  Colour Axis = {1, 1, 1};
  for (int Round = 0; Round < 8; ++Round) {
    Axis = {dot(Red, Axis), dot(Green, Axis), dot(Blue, Axis)};
    const float Most =
        fmaxf(fabsf(Axis.R), fmaxf(fabsf(Axis.G), fabsf(Axis.B)));
    if (Most < 1e-12f) // they hardly differ
      return {0, 0, 0};
    Axis = {Axis.R / Most, Axis.G / Most, Axis.B / Most};
  }
  return Axis;
}

/// How many come before it.
HD static int rank(const float *Along, int I) {
  int Before = 0;
  for (int J = 0; J < Pixels; ++J)
    Before += Along[J] < Along[I] || (Along[J] == Along[I] && J < I);
  return Before;
}

/// To 2^Bits - 1, rounded.
HD static unsigned rounded(float Value, int Bits) {
  const float Most = float((1 << Bits) - 1);
  return unsigned(fmaf(fminf(fmaxf(Value, 0), 1), Most, 0.5f));
}

/// Of one channel: the best two values, rounded, and their error.
struct Ends {
  unsigned A, B;
  float Error;

  HD Ends(float A2, float B2, float AB, float AX, float BX, int Bits) {
    const float Over = 1 / fmaf(A2, B2, -product(AB, AB));
    A = rounded(fmaf(AX, B2, -product(BX, AB)) * Over, Bits);
    B = rounded(fmaf(BX, A2, -product(AX, AB)) * Over, Bits);
    const float Most = float((1 << Bits) - 1), U = float(A) / Most,
                V = float(B) / Most;
    // |U a + V b - x|^2 over all pixels, less what does not depend on U and V.
    Error = fmaf(U, fmaf(U, A2, -2 * AX), V * fmaf(V, B2, -2 * BX));
    Error = fmaf(2 * U, product(V, AB), Error);
  }
};

/// Codes: two bits for each of the sorted colours, 0 the first of the two
/// colours, 2 and 3 those between, 1 the other one.
HD static Packed fit(const Colour *Sorted, const Colour &Sum, unsigned Codes) {
  int A2 = 0, B2 = 0, AB = 0; // shares of the two, in thirds
  Colour AX = {0, 0, 0};
  for (int I = 0; I < Pixels; ++I) {
    const unsigned Code = Codes >> (2 * I) & 3;
    int Share;
    if (Code & 2)
      Share = Code & 1 ? 1 : 2;
    else
      Share = Code & 1 ? 0 : 3;
    A2 += Share * Share;
    B2 += (3 - Share) * (3 - Share);
    AB += Share * (3 - Share);
    const float A = float(Share) / 3;
    AX = {fmaf(A, Sorted[I].R, AX.R), fmaf(A, Sorted[I].G, AX.G),
          fmaf(A, Sorted[I].B, AX.B)};
  }
  const float U = float(A2) / 9, V = float(B2) / 9, W = float(AB) / 9;
  const Ends R(U, V, W, AX.R, Sum.R - AX.R, 5);
  const Ends G(U, V, W, AX.G, Sum.G - AX.G, 6);
  const Ends B(U, V, W, AX.B, Sum.B - AX.B, 5);
  return {R.Error + G.Error + B.Error,
          R.A << 11 | G.A << 5 | B.A | (R.B << 11 | G.B << 5 | B.B) << 16,
          Codes};
}

HD static Colour sum(const Colour *Colours) {
  Colour Sum = {0, 0, 0};
  for (int I = 0; I < Pixels; ++I)
    Sum = {Sum.R + Colours[I].R, Sum.G + Colours[I].G, Sum.B + Colours[I].B};
  return Sum;
}

/// As the format has it: the larger colour first, codes in the pixels' order.
HD static uint2 inOrder(const Packed &Best, const int *Ranks) {
  const unsigned First = Best.Colours & 0xffff, Second = Best.Colours >> 16;
  unsigned Codes = 0;
  for (int I = 0; I < Pixels; ++I)
    Codes |= (Best.Codes >> (2 * Ranks[I]) & 3) << (2 * I);
  if (First == Second)
    return make_uint2(Best.Colours, 0);
  if (First > Second)
    return make_uint2(Best.Colours, Codes);
  return make_uint2(Second | First << 16, Codes ^ 0x55555555);
}

__global__ void compress(const uchar4 *In, const unsigned *Ways, int Count,
                         uint2 *Out, int Width) {
  __shared__ Colour Colours[Pixels], Sorted[Pixels];
  __shared__ float Along[Pixels];
  __shared__ int Ranks[Pixels];
  __shared__ Packed Best[Block];
  const int Thread = int(threadIdx.x);
  if (Thread < Pixels) {
    const int X = int(blockIdx.x) * Side + Thread % Side;
    const int Y = int(blockIdx.y) * Side + Thread / Side;
    Colours[Thread] = colourOf(In[Y * Width + X]);
  }
  __syncthreads();
  if (Thread < Pixels)
    Along[Thread] = dot(Colours[Thread], axisOf(Colours));
  __syncthreads();
  if (Thread < Pixels) {
    Ranks[Thread] = rank(Along, Thread);
    Sorted[Ranks[Thread]] = Colours[Thread];
  }
  __syncthreads();
  const Colour Sum = sum(Sorted);
  Packed Mine = {3e38f, 0, 0};
  for (int W = Thread; W < Count; W += Block) {
    const Packed New = fit(Sorted, Sum, Ways[W]);
    if (New.Error < Mine.Error)
      Mine = New;
  }
  Best[Thread] = Mine;
  for (int Half = Block / 2; Half > 0; Half /= 2) {
    __syncthreads();
    if (Thread < Half && Best[Thread + Half].Error < Best[Thread].Error)
      Best[Thread] = Best[Thread + Half];
  }
  if (Thread == 0)
    Out[blockIdx.y * gridDim.x + blockIdx.x] = inOrder(Best[0], Ranks);
}

/// All ways to cut 16 into four runs, but for those that are one run.
static std::vector<unsigned> ways() {
  static const unsigned Codes[] = {0, 2, 3, 1};
  std::vector<unsigned> Ways;
  for (int I = 0; I <= Pixels; ++I)
    for (int J = I; J <= Pixels; ++J)
      for (int K = J; K <= Pixels; ++K) {
        unsigned Way = 0;
        for (int P = 0; P < Pixels; ++P)
          Way |= Codes[(P >= I) + (P >= J) + (P >= K)] << (2 * P);
        if (Way % 0x55555555) // no code stands in all places
          Ways.push_back(Way);
      }
  return Ways;
}

/// What the block's threads find together.
static uint2 reference(const uchar4 *In, int Width,
                       const std::vector<unsigned> &Ways) {
  Colour Colours[Pixels], Sorted[Pixels];
  float Along[Pixels];
  int Ranks[Pixels];
  for (int I = 0; I < Pixels; ++I)
    Colours[I] = colourOf(In[I / Side * Width + I % Side]);
  for (int I = 0; I < Pixels; ++I)
    Along[I] = dot(Colours[I], axisOf(Colours));
  for (int I = 0; I < Pixels; ++I) {
    Ranks[I] = rank(Along, I);
    Sorted[Ranks[I]] = Colours[I];
  }
  std::vector<Packed> Best(Block, {3e38f, 0, 0});
  for (size_t W = 0; W < Ways.size(); ++W) {
    const Packed New = fit(Sorted, sum(Sorted), Ways[W]);
    if (New.Error < Best[W % Block].Error)
      Best[W % Block] = New;
  }
  for (int Half = Block / 2; Half > 0; Half /= 2)
    for (int T = 0; T < Half; ++T)
      if (Best[T + Half].Error < Best[T].Error)
        Best[T] = Best[T + Half];
  return inOrder(Best[0], Ranks);
}

static std::vector<uchar4> unpacked(const std::vector<uint2> &Squares,
                                    int Width, int Height) {
  std::vector<uchar4> Picture(size_t(Width) * Height);
  for (int Y = 0; Y < Height; ++Y)
    for (int X = 0; X < Width; ++X) {
      const uint2 S = Squares[Y / Side * (Width / Side) + X / Side];
      const int I = Y % Side * Side + X % Side, Code = S.y >> (2 * I) & 3;
      const int First = Code & 2 ? (Code & 1 ? 1 : 2) : (Code & 1 ? 0 : 3);
      const auto Between = [&](int Shift, int Bits) {
        const auto Whole = [&](unsigned C) {
          const int V = C >> Shift & ((1 << Bits) - 1);
          return V << (8 - Bits) | V >> (2 * Bits - 8);
        };
        return static_cast<unsigned char>(
            (First * Whole(S.x) + (3 - First) * Whole(S.x >> 16)) / 3);
      };
      Picture[Y * Width + X] =
          make_uchar4(Between(11, 5), Between(5, 6), Between(0, 5), 255);
    }
  return Picture;
}

static double apart(uchar4 A, uchar4 B) {
  double Sum = 0;
  for (int D : {A.x - B.x, A.y - B.y, A.z - B.z})
    Sum += D * D;
  return Sum;
}

/// What is lost of a square if its darkest and its brightest colour and two
/// between them are all that it has, as they are packed.
static double simply(const uchar4 *In, int Width) {
  const auto At = [&](int I) { return In[I / Side * Width + I % Side]; };
  uchar4 Ends[2] = {At(0), At(0)};
  for (int I = 0; I < Pixels; ++I)
    for (int E : {0, 1}) {
      const int Is = Ends[E].x + Ends[E].y + Ends[E].z;
      const int New = At(I).x + At(I).y + At(I).z;
      if (E ? New > Is : New < Is)
        Ends[E] = At(I);
    }
  for (uchar4 &E : Ends) {
    const auto Round = [](int Value, int Bits) {
      const int Most = (1 << Bits) - 1, Whole = (Value * Most + 127) / 255;
      return static_cast<unsigned char>(Whole << (8 - Bits) |
                                        Whole >> (2 * Bits - 8));
    };
    E = make_uchar4(Round(E.x, 5), Round(E.y, 6), Round(E.z, 5), 255);
  }
  double Sum = 0;
  for (int I = 0; I < Pixels; ++I) {
    double Least = 1e9;
    for (int Share = 0; Share <= 3; ++Share) {
      const auto Between = [&](int A, int B) {
        return static_cast<unsigned char>((Share * A + (3 - Share) * B) / 3);
      };
      Least = std::min(
          Least, apart(At(I), make_uchar4(Between(Ends[0].x, Ends[1].x),
                                          Between(Ends[0].y, Ends[1].y),
                                          Between(Ends[0].z, Ends[1].z), 255)));
    }
    Sum += Least;
  }
  return Sum;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "dxt");
  const int Across = Run.integer("across", 16, 1, 1 << 12); // squares
  const int Down = Run.integer("down", 12, 1, 1 << 12);
  const int Kind = Run.integer("kind", 0, 0, PictureKinds - 1);
  const std::string Output = Run.output();
  Run.ready();

  const int Width = Across * Side, Height = Down * Side;
  const std::vector<uchar4> In =
      colouredPicture(Run.random(), Kind, Width, Height);
  const std::vector<unsigned> Ways = ways();
  DeviceArray<uchar4> There(In);
  DeviceArray<unsigned> AllWays(Ways);
  DeviceArray<uint2> Out(std::vector<uint2>(size_t(Across) * Down));
  Run.run([&] { Out.clear(); },
          [&] {
            compress<<<dim3(Across, Down), Block>>>(
                There, AllWays, int(Ways.size()), Out, Width);
          });
  const std::vector<uint2> Got = Out.get();
  const std::vector<uchar4> Picture = unpacked(Got, Width, Height);
  bool Right = true;
  double Lost = 0, Simply = 0;
  for (int S = 0; S < Across * Down && Run.checks(); ++S) {
    const size_t First = size_t(S / Across) * Side * Width + S % Across * Side;
    const uint2 Should = reference(&In[First], Width, Ways);
    Right &= Got[S].x == Should.x && Got[S].y == Should.y;
    Simply += simply(&In[First], Width);
    for (int I = 0; I < Pixels; ++I)
      Lost += apart(In[First + I / Side * Width + I % Side],
                    Picture[First + I / Side * Width + I % Side]);
  }
  Right &= Lost <= Simply;
  writePicture(Output, Picture, Width, Height);
  return Run.finish(Right, checksum(Got));
}
