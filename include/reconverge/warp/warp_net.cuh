//===- reconverge/warp/warp_net.cuh - Classes by a small net ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which path an item will take may be told by numbers that are known before: by a
// small fully connected net with one hidden layer, or by a decision tree.
//
//   net_class    a thread computes the net by fused multiply-adds
//   warp_net     a warp computes it for its 32 items on tensor cores
//   tree_class   a thread asks all questions of a tree
//
// The weights are plain data, which `reconverge train --header` writes:
// docs/predict-paths.md. What comes out is a guess: sort by it, or choose what to
// try first, but let nothing that has to be right hang on it.
//
// How warp_net lays a warp out. A row of the product is an item, and the quad of
// four lanes that hold a row's results also owns four items, so that nothing leaves
// a quad:
//
//   inputs   lane j of a quad has those of its item; a transposition by eight
//            shuffles gives lane t the t-th quarter of all four items' inputs
//   hidden   two products for each eight units: 32 items are two tiles of 16 rows.
//            The results of two such tiles are, as they lie, the left factor of
//   output   the next product
//   class    the greatest of a lane's outputs, then of the quad's, by six shuffles
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_WARP_WARP_NET_CUH
#define RECONVERGE_WARP_WARP_NET_CUH

#include "../detail/threads.cuh"

