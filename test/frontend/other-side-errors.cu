// Calls of what the other side has are left alone in functions that a half of
// the unit does not emit. All others are errors as ever, and so are other calls
// that cannot be made.
//
// REQUIRES: reconverge
// RUN: %reconverge cc -c %s -o %t.o
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=1 2>&1 | FileCheck %s --check-prefix=VARIABLE
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=2 2>&1 | FileCheck %s --check-prefix=HOST
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=3 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=4 2>&1 | FileCheck %s --check-prefix=KERNEL
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=5 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: not %reconverge cc -c %s -o %t.o -DCASE=6 2>&1 | FileCheck %s --check-prefix=MEMBER

int onHost(int);
__device__ int onDevice(int);
template <class T> __device__ T onDeviceOf(T x) { return x; }

#if CASE == 1
// VARIABLE: other-side-errors.cu:[[#@LINE+2]]:9: error: no matching function
// VARIABLE: call to __device__ function from __host__ function
int x = onDevice(3);
#elif CASE == 2
// HOST: error: no matching function for call to 'onDeviceOf'
template <class T> T onHostOf(T x) { return onDeviceOf(x); }
int call() { return onHostOf(1); }
#elif CASE == 3
// BOTH: error: reference to __device__ function 'onDeviceOf<int>' in __host__ __device__ function
// BOTH: note: called by 'call'
template <class T> __host__ __device__ T onBoth(T x) { return onDeviceOf(x); }
int call() { return onBoth(1); }
#elif CASE == 4
// KERNEL: call to __host__ function from __global__ function
__global__ void kernel(int *out) { *out = onHost(1); }
#elif CASE == 5
// TYPES: error: no matching function for call to 'onHost'
template <class T> __global__ void kernel(T *out) { *out = onHost("x"); }
void call() { kernel<<<1, 1>>>((int *)nullptr); }
#elif CASE == 6
// MEMBER: error: reference to __device__ function 'onDevice'
struct Members {
  int member = onDevice(1);
};
int call() { return Members().member; }
#endif
