// A branch in another file.
__device__ inline float way_of(float x, bool is_long) {
  if (is_long)
    for (int k = 0; k < 40; ++k)
      x = x * x / 3 + 0.25f + k;
  else
    for (int k = 0; k < 40; ++k)
      x = x * 0.75f - k;
  return x;
}
