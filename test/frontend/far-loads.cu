// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// The left image's pixels are read before the loop, more than a hundred
// instructions back, and not again in each round: nine there, and nine each of
// the right one's.
// CHECK-LABEL: .entry best(
// CHECK-COUNT-27: ld.global.u8
// CHECK-NOT: ld.global
// CHECK: ret;
__device__ int clamp(int Value, int Most) {
  return Value < 0 ? 0 : Value > Most ? Most : Value;
}
__device__ int difference(const unsigned char *L, const unsigned char *R, int X,
                          int Y, int Width, int Height, int D) {
  int Sum = 0;
  for (int V = -1; V <= 1; ++V)
    for (int U = -1; U <= 1; ++U) {
      const int Row = clamp(Y + V, Height - 1) * Width;
      const int A = L[Row + clamp(X + U, Width - 1)];
      const int B = R[Row + clamp(X + U - D, Width - 1)];
      Sum += A < B ? B - A : A - B;
    }
  return Sum;
}
extern "C" __global__ void best(const unsigned char *L, const unsigned char *R,
                                int Width, int Height, int Most, int *Out) {
  const int X = threadIdx.x, Y = blockIdx.x;
  int Now = difference(L, R, X, Y, Width, Height, 0), Best = Now, Which = 0;
#pragma unroll 1
  for (int D = 0; D < Most; ++D) {
    const int Next =
        D + 1 < Most ? difference(L, R, X, Y, Width, Height, D + 1) : -1;
    if (Next < Best) {
      Best = Next;
      Which = D;
    }
  }
  Out[Y * Width + X] = Which;
}
