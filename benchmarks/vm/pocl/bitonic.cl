// The kernel of examples/bitonic/bitonic.cu in OpenCL C.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__kernel void bitonicSort(__global uint *Keys, int Count, __local uint *Tile) {
  const uint Tid = get_local_id(0), Threads = get_local_size(0);
  const int At = (int)get_global_id(0);
  Tile[Tid] = At < Count ? Keys[At] : 0xffffffffu;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint Run = 2; Run <= Threads; Run *= 2) {
    for (uint Stride = Run / 2; Stride > 0; Stride /= 2) {
      const uint Partner = Tid ^ Stride;
      if (Partner > Tid) {
        const uint Mine = Tile[Tid], Theirs = Tile[Partner];
        if ((Tid & Run) == 0) {
          if (Mine > Theirs) {
            Tile[Tid] = Theirs;
            Tile[Partner] = Mine;
          }
        } else {
          if (Mine < Theirs) {
            Tile[Tid] = Theirs;
            Tile[Partner] = Mine;
          }
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  if (At < Count)
    Keys[At] = Tile[Tid];
}