namespace reconverge {

/// The weights of a net, row by row, a row for each unit or class:
///
///   x[i] = input[i] * scale[i] + shift[i]
///   h[j] = leaky(hidden_bias[j] + hidden[j][0] x[0] + ...)
///   o[c] = output_bias[c] + output[c][0] h[0] + ...
///
/// leaky(v) is v, or v / 100 where that is not above 0; the class is that of the
/// first greatest output.
template <int Inputs, int Hidden, int Classes> struct net_weights {
  float scale[Inputs], shift[Inputs];
  float hidden[Hidden * Inputs], hidden_bias[Hidden];
  float output[Classes * Hidden], output_bias[Classes];
};

/// The class of an item, from 0 to Classes - 1, by one thread alone: Inputs (Hidden
/// + 1) + Hidden Classes fused multiply-adds in f32, sums by rising index from their
/// bias on, so that hosts, compilers and GPUs agree to the last bit.
///
/// If `net` is a constant of the program, the weights become part of its
/// instructions. No one else takes part, and NaN among the inputs gives a class
/// like any other.
///
/// \code
///   // As train --header writes it.
///   static __device__ const reconverge::net_weights<2, 1, 2> my_net = {
///       {1, 1}, {0, 0}, {1, -1}, {0}, {1, -1}, {0, 0}};
///   __global__ void classify(const float *in, int *classes, int count) {
///     const int i = blockIdx.x * blockDim.x + threadIdx.x;
///     if (i >= count)
///       return;
///     const float x[2] = {in[2 * i], in[2 * i + 1]};
///     classes[i] = reconverge::net_class(my_net, x);
///   }
/// \endcode
template <int Inputs, int Hidden, int Classes>
RECONVERGE_DEVICE int net_class(const net_weights<Inputs, Hidden, Classes> &net,
                                const float (&input)[Inputs]) {
  static_assert(Inputs >= 1 && Hidden >= 1 && Classes >= 1,
                "a net has inputs, hidden units and classes");
  float x[Inputs], o[Classes];
#pragma unroll
  for (int i = 0; i < Inputs; ++i)
    x[i] = __fmaf_rn(input[i], net.scale[i], net.shift[i]);
#pragma unroll
  for (int c = 0; c < Classes; ++c)
    o[c] = net.output_bias[c];
#pragma unroll
  for (int j = 0; j < Hidden; ++j) {
    float h = net.hidden_bias[j];
#pragma unroll
    for (int i = 0; i < Inputs; ++i)
      h = __fmaf_rn(net.hidden[j * Inputs + i], x[i], h);
    h = h > 0 ? h : __fmul_rn(h, 0.01f);
#pragma unroll
    for (int c = 0; c < Classes; ++c)
      o[c] = __fmaf_rn(net.output[c * Hidden + j], h, o[c]);
  }
  int best = 0;
  float most = o[0];
#pragma unroll
  for (int c = 1; c < Classes; ++c)
    if (o[c] > most) {
      best = c;
      most = o[c];
    }
  return best;
}

/// A node of a tree in preorder: a question, whose left subtree is the next node
/// and whose right one begins at `right`, or, with feature -1, a leaf, whose class
/// is `right`.
struct tree_node {
  int feature;
  float bound; ///< input[feature] <= bound goes left; else, and NaN, right
  int right;
};

/// The class of an item by a decision tree, by one thread alone. All questions are
/// asked, a comparison and a selection each, and no branch parts the warp. The tree
/// has to be a constant of the program; of one in memory the answers would be, too.
///
/// \code
///   // x[0] <= 0.5 ? 0 : x[1] <= 3 ? 1 : 2
///   static __device__ const reconverge::tree_node my_tree[] = {
///       {0, 0.5f, 2}, {-1, 0, 0}, {1, 3, 4}, {-1, 0, 1}, {-1, 0, 2}};
///   __global__ void ask(const float *in, int *classes) {
///     const int i = blockIdx.x * blockDim.x + threadIdx.x;
///     const float x[2] = {in[2 * i], in[2 * i + 1]};
///     classes[i] = reconverge::tree_class(my_tree, x);
///   }
/// \endcode
template <int Nodes, int Inputs>
RECONVERGE_DEVICE int tree_class(const tree_node (&tree)[Nodes],
                                 const float (&input)[Inputs]) {
  int of[Nodes];
#pragma unroll
  for (int n = Nodes - 1; n >= 0; --n) {
    const tree_node at = tree[n];
    of[n] = at.feature < 0                  ? at.right
            : input[at.feature] <= at.bound ? of[n + 1]
                                            : of[at.right];
  }
  return of[0];
}

/// The weights of a net for tensor cores. Of those of the hidden layer, a matrix
/// Q R, `mix` is R, upper triangular, row by row: z = R x is computed in f32, so
/// that differences of nearly equal inputs do not drown. `words` has Q, the output
/// layer and the biases as lanes hold them: [quad][lane][word of the quad].
template <int Inputs, int Hidden, int Classes> struct net_tiles {
  static_assert(Inputs >= 1 && Inputs <= 16, "a net has 1 to 16 inputs");
  static_assert(Hidden >= 1 && Hidden <= 64, "a net has 1 to 64 hidden units");
  static_assert(Classes >= 1 && Classes <= 32, "a net has 1 to 32 classes");
  static constexpr int steps = (Hidden + 15) / 16; ///< of 16 hidden units
  static constexpr int class_tiles = (Classes + 7) / 8;
  static constexpr int quads =
      (8 * steps + 2 * steps * class_tiles + 2 * class_tiles + 3) / 4;

  float scale[Inputs], shift[Inputs], mix[Inputs * (Inputs + 1) / 2];
  alignas(16) unsigned words[quads * 32 * 4];
};

namespace detail {

/// d += a b on tensor cores: 16 x 8 sums, 16 factors each.
RECONVERGE_DEVICE void multiply_tile(float (&d)[4], unsigned a0, unsigned a1,
                                     unsigned a2, unsigned a3, unsigned b0,
                                     unsigned b1) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
               "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#else
  __trap();
#endif
}
/// Both as f16, to nearest even, the first in the lower half.
RECONVERGE_DEVICE unsigned half_pair(float low, float high) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  unsigned both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
#else
  return 0;
#endif
}

} // namespace detail

