//===- benchmarks/kernels/predict_micro/predict_micro.cu - Fused ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of the decision tree gdt, whose days are put in order by the rule that a
// net foretells. While the rules of batch n are computed, those of batch n + 1 can
// be foretold: after the other, in two streams, by programmatic dependent launch,
// or in one kernel (W. Pang et al., DAC 2024), of whose thread blocks some warps do
// the one and some the other:
//
//   block of the fused kernel   | 8 warps: trade(n)      | W warps: foretell(n + 1) |
//   works on                    | blocks b, b + grid,... | 32 items, by turns       |
//   meets at                    | named barrier 1, 256   | nothing                  |
//
// As many blocks run as fit the GPU at once. The rules end with a sum over the
// thread block, so that trade() has barriers: in the fused kernel one that only its
// own warps come to.
//
// What foretells is computed by tensor cores or by fused multiply-adds
// (reconverge/warp/warp_net.cuh; net.cuh has the weights), or is the condition
// itself. Every way must leave the same orders, and all ways of one source the same
// classes.
//
//===----------------------------------------------------------------------===//
#include "batches.h"

#include <algorithm>
#include <chrono>
#include <functional>

//===----------------------------------------------------------------------===//
// Ways to run both
//===----------------------------------------------------------------------===//

static int processors() {
  int Count = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&Count, cudaDevAttrMultiProcessorCount, 0));
  return Count;
}
/// Blocks of \p K that the GPU runs at once.
template <typename Kernel> static int resident(Kernel *K, int Threads) {
  int Each = 0;
  CHECK_CUDA(
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Each, K, Threads, 0));
  return std::max(Each, 1) * processors();
}

/// A batch on the device.
struct OnDevice {
  OnDevice(const History &Of, int Count, int Days)
      : Prices(Of.Price), Volumes(Of.Volume), Orders(std::vector<int>(Count)),
        Buys(std::vector<unsigned>(1)), Order(Count, 5), Count(Count),
        Days(Days) {}
  void clear() {
    Orders.clear();
    Buys.clear();
  }
  Batch batch(bool InOrder) {
    return {{Prices, Volumes, Days},
            Count,
            InOrder ? Order.ids() : nullptr,
            Orders,
            Buys};
  }
  Ahead ahead() { return {{Prices, Volumes, Days}, Count, Order.keys()}; }
  DeviceArray<int> Prices, Volumes, Orders;
  DeviceArray<unsigned> Buys;
  GridOrder<unsigned char> Order;
  int Count, Days;
};

/// Streams that begin where the default stream is, and that it waits for.
class Streams {
public:
  Streams() {
    int Least = 0, Most = 0;
    CHECK_CUDA(cudaDeviceGetStreamPriorityRange(&Least, &Most));
    CHECK_CUDA(
        cudaStreamCreateWithPriority(&One, cudaStreamNonBlocking, Least));
    CHECK_CUDA(cudaStreamCreateWithPriority(&Two, cudaStreamNonBlocking, Most));
    for (cudaEvent_t *E : {&Fork, &OfOne, &OfTwo})
      CHECK_CUDA(cudaEventCreateWithFlags(E, cudaEventDisableTiming));
  }
  void fork() {
    CHECK_CUDA(cudaEventRecord(Fork));
    CHECK_CUDA(cudaStreamWaitEvent(One, Fork));
    CHECK_CUDA(cudaStreamWaitEvent(Two, Fork));
  }
  void join() {
    CHECK_CUDA(cudaEventRecord(OfOne, One));
    CHECK_CUDA(cudaEventRecord(OfTwo, Two));
    CHECK_CUDA(cudaStreamWaitEvent(nullptr, OfOne));
    CHECK_CUDA(cudaStreamWaitEvent(nullptr, OfTwo));
  }
  cudaStream_t One, Two; ///< the second goes first where both could

private:
  cudaEvent_t Fork, OfOne, OfTwo;
};

/// Something that is timed, and which of the two it does.
struct Timed {
  std::string Name;
  std::function<void()> Launch;
  bool Trades, Foretells;
  std::string Use = {}; ///< what the GPU's part is, of a fused kernel
};

