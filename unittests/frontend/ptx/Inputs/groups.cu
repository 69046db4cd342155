// Cooperative groups: tiles, coalesced and labelled groups, reduce and scan.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void groups(int *a, float *f) {
  auto grid = cg::this_grid();
  auto block = cg::this_thread_block();
  auto warp = cg::tiled_partition<32>(block);
  auto tile = cg::tiled_partition<8>(block);
  auto dynamic = cg::tiled_partition(block, 16);
  auto active = cg::coalesced_threads();
  int x = a[grid.thread_rank()], same;
  a[0] = cg::reduce(warp, x, cg::plus<int>());
  a[1] = cg::reduce(tile, x, cg::less<int>());
  f[0] = cg::reduce(active, f[1], cg::plus<float>());
  a[2] = cg::inclusive_scan(warp, x, cg::plus<int>());
  a[3] = cg::exclusive_scan(tile, x);
  block.sync(), warp.sync(), tile.sync(), active.sync(), dynamic.sync();
  a[4] = warp.shfl(x, 3) + warp.shfl_down(x, 1) + warp.shfl_xor(x, 2);
  a[5] = warp.any(x) + warp.all(x) + warp.ballot(x) + warp.match_any(x);
  a[6] = warp.match_all(x, same) + same + active.thread_rank();
  a[7] = cg::labeled_partition(warp, x & 3).size();
  a[8] = cg::binary_partition(warp, x & 1).num_threads();
  cg::invoke_one(block, [&] { a[9] = 1; });
  a[10] = cg::invoke_one_broadcast(warp, [&] { return a[11]; });
}

__global__ void whole(int *a) {
  auto grid = cg::this_grid();
  a[grid.thread_rank()]++;
  grid.sync();
  a[0] += a[grid.block_rank()];
}