/// The classes of a warp's items by tensor cores, with factors of f16 and sums of
/// f32. The class may be another than net_class says where two outputs are nearly
/// the same; but it is the same in each launch, and the warp VM's.
///
/// Inputs 1 to 16, Hidden 1 to 64, Classes 1 to 32; what is below multiples of 16,
/// 16 and 8 is padded.
///
/// Who takes part: all 32 lanes of the warp, together, in the constructor and in
/// each call; a lane without an item gives any numbers. Valid in every lane: the
/// class of its own item. Inputs that are no numbers, and infinities, count as the
/// bound that they are beyond, and give a class like any other.
/// No storage, no barrier. The weights are read once, by the constructor, into
/// Hidden / 2 + ... registers, `net_tiles::quads` times four: keep the object while
/// the warp takes many items.
/// Cost of a call, of 9 inputs, 32 units and 9 classes: 430 instructions for 32
/// items, of which 16 products and 14 shuffles, where net_class takes 780; of 16
/// inputs and 10 classes 560 to 1,070; of 2 inputs and 5 classes 310 to 390.
///
/// Compute capability 8.0 and up. For older ones the class compiles and traps.
///
/// \code
///   static __device__ const reconverge::net_tiles<2, 16, 3> my_tiles = {
///       {1, 1}, {0, 0}, {1, 0, 1}}; // and words, as train --header writes them
///   __global__ void classify_by_warps(const float *in, int *classes, int count) {
///     const reconverge::warp_net<2, 16, 3> net(my_tiles);
///     const int threads = gridDim.x * blockDim.x; // blocks of whole warps
///     for (int first = blockIdx.x * blockDim.x; first < count; first += threads) {
///       const int i = first + threadIdx.x, at = i < count ? i : 0;
///       const float x[2] = {in[2 * at], in[2 * at + 1]};
///       const int c = net(x);
///       if (i < count)
///         classes[i] = c;
///     }
///   }
/// \endcode
template <int Inputs, int Hidden, int Classes> class warp_net {
  using tiles = net_tiles<Inputs, Hidden, Classes>;
  static constexpr int steps = tiles::steps, class_tiles = tiles::class_tiles;
  static constexpr int hidden_tiles = 2 * steps;
  // Where the parts of a lane's words begin.
  static constexpr int hidden_biases = 2 * hidden_tiles,
                       output_weights = 4 * hidden_tiles,
                       output_biases = output_weights + 2 * steps * class_tiles;

public:
  RECONVERGE_DEVICE explicit warp_net(const tiles &net)
      : net_(net), lane_(detail::linear_thread() % 32) {
    const uint4 *from = reinterpret_cast<const uint4 *>(net.words) + lane_;
#pragma unroll
    for (int quad = 0; quad < tiles::quads; ++quad) {
      const uint4 four = from[32 * quad];
      words_[4 * quad] = four.x;
      words_[4 * quad + 1] = four.y;
      words_[4 * quad + 2] = four.z;
      words_[4 * quad + 3] = four.w;
    }
  }

  RECONVERGE_DEVICE int operator()(const float (&input)[Inputs]) const {
    unsigned a[4][2]; // of the quad's item j, the lane's quarter
    transpose(input, a);
    float most[4];
    int best[4];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const auto &upper = a[2 * half], &lower = a[2 * half + 1];
      unsigned h[hidden_tiles][2];
#pragma unroll
      for (int tile = 0; tile < hidden_tiles; ++tile) {
        float d[4];
        start(d, hidden_biases + 2 * tile);
        detail::multiply_tile(d, upper[0], lower[0], upper[1], lower[1],
                              words_[2 * tile], words_[2 * tile + 1]);
        h[tile][0] = detail::half_pair(leaky(d[0]), leaky(d[1]));
        h[tile][1] = detail::half_pair(leaky(d[2]), leaky(d[3]));
      }
      float o[class_tiles][4];
#pragma unroll
      for (int tile = 0; tile < class_tiles; ++tile) {
        start(o[tile], output_biases + 2 * tile);
#pragma unroll
        for (int step = 0; step < steps; ++step) {
          const int at = output_weights + 2 * (step * class_tiles + tile);
          const auto &left = h[2 * step], &right = h[2 * step + 1];
          detail::multiply_tile(o[tile], left[0], left[1], right[0], right[1],
                                words_[at], words_[at + 1]);
        }
      }
#pragma unroll
      for (int row = 0; row < 2; ++row)
        greatest(o, 2 * row, most[2 * half + row], best[2 * half + row]);
    }
    return of_quad(most, best);
  }

