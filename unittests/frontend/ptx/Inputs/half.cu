// Half and bfloat16 arithmetic, comparison, conversion, shuffles and atomics,
// as the toolkit's headers write them.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

template <typename H, typename H2>
__device__ void arithmetic(const H *a, H *r, const H2 *b, H2 *s, int *n) {
  int i = 0, k = 0;
  H x = a[0], y = a[1], z = a[2];
  H2 u = b[0], v = b[1], w = b[2];
  r[i++] = __hadd(x, y), r[i++] = __hsub(x, y), r[i++] = __hmul(x, y);
  r[i++] = __hfma(x, y, z), r[i++] = __hdiv(x, y), r[i++] = __hadd_rn(x, y);
  r[i++] = __hadd_sat(x, y), r[i++] = __hsub_sat(x, y);
  r[i++] = __hmul_sat(x, y), r[i++] = __hfma_sat(x, y, z);
  r[i++] = __hfma_relu(x, y, z), r[i++] = __hneg(x), r[i++] = __habs(x);
  r[i++] = __hmax(x, y), r[i++] = __hmin(x, y);
  r[i++] = __hmax_nan(x, y), r[i++] = __hmin_nan(x, y);
  r[i++] = hsin(x), r[i++] = hcos(x), r[i++] = hexp(x), r[i++] = hexp2(x);
  r[i++] = hexp10(x), r[i++] = hlog(x), r[i++] = hlog2(x), r[i++] = hlog10(x);
  r[i++] = hsqrt(x), r[i++] = hrsqrt(x), r[i++] = hrcp(x), r[i++] = htanh(x);
  r[i++] = htanh_approx(x), r[i++] = hfloor(x), r[i++] = hceil(x);
  r[i++] = htrunc(x), r[i++] = hrint(x);
  n[0] = __heq(x, y) + __hne(x, y) + __hlt(x, y) + __hle(x, y) + __hgt(x, y) +
         __hge(x, y) + __hequ(x, y) + __hneu(x, y) + __hltu(x, y) + __hisnan(x);
  n[1] = __hbeq2(u, v) + __hblt2(u, v) + __hbneu2(u, v);
  n[2] = __heq2_mask(u, v) + __hlt2_mask(u, v);
  s[k++] = __hadd2(u, v), s[k++] = __hsub2(u, v), s[k++] = __hmul2(u, v);
  s[k++] = __hfma2(u, v, w), s[k++] = __h2div(u, v), s[k++] = __hadd2_sat(u, v);
  s[k++] = __hfma2_relu(u, v, w), s[k++] = __hneg2(u), s[k++] = __habs2(u);
  s[k++] = __hmax2(u, v), s[k++] = __hmin2_nan(u, v), s[k++] = __heq2(u, v);
  s[k++] = __hgtu2(u, v), s[k++] = __hisnan2(u), s[k++] = h2sin(u);
  s[k++] = h2cos(u), s[k++] = h2exp(u), s[k++] = h2exp2(u), s[k++] = h2exp10(u);
  s[k++] = h2log(u), s[k++] = h2log2(u), s[k++] = h2log10(u),
  s[k++] = h2sqrt(u);
  s[k++] = h2rsqrt(u), s[k++] = h2rcp(u), s[k++] = h2tanh(u);
  s[k++] = h2tanh_approx(u), s[k++] = h2floor(u), s[k++] = h2ceil(u);
  s[k++] = h2trunc(u), s[k++] = h2rint(u), s[k++] = __hcmadd(u, v, w);
  s[k++] = __shfl_sync(~0u, u, 3), s[k++] = __shfl_up_sync(~0u, u, 3);
  s[k++] = __shfl_xor_sync(~0u, u, 3), r[i++] = __shfl_down_sync(~0u, x, 1);
  s[k++] = __ldg(b), s[k++] = __ldcg(b), s[k++] = __ldcs(b), s[k++] = __ldca(b);
  s[k++] = __ldlu(b), s[k++] = __ldcv(b), r[i++] = __ldg(a), r[i++] = __ldcs(a);
  __stwb(s, u), __stcg(s, u), __stcs(r, x), __stwt(r, x);
  atomicAdd(r, x), atomicAdd(s, u);
}

__global__ void halves(const __half *a, __half *r, const __half2 *b, __half2 *s,
                       int *n, float *f, double *d, long long *l) {
  arithmetic(a, r, b, s, n);
  __half x = a[0];
  r[0] = __float2half(f[0]), r[1] = __float2half_rz(f[0]);
  r[2] = __float2half_rd(f[0]), r[3] = __float2half_ru(f[0]);
  r[4] = __double2half(d[0]), s[0] = __floats2half2_rn(f[0], f[1]);
  f[2] = __half22float2(s[2]).x + __high2float(s[0]) + __half2float(x);
  n[0] = __half2int_rn(x) + __half2int_rz(x) + __half2uint_rd(x);
  l[0] = __half2ll_rn(x) + __half2ull_ru(x) + __half2short_rz(x);
  n[1] = __half2char_rz(x) + __half2uchar_rz(x) + __half2ushort_rn(x);
  r[5] = __int2half_rz(n[0]), r[6] = __ll2half_rd(l[0]);
  r[7] = __ull2half_ru(l[0]), r[8] = __short2half_rn(n[1]);
  s[1] = __lows2half2(s[0], s[1]), s[2] = __lowhigh2highlow(s[0]);
}

__global__ void bfloats(const __nv_bfloat16 *a, __nv_bfloat16 *r,
                        const __nv_bfloat162 *b, __nv_bfloat162 *s, int *n,
                        float *f, double *d, long long *l) {
  arithmetic(a, r, b, s, n);
  __nv_bfloat16 x = a[0];
  r[0] = __float2bfloat16(f[0]), r[1] = __float2bfloat16_rz(f[0]);
  r[2] = __float2bfloat16_rd(f[0]), r[3] = __float2bfloat16_ru(f[0]);
  r[4] = __double2bfloat16(d[0]), s[0] = __floats2bfloat162_rn(f[0], f[1]);
  f[2] = __bfloat1622float2(s[2]).x + __low2float(s[0]) + __bfloat162float(x);
  n[0] = __bfloat162int_rn(x) + __bfloat162int_rz(x) + __bfloat162uint_rd(x);
  l[0] = __bfloat162ll_rn(x) + __bfloat162ull_ru(x) + __bfloat162short_rz(x);
  n[1] = __bfloat162char_rz(x) + __bfloat162uchar_rz(x);
  r[5] = __int2bfloat16_rz(n[0]), r[6] = __ll2bfloat16_rd(l[0]);
  r[7] = __ull2bfloat16_ru(l[0]), r[8] = __short2bfloat16_rn(n[1]);
}
