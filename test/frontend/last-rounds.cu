// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// Of the four copies of the round the last alone may be the last round; the loop
// for what is left over has a test of its own.
// CHECK-LABEL: .entry flushed(
// CHECK-COUNT-2: st.global.u32
// CHECK-NOT: st.global.u32
// CHECK: $L__func_end
extern "C" __global__ void flushed(const short *in, unsigned *out, int n) {
  unsigned word = 0;
  for (int i = 0; i < n; ++i) {
    word = word * 3 + in[i * 32];
    if (i + 1 == n)
      out[threadIdx.x] = word;
  }
}

// So where the next round's load is made early: in three copies there is no test
// before it.
// CHECK-LABEL: .entry early(
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[P:%rd[0-9]+]]+-256{{\]}};
// CHECK-NOT: setp
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[P]]+-128{{\]}};
// CHECK-NOT: setp
// CHECK: ld.global.nc.u32 {{%r[0-9]+}}, {{\[}}[[P]]{{\]}};
// CHECK: $L__func_end
extern "C" __global__ void early(const unsigned *__restrict__ in, unsigned *out,
                                 int n) {
  unsigned next = in[0], sum = 0;
  for (int i = 0; i < n; ++i) {
    const unsigned now = next;
    if (i + 1 < n)
      next = in[(i + 1) * 32];
    sum = sum * 3 + now;
  }
  out[threadIdx.x] = sum;
}

// The fourth round from the last may be any of the four.
// CHECK-LABEL: .entry fourth(
// CHECK-COUNT-5: st.global.u32
// CHECK: $L__func_end
extern "C" __global__ void fourth(const short *in, unsigned *out, int n) {
  unsigned word = 0;
  for (int i = 0; i < n; ++i) {
    word = word * 3 + in[i * 32];
    if (i + 4 == n)
      out[threadIdx.x] = word;
  }
}

// A number less than it is known to be may wrap.
// CHECK-LABEL: .entry wraps(
// CHECK-COUNT-5: st.global.u32
// CHECK: $L__func_end
extern "C" __global__ void wraps(const short *in, unsigned *out, unsigned n) {
  unsigned word = 0;
  for (unsigned i = 0; i < n; ++i) {
    word = word * 3 + in[i * 32];
    if (i + 1 > n + 1)
      out[threadIdx.x] = word;
  }
}
