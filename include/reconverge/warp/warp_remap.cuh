//===- reconverge/warp/warp_remap.cuh - Lanes trade places ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// warp_remap: the lanes of a warp in the order of their paths. A warp alone
// does not diverge less for it. It serves where the lanes of a path then do
// something together: write a compacted list, read what lies side by side, or
// fill the first lanes of a loop with what is left to do.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARP_WARP_REMAP_CUH
#define RECONVERGE_WARP_WARP_REMAP_CUH

#include "../detail/pack.cuh"
#include "../detail/threads.cuh"

namespace reconverge {

/// What a lane is after a round.
struct warp_remap_result {
  int id;           ///< the lane whose data it works on
  int path;         ///< the path of that data
  int taker;        ///< the lane that works on its own data
  bool is_identity; ///< all lanes have one path; the same warp-wide
};

/// A warp's lanes exchange identities by path: stable, by ballots and shuffles.
///
/// Paths  1 to 32
///
/// Who takes part: the lanes that the constructor is told, in each call; they
/// are the warp's first ones. No storage, no barrier.
/// Cost: a ballot a path and about 40 instructions; a shuffle a word that is
/// exchanged.
///
/// \code
///   __global__ void compact(const int *in, int *out) {
///     reconverge::warp_remap<2> remap;
///     int x = in[threadIdx.x];
///     const auto r = remap(x == 0);
///     remap.exchange(r, x);
///     out[threadIdx.x] = x; // in each warp, zeros last
///   }
/// \endcode
template <int Paths = 2> class warp_remap {
  static_assert(Paths >= 1 && Paths <= 32, "a round takes 1 to 32 paths");

public:
  RECONVERGE_DEVICE explicit warp_remap(unsigned members = detail::whole_warp)
      : members_(members), lane_(detail::linear_thread() % 32) {
    RECONVERGE_ASSERT((members & (members + 1)) == 0);
  }

  /// A round: `path`, from 0 to Paths - 1, is that of the caller's own data.
  RECONVERGE_DEVICE warp_remap_result operator()(int path) const {
    RECONVERGE_ASSERT(path >= 0 && path < Paths);
    warp_remap_result r = {lane_, path, lane_, true};
    unsigned taken = members_; // the lanes of the path that this place is of
    int rank = lane_, first = 0;
#pragma unroll
    for (int p = 0; p < Paths; ++p) {
      const unsigned lanes = __ballot_sync(members_, path == p);
      const int end = first + __popc(lanes);
      if (lane_ >= first && lane_ < end) {
        taken = lanes;
        rank = lane_ - first;
        r.path = p;
      }
      if (path == p)
        r.taker = first + __popc(lanes & ((1u << lane_) - 1));
      r.is_identity = r.is_identity && (lanes == 0 || lanes == members_);
      first = end;
    }
    r.id = detail::select_bit(taken, rank);
    return r;
  }

  /// Each of the values, trivially copyable, becomes what lane r.id has given.
  template <typename... Values>
  RECONVERGE_DEVICE void exchange(warp_remap_result r,
                                  Values &...values) const {
    shuffle(r.id, values...);
  }
  /// The inverse: state goes home.
  template <typename... Values>
  RECONVERGE_DEVICE void exchange_back(warp_remap_result r,
                                       Values &...values) const {
    shuffle(r.taker, values...);
  }

private:
  template <typename... Values>
  RECONVERGE_DEVICE void shuffle(int from, Values &...values) const {
    detail::packed<Values...> all;
    all.pack(values...);
#pragma unroll
    for (int k = 0; k < all.words; ++k)
      all.word[k] = __shfl_sync(members_, all.word[k], from);
    all.unpack(values...);
  }

  unsigned members_;
  int lane_;
};

} // namespace reconverge

#endif
