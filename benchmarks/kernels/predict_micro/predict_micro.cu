//===- benchmarks/kernels/predict_micro/predict_micro.cu - Fused ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches of gdt's decision tree, or of pol's households, whose items are put in
// order by the path that a net foretells. While batch n is worked on, the classes of
// batch n + 1 can be foretold: after the other, in two streams, by programmatic
// dependent launch, or in one kernel. As W. Pang et al. have it (DAC 2024), some
// warps of a thread block do the one and some the other:
//
//   block of the fused kernel   | 8 warps: work(n)       | W warps: foretell(n + 1) |
//   works on                    | blocks b, b + grid,... | 32 items, by turns       |
//   meets at                    | named barrier 1, 256   | nothing                  |
//
// As many blocks run as fit the GPU at once. Registers are what the dearer part
// takes, for all warps, so that fewer of them run. Two simpler kernels have a thread
// block for each of the user's, and registers held down: `both`, whose threads
// foretell first and then work, and `mixed`, whose blocks do the one or the other.
//
// The user's kernel ends with a sum over the thread block, so that it has barriers:
// in the fused kernel one that only its own warps come to.
//
// What foretells is computed by tensor cores or by fused multiply-adds
// (reconverge/warp/warp_net.cuh), or is the condition itself. Every way must leave
// the same results, and all ways of one source the same classes.
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
template <typename Task> struct OnDevice {
  OnDevice(Data<Task> &Of, int Count)
      : On(Of.there()), Results(std::vector<int>(Count)),
        Above(std::vector<unsigned>(1)), Order(Count, 5), Count(Count) {}
  void clear() {
    Results.clear();
    Above.clear();
  }
  Batch<Task> batch(bool InOrder) {
    return {On, Count, InOrder ? Order.ids() : nullptr, Results, Above};
  }
  Ahead<Task> ahead() { return {On, Count, Order.keys()}; }
  Task On;
  DeviceArray<int> Results;
  DeviceArray<unsigned> Above;
  GridOrder<unsigned char> Order;
  int Count;
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
  bool Works, Foretells;
  std::string Use = {}; ///< what the GPU's part is, if both are one kernel
  bool isOne() const { return !Use.empty(); }
  bool isBoth() const { return Works && Foretells; }
};

/// What is compared of one source of classes.
template <typename Task, typename Source> class Forms {
public:
  Forms(std::string Name, OnDevice<Task> &Now, OnDevice<Task> &Next)
      : Name(std::move(Name)), Now(Now), Next(Next) {
    foretoldBy(Now.ahead(), nullptr);
    Now.Order.make();
    Classes = Now.Order.keysOnHost();
    add("work", true, false, [&] { work(nullptr); });
    add("foretell", false, true, [&] { foretoldBy(Next.ahead(), nullptr); });
    add("sequential", true, true, [&] {
      foretoldBy(Next.ahead(), nullptr);
      work(nullptr);
    });
    // Few blocks a processor leave room for another kernel's.
    for (int Each : {1, 2, 4}) {
      const int Blocks = Each * processors();
      add("streams" + std::to_string(Each), true, true, [this, Blocks] {
        Both.fork();
        foretoldBy(this->Next.ahead(), Both.Two, Blocks);
        work(Both.One);
        Both.join();
      });
      add("dependent" + std::to_string(Each), true, true, [this, Blocks] {
        Both.fork();
        foretold<Task, Source, true>
            <<<Blocks, Block, 0, Both.One>>>(this->Next.ahead());
        workLate(Both.One);
        Both.join();
      });
    }
    addFused<2>();
    addFused<4>();
    addByBlocks<4>();
    addByBlocks<6>();
    addByBlocks<8>();
    add("whole", true, true, [&] {
      foretoldBy(Next.ahead(), nullptr);
      Next.Order.make();
      work(nullptr);
    });
    add("whole-one", true, true, [&] {
      All[Best].Launch();
      Next.Order.make();
    });
  }

  /// Runs each once; whether all have left \p Results, and the same classes.
  bool run(const std::vector<int> &Results) {
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
      const bool Same = (!F.Works || Now.Results.get() == Results) &&
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
      // Which of those in one kernel is tried with the sort.
      for (size_t F = 0; F < All.size(); ++F)
        if (All[F].isOne() && median(F) < median(Best))
          Best = F;
    }
  }

  void print() const {
    for (size_t F = 0; F < All.size() && !Times[F].empty(); ++F) {
      if (All[F].isOne())
        std::printf("use %s: %s\n", All[F].Name.c_str(), All[F].Use.c_str());
      std::printf("ms %s:", All[F].Name.c_str());
      for (float Ms : Times[F])
        std::printf(" %.6f", Ms);
      std::printf("\n");
    }
    if (Times[0].empty())
      return;
    const float Cd = median(0), Tc = median(1);
    for (size_t F = 0; F < All.size(); ++F) {
      if (!All[F].isBoth() || All[F].Name.rfind("whole", 0) == 0)
        continue;
      const float Saved = Cd + Tc - median(F);
      std::printf("overlap %s: rate=%.4f hidden=%.4f\n", All[F].Name.c_str(),
                  Saved / (Cd + Tc), Saved / std::min(Cd, Tc));
    }
  }

  std::vector<unsigned char> Classes; ///< of the batch that is worked on

