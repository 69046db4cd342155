// REQUIRES: reconverge
// RUN: %reconverge cc --device-code=nvcc --keep=%t.kept -I %S -DSCALE=3 \
// RUN:   -std=gnu++20 -c %s -o %t.o
// RUN: FileCheck %s <%t.kept/nvcc-device-code.ptx
// RUN: llvm-readelf -s %t.kept/nvcc-device-code.cubin \
// RUN:   | FileCheck %s --check-prefix=SYMBOLS

// nvcc's code for our program: its PTX, our container. What the host registers
// has the same name in it, templates and all.

// CHECK: Compiler Build ID
// CHECK: .entry _Z5scaleIfEvPT_
// SYMBOLS-DAG: OBJECT {{.*}} table
// SYMBOLS-DAG: FUNC {{.*}} _Z5scaleIfEvPT_
__constant__ float table[4];
template <class T> __global__ void scale(T *p) { *p *= SCALE * table[1]; }
template __global__ void scale<float>(float *);

// Static and anonymous names are nvcc's own; each is refused by name.
// RUN: not %reconverge cc --device-code=nvcc -DSCALE=3 -DKERNEL=static -c %s \
// RUN:   -o %t.bad.o 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: nvcc-device-code.cu: nvcc's code has no kernel 'hidden(int*)'
// KERNEL-NEXT: without --device-code=nvcc
#ifdef KERNEL
KERNEL __global__ void hidden(int *p) { *p = 1; }
void launch(int *p) { hidden<<<1, 1>>>(p); }
#endif

// RUN: not %reconverge cc --device-code=nvcc -DSCALE=3 -DVARIABLE -c %s \
// RUN:   -o %t.bad.o 2>&1 | FileCheck %s --check-prefix=VARIABLE
// VARIABLE: nvcc's code has no variable '(anonymous namespace)::counter'
#ifdef VARIABLE
namespace {
__device__ int counter;
}
__global__ void count() { ++counter; }
void *address() {
  void *p;
  cudaGetSymbolAddress(&p, counter);
  return p;
}
#endif

// So is a variable that the two compilers see differently.
// RUN: not %reconverge cc --device-code=nvcc -DSCALE=3 -DSIZES -c %s \
// RUN:   -o %t.bad.o 2>&1 | FileCheck %s --check-prefix=SIZES
// SIZES: variable 'room' has 4 bytes in nvcc's code and 8 in clang's
#ifdef SIZES
#ifdef __clang__
__device__ int room[2];
#else
__device__ int room[1];
#endif
__global__ void fill() { room[0] = 1; }
#endif

// RUN: not %reconverge cc --device-code=gcc -c %s 2>&1 \
// RUN:   | FileCheck %s --check-prefix=WORD
// WORD: 'gcc' is no value of --device-code
