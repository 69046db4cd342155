// A kernel that stands in another file than the one that is rewritten.
#pragma once
__global__ void elsewhere(const float *in, float *out) {
  const int i = threadIdx.x;
#pragma reconverge remap
  if (in[i] > 0)
    out[i] = sqrtf(in[i]) / 3;
  else
    out[i] = in[i] / 7 + sinf(in[i]);
}
