// Intrinsics and libdevice functions that clang's headers write as asm.
__global__ void intrinsics(int *a, unsigned *u, unsigned long long *l, float *f,
                           double *d) {
  unsigned m = __activemask();
  int same;
  a[0] = __shfl_sync(m, a[1], 1) + __any_sync(m, a[2]) + __ballot_sync(m, a[3]);
  a[1] = __match_any_sync(m, a[4]) + __match_all_sync(m, a[6], &same) + same;
  a[2] = __reduce_add_sync(m, a[1]) + __reduce_min_sync(m, u[0]);
  __syncwarp(m);
  a[3] = __popc(u[0]) + __clz(u[1]) + __ffs(u[2]) + __brev(u[3]) +
         __byte_perm(u[4], u[5], u[6]) + __funnelshift_l(u[1], u[2], u[3]) +
         __funnelshift_rc(u[1], u[2], u[3]) + __dp4a(a[1], a[2], a[3]) +
         __dp2a_lo(a[1], a[2], a[3]) + __fns(u[1], 0, 2);
  u[0] = __vadd2(u[1], u[2]) + __vaddss4(u[1], u[2]) + __vabs2(u[1]) +
         __vabsdiffu4(u[1], u[2]) + __vavgs2(u[1], u[2]) + __vsadu4(u[1], u[2]);
  u[1] = __vmaxs2(u[1], u[2]) + __vminu4(u[1], u[2]) + __vcmpeq4(u[1], u[2]) +
         __vcmpgts2(u[1], u[2]) + __vsub4(u[1], u[2]) + __vsubus2(u[1], u[2]);
  f[0] = sinf(f[1]) + cosf(f[2]) + tanf(f[3]) + powf(f[4], f[5]) + tanhf(f[6]);
  d[0] = sin(d[1]) + pow(d[2], d[3]) + lgamma(d[4]) + fmod(d[5], d[6]);
  l[0] = clock64() + __mul64hi(l[1], l[2]);
  atomicAdd(a, 1), atomicAdd_system(a, 1), atomicAdd(d, 1.0);
  __threadfence(), __threadfence_block(), __threadfence_system();
  __nanosleep(100);
  a[4] = __isGlobal(a) + __isShared(a);
  if (a[5] == 77)
    __trap();
}
