// REQUIRES: reconverge
// RUN: python3 %S/Inputs/compare_forms.py %reconverge %s | FileCheck %s
// RUN: python3 %S/Inputs/compare_forms.py %reconverge %s -fmad=false \
// RUN:   | FileCheck %s
// CHECK: 64 kernels, 0 differ

// Users expect the numbers that nvcc gives: IEEE division and square root,
// denormals kept, multiplications and additions fused.

#define EXACT(name, T, expression)                                             \
  extern "C" __global__ void exact_##name(T *p) {                              \
    T a = p[0], b = p[1], c = p[2];                                            \
    (void)b, (void)c;                                                          \
    p[3] = expression;                                                         \
  }
#define LIBRARY(name, T, expression)                                           \
  extern "C" __global__ void library_##name(T *p) {                            \
    T a = p[0], b = p[1];                                                      \
    (void)b;                                                                   \
    p[2] = expression;                                                         \
  }

EXACT(sqrtf, float, sqrtf(a))
EXACT(sqrt, double, sqrt(a))
EXACT(rsqrtf, float, rsqrtf(a))
EXACT(divide_f32, float, a / b)
EXACT(divide_f64, double, a / b)
EXACT(reciprocal_f32, float, 1.0f / a)
EXACT(fdividef, float, __fdividef(a, b))

EXACT(multiply_add_f32, float, a *b + c)
EXACT(multiply_add_f64, double, a *b + c)
EXACT(multiply_subtract, float, a *b - c)
EXACT(subtract_product, float, c - a * b)
EXACT(two_products, float, a *b + b * c)
EXACT(two_products_f64, double, a *b - b * c)
EXACT(three_squares, float, a *a + b * b + c * c)
EXACT(polynomial, double, ((a * b + c) * b + a) * b + c)
EXACT(fmaf, float, fmaf(a, b, c))
EXACT(fma, double, fma(a, b, c))
EXACT(fmul_rn, float, __fmul_rn(a, b) + c)
EXACT(fadd_rn, float, __fadd_rn(a *b, c))
EXACT(dmul_rn, double, __dmul_rn(a, b) + c)
EXACT(dadd_rn, double, __dadd_rn(a *b, c))
EXACT(fsqrt_rn, float, __fsqrt_rn(a))
EXACT(fdiv_rn, float, __fdiv_rn(a, b))
EXACT(fast_expf, float, __expf(a))
EXACT(fast_sinf, float, __sinf(a))

// Conversions: to float by each rounding, to integers, and to narrow ones. Of
// unsigned numbers, we round down where nvcc rounds toward zero, which is one.
#define FROM(T, name, to, number)                                              \
  EXACT(name##2##to##_rn, T, number(__##name##2##to##_rn(a)))                  \
  EXACT(name##2##to##_rd, T, number(__##name##2##to##_rd(a)))                  \
  EXACT(name##2##to##_ru, T, number(__##name##2##to##_ru(a)))
FROM(int, int, float, __float_as_int)
FROM(unsigned, uint, float, __float_as_int)
FROM(long long, ll, float, __float_as_int)
FROM(unsigned long long, ull, float, __float_as_int)
FROM(long long, ll, double, __double_as_longlong)
FROM(unsigned long long, ull, double, __double_as_longlong)
EXACT(int2float_rz, int, __float_as_int(__int2float_rz(a)))
EXACT(ll2float_rz, long long, __float_as_int(__ll2float_rz(a)))
EXACT(ll2double_rz, long long, __double_as_longlong(__ll2double_rz(a)))
EXACT(double2float_rn, double, __float_as_int(__double2float_rn(a)))
EXACT(double2float_rz, double, __float_as_int(__double2float_rz(a)))
EXACT(double2float_ru, double, __float_as_int(__double2float_ru(a)))
EXACT(narrow, float, int((signed char)(a)) ^ int((unsigned short)(b)))
EXACT(narrow_f64, double, int((unsigned char)(a)) ^ int(short(b)))

LIBRARY(expf, float, expf(a))
LIBRARY(exp2f, float, exp2f(a))
LIBRARY(logf, float, logf(a))
LIBRARY(sinf, float, sinf(a))
LIBRARY(powf, float, powf(a, b))
LIBRARY(tanhf, float, tanhf(a))
LIBRARY(cbrtf, float, cbrtf(a))
LIBRARY(hypotf, float, hypotf(a, b))
LIBRARY(atan2f, float, atan2f(a, b))
LIBRARY(fmodf, float, fmodf(a, b))
LIBRARY(exp, double, exp(a))
LIBRARY(log, double, log(a))
LIBRARY(tanh, double, tanh(a))
