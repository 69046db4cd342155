// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir %t && cd %t

// What the source may ask for, and what is wrong of it.
// RUN: %reconverge cc -c -Rpass=reconverge-herd -Rpass-missed=reconverge-herd %s -I %source/include -o asked.o 2>&1 | FileCheck %s
// What it forbids is left alone by --herd, too.
// RUN: %reconverge cc -c --herd -Rpass-missed=reconverge-herd %s -I %source/include -o none.o 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not %reconverge cc -c -DSLIP %s -I %source/include -o slip.o 2>&1 | FileCheck %s --check-prefix=SLIP
// RUN: not %reconverge cc -c '--herd=every=0' %s -I %source/include -o every.o 2>&1 | FileCheck %s --check-prefix=EVERY
// EVERY: herding has no parameter 'every=0'
// RUN: not %reconverge cc -c '--herd=ways=three' %s -I %source/include -o ways.o 2>&1 | FileCheck %s --check-prefix=WAYS
// WAYS: herding has no parameter 'ways=three'

#include "reconverge/attributes.cuh"

__device__ float heavy(float X) {
  for (int K = 0; K < 9; ++K) X = sinf(X) * X + 1;
  return X;
}

// CHECK-DAG: requests.cu:[[@LINE+4]]:{{[0-9]+}}: remark: herded: lanes are dropped from an arm that no more than 16 of 32 want; what they would have written to memory is not followed further
RECONVERGE_HERD __global__ void all(float *Out, const float *In) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const float X = In[I];
  if (X > 1)
    Out[I] = heavy(X);
}

// NONE-DAG: requests.cu:[[@LINE+4]]:{{[0-9]+}}: remark: not herded: the source forbids it [RC1021]
RECONVERGE_NO_HERD __global__ void none(float *Out, const float *In) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const float X = In[I];
  if (X > 1)
    Out[I] = heavy(X);
}

// Neither lanes that leave the loop, nor those that never enter it.
// NONE-DAG: requests.cu:[[@LINE+7]]:3: remark: not herded: the source forbids it [RC1021]
// NONE-DAG: requests.cu:[[@LINE+6]]:3: remark: not herded: the source forbids it [RC1021]
__global__ void sums(float *Out, const float *In, const int *Trips) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const int Many = Trips[I];
  float Sum = 0;
#pragma reconverge herd off
  for (int K = 0; K < Many; ++K)
    Sum += heavy(In[I + K]);
  Out[I] = Sum;
}

#ifdef SLIP
__global__ void slip(float *Out, const float *In) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  const float X = In[I];
// SLIP: error: {{.*}}threshold{{.*}}
#pragma reconverge herd threshold(32)
  if (X > 1)
    Out[I] = heavy(X);
}
#endif
