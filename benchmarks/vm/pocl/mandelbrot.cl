// The kernel of examples/mandelbrot/mandelbrot.cu in OpenCL C.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__kernel void mandelbrot(float Left, float Top, float Pixel, int Width,
                         int Height, int Limit, __global int *Steps) {
  const int Px = (int)get_global_id(0), Py = (int)get_global_id(1);
  if (Px >= Width || Py >= Height)
    return;
  const float Cx = fma((float)Px, Pixel, Left), Cy = fma((float)Py, Pixel, Top);
  float X = 0, Y = 0;
  int Step = 0;
  while (Step < Limit && fma(X, X, Y * Y) <= 4.0f) {
    const float NextX = fma(X, X, fma(-Y, Y, Cx));
    Y = fma(2.0f * X, Y, Cy);
    X = NextX;
    ++Step;
  }
  Steps[Py * Width + Px] = Step;
}
