// REQUIRES: reconverge
// RUN: rm -rf %t && mkdir -p %t/elsewhere && cd %t
// RUN: %reconverge cc %s -o app

// Each operand of a condition is a row of its own, with its own text; what a
// guard holds is charged where lanes part. Counts are the program's alone, so
// the terminal's width is all that the lines hang on.
// RUN: env COLUMNS=80 %reconverge profile ./app -- run 2>&1 | FileCheck %s
// RUN: env COLUMNS=80 %reconverge report divergence.json | FileCheck %s
// CHECK: Divergence of ./app run
// CHECK: self total warp block grid branch
// CHECK-DAG: profile-report.cu:{{[0-9]+}} A[T] > 7{{$}}
// CHECK-DAG: in operands; 100.0% of 1 warp split, lanes in/past 75/25%
// CHECK-DAG: profile-report.cu:{{[0-9]+}} (B[T] += T) % 2 != 0{{$}}
// CHECK-DAG: in operands; 100.0% of 1 warp split, lanes in/past 50/50%
// CHECK: kernel launches CPU time of run CFE attainable bound by
// CHECK-NEXT: operands 1 
// CHECK: To try all the same:
// CHECK-NEXT: {{^}}  reconverge optimize ./app -- run
// CHECK: More: reconverge explain self
// CHECK: Counted on the CPU ({{.*}}priced as H200
// CHECK-NOT: note:

// The file on standard output, after the program's own.
// RUN: %reconverge profile ./app -o - -- run 2>/dev/null | FileCheck %s --check-prefix=JSON
// JSON: {{^}}240{{$}}
// JSON-NEXT: {
// JSON: "schema": "reconverge-divergence/1"
// JSON: "places": [

// From another folder, and by PATH; where sources are gone, that is said.
// RUN: cd elsewhere && env PATH=%t %reconverge profile app run -o x.json 2>&1 | FileCheck %s --check-prefix=FOUND
// FOUND: A[T] > 7
// RUN: cp %s %t/moved.cu && %reconverge cc %t/moved.cu -o %t/moved && rm %t/moved.cu
// RUN: %reconverge profile %t/moved -o %t/x.json -- run 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: moved.cu:{{[0-9]+:[0-9]+}} if
// GONE: note: branches are shown without their conditions, as there is no source
// GONE-NEXT: {{.*}}moved.cu any more

// No kernel, or one that is refused, is said first and leaves the exit code,
// unless a condition asks for another.
// RUN: %reconverge profile %t/app -o %t/x.json -- none 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: No kernel was launched.
// RUN: env COLUMNS=200 %reconverge profile %t/app -o %t/x.json -- refused 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: Not all of the program was run. Left out:
// REFUSED-NEXT: {{.*}}profile-report.cu:{{[0-9]+}}: {{.*}}an allocation of variable size on the stack
// RUN: sh -c '%reconverge profile %t/app -o x.json --fail-if none-ran -- none; test $? = 3' 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: sh -c '%reconverge profile %t/app -o x.json --fail-if refused -- refused; test $? = 3' 2>&1 | FileCheck %s --check-prefix=FAIL
// RUN: sh -c '%reconverge report %t/divergence.json --fail-if "cfe<99%%"; test $? = 3' 2>&1 | FileCheck %s --check-prefix=FAIL
// FAIL: reconverge: --fail-if '{{none-ran|refused|cfe<99%}}': {{no kernel ran to its end|.*on the stack|operands has a CFE}}
// RUN: %reconverge report %t/divergence.json --fail-if refused --fail-if "cfe<1%%" >/dev/null
// RUN: sh -c '%reconverge profile %t/app -o x.json --fail-if none-ran -- fails; test $? = 5' >/dev/null 2>&1

#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void operands(const int *A, int *B, int *Out, int N) {
  const int T = threadIdx.x;
  if (T < N) {
    if (A[T] > 7 && (B[T] += T) % 2 != 0)
      atomicAdd(Out, A[T]);
  }
}

__global__ void refused(int *Out, int N) {
  volatile int *P =
      static_cast<volatile int *>(__builtin_alloca(N * sizeof(int)));
  for (int I = 0; I < N; ++I)
    P[I] = I;
  *Out = P[N / 2];
}

int main(int, char **Arguments) {
  if (!std::strcmp(Arguments[1], "fails"))
    return 5;
  int Host[32], *A, *B, *Out;
  for (int I = 0; I < 32; ++I)
    Host[I] = I;
  cudaMalloc(&A, sizeof(Host));
  cudaMalloc(&B, sizeof(Host));
  cudaMalloc(&Out, sizeof(int));
  cudaMemcpy(A, Host, sizeof(Host), cudaMemcpyHostToDevice);
  cudaMemset(B, 0, sizeof(Host));
  cudaMemset(Out, 0, sizeof(int));
  if (std::strcmp(Arguments[1], "none"))
    operands<<<1, 32>>>(A, B, Out, 32);
  if (!std::strcmp(Arguments[1], "refused"))
    refused<<<1, 32>>>(Out, 32);
  cudaMemcpy(Host, Out, sizeof(int), cudaMemcpyDeviceToHost);
  std::printf("%d\n", Host[0]);
}
