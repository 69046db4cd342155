//===- examples/reduction/reduction.cu - Lesson 7: shuffles and votes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sum, maximum and number of the valid samples of a sensor's log. The log has
// gaps (runs of missing samples) and spikes (single samples far too high; each
// is replaced by the last good sample before it, if that is not too old).
//
// What lanes can decide together costs no divergence, what each decides alone
// does:
//
//   __ballot_sync says which lanes hold a sample: none -> the whole warp skips
//   a spike sends one lane back in the log, the other 31 wait
//   __shfl_down_sync adds up a warp:  0+16 1+17 ...  0+8 ...  0+4  0+2  0+1
//   lane 0 alone stores the warp's result, warp 0 alone adds these up
//
// All arithmetic is on integers, so the order of the sums does not matter.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <climits>
#include <vector>

static constexpr int Missing = INT_MIN;
static constexpr int Spike = 1 << 20; // no good sample is as high
static constexpr int OldestRepair = 12;
static constexpr unsigned AllLanes = 0xffffffffu;

struct Summary {
  unsigned long long Sum; ///< of the valid samples, modulo 2^64
  unsigned Count;
  int Most;
};

/// The sample at \p At; of a spike, the last good one before it.
__host__ __device__ inline int cleanSample(const int *Log, int At) {
  if (Log[At] < Spike)
    return Log[At];
  for (int Back = 1; Back <= OldestRepair && Back <= At; ++Back) {
    const int Value = Log[At - Back];
    if (Value != Missing && Value < Spike)
      return Value;
  }
  return Missing;
}

__device__ inline Summary reduceWarp(Summary S) {
  for (int Distance = 16; Distance > 0; Distance /= 2) {
    S.Sum += __shfl_down_sync(AllLanes, S.Sum, Distance);
    S.Count += __shfl_down_sync(AllLanes, S.Count, Distance);
    S.Most = max(S.Most, __shfl_down_sync(AllLanes, S.Most, Distance));
  }
  return S; // of the whole warp in lane 0; of a part of it in the others
}

__global__ void summarize(const int *Log, int Length, Summary *Out) {
  __shared__ Summary OfWarp[32];
  const int Lane = int(threadIdx.x) % 32, Warp = int(threadIdx.x) / 32;
  const int Threads = int(gridDim.x * blockDim.x);

  // All lanes of a block make the same number of rounds, so that all can vote.
  Summary S = {0, 0, INT_MIN};
  for (int Base = int(blockIdx.x * blockDim.x); Base < Length;
       Base += Threads) {
    const int At = Base + int(threadIdx.x);
    const bool Present = At < Length && Log[At] != Missing;
    if (__ballot_sync(AllLanes, Present) == 0)
      continue; // a gap: no lane of the warp has work
    const int Value = Present ? cleanSample(Log, At) : Missing;
    const unsigned Valid = __ballot_sync(AllLanes, Value != Missing);
    if (Lane == 0)
      S.Count += __popc(Valid);
    if (Value != Missing) {
      S.Sum += (unsigned long long)(long long)Value;
      S.Most = max(S.Most, Value);
    }
  }

  S = reduceWarp(S);
  if (Lane == 0)
    OfWarp[Warp] = S;
  __syncthreads();

  if (Warp == 0) {
    const int Warps = int(blockDim.x) / 32;
    S = Lane < Warps ? OfWarp[Lane] : Summary{0, 0, INT_MIN};
    S = reduceWarp(S);
    if (Lane == 0) {
      atomicAdd(&Out->Sum, S.Sum);
      atomicAdd(&Out->Count, S.Count);
      atomicMax(&Out->Most, S.Most);
    }
  }
}

/// A log with a slow wave, noise, gaps of 40 to 400 samples, and spikes.
static std::vector<int> makeLog(long Length, long Seed) {
  std::vector<int> Log(Length);
  Random Draw(uint64_t(Seed), 0);
  uint32_t Gap = 0;
  for (long I = 0; I < Length; ++I) {
    if (Gap == 0 && Draw.below(1000) == 0)
      Gap = 40 + Draw.below(360);
    const int Wave = int((I >> 4) & 1023) - 512;
    Log[I] = Wave * 100 + int(Draw.below(2000)) - 1000;
    if (Draw.below(100) == 0)
      Log[I] += Spike + 100000;
    if (Gap > 0) {
      Log[I] = Missing;
      --Gap;
    }
  }
  return Log;
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  const long Length = Args.integer("samples", 3000000, 1, 1 << 28);
  const long Blocks = Args.integer("blocks", 128, 1, 65535);
  const long Threads = Args.integer("block", 256, 32, 1024);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();
  if (Threads % 32) {
    std::fprintf(stderr, "reduction: block=%ld: give a multiple of 32\n",
                 Threads);
    return 2;
  }

  const std::vector<int> Log = makeLog(Length, Seed);
  std::vector<Summary> Result = {{0, 0, INT_MIN}};
  int *DeviceLog = nullptr;
  Summary *DeviceResult = nullptr;
  CHECK_CUDA(cudaMalloc(&DeviceLog, Length * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&DeviceResult, sizeof(Summary)));
  CHECK_CUDA(cudaMemcpy(DeviceLog, Log.data(), Length * sizeof(int),
                        cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(DeviceResult, Result.data(), sizeof(Summary),
                        cudaMemcpyHostToDevice));
  summarize<<<unsigned(Blocks), unsigned(Threads)>>>(DeviceLog, int(Length),
                                                     DeviceResult);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  CHECK_CUDA(cudaMemcpy(Result.data(), DeviceResult, sizeof(Summary),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(DeviceLog));
  CHECK_CUDA(cudaFree(DeviceResult));

  const Summary &S = Result[0];
  bool Right = true;
  if (Check) {
    Summary R = {0, 0, INT_MIN};
    for (long At = 0; At < Length; ++At) {
      const int Value =
          Log[At] != Missing ? cleanSample(Log.data(), int(At)) : Missing;
      if (Value != Missing) {
        R.Sum += (unsigned long long)(long long)Value;
        ++R.Count;
        R.Most = std::max(R.Most, Value);
      }
    }
    Right = R.Sum == S.Sum && R.Count == S.Count && R.Most == S.Most;
  }
  std::printf("reduction: %u valid of %ld samples, sum %lld, maximum %d: %s\n",
              S.Count, Length, (long long)S.Sum, S.Most,
              Check ? Right ? "right" : "WRONG" : "not checked");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Result)));
  return Right ? 0 : 1;
}
