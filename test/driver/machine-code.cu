// REQUIRES: reconverge
// Kernels priced by what ptxas makes of them, with its registers.
//
// RUN: rm -rf %t && mkdir -p %t && cd %t && %reconverge cc %s -o app
// RUN: %reconverge profile --device cpu --machine-code ./app -o by-ptxas.json 2>&1 | FileCheck --check-prefix=QUIET %s
// RUN: FileCheck %s <by-ptxas.json
// RUN: %reconverge profile --device cpu ./app -o by-ir.json 2>/dev/null
// RUN: FileCheck --check-prefix=IR %s <by-ir.json
// RUN: not %reconverge profile --device cpu --machine-code --cuda-path=%t/none ./app -o x.json 2>&1 | FileCheck --check-prefix=NONE %s
//
// QUIET-NOT: note:
// CHECK: "display": "scale"
// CHECK: "registers": {{[1-9]}}
// CHECK: "machineCode": true
// IR: "registers": 0
// IR-NOT: machineCode
// NONE: error: {{.*}}none
#include <cstdio>

__global__ void scale(float *Out, float Factor) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (Out[I] > 0)
    Out[I] = Out[I] * Factor + sqrtf(Out[I]);
}

int main() {
  float *Out;
  cudaMalloc(&Out, 1024 * sizeof(float));
  scale<<<4, 256>>>(Out, 2);
  return cudaDeviceSynchronize();
}
