//===- micro/arith.cu - Arithmetic, conversions, comparisons --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each operation is PTX, so that the front end has nothing to choose. ptxas
// still merges neighbours (two additions are one IADD3), so steps are written
// as it leaves them: a step of two additions is one instruction. X is the
// chain, K0 to K3 are keys that ptxas knows nothing about.
//
//===----------------------------------------------------------------------===//

#include "micro.h"

#include <cuda_fp16.h>

namespace {

template <class T> struct Chain {
  T X, K0, K1, K2, K3;
  __device__ void startWith(const T *From, int Seed) {
    X = From[Seed & 3], K0 = From[3], K1 = From[4], K2 = From[5], K3 = From[6];
  }
};

struct U32 : Chain<uint32_t> {
  __device__ void start(const Input &In, int I) { startWith(In.U, I); }
  __device__ uint32_t result() const { return X; }
};
struct U64 : Chain<uint64_t> {
  __device__ void start(const Input &In, int I) { startWith(In.Q, I); }
  __device__ uint32_t result() const { return X ^ (X >> 32); }
};
struct F32 : Chain<float> {
  __device__ void start(const Input &In, int I) { startWith(In.F, I); }
  __device__ uint32_t result() const { return __float_as_uint(X); }
};
struct F64 : Chain<double> {
  __device__ void start(const Input &In, int I) { startWith(In.D, I); }
  __device__ uint32_t result() const {
    return __double2hiint(X) ^ __double2loint(X);
  }
};
struct F16 : Chain<uint16_t> {
  __device__ void start(const Input &In, int I) { startWith(In.H, I); }
  __device__ uint32_t result() const { return X; }
};
/// A chain through a predicate.
template <class Base> struct Predicate : Base {
  bool P;
  __device__ void start(const Input &In, int I) {
    Base::start(In, I);
    P = In.U[I & 3] & 1;
  }
  __device__ uint32_t result() const { return P ? Base::result() : 1; }
};

#define PTX(Name, Base, C, Text)                                               \
  struct Name : Base {                                                         \
    __device__ void step(int) {                                                \
      asm volatile(Text : "+" C(X) : C(K0), C(K1), C(K2), C(K3));              \
    }                                                                          \
  };
/// A function of CUDA's headers; Expression uses X and the keys.
#define FUNCTION(Name, Base, C, Expression)                                    \
  struct Name : Base {                                                         \
    __device__ void step(int) {                                                \
      X = Expression;                                                          \
      asm volatile("" : "+" C(X));                                             \
    }                                                                          \
  };

// Integers.
PTX(add_i32, U32, "r", "add.u32 %0, %0, %1; add.u32 %0, %0, %2;")
PTX(add_i64, U64, "l", // the halves change places, so that both are waited for
    "{ .reg .b32 a, b; add.u64 %0, %0, %1; mov.b64 {a, b}, %0; "
    "mov.b64 %0, {b, a}; }")
PTX(mul_i32, U32, "r", "mul.lo.u32 %0, %0, %1;")
PTX(mad_i32, U32, "r", "mad.lo.u32 %0, %0, %1, %2;")
PTX(mulhi_i32, U32, "r", "mul.hi.u32 %0, %0, %1;")
PTX(mul_i64, U64, "l", "mul.lo.u64 %0, %0, %1;")
PTX(mul24_i32, U32, "r", "mul24.lo.u32 %0, %0, %1;")
PTX(div_u32, U32, "r", "div.u32 %0, %1, %0;")
PTX(div_s32, U32, "r", "div.s32 %0, %1, %0;")
PTX(rem_u32, U32, "r", "rem.u32 %0, %1, %0; or.b32 %0, %0, %2;")
PTX(rem_s32, U32, "r", "rem.s32 %0, %1, %0; or.b32 %0, %0, %2;")
PTX(div_u64, U64, "l", "div.u64 %0, %1, %0;")
PTX(div_s64, U64, "l", "div.s64 %0, %1, %0;")
PTX(rem_u64, U64, "l", "rem.u64 %0, %1, %0; or.b64 %0, %0, %2;")
PTX(rem_s64, U64, "l", "rem.s64 %0, %1, %0; or.b64 %0, %0, %2;")
PTX(logic_i32, U32, "r",
    "lop3.b32 %0, %0, %1, %2, 0xe8; lop3.b32 %0, %0, %3, %4, 0xd4;")
PTX(logic_i64, U64, "l",
    "{ .reg .b32 a, b, c, d, e, f, g, h, i, j; mov.b64 {a, b}, %0; "
    "mov.b64 {c, d}, %1; mov.b64 {e, f}, %2; mov.b64 {g, h}, %3; "
    "mov.b64 {i, j}, %4; lop3.b32 a, a, c, e, 0xe8; lop3.b32 b, b, d, f, 0xe8; "
    "lop3.b32 a, a, g, i, 0xd4; lop3.b32 b, b, h, j, 0xd4; "
    "mov.b64 %0, {a, b}; }")
PTX(prmt_i32, U32, "r", "prmt.b32 %0, %0, %1, %2;")
PTX(shift_i32, U32, "r", "shl.b32 %0, %0, %1; shr.u32 %0, %0, %2;")
PTX(funnel_i32, U32, "r", "shf.l.wrap.b32 %0, %0, %1, %2;")
PTX(shift_i64, U64, "l",
    "{ .reg .b32 s, t; cvt.u32.u64 s, %1; cvt.u32.u64 t, %2; "
    "shl.b64 %0, %0, s; shr.u64 %0, %0, t; }")
PTX(bits_i32, U32, "r", "popc.b32 %0, %0;")
PTX(clz_i32, U32, "r", "bfind.u32 %0, %0;")
PTX(brev_i32, U32, "r", "brev.b32 %0, %0; prmt.b32 %0, %0, %1, %2;")
PTX(bits_i64, U64, "l",
    "{ .reg .b32 p; popc.b64 p, %0; mov.b64 %0, {p, p}; xor.b64 %0, %0, %1; }")
PTX(minmax_s32, U32, "r", "min.s32 %0, %0, %1; max.s32 %0, %0, %2;")
PTX(minmax_u32, U32, "r", "min.u32 %0, %0, %1; max.u32 %0, %0, %2;")
PTX(minmax_s64, U64, "l", "min.s64 %0, %0, %1; max.s64 %0, %0, %2;")
PTX(minmax_u64, U64, "l", "min.u64 %0, %0, %1; max.u64 %0, %0, %2;")
PTX(abs_i32, U32, "r", "abs.s32 %0, %0; sub.s32 %0, %0, %1;")
PTX(abs_i64, U64, "l", "abs.s64 %0, %0; sub.s64 %0, %0, %1;")
// The address of an element is an IMAD.WIDE with the base added. ptxas takes
// the sum apart in a chain, so this one has no base; it multiplies both halves.
PTX(addr_i64, U64, "l",
    "{ .reg .b32 a, b; mov.b64 {a, b}, %0; mul.wide.u32 %0, a, b; }")
PTX(guard_i32, U32, "r", // a comparison decides whether the addition happens
    "{ .reg .pred p; setp.ne.u32 p, %0, 1; @p add.u32 %0, %0, %1; }")
PTX(dp4a_u32, U32, "r", "dp4a.u32.u32 %0, %0, %1, %2;")

// Single precision and the special functions.
PTX(add_f32, F32, "f", "add.rn.f32 %0, %0, %1;")
PTX(mul_f32, F32, "f", "mul.rn.f32 %0, %0, %1;")
PTX(fma_f32, F32, "f", "fma.rn.f32 %0, %0, %1, %2;")
PTX(div_f32, F32, "f", "div.rn.f32 %0, %1, %0;")
PTX(div_approx_f32, F32, "f", "div.approx.f32 %0, %1, %0;")
PTX(rcp_f32, F32, "f", "rcp.rn.f32 %0, %0;")
PTX(rcp_approx_f32, F32, "f",
    "rcp.approx.ftz.f32 %0, %0; add.ftz.f32 %0, %0, %1;")
PTX(sqrt_f32, F32, "f", "sqrt.rn.f32 %0, %0;")
PTX(rsqrt_f32, F32, "f", "rsqrt.approx.f32 %0, %0;")
PTX(rsqrt_ftz_f32, F32, "f", "rsqrt.approx.ftz.f32 %0, %0;")
PTX(sin_f32, F32, "f", "sin.approx.f32 %0, %0;")
FUNCTION(sinf_f32, F32, "f", sinf(X))
FUNCTION(tan_f32, F32, "f", __tanf(X))
PTX(exp2_f32, F32, "f", "ex2.approx.f32 %0, %0;")
PTX(exp2_ftz_f32, F32, "f", "ex2.approx.ftz.f32 %0, %0;")
FUNCTION(exp_f32, F32, "f", __expf(X))
FUNCTION(expf_f32, F32, "f", expf(-X))
PTX(log2_f32, F32, "f", "lg2.approx.f32 %0, %0;")
FUNCTION(log_f32, F32, "f", __logf(X))
FUNCTION(logf_f32, F32, "f", logf(X))
FUNCTION(pow_f32, F32, "f", __powf(X, K0))
PTX(tanh_f32, F32, "f", "tanh.approx.f32 %0, %0;")
FUNCTION(rem_f32, F32, "f", fmodf(X + K3, K1))
PTX(minmax_f32, F32, "f", "min.f32 %0, %0, %1; max.f32 %0, %0, %2;")
PTX(abs_f32, F32, "f", "abs.f32 %0, %0; sub.f32 %0, %0, %1;")

// Double precision.
PTX(add_f64, F64, "d", "add.rn.f64 %0, %0, %1;")
PTX(mul_f64, F64, "d", "mul.rn.f64 %0, %0, %1;")
PTX(fma_f64, F64, "d", "fma.rn.f64 %0, %0, %1, %2;")
PTX(div_f64, F64, "d", "div.rn.f64 %0, %1, %0;")
PTX(rcp_f64, F64, "d", "rcp.rn.f64 %0, %0;")
PTX(sqrt_f64, F64, "d", "sqrt.rn.f64 %0, %0;")
FUNCTION(rsqrt_f64, F64, "d", rsqrt(X))
FUNCTION(sin_f64, F64, "d", sin(X))
FUNCTION(tan_f64, F64, "d", tan(X))
FUNCTION(exp_f64, F64, "d", exp(-X))
FUNCTION(exp2_f64, F64, "d", exp2(-X))
FUNCTION(log_f64, F64, "d", K1 + log(X))
FUNCTION(log2_f64, F64, "d", K1 + log2(X))
FUNCTION(pow_f64, F64, "d", pow(X, K0))
FUNCTION(rem_f64, F64, "d", fmod(X + K3, K1))
PTX(minmax_f64, F64, "d", "min.f64 %0, %0, %1; max.f64 %0, %0, %2;")
PTX(abs_f64, F64, "d", "abs.f64 %0, %0; sub.f64 %0, %0, %1;")

// Half precision; a pair of halves takes the same instruction.
PTX(add_f16, F16, "h", "add.rn.f16 %0, %0, %1;")
PTX(mul_f16, F16, "h", "mul.rn.f16 %0, %0, %1;")
PTX(fma_f16, F16, "h", "fma.rn.f16 %0, %0, %1, %2;")
PTX(fma_f16x2, U32, "r", "fma.rn.f16x2 %0, %0, %1, %2;")
PTX(minmax_f16, F16, "h", "min.f16 %0, %0, %1; max.f16 %0, %0, %2;")
PTX(abs_f16, F16, "h", "abs.f16 %0, %0; sub.f16 %0, %0, %1;")
#define HALF(Value) __ushort_as_half(Value)
FUNCTION(div_f16, F16, "h", __half_as_ushort(__hdiv(HALF(K0), HALF(X))))
FUNCTION(sqrt_f16, F16, "h", __half_as_ushort(hsqrt(HALF(X))))
FUNCTION(rem_f16, F16, "h",
         __half_as_ushort(__float2half(fmodf(__half2float(HALF(X)) +
                                                 __half2float(HALF(K3)),
                                             __half2float(HALF(K1))))))

// Conversions, there and back.
PTX(cvt_s32_f32, U32, "r",
    "{ .reg .f32 f; cvt.rn.f32.s32 f, %0; cvt.rzi.s32.f32 %0, f; }")
PTX(cvt_f16_f32, F32, "f",
    "{ .reg .b16 h; cvt.rn.f16.f32 h, %0; cvt.f32.f16 %0, h; }")
PTX(round_f32, F32, "f", "cvt.rni.f32.f32 %0, %0; add.f32 %0, %0, %1;")
PTX(cvt_s8, U32, "r",
    "{ .reg .b16 h; cvt.u16.u32 h, %0; cvt.s32.s8 %0, h; add.u32 %0, %0, %1; }")
PTX(cvt_f32_f64, F64, "d",
    "{ .reg .f32 f; cvt.rn.f32.f64 f, %0; cvt.f64.f32 %0, f; }")
PTX(cvt_s32_f64, F64, "d",
    "{ .reg .s32 i; cvt.rzi.s32.f64 i, %0; cvt.rn.f64.s32 %0, i; }")
PTX(cvt_s64_f64, F64, "d",
    "{ .reg .s64 i; cvt.rzi.s64.f64 i, %0; cvt.rn.f64.s64 %0, i; }")
PTX(sext_i64, U64, "l",
    "{ .reg .s32 i; cvt.u32.u64 i, %0; cvt.s64.s32 %0, i; "
    "shr.u64 %0, %0, 7; }")

// Comparisons into a predicate that the next one reads, and selection.
#define COMPARE(Name, Base, C, First, Second)                                  \
  struct Name : Predicate<Base> {                                              \
    __device__ void step(int) {                                                \
      unsigned V = P;                                                          \
      asm volatile("{ .reg .pred p; setp.ne.u32 p, %0, 0; " First              \
                   " p, %1, %2, p; " Second                                    \
                   " p, %3, %4, p; selp.u32 %0, 1, 0, p; }"                    \
                   : "+r"(V)                                                   \
                   : C(X), C(K0), C(K1), C(K2));                               \
      P = V;                                                                   \
    }                                                                          \
  };
COMPARE(cmp_i32, U32, "r", "setp.lt.xor.s32", "setp.gt.xor.s32")
COMPARE(cmp_f32, F32, "f", "setp.lt.xor.f32", "setp.gt.xor.f32")
COMPARE(cmp_f64, F64, "d", "setp.lt.xor.f64", "setp.gt.xor.f64")
COMPARE(cmp_f16, F16, "h", "setp.lt.xor.f16", "setp.gt.xor.f16")
/// A comparison of the chain, and a select that continues it.
PTX(cmp_select_i32, U32, "r",
    "{ .reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %3, p; }")
PTX(cmp_select_i64, U64, "l",
    "{ .reg .pred p; setp.lt.s64 p, %0, %1; selp.b64 %0, %2, %3, p; }")
PTX(cmp_select_f16, F16, "h",
    "{ .reg .pred p; setp.lt.f16 p, %0, %1; selp.b16 %0, %2, %3, p; }")
PTX(cmp_select_f32, F32, "f",
    "{ .reg .pred p; setp.lt.f32 p, %0, %1; selp.f32 %0, %2, %3, p; }")
PTX(cmp_select_f64, F64, "d",
    "{ .reg .pred p; setp.lt.f64 p, %0, %1; selp.f64 %0, %2, %3, p; }")

struct sel_b32 : U32 {
  bool P0, P1;
  __device__ void start(const Input &In, int I) {
    U32::start(In, I);
    P0 = In.U[1] & 1, P1 = In.U[2] & 1;
  }
  __device__ void step(int) {
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %3, 0; setp.ne.u32 q, %4, 0;"
        " selp.b32 %0, %0, %1, p; selp.b32 %0, %2, %0, q; }"
        : "+r"(X)
        : "r"(K0), "r"(K1), "r"(unsigned(P0)), "r"(unsigned(P1)));
  }
};

