// REQUIRES: reconverge
// A kernel's parameter that is a class is read once, whatever the kernel writes
// elsewhere, as nobody can write to it.
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

struct Problem {
  unsigned *Out;
  unsigned *Other;
  int Length;
};

__device__ void fill(const Problem &P, unsigned **Where) {
  for (int I = 0; I < P.Length; ++I)
    **Where += P.Other[I];
}

// The address is that of a pointer in memory, so the store might go anywhere.
// CHECK-LABEL: define {{.*}}@_Z4kept7ProblemPPj(
// CHECK-COUNT-2: !invariant.load
// The loop has a count, and its copies no tests but one.
// CHECK: %niter{{.*}} = phi
// CHECK: ret void
__global__ void kept(Problem P, unsigned **Where) { fill(P, Where); }

// What the kernel itself changes is read anew.
// CHECK-LABEL: define {{.*}}@_Z7changed7ProblemPPji(
// CHECK-NOT: !invariant.load
// CHECK: ret void
__device__ __noinline__ void change(Problem &P, int I) { P.Length -= I; }
__global__ void changed(Problem P, unsigned **Where, int N) {
  for (int I = 0; I < P.Length; ++I) {
    **Where += P.Other[I];
    change(P, N);
  }
}