private:
  static constexpr float most_z = 8192;

  RECONVERGE_DEVICE void start(float (&d)[4], int bias) const {
    d[0] = d[2] = __uint_as_float(words_[bias]);
    d[1] = d[3] = __uint_as_float(words_[bias + 1]);
  }
  RECONVERGE_DEVICE static float leaky(float v) {
    return fmaxf(v, __fmul_rn(v, 0.01f));
  }

  RECONVERGE_DEVICE void transpose(const float (&input)[Inputs],
                                   unsigned (&a)[4][2]) const {
    float x[Inputs], z[16] = {};
#pragma unroll
    for (int i = 0; i < Inputs; ++i)
      x[i] = __fmaf_rn(input[i], net_.scale[i], net_.shift[i]);
#pragma unroll
    for (int i = 0; i < Inputs; ++i) {
      const int row = i * Inputs - i * (i - 1) / 2 - i;
      float sum = __fmul_rn(net_.mix[row + i], x[i]);
#pragma unroll
      for (int j = i + 1; j < Inputs; ++j)
        sum = __fmaf_rn(net_.mix[row + j], x[j], sum);
      z[i] = fminf(fmaxf(sum, -most_z), most_z);
    }
    const bool odd = lane_ & 1, high = lane_ & 2;
    unsigned half[2][2]
                 [2]; // of quarter 2 q or 2 q + 1: of an even item, an odd
#pragma unroll
    for (int q = 0; q < 2; ++q)
#pragma unroll
      for (int word = 0; word < 2; ++word) {
        const int at = 8 * q + 2 * word;
        const unsigned even_quarter = detail::half_pair(z[at], z[at + 1]),
                       odd_quarter = detail::half_pair(z[at + 4], z[at + 5]);
        trade(1, odd, even_quarter, odd_quarter, half[q][0][word],
              half[q][1][word]);
      }
#pragma unroll
    for (int item = 0; item < 2; ++item)
#pragma unroll
      for (int word = 0; word < 2; ++word)
        trade(2, high, half[0][item][word], half[1][item][word], a[item][word],
              a[item + 2][word]);
  }
  /// Of two lanes, the lower takes what both have first, the upper what they have
  /// second; each sees first the lower's.
  RECONVERGE_DEVICE static void trade(int apart, bool upper, unsigned first,
                                      unsigned second, unsigned &of_lower,
                                      unsigned &of_upper) {
    const unsigned own = upper ? second : first;
    const unsigned other =
        __shfl_xor_sync(detail::whole_warp, upper ? first : second, apart);
    of_lower = upper ? other : own;
    of_upper = upper ? own : other;
  }

  /// Of the lane's outputs of one item, from the place `at` of a tile's on; classes
  /// without 2 (lane % 4).
  RECONVERGE_DEVICE static void greatest(const float (&o)[class_tiles][4],
                                         int at, float &most, int &best) {
    most = o[0][at];
    best = 0;
#pragma unroll
    for (int c = 1; c < 2 * class_tiles; ++c) {
      const float value = o[c / 2][at + c % 2];
      if (value > most) {
        most = value;
        best = c / 2 * 8 + c % 2;
      }
    }
  }
  /// Each lane keeps the items whose owner is on its side, until its own is left.
  RECONVERGE_DEVICE int of_quad(float (&most)[4], int (&best)[4]) const {
    const int first = lane_ % 4 * 2;
#pragma unroll
    for (int j = 0; j < 4; ++j)
      best[j] += first;
    const bool odd = lane_ & 1, high = lane_ & 2;
    merge(1, odd, most[0], most[1], best[0], best[1]);
    merge(1, odd, most[2], most[3], best[2], best[3]);
    merge(2, high, most[0], most[2], best[0], best[2]);
    return best[0];
  }
  /// Of two lanes, the lower gets the greater of what both have first, the upper of
  /// what they have second: in `most` and `best`.
  RECONVERGE_DEVICE static void merge(int apart, bool upper, float &most,
                                      float second, int &best,
                                      int second_best) {
    const float value =
        __shfl_xor_sync(detail::whole_warp, upper ? most : second, apart);
    const int index =
        __shfl_xor_sync(detail::whole_warp, upper ? best : second_best, apart);
    most = upper ? second : most;
    best = upper ? second_best : best;
    if (value > most || (value == most && index < best)) {
      most = value;
      best = index;
    }
  }

  const tiles &net_;
  int lane_;
  unsigned words_[4 * tiles::quads];
};

} // namespace reconverge

#endif
