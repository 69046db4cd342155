//===- examples/automaton/automaton.cu - Lesson 19: a burning forest ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cellular automaton in three dimensions, as of fire in a forest (B. Drossel,
// F. Schwabl, 1992), on a torus:
//
//     empty  --grows, by chance-->  tree  --a neighbour burns-->  fire
//       ^                            |                             |
//       |                            '--lightning, rarely--> fire  |
//       '--- ash, some steps <-------------------------------------'
//
// Each state has a rule of its own, so a warp meets as many arms as it has
// states among its cells; a tree looks at its 26 neighbours until it finds one
// that burns. The ash's age is in the same byte.
//
// Two kernels take turns: one reads the neighbours where they are, one from a
// tile with a halo in shared memory. Both ask the same rule, which asks for the
// neighbours only if it must know.
//
// Chance is a hash of position and step: no generator's state, no order of
// cells, and the host's run is the same.
//
//===----------------------------------------------------------------------===//
#include "../common/check.h"
#include "../common/checksum.h"
#include "../common/options.h"
#include "../common/random.h"

#include <algorithm>
#include <vector>

/// States; a burnt cell counts from Ash down to Empty.
enum : unsigned char { Empty = 0, Ash = 6, Fire = 7, Tree = 8 };

static constexpr int TileX = 16, TileY = 4, TileZ = 4; // a block's cells

struct Rules {
  int Width, Height, Depth;
  unsigned Growth;    ///< of 2^16, a step
  unsigned Lightning; ///< of 2^24, a step
};

/// 32 bits from a cell and a step: rounds of multiply and shift.
EXAMPLE_HD inline unsigned chance(unsigned Cell, unsigned Step) {
  unsigned X = Cell * 0x9e3779b1u + Step * 0x85ebca77u;
  X = (X ^ (X >> 15)) * 0x2c1b3c6du;
  X = (X ^ (X >> 12)) * 0x297a2d39u;
  return X ^ (X >> 15);
}

EXAMPLE_HD inline int wrapped(int I, int Size) {
  return I < 0 ? I + Size : I >= Size ? I - Size : I;
}

/// Does a cell burn among the 26 around X, Y, Z?
struct BurnsAround {
  const Rules &R;
  const unsigned char *Cells;
  int X, Y, Z;

  EXAMPLE_HD bool operator()() const {
    for (int Dz = -1; Dz <= 1; ++Dz)
      for (int Dy = -1; Dy <= 1; ++Dy) {
        const int Row =
            (wrapped(Z + Dz, R.Depth) * R.Height + wrapped(Y + Dy, R.Height)) *
            R.Width;
        for (int Dx = -1; Dx <= 1; ++Dx)
          if (Cells[Row + wrapped(X + Dx, R.Width)] == Fire)
            return true;
      }
    return false;
  }
};

/// What becomes of a cell in state \p Here at \p At; \p BurnsAround is asked if
/// it matters.
template <typename Question>
EXAMPLE_HD inline unsigned char next(const Rules &R, unsigned char Here, int At,
                                     unsigned Step,
                                     const Question &BurnsAround) {
  switch (Here) {
  case Empty:
    return (chance(At, Step) & 0xffff) < R.Growth ? Tree : Empty;
  case Tree:
    if (BurnsAround())
      return Fire;
    return (chance(At, Step) & 0xffffff) < R.Lightning ? Fire : Tree;
  case Fire:
    return Ash;
  default:
    return (unsigned char)(Here - 1);
  }
}

__global__ void advance(Rules R, const unsigned char *In, unsigned char *Out,
                        unsigned Step) {
  const int X = int(blockIdx.x * blockDim.x + threadIdx.x);
  const int Y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int Z = int(blockIdx.z * blockDim.z + threadIdx.z);
  if (X >= R.Width || Y >= R.Height || Z >= R.Depth)
    return;
  const int At = (Z * R.Height + Y) * R.Width + X;
  Out[At] = next(R, In[At], At, Step, BurnsAround{R, In, X, Y, Z});
}

/// The same by tiles with a halo of one cell, shared by a block: each cell is
/// fetched about twice instead of 27 times.
__global__ void advanceTiled(Rules R, const unsigned char *In,
                             unsigned char *Out, unsigned Step) {
  __shared__ unsigned char Tile[TileZ + 2][TileY + 2][TileX + 2];
  const int FirstX = int(blockIdx.x) * TileX, FirstY = int(blockIdx.y) * TileY,
            FirstZ = int(blockIdx.z) * TileZ;
  const int Thread =
      int((threadIdx.z * TileY + threadIdx.y) * TileX + threadIdx.x);
  for (int I = Thread; I < int(sizeof(Tile)); I += TileX * TileY * TileZ) {
    const int X = I % (TileX + 2), Y = I / (TileX + 2) % (TileY + 2),
              Z = I / ((TileX + 2) * (TileY + 2));
    // The last tiles reach beyond the torus: modulo, not wrapped().
    const int FromX = (FirstX + X - 1 + R.Width) % R.Width,
              FromY = (FirstY + Y - 1 + R.Height) % R.Height,
              FromZ = (FirstZ + Z - 1 + R.Depth) % R.Depth;
    Tile[Z][Y][X] = In[(FromZ * R.Height + FromY) * R.Width + FromX];
  }
  __syncthreads();
  const int X = int(threadIdx.x), Y = int(threadIdx.y), Z = int(threadIdx.z);
  if (FirstX + X >= R.Width || FirstY + Y >= R.Height || FirstZ + Z >= R.Depth)
    return;
  auto BurnsAround = [&] {
    for (int Dz = 0; Dz <= 2; ++Dz)
      for (int Dy = 0; Dy <= 2; ++Dy)
        for (int Dx = 0; Dx <= 2; ++Dx)
          if (Tile[Z + Dz][Y + Dy][X + Dx] == Fire)
            return true;
    return false;
  };
  const int At = ((FirstZ + Z) * R.Height + FirstY + Y) * R.Width + FirstX + X;
  Out[At] = next(R, Tile[Z + 1][Y + 1][X + 1], At, Step, BurnsAround);
}

