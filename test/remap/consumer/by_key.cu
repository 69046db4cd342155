// Items in order by key over the whole grid: the example of docs/regroup.md.
#include <reconverge/device/regroup.cuh>

#include <cstdint>
#include <cstdio>
#include <vector>

#define CHECK(call)                                                            \
  do {                                                                         \
    const cudaError_t status = (call);                                         \
    if (status != cudaSuccess) {                                               \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                \
                  cudaGetErrorName(status));                                   \
      return 1;                                                                \
    }                                                                          \
  } while (0)

__host__ __device__ unsigned steps(unsigned x) { // how long the Collatz walk is
  unsigned n = 0;
  for (unsigned long long v = x; v > 1; ++n)
    v = v % 2 ? 3 * v + 1 : v / 2;
  return n;
}
__host__ __device__ unsigned work(unsigned x, unsigned kind) {
  if (kind == 0)
    return steps(x);
  if (kind == 1)
    return x & -x;
  unsigned h = x;
  for (unsigned i = 0; i < 8 * kind; ++i)
    h = (h ^ h >> 15) * 0x2c1b3c6du;
  return h;
}

// begin example
__global__ void plain(const unsigned *x, const uint8_t *kind, unsigned *y,
                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = work(x[i], kind[i]);
}

__global__ void by_kind(const unsigned *x, const uint8_t *kind, unsigned *y,
                        const int *ids, int n) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n)
    return;
  const int i = ids[t]; // was: t
  y[i] = work(x[i], kind[i]);
}

cudaError_t run(const unsigned *x, const uint8_t *kind, unsigned *y, int *ids,
                void *temp, size_t temp_bytes, int n, cudaStream_t stream) {
  // Kinds are 0 to 7: 3 bits.
  const cudaError_t e =
      reconverge::regroup(temp, temp_bytes, kind, 3, n, {ids}, stream);
  if (e == cudaSuccess)
    by_kind<<<(n + 255) / 256, 256, 0, stream>>>(x, kind, y, ids, n);
  return e;
}
// end example

int main() {
  constexpr int n = 100000;
  std::vector<unsigned> values(n);
  std::vector<uint8_t> kinds(n);
  unsigned state = 1;
  for (int i = 0; i < n; ++i) {
    values[i] = (state = state * 1664525 + 1013904223) >> 8;
    kinds[i] = state >> 20 & 7;
  }
  unsigned *x, *y;
  uint8_t *kind;
  int *ids;
  void *temp;
  size_t temp_bytes = 0;
  CHECK(cudaMalloc(&x, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&y, n * sizeof(unsigned)));
  CHECK(cudaMalloc(&kind, n));
  CHECK(cudaMalloc(&ids, n * sizeof(int)));
  CHECK(reconverge::regroup(nullptr, temp_bytes, kind, 3, n, {ids}));
  CHECK(cudaMalloc(&temp, temp_bytes));
  CHECK(cudaMemcpy(x, values.data(), n * sizeof(unsigned),
                   cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(kind, kinds.data(), n, cudaMemcpyHostToDevice));

  std::vector<unsigned> got[2] = {std::vector<unsigned>(n),
                                  std::vector<unsigned>(n)};
  plain<<<(n + 255) / 256, 256>>>(x, kind, y, n);
  CHECK(cudaMemcpy(got[0].data(), y, n * sizeof(unsigned),
                   cudaMemcpyDeviceToHost));
  CHECK(cudaMemset(y, 0, n * sizeof(unsigned)));
  CHECK(run(x, kind, y, ids, temp, temp_bytes, n, nullptr));
  CHECK(cudaMemcpy(got[1].data(), y, n * sizeof(unsigned),
                   cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < n; ++i)
    wrong += got[0][i] != work(values[i], kinds[i]) || got[1][i] != got[0][i];
  std::printf("%d of %d wrong, %zu bytes of temporary memory\n", wrong, n,
              temp_bytes);
  return wrong != 0;
}