/// What is compared of one source of classes.
template <typename Source> class Forms {
public:
  Forms(std::string Name, OnDevice &Now, OnDevice &Next)
      : Name(std::move(Name)), Now(Now), Next(Next) {
    foretoldBy(Now.ahead(), nullptr);
    Now.Order.make();
    Classes = Now.Order.keysOnHost();
    add("trade", true, false, [&] { trade(nullptr); });
    add("foretell", false, true, [&] { foretoldBy(Next.ahead(), nullptr); });
    add("sequential", true, true, [&] {
      foretoldBy(Next.ahead(), nullptr);
      trade(nullptr);
    });
    add("streams", true, true, [&] {
      Both.fork();
      foretoldBy(Next.ahead(), Both.Two, Narrow);
      trade(Both.One);
      Both.join();
    });
    add("dependent", true, true, [&] {
      Both.fork();
      foretold<Source, true><<<Narrow, Block, 0, Both.One>>>(Next.ahead());
      tradeLate(Both.One);
      Both.join();
    });
    addFused<1>();
    addFused<2>();
    addFused<4>();
    addFused<8>();
    add("whole", true, true, [&] {
      foretoldBy(Next.ahead(), nullptr);
      Next.Order.make();
      trade(nullptr);
    });
    add("whole-fused", true, true, [&] {
      All[4 + Best].Launch(); // of those above
      Next.Order.make();
    });
  }

  /// Runs each once; whether all have left \p Orders, and the same classes.
  bool run(const std::vector<int> &Orders) {
    std::vector<unsigned char> First;
    bool Right = true;
    for (const Timed &F : All) {
      Now.clear();
      Next.Order.clearKeys();
      F.Launch();
      CHECK_LAUNCH();
      CHECK_CUDA(cudaDeviceSynchronize());
      const auto Got = Next.Order.keysOnHost();
      if (F.Foretells && First.empty())
        First = Got;
      const bool Same = (!F.Trades || Now.Orders.get() == Orders) &&
                        (!F.Foretells || Got == First);
      if (!Same)
        std::printf("%s leaves other bytes\n", F.Name.c_str());
      Right &= Same;
    }
    return Right;
  }

  void time(long Repeat) {
    for (long R = 0; R < Repeat; ++R) {
      for (size_t F = 0; F < All.size(); ++F) {
        Now.clear();
        Times[F].push_back(Bench::milliseconds(All[F].Launch));
      }
      // Which fused form is tried further.
      for (size_t W = 1; W <= 4; ++W)
        if (median(4 + W) < median(4 + Best))
          Best = W;
    }
  }

  void print() const {
    for (size_t F = 0; F < All.size() && !Times[F].empty(); ++F) {
      if (!All[F].Use.empty())
        std::printf("use %s: %s\n", All[F].Name.c_str(), All[F].Use.c_str());
      std::printf("ms %s:", All[F].Name.c_str());
      for (float Ms : Times[F])
        std::printf(" %.6f", Ms);
      std::printf("\n");
    }
    if (Times[0].empty())
      return;
    const float Cd = median(0), Tc = median(1);
    for (size_t F = 2; F <= 8; ++F) {
      const float Saved = Cd + Tc - median(F);
      std::printf("overlap %s: rate=%.4f hidden=%.4f\n", All[F].Name.c_str(),
                  Saved / (Cd + Tc), Saved / std::min(Cd, Tc));
    }
  }

  std::vector<unsigned char> Classes; ///< of the batch that is traded

private:
  void add(const char *What, bool Trades, bool Foretells,
           std::function<void()> Launch) {
    All.push_back({What + ("-" + Name), std::move(Launch), Trades, Foretells});
    Times.emplace_back();
  }
  template <int NetWarps> void addFused() {
    const auto Kernel = &fused<Source, NetWarps>;
    const int Threads = Block + 32 * NetWarps;
    const int Blocks = resident(Kernel, Threads);
    const std::string What = "fused" + std::to_string(NetWarps);
    add(What.c_str(), true, true, [this, Kernel, Threads, Blocks] {
      Kernel<<<Blocks, Threads>>>(Now.batch(true), Next.ahead());
    });
    cudaFuncAttributes Use;
    CHECK_CUDA(cudaFuncGetAttributes(&Use, Kernel));
    All.back().Use = "blocks=" + std::to_string(Blocks) +
                     " threads=" + std::to_string(Threads) +
                     " registers=" + std::to_string(Use.numRegs);
  }
  int blocks() const { return (Now.Count + Block - 1) / Block; }
  void trade(cudaStream_t In) {
    plain<false><<<blocks(), Block, 0, In>>>(Now.batch(true));
  }
  /// While what is before it in the stream still runs: it needs nothing of that.
  void tradeLate(cudaStream_t In) {
    cudaLaunchConfig_t Config = {};
    Config.gridDim = blocks();
    Config.blockDim = Block;
    Config.stream = In;
    cudaLaunchAttribute Late = {};
    Late.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    Late.val.programmaticStreamSerializationAllowed = 1;
    Config.attrs = &Late;
    Config.numAttrs = 1;
    CHECK_CUDA(cudaLaunchKernelEx(&Config, &plain<true>, Now.batch(true)));
  }
  void foretoldBy(Ahead Of, cudaStream_t In, int Blocks = 0) {
    const auto Kernel = &foretold<Source, false>;
    Kernel<<<Blocks ? Blocks : resident(Kernel, Block), Block, 0, In>>>(Of);
  }
  float median(size_t F) const {
    std::vector<float> Sorted = Times[F];
    std::sort(Sorted.begin(), Sorted.end());
    return Sorted[Sorted.size() / 2];
  }

  const std::string Name;
  OnDevice &Now, &Next;
  Streams Both;
  std::vector<Timed> All;
  std::vector<std::vector<float>> Times;
  /// Blocks that leave room for another kernel's: one a processor.
  const int Narrow = processors();
  size_t Best = 1; ///< fused form, from 1 on
};