/// How many cells are in each state, a state a lane's counter: warps vote.
__global__ void census(const unsigned char *Cells, int Count,
                       unsigned *Counts) {
  __shared__ unsigned OfBlock[Tree + 1];
  const int T = int(threadIdx.x);
  if (T <= Tree)
    OfBlock[T] = 0;
  __syncthreads();
  const int At = int(blockIdx.x * blockDim.x) + T;
  const unsigned Taking = __ballot_sync(0xffffffffu, At < Count);
  if (At < Count) {
    const unsigned Same = __match_any_sync(Taking, unsigned(Cells[At]));
    if (__ffs(Same) - 1 == T % warpSize) // the first of each state adds for all
      atomicAdd(&OfBlock[Cells[At]], unsigned(__popc(Same)));
  }
  __syncthreads();
  if (T <= Tree && OfBlock[T])
    atomicAdd(&Counts[T], OfBlock[T]);
}

int main(int argc, char **argv) {
  Options Args(argc, argv);
  Rules R;
  R.Width = int(Args.integer("width", 70, 3, 1024));
  R.Height = int(Args.integer("height", 60, 3, 1024));
  R.Depth = int(Args.integer("depth", 50, 3, 1024));
  R.Growth = unsigned(Args.integer("growth", 2000, 0, 1 << 16));
  R.Lightning = unsigned(Args.integer("lightning", 200, 0, 1 << 24));
  const long Steps = Args.integer("steps", 30, 1, 1 << 20);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Check = Args.integer("check", 1, 0, 1);
  Args.done();

  const size_t Count = size_t(R.Width) * R.Height * R.Depth;
  std::vector<unsigned char> Cells(Count);
  Random Draw(uint64_t(Seed), 20);
  for (unsigned char &Cell : Cells)
    Cell = Draw.below(2) ? Tree : Empty;
  unsigned char *From = nullptr, *To = nullptr;
  unsigned *DeviceCounts = nullptr;
  CHECK_CUDA(cudaMalloc(&From, Count));
  CHECK_CUDA(cudaMalloc(&To, Count));
  CHECK_CUDA(cudaMalloc(&DeviceCounts, (Tree + 1) * sizeof(unsigned)));
  CHECK_CUDA(cudaMemset(DeviceCounts, 0, (Tree + 1) * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(From, Cells.data(), Count, cudaMemcpyHostToDevice));

  const dim3 Block(TileX, TileY, TileZ);
  const dim3 Grid((R.Width + Block.x - 1) / Block.x,
                  (R.Height + Block.y - 1) / Block.y,
                  (R.Depth + Block.z - 1) / Block.z);
  for (unsigned Step = 0; Step < unsigned(Steps); ++Step) {
    if (Step % 2)
      advance<<<Grid, Block>>>(R, From, To, Step);
    else
      advanceTiled<<<Grid, Block>>>(R, From, To, Step);
    CHECK_LAUNCH();
    std::swap(From, To);
  }
  census<<<unsigned((Count + 255) / 256), 256>>>(From, int(Count),
                                                 DeviceCounts);
  CHECK_LAUNCH();
  CHECK_CUDA(cudaDeviceSynchronize());
  std::vector<unsigned char> Result(Count);
  std::vector<unsigned> Counts(Tree + 1);
  CHECK_CUDA(cudaMemcpy(Result.data(), From, Count, cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(Counts.data(), DeviceCounts,
                        Counts.size() * sizeof(unsigned),
                        cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(From));
  CHECK_CUDA(cudaFree(To));
  CHECK_CUDA(cudaFree(DeviceCounts));

  long Wrong = 0;
  for (unsigned State = 0; State <= Tree; ++State)
    Wrong += Counts[State] !=
             unsigned(std::count(Result.begin(), Result.end(), State));
  if (Check) {
    std::vector<unsigned char> Next(Count);
    for (unsigned Step = 0; Step < unsigned(Steps); ++Step) {
      for (int Z = 0; Z < R.Depth; ++Z)
        for (int Y = 0; Y < R.Height; ++Y)
          for (int X = 0; X < R.Width; ++X) {
            const int At = (Z * R.Height + Y) * R.Width + X;
            Next[At] = next(R, Cells[At], At, Step,
                            BurnsAround{R, Cells.data(), X, Y, Z});
          }
      std::swap(Cells, Next);
    }
    for (size_t At = 0; At < Count; ++At)
      Wrong += Cells[At] != Result[At];
  }
  std::printf("automaton: %d x %d x %d cells, %ld steps, %u trees, %u fires: ",
              R.Width, R.Height, R.Depth, Steps, Counts[Tree], Counts[Fire]);
  if (Wrong)
    std::printf("%ld WRONG\n", Wrong);
  else
    std::printf(Check ? "right\n" : "not checked\n");
  std::printf("checksum: %016llx\n",
              static_cast<unsigned long long>(checksum(Result)));
  return Wrong ? 1 : 0;
}
