//===- benchmarks/kernels/binomial/binomial.cu - Options on a tree --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What European call options are worth, by the binomial tree of J. Cox, S. Ross
// and M. Rubinstein (1979; paper 4, binomialOptions). In each of many steps a
// price rises or falls by one factor. A block has an option: it begins with
// what that is worth at the end for each number of rises, and goes back a step
// at a time, in shared memory:
//
//   step n   v0  v1  v2 ... vn      value of i rises: max(price - strike, 0)
//             \  / \  /
//   step n-1  v0  v1  ...           v[i] = up * v[i + 1] + down * v[i]
//
// The device works in float, the reference in double: values may differ by
// 0.0005 of the stock's price.
//
//===----------------------------------------------------------------------===//
#include "../common/bench.h"
#include "../common/exact.h"
#include "../common/output.h"

static constexpr int Block = 128;
static constexpr double Rate = 0.02, Volatility = 0.3;

struct Option {
  float Price, Strike, Years;
};

/// Of one step: the power of two that a rise is a factor by, and what up and
/// down weigh, discounted.
struct Step {
  float Rise, Up, Down;
};

__global__ void binomial(const Option *Options, const Step *Steps, float *Out,
                         int Count) {
  extern __shared__ float Values[]; // two rows of Count + 1
  float *Now = Values, *Next = Values + Count + 1;
  const Option O = Options[blockIdx.x];
  const Step S = Steps[blockIdx.x];
  const int Thread = int(threadIdx.x);
  for (int I = Thread; I <= Count; I += Block) {
    const float Worth =
        fmaf(O.Price, power2(S.Rise * float(2 * I - Count)), -O.Strike);
    Now[I] = Worth > 0 ? Worth : 0;
  }
  for (int Left = Count; Left > 0; --Left) {
    __syncthreads();
    for (int I = Thread; I < Left; I += Block)
      Next[I] = fmaf(S.Up, Now[I + 1], S.Down * Now[I]);
    float *Done = Next;
    Next = Now;
    Now = Done;
  }
  if (Thread == 0)
    Out[blockIdx.x] = Now[0];
}

/// In a step a price rises by e to the power of Rise with this chance, or falls
/// by as much; money grows by one plus the rate.
struct Tree {
  double Rise, Grows, Chance;

  Tree(const Option &O, int Count) {
    const double Time = double(O.Years) / Count;
    Rise = Volatility * std::sqrt(Time);
    Grows = std::exp(Rate * Time);
    Chance = (Grows - std::exp(-Rise)) / (std::exp(Rise) - std::exp(-Rise));
  }
  Step step() const {
    return {float(Rise / std::log(2.)), float(Chance / Grows),
            float((1 - Chance) / Grows)};
  }
};

static double reference(const Option &O, int Count) {
  const Tree T(O, Count);
  std::vector<double> Values;
  for (int I = 0; I <= Count; ++I)
    Values.push_back(
        std::fmax(O.Price * std::exp(T.Rise * (2 * I - Count)) - O.Strike, 0));
  for (int Left = Count; Left > 0; --Left)
    for (int I = 0; I < Left; ++I)
      Values[I] =
          (T.Chance * Values[I + 1] + (1 - T.Chance) * Values[I]) / T.Grows;
  return Values[0];
}

int main(int argc, char **argv) {
  Bench Run(argc, argv, "binomial");
  const int Count = Run.integer("options", 16, 1, 1 << 20);
  const int Levels = Run.integer("steps", 200, 1, 2048);
  const int Kind = Run.integer("kind", 0, 0, 2);
  const std::string Output = Run.output();
  Run.ready();

  Random Draw = Run.random();
  const auto Any = [&](double From, double To) {
    return float(From + (To - From) * Draw.uniform());
  };
  std::vector<Option> Options;
  std::vector<Step> Steps;
  for (int I = 0; I < Count; ++I) { // of any kind; at the money; far out of it
    const float Price = Any(5, 30);
    const float Strike = Kind == 0   ? Any(1, 100)
                         : Kind == 1 ? Any(0.95, 1.05) * Price
                                     : Any(1.5, 3) * Price;
    Options.push_back({Price, Strike, Any(0.25, 10)});
    Steps.push_back(Tree(Options.back(), Levels).step());
  }
  DeviceArray<Option> There(Options);
  DeviceArray<Step> Each(Steps);
  DeviceArray<float> Out(std::vector<float>(Count, 0.f));
  Run.run([&] { Out.clear(); },
          [&] {
            binomial<<<Count, Block, 2 * (Levels + 1) * sizeof(float)>>>(
                There, Each, Out, Levels);
          });
  const std::vector<float> Got = Out.get();
  bool Right = true;
  for (int I = 0; I < Count && Run.checks(); ++I)
    Right &= std::fabs(Got[I] - reference(Options[I], Levels)) <
             0.0005 * Options[I].Price;
  writeFloats(Output, Got);
  return Run.finish(Right, checksum(Got));
}
