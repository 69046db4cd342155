//===- benchmarks/vm/scalar/mandelbrot.cpp - Mandelbrot, scalar -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel of examples/mandelbrot/mandelbrot.cu; stopwatch.h says how and
// why.
//
//===----------------------------------------------------------------------===//
#include "common/checksum.h"
#include "common/options.h"
#include "stopwatch.h"

#include <cmath>
#include <vector>

static int escapeTime(float Cx, float Cy, int Limit) {
  float X = 0, Y = 0;
  int Step = 0;
  while (Step < Limit && fmaf(X, X, Y * Y) <= 4.0f) {
    const float NextX = fmaf(X, X, fmaf(-Y, Y, Cx));
    Y = fmaf(2.0f * X, Y, Cy);
    X = NextX;
    ++Step;
  }
  return Step;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const int Width = int(Args.integer("width", 600, 1, 16384));
  const int Height = int(Args.integer("height", 400, 1, 16384));
  const int Limit = int(Args.integer("limit", 256, 1, 1 << 20));
  const int Tile = int(Args.integer("tile", 32, 1, 32));
  Args.done();

  const float Left = -2.0f, Top = -1.0f, Pixel = 3.0f / float(Width);
  const int BlockX = Tile, BlockY = 256 / Tile;
  std::vector<int> Steps(size_t(Width) * Height);
  Stopwatch Watch;
  Watch.start();
  for (int ByBlock = 0; ByBlock < Height; ByBlock += BlockY)
    for (int BxBlock = 0; BxBlock < Width; BxBlock += BlockX)
      for (int Ty = 0; Ty < BlockY; ++Ty)
        for (int Tx = 0; Tx < BlockX; ++Tx) {
          const int X = BxBlock + Tx, Y = ByBlock + Ty;
          if (X >= Width || Y >= Height)
            continue;
          Steps[Y * Width + X] = escapeTime(fmaf(float(X), Pixel, Left),
                                            fmaf(float(Y), Pixel, Top), Limit);
        }
  Watch.stop();
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Steps)));
  Watch.print();
}