/// Two moves that may or may not happen; others are renamed away.
struct mov_b32 : sel_b32 {
  __device__ void step(int) {
    asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %3, 0; setp.ne.u32 q, %4, 0;"
        " @p mov.b32 %0, %1; @q mov.b32 %0, %2; }"
        : "+r"(X)
        : "r"(K0), "r"(K1), "r"(unsigned(P0)), "r"(unsigned(P1)));
  }
};

} // namespace

BOTH(add_i32, "IADD3", 1)
BOTH(add_i64, "IADD3|IMAD.X*2", 1)
BOTH(mul_i32, "IMAD", 1)
BOTH(mad_i32, "IMAD", 1)
BOTH(mulhi_i32, "IMAD.HI", 1)
BOTH(mul_i64, "IMAD*3", 1)
BOTH(mul24_i32, "IMAD", 1)
LONG(div_u32, "I2F|MUFU.RCP*2", 1)
LONG(div_s32, "I2F|MUFU.RCP*2", 1)
LONG(rem_u32, "I2F|MUFU.RCP*2", 1)
LONG(rem_s32, "I2F|MUFU.RCP*2", 1)
LONG(div_u64, "CALL", 1)
LONG(div_s64, "CALL", 1)
LONG(rem_u64, "CALL", 1)
LONG(rem_s64, "CALL", 1)
BOTH(logic_i32, "LOP3", 2)
BOTH(logic_i64, "LOP3*4", 2)
BOTH(prmt_i32, "PRMT", 1)
BOTH(shift_i32, "SHF", 2)
BOTH(funnel_i32, "SHF", 1)
BOTH(shift_i64, "SHF*4", 2)
BOTH(bits_i32, "POPC", 1)
BOTH(clz_i32, "FLO", 1)
BOTH(brev_i32, "BREV", 1)
BOTH(bits_i64, "POPC*2", 1)
BOTH(minmax_s32, "MNMX", 2)
BOTH(minmax_u32, "MNMX", 2)
BOTH(minmax_s64, "ISETP*4", 2)
BOTH(minmax_u64, "ISETP*4", 2)
BOTH(abs_i32, "IABS", 1)
BOTH(abs_i64, "SEL*2", 1)
BOTH(addr_i64, "IMAD.WIDE", 1)
BOTH(guard_i32, "ISETP", 1)
BOTH(dp4a_u32, "IDP", 1)
BOTH(add_f32, "FADD", 1)
BOTH(mul_f32, "FMUL", 1)
BOTH(fma_f32, "FFMA", 1)
LONG(div_f32, "MUFU.RCP", 1)
BOTH(div_approx_f32, "MUFU.RCP", 1)
LONG(rcp_f32, "MUFU.RCP", 1)
BOTH(rcp_approx_f32, "MUFU.RCP", 1)
LONG(sqrt_f32, "MUFU.RSQ", 1)
BOTH(rsqrt_f32, "MUFU.RSQ", 1)
BOTH(rsqrt_ftz_f32, "MUFU.RSQ", 1)
BOTH(sin_f32, "MUFU.SIN", 1)
LONG(sinf_f32, "FFMA*4", 1)
LONG(tan_f32, "MUFU*3", 1)
BOTH(exp2_f32, "MUFU.EX2", 1)
BOTH(exp2_ftz_f32, "MUFU.EX2", 1)
BOTH(exp_f32, "MUFU.EX2", 1)
LONG(expf_f32, "MUFU.EX2", 1)
BOTH(log2_f32, "MUFU.LG2", 1)
BOTH(log_f32, "MUFU.LG2", 1)
LONG(logf_f32, "FFMA*8", 1)
LONG(pow_f32, "MUFU.EX2|MUFU.LG2*2", 1)
BOTH(tanh_f32, "MUFU.TANH", 1)
LONG(rem_f32, "FRND", 1)
BOTH(minmax_f32, "FMNMX", 2)
BOTH(abs_f32, "FADD", 1)
BOTH(add_f64, "DADD", 1)
BOTH(mul_f64, "DMUL", 1)
BOTH(fma_f64, "DFMA", 1)
LONG(div_f64, "MUFU.RCP64H", 1)
LONG(rcp_f64, "MUFU.RCP64H", 1)
LONG(sqrt_f64, "MUFU.RSQ64H", 1)
LONG(rsqrt_f64, "MUFU.RSQ64H", 1)
LONG(sin_f64, "DFMA", 1)
LONG(tan_f64, "DFMA", 1)
LONG(exp_f64, "DFMA", 1)
LONG(exp2_f64, "DFMA", 1)
LONG(log_f64, "DFMA", 1)
LONG(log2_f64, "DFMA", 1)
LONG(pow_f64, "CALL", 1)
LONG(rem_f64, "DADD*2", 1)
BOTH(minmax_f64, "DSETP", 2)
BOTH(abs_f64, "DADD", 1)
ALONE(add_f16, "HADD2", 1)
ALONE(mul_f16, "HMUL2", 1)
ALONE(fma_f16, "HFMA2", 1)
BOTH(fma_f16x2, "HFMA2", 1)
ALONE(minmax_f16, "HMNMX2", 2)
ALONE(abs_f16, "HADD2", 1)
LONG(div_f16, "MUFU.RCP", 1)
LONG(sqrt_f16, "MUFU", 1)
LONG(rem_f16, "FRND", 1)
BOTH(cvt_s32_f32, "I2F|F2I", 2)
ALONE(cvt_f16_f32, "F2F|HADD2", 2)
BOTH(round_f32, "FRND", 1)
BOTH(cvt_s8, "PRMT", 1)
BOTH(cvt_f32_f64, "F2F", 2)
BOTH(cvt_s32_f64, "F2I|I2F", 2)
BOTH(cvt_s64_f64, "F2I|I2F", 2)
BOTH(sext_i64, "SHF*2", 1)
BOTH(cmp_i32, "ISETP", 2)
BOTH(cmp_f32, "FSETP", 2)
BOTH(cmp_f64, "DSETP", 2)
ALONE(cmp_f16, "HSETP2", 2)
BOTH(cmp_select_i32, "ISETP|SEL*2", 1)
BOTH(cmp_select_i64, "ISETP|SEL*4", 1)
ALONE(cmp_select_f16, "HSETP2", 1)
BOTH(cmp_select_f32, "FSETP|FSEL*2", 1)
BOTH(cmp_select_f64, "DSETP|FSEL*3", 1)
BOTH(sel_b32, "SEL", 2)
BOTH(mov_b32, "MOV|SEL", 2)
