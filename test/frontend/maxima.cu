// REQUIRES: reconverge
// A maximum with 0 is what is compared, too, so that nothing else need be kept.
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// CHECK-LABEL: .entry _Z5cellsPKiPiii(
// CHECK: max.s32 [[H:%r[0-9]+]], %r{{[0-9]+}}, 0;
// CHECK: setp.gt.s32 %p{{[0-9]+}}, [[H]], %r{{[0-9]+}};
__global__ void cells(const int *Score, int *Out, int E, int N) {
  int Best = 0, At = -1, Last = 0;
#pragma unroll 1
  for (int J = 0; J < N; ++J) {
    const int Up = Score[2 * J];
    const int H = max(max(0, Last + Score[2 * J + 1]), max(E, Up));
    Last = Up;
    Out[J + 2] = H;
    if (H > Best) {
      Best = H;
      At = J;
    }
  }
  Out[0] = Best;
  Out[1] = At;
}

// Where the other side may be negative, the comparison is of what it was.
// CHECK-LABEL: .entry _Z6besidePKiPii(
// CHECK: max.s32 [[X:%r[0-9]+]],
// CHECK: max.s32 %r{{[0-9]+}}, [[X]], 0;
// CHECK: setp.gt.s32 %p{{[0-9]+}}, [[X]], %r{{[0-9]+}};
__global__ void beside(const int *In, int *Out, int Y) {
  const int X = max(In[0] + In[1], In[2]), H = max(X, 0);
  Out[0] = H;
  Out[1] = X > Y;
}