/// How many lanes of the warps take the rule that most lanes of their warp take, in
/// the order by \p Class, or as they are if there is none.
static double purity(const Market &M, int Count,
                     const std::vector<unsigned char> *Class) {
  std::vector<int> Order(Count);
  for (int I = 0; I < Count; ++I)
    Order[I] = I;
  if (Class)
    std::stable_sort(Order.begin(), Order.end(),
                     [&](int A, int B) { return (*Class)[A] < (*Class)[B]; });
  long Same = 0;
  for (int First = 0; First < Count; First += 32) {
    int Lanes[8] = {};
    for (int T = First; T < std::min(First + 32, Count); ++T)
      ++Lanes[ruleOf(M, dayOf(M, Order[T]))];
    Same += *std::max_element(Lanes, Lanes + 8);
  }
  return double(Same) / Count;
}

/// The paper's pipeline: classes to the CPU, where a heap sorts them, and the order
/// back. Groups of fewer than 64 join the next. ms
static double sortOnCpu(OnDevice &Next) {
  const auto Begin = std::chrono::steady_clock::now();
  const std::vector<unsigned char> Class = Next.Order.keysOnHost();
  std::vector<int> Order(Class.size()), Of(256);
  for (unsigned char C : Class)
    ++Of[C];
  std::vector<unsigned char> Group(256);
  for (int C = 0, G = 0, Size = 0; C < 256; ++C) {
    Group[C] = static_cast<unsigned char>(G);
    Size += Of[C];
    if (Size >= 64) {
      G = C + 1;
      Size = 0;
    }
  }
  for (size_t I = 0; I < Order.size(); ++I)
    Order[I] = int(I);
  const auto Before = [&](int A, int B) {
    return Group[Class[A]] != Group[Class[B]]
               ? Group[Class[A]] < Group[Class[B]]
               : A < B;
  };
  std::make_heap(Order.begin(), Order.end(), Before);
  std::sort_heap(Order.begin(), Order.end(), Before);
  DeviceArray<int> There(Order);
  CHECK_CUDA(cudaDeviceSynchronize());
  return std::chrono::duration<double, std::milli>(
             std::chrono::steady_clock::now() - Begin)
      .count();
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "predict_micro");
  const long Stocks = Run.integer("stocks", 20, 1, 1 << 20);
  const long Days = Run.integer("days", 512, Window + 1, 1 << 20);
  const long Cpu = Run.integer("cpu", 0, 0, 1);
  Run.ready();
  const int Count = static_cast<int>(Stocks * (Days - Window));
  const History Here(Stocks, Days, Run.random()),
      Later(Stocks, Days, Run.random(1));
  OnDevice Now(Here, Count, int(Days)), Next(Later, Count, int(Days));
  const Market OnHost = {Here.Price.data(), Here.Volume.data(), int(Days)};

  // As it is; what it leaves is what all have to leave.
  const auto Plain = [&] {
    plain<false><<<(Count + Block - 1) / Block, Block>>>(Now.batch(false));
  };
  Run.run([&] { Now.clear(); }, Plain);
  Now.clear();
  Plain();
  CHECK_LAUNCH();
  const std::vector<int> Orders = Now.Orders.get();
  bool Right = true;
  for (int I = 0; I < Count && Run.checks(); ++I)
    Right &= Orders[I] ==
             order(OnHost, dayOf(OnHost, I), ruleOf(OnHost, dayOf(OnHost, I)));
  if (Run.checks())
    std::printf("purity plain: %.4f\n", purity(OnHost, Count, nullptr));
  const auto Compare = [&](auto Of) {
    Right &= Of.run(Orders);
    Of.time(Run.repeats());
    Of.print();
    return std::move(Of.Classes);
  };
  const auto Judge = [&](const char *Name,
                         const std::vector<unsigned char> &Class) {
    if (Run.checks())
      std::printf("purity %s: %.4f\n", Name, purity(OnHost, Count, &Class));
  };
  Judge("mma", Compare(Forms<ByTiles>("mma", Now, Next)));
  Judge("fma", Compare(Forms<ByFma>("fma", Now, Next)));
  Judge("condition", Compare(Forms<ByCondition>("condition", Now, Next)));
  if (Cpu)
    std::printf("ms cpu-sort: %.6f\n", sortOnCpu(Next));
  return Run.finish(Right, checksum(Orders));
}
