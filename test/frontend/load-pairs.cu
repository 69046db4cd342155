// REQUIRES: reconverge
// RUN: %reconverge cc --emit-ptx %s -o - | FileCheck %s

// An edge needs both ends, and one of them is that of the edge before: each
// vertex is one load, and the first one is read before the loop.
// CHECK-LABEL: .entry inside(
// CHECK-COUNT-2: ld.global.nc.v2.f32
// CHECK: bra.uni
// CHECK-NOT: ld.global.nc.f32
// CHECK: ret;
extern "C" __global__ void inside(const float2 *__restrict__ Points,
                                  const float2 *__restrict__ Vertices,
                                  int Count, int *__restrict__ Result) {
  const float2 Point = Points[threadIdx.x];
  int Crossings = 0;
  for (int J = 0, K = Count - 1; J < Count; K = J++) {
    const float2 From = Vertices[J], To = Vertices[K];
    if ((From.y > Point.y) != (To.y > Point.y) &&
        Point.x < (To.x - From.x) / (To.y - From.y) * (Point.y - From.y) +
                      From.x)
      ++Crossings;
  }
  Result[threadIdx.x] = Crossings;
}

// A part that the program reads only if the other one says so has a load of its
// own.
// CHECK-LABEL: .entry asked(
// CHECK: ld.global.nc.u32
// CHECK: bra
// CHECK: ld.global.nc.u32
// CHECK: ret;
extern "C" __global__ void asked(const int2 *__restrict__ Items,
                                 int *__restrict__ Result) {
  if (Items[threadIdx.x].x)
    Result[threadIdx.x] = Items[threadIdx.x].y;
}