private:
  void add(const std::string &What, bool Works, bool Foretells,
           std::function<void()> Launch) {
    All.push_back({What + "-" + Name, std::move(Launch), Works, Foretells});
    Times.emplace_back();
  }
  template <typename Kernel>
  void addOne(const std::string &What, Kernel *K, int Blocks, int Threads) {
    Best = Best ? Best : All.size();
    add(What, true, true, [this, K, Threads, Blocks] {
      K<<<Blocks, Threads>>>(Now.batch(true), Next.ahead());
    });
    cudaFuncAttributes Use;
    CHECK_CUDA(cudaFuncGetAttributes(&Use, K));
    All.back().Use = "blocks=" + std::to_string(Blocks) +
                     " threads=" + std::to_string(Threads) +
                     " registers=" + std::to_string(Use.numRegs) +
                     " at-once=" + std::to_string(resident(K, Threads)) +
                     " local=" + std::to_string(Use.localSizeBytes);
  }
  template <int NetWarps> void addFused() {
    const auto K = &fused<Task, Source, NetWarps>;
    const int Threads = Block + 32 * NetWarps;
    addOne("fused" + std::to_string(NetWarps), K, resident(K, Threads),
           Threads);
  }
  template <int Least> void addByBlocks() {
    const std::string Each = std::to_string(Least);
    addOne("both" + Each, &both<Task, Source, Least>, blocks(), Block);
    addOne("mixed" + Each, &mixed<Task, Source, Least>, 2 * blocks(), Block);
  }
  int blocks() const { return (Now.Count + Block - 1) / Block; }
  void work(cudaStream_t In) {
    plain<Task, false><<<blocks(), Block, 0, In>>>(Now.batch(true));
  }
  /// While what is before it in the stream still runs: it needs nothing of that.
  void workLate(cudaStream_t In) {
    cudaLaunchConfig_t Config = {};
    Config.gridDim = blocks();
    Config.blockDim = Block;
    Config.stream = In;
    cudaLaunchAttribute Late = {};
    Late.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    Late.val.programmaticStreamSerializationAllowed = 1;
    Config.attrs = &Late;
    Config.numAttrs = 1;
    CHECK_CUDA(
        cudaLaunchKernelEx(&Config, &plain<Task, true>, Now.batch(true)));
  }
  void foretoldBy(Ahead<Task> Of, cudaStream_t In, int Blocks = 0) {
    const auto Kernel = &foretold<Task, Source, false>;
    Kernel<<<Blocks ? Blocks : resident(Kernel, Block), Block, 0, In>>>(Of);
  }
  float median(size_t F) const {
    std::vector<float> Sorted = Times[F];
    std::sort(Sorted.begin(), Sorted.end());
    return Sorted[Sorted.size() / 2];
  }

  const std::string Name;
  OnDevice<Task> &Now, &Next;
  Streams Both;
  std::vector<Timed> All;
  std::vector<std::vector<float>> Times;
  size_t Best = 0; ///< of those in one kernel; 0: there is none yet
};

/// How many lanes of the warps take the path that most lanes of their warp take, in
/// the order by \p Class, or as they are if there is none.
template <typename Task>
static double purity(const Task &On, int Count,
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
      ++Lanes[On.path(Order[T])];
    Same += *std::max_element(Lanes, Lanes + 8);
  }
  return double(Same) / Count;
}

/// The paper's pipeline: classes to the CPU, where a heap sorts them, and the order
/// back. Groups of fewer than 64 join the next. ms
template <typename Task> static double sortOnCpu(OnDevice<Task> &Next) {
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

template <typename Task> static int compareAll(Bench &Run, bool OnCpu) {
  const typename Data<Task>::Size Size(Run);
  Run.ready();
  const int Count = Size.count();
  Data<Task> Here(Size, Run.random()), Later(Size, Run.random(1));
  OnDevice<Task> Now(Here, Count), Next(Later, Count);
  const Task OnHost = Here.here();

  // As it is; what it leaves is what all have to leave.
  const auto Plain = [&] {
    plain<Task, false>
        <<<(Count + Block - 1) / Block, Block>>>(Now.batch(false));
  };
  Run.run([&] { Now.clear(); }, Plain);
  Now.clear();
  Plain();
  CHECK_LAUNCH();
  const std::vector<int> Results = Now.Results.get();
  bool Right = true;
  for (int I = 0; I < Count && Run.checks(); ++I)
    Right &= Results[I] == OnHost.result(I);
  if (Run.checks())
    std::printf("purity plain: %.4f\n", purity(OnHost, Count, nullptr));
  const auto Compare = [&](const char *Name, auto Of) {
    Right &= Of.run(Results);
    Of.time(Run.repeats());
    Of.print();
    if (Run.checks())
      std::printf("purity %s: %.4f\n", Name,
                  purity(OnHost, Count, &Of.Classes));
  };
  Compare("mma", Forms<Task, ByTiles<Task>>("mma", Now, Next));
  Compare("fma", Forms<Task, ByFma<Task>>("fma", Now, Next));
  Compare("condition", Forms<Task, ByCondition<Task>>("condition", Now, Next));
  if (OnCpu)
    std::printf("ms cpu-sort: %.6f\n", sortOnCpu(Next));
  return Run.finish(Right, checksum(Results));
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "predict_micro");
  const bool OfPol = Run.integer("pol", 0, 0, 1);
  const bool OnCpu = Run.integer("cpu", 0, 0, 1);
  return OfPol ? compareAll<Taxing>(Run, OnCpu)
               : compareAll<Trading>(Run, OnCpu);
}
