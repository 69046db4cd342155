//===- benchmarks/kernels/knapsack/knapsack.cu - Many small searches ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is the most that fits, for each of many sacks? All choose from the same
// items, which are in shared memory, by value for weight; each sack has a limit
// of its own. A thread has several sacks, a stride of all threads apart, and for
// each goes through the choices depth first, by branch and bound: what is left of
// the limit, filled at the next item's value for weight, is more than the rest
// can be worth; where that does not beat the best so far, it goes back.
//
// A sack takes from a dozen steps to thousands, and its neighbour as many as it
// likes: each sack of a warp waits for the longest search. With even=1 all sacks
// are alike.
//
// Flattened by hand (common/nest.h). The items' place in shared memory and the
// barrier behind them tie threads to their blocks, so that no lane can take
// another thread's sacks: refilling is no way here.
//
// The bound is that of Dantzig (Operations Research 5, 1957), the search that of
// Horowitz and Sahni (Journal of the ACM 21, 1974), both in integers.
//
//===----------------------------------------------------------------------===//
#include "../common/nest.h"

constexpr int MostItems = 30;

struct Item {
  int Weight, Value;
};

struct Sacks {
  const Item *Items; ///< the most value for weight first
  const int *Limits;
  int *Best;
  int Count, Of, Threads; ///< sacks, items
};

struct SacksOfThread {
  using Input = Sacks;
  const Item *Items;
  int Sack, Left, Value, Best, Next;
  unsigned Taken;

  static __device__ const Item *share(const Input &In) {
    __shared__ Item Table[MostItems];
    for (int I = int(threadIdx.x); I < In.Of; I += int(blockDim.x))
      Table[I] = In.Items[I];
    __syncthreads();
    return Table;
  }

  HD void start(const Input &In, int Thread, const Item *Shared) {
    Items = Shared;
    Sack = Thread - In.Threads;
  }
  HD bool next(const Input &In) {
    Sack += In.Threads;
    if (Sack >= In.Count)
      return false;
    Left = In.Limits[Sack];
    Value = Best = Next = 0;
    Taken = 0;
    return true;
  }
  HD bool more(const Input &) const { return Next >= 0; }
  HD void step(const Input &In) {
    if (Next < In.Of && isWorth(Items[Next])) {
      const Item I = Items[Next];
      if (I.Weight <= Left) {
        Left -= I.Weight;
        Value += I.Value;
        Taken |= 1u << Next;
        Best = Value > Best ? Value : Best;
      }
      ++Next;
    } else { // without the last that was taken
      Next = Taken ? highest(Taken) : -1;
      if (Taken) {
        Left += Items[Next].Weight;
        Value -= Items[Next].Value;
        Taken ^= 1u << Next;
        ++Next;
      }
    }
  }
  HD void behind(const Input &In) { In.Best[Sack] = Best; }
  HD void finish(const Input &, int) {}

private:
  /// Left / weight times value is more than what the best is ahead.
  HD bool isWorth(const Item &I) const {
    return Left * I.Value > (Best - Value) * I.Weight;
  }
  HD static int highest(unsigned Bits) {
#ifdef __CUDA_ARCH__
    return 31 - __clz(int(Bits));
#else
    return 31 - __builtin_clz(Bits);
#endif
  }
};

/// The most for each limit up to \p Most, by dynamic programming.
static std::vector<int> bestOfAll(const std::vector<Item> &Items, int Most) {
  std::vector<int> Best(Most + 1);
  for (const Item &I : Items)
    for (int Limit = Most; Limit >= I.Weight; --Limit)
      Best[Limit] = std::max(Best[Limit], Best[Limit - I.Weight] + I.Value);
  return Best;
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "knapsack");
  const int Count = int(Run.integer("sacks", 2048, 1, 1 << 24));
  const int Of = int(Run.integer("items", 16, 2, MostItems));
  const int PerThread = int(Run.integer("each", 16, 1, 1 << 16));
  const bool Even = Run.integer("even", 0, 0, 1);
  NestForms Forms(Run, 128);
  Run.ready();

  Random Draw = Run.random();
  std::vector<Item> Host(Of);
  int Whole = 0;
  for (Item &I : Host) { // values go with weights, which makes it hard
    I.Weight = 100 + int(Draw.below(900));
    I.Value = I.Weight + int(Draw.below(200));
    Whole += I.Weight;
  }
  std::sort(Host.begin(), Host.end(), [](const Item &A, const Item &B) {
    return A.Value * B.Weight > B.Value * A.Weight;
  });
  std::vector<int> HostLimits(Count);
  for (int &Limit : HostLimits)
    Limit = Even ? Whole / 2 : int(Draw.below(uint32_t(Whole)));
  DeviceArray<Item> Items(Host);
  DeviceArray<int> Limits(HostLimits), Best{std::vector<int>(Count)};
  const int Threads = (Count + PerThread - 1) / PerThread;
  return Forms.run<SacksOfThread>(
      {Items, Limits, Best, Count, Of, Threads}, Threads, [&] { Best.clear(); },
      [&] { return Best.get(); },
      [&](const std::vector<int> &Got) {
        const std::vector<int> OfLimit = bestOfAll(Host, Whole);
        bool Right = true;
        for (int I = 0; I < Count; ++I)
          Right &= Got[I] == OfLimit[HostLimits[I]];
        return Right;
      });
}
