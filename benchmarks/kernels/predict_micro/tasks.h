//===- benchmarks/kernels/predict_micro/tasks.h - gdt and pol ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of predict_micro: what is done to an item of a batch, what is known of it before,
// and the net that was trained on that.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_BENCHMARKS_TASKS_H
#define RECONVERGE_BENCHMARKS_TASKS_H

#include "../gdt/market.h"
#include "../pol/policy.h"

#include "../../../include/reconverge/device/feature.cuh"
#include "../../../include/reconverge/warp/warp_net.cuh"
namespace of_gdt {
#include "net.cuh"
}
namespace of_pol {
#include "pol_net.cuh"
}

/// gdt: the order of a day.
struct Trading {
  static constexpr int Inputs = 9;
  Market M;

  /// In the order of the net's inputs: in which gdt's kernel loads them.
  HD void inputs(int I, float (&X)[Inputs]) const {
    const int At = dayOf(M, I);
    X[0] = float(M.Price[At]);
    X[1] = float(M.Price[At - 1]);
    X[2] = float(M.Price[At - 2]);
    X[3] = float(M.Price[At - 3]);
    X[4] = float(M.Price[At - 6]);
    X[5] = float(M.Price[At - 9]);
    X[6] = float(M.Price[At - 4]);
    X[7] = float(M.Volume[At]);
    X[8] = float(M.Volume[At - 1]);
  }
  HD int path(int I) const { return ruleOf(M, dayOf(M, I)); }
  HD int result(int I) const {
    const int At = dayOf(M, I);
    return order(M, At, ruleOf(M, At));
  }
  __device__ void mark(int) const {}
  __device__ static const auto &net() { return of_gdt::plain_net; }
  __device__ static const auto &tiles() { return of_gdt::plain_tiles; }
};

/// pol: the change of a household's tax.
struct Taxing {
  static constexpr int Inputs = 5;
  Households H;
  Laws L;
  int Years;

  HD void inputs(int I, float (&X)[Inputs]) const {
    X[0] = float(H.Income[I]);
    X[1] = float(H.Wealth[I]);
    X[2] = float(H.Filing[I]);
    X[3] = float(H.Children[I]);
    X[4] = float(H.Age[I]);
  }
  HD int path(int I) const { return wayOf(H, I); }
  HD int result(int I) const {
    return change(H, L.Both, wayOf(H, I), I, Years);
  }
  /// What its net was trained on.
  __device__ void mark(int I) const {
    float X[Inputs];
    inputs(I, X);
    reconverge::feature(X[0]);
    reconverge::feature(X[1]);
    reconverge::feature(X[2]);
    reconverge::feature(X[3]);
    reconverge::feature(X[4]);
  }
  __device__ static const auto &net() { return of_pol::plain_net; }
  __device__ static const auto &tiles() { return of_pol::plain_tiles; }
};

//===----------------------------------------------------------------------===//
// Their data
//===----------------------------------------------------------------------===//

template <typename Task> struct Data;

template <> struct Data<Trading> {
  struct Size {
    explicit Size(Bench &Run)
        : Stocks(Run.integer("stocks", 20, 1, 1 << 20)),
          Days(Run.integer("days", 512, Window + 1, 1 << 20)) {}
    int count() const { return int(Stocks * (Days - Window)); }
    long Stocks, Days;
  };
  Data(const Size &S, Random Draw)
      : Of(S.Stocks, S.Days, Draw), Days(int(S.Days)), Prices(Of.Price),
        Volumes(Of.Volume) {}
  Trading here() const { return {{Of.Price.data(), Of.Volume.data(), Days}}; }
  Trading there() { return {{Prices, Volumes, Days}}; }

  History Of;
  int Days;
  DeviceArray<int> Prices, Volumes;
};

template <> struct Data<Taxing> {
  struct Size {
    explicit Size(Bench &Run)
        : Households(Run.integer("households", 5000, 1, 1 << 28)),
          Years(Run.integer("years", 40, 1, 60)) {}
    int count() const { return int(Households); }
    long Households, Years;
  };
  Data(const Size &S, Random Draw)
      : Of(S.Households, Draw), Years(int(S.Years)), A(Of.Field[0]),
        B(Of.Field[1]), C(Of.Field[2]), D(Of.Field[3]), E(Of.Field[4]) {}
  Taxing here() const {
    const auto &F = Of.Field;
    return {{F[0].data(), F[1].data(), F[2].data(), F[3].data(), F[4].data()},
            BothLaws,
            Years};
  }
  Taxing there() { return {{A, B, C, D, E}, BothLaws, Years}; }

  Population Of;
  int Years;
  DeviceArray<int> A, B, C, D, E;
};

#endif
