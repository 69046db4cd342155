// CUB's block and warp primitives, and the kernels of its device-wide ones.
#include <cub/cub.cuh>
#include <cuda/std/functional>

template <typename T> __global__ void scan(T *d) {
  using Scan = cub::BlockScan<T, 128>;
  using Reduce = cub::BlockReduce<T, 128>;
  using WarpScan = cub::WarpScan<T>;
  using WarpReduce = cub::WarpReduce<T>;
  __shared__ typename Scan::TempStorage s;
  __shared__ typename Reduce::TempStorage r;
  __shared__ typename WarpScan::TempStorage ws[4];
  __shared__ typename WarpReduce::TempStorage wr[4];
  T x = d[threadIdx.x], y, v;
  Scan(s).InclusiveSum(x, y);
  __syncthreads();
  T z = Reduce(r).Sum(y);
  WarpScan(ws[threadIdx.x / 32]).ExclusiveSum(x, v);
  T u = WarpReduce(wr[threadIdx.x / 32]).Reduce(x, cuda::maximum<>());
  d[threadIdx.x] = y + z + v + u;
}
template __global__ void scan(int *);
template __global__ void scan(unsigned *);
template __global__ void scan(float *);
template __global__ void scan(double *);
template __global__ void scan(long long *);
template __global__ void scan(unsigned long long *);

template <typename T> __global__ void sort(T *d, int *p) {
  using Sort = cub::BlockRadixSort<T, 128, 4, int>;
  using Load = cub::BlockLoad<T, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  __shared__ typename Sort::TempStorage s;
  __shared__ typename Load::TempStorage l;
  T k[4];
  int v[4] = {p[0], p[1], p[2], p[3]};
  Load(l).Load(d, k);
  Sort(s).Sort(k, v);
  for (int i = 0; i < 4; i++)
    d[threadIdx.x * 4 + i] = k[i], p[i] = v[i];
  d[0] =
      cub::ThreadLoad<cub::LOAD_CG>(d) + cub::ThreadLoad<cub::LOAD_CS>(d + 1);
  cub::ThreadStore<cub::STORE_WT>(d + 2, d[1]);
}
template __global__ void sort(unsigned *, int *);
template __global__ void sort(float *, int *);
template __global__ void sort(unsigned char *, int *);

void wide(void *tmp, size_t b, int *in, int *out, int n) {
  cub::DeviceReduce::Sum(tmp, b, in, out, n);
  cub::DeviceScan::InclusiveSum(tmp, b, in, out, n);
  cub::DeviceRadixSort::SortKeys(tmp, b, in, out, n);
  cub::DeviceSelect::Flagged(tmp, b, in, in, out, out, n);
  cub::DeviceRunLengthEncode::Encode(tmp, b, in, out, out, out, n);
}
