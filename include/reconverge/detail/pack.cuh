//===- reconverge/detail/pack.cuh - Values as words -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private state of a thread as words, its values behind one another without
// gaps. A block keeps word k of thread t at state[k * threads + t], so that
// threads in a row read banks in a row. All offsets are constants, so the words
// are registers.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_DETAIL_PACK_CUH
#define RECONVERGE_DETAIL_PACK_CUH

#include "config.cuh"

#include <cstring>
#include <type_traits>

namespace reconverge::detail {

template <typename... Values> struct packed {
  static_assert((std::is_trivially_copyable_v<Values> && ...),
                "only trivially copyable values can move to another thread");
  static constexpr int bytes = (int(sizeof(Values)) + ... + 0);
  static constexpr int words = (bytes + 3) / 4;
  unsigned word[words > 0 ? words : 1];

  RECONVERGE_DEVICE void pack(const Values &...values) {
    for (unsigned &w : word)
      w = 0;
    [[maybe_unused]] int at = 0;
    ((put(at, values), at += sizeof(values)), ...);
  }
  RECONVERGE_DEVICE void unpack(Values &...values) const {
    [[maybe_unused]] int at = 0;
    ((get(at, values), at += sizeof(values)), ...);
  }

private:
  template <typename Value> struct parts {
    static constexpr int count = (int(sizeof(Value)) + 3) / 4;
    unsigned word[count] = {};
  };
  template <typename Value>
  RECONVERGE_DEVICE void put(int at, const Value &value) {
    parts<Value> from;
    std::memcpy(from.word, &value, sizeof(Value));
    const int first = at / 4, shift = at % 4 * 8;
#pragma unroll
    for (int i = 0; i < from.count; ++i) {
      word[first + i] |= from.word[i] << shift;
      if (shift && first + i + 1 < words)
        word[first + i + 1] |= from.word[i] >> (32 - shift);
    }
  }
  template <typename Value>
  RECONVERGE_DEVICE void get(int at, Value &value) const {
    parts<Value> to;
    const int first = at / 4, shift = at % 4 * 8;
#pragma unroll
    for (int i = 0; i < to.count; ++i) {
      to.word[i] = word[first + i] >> shift;
      if (shift && first + i + 1 < words)
        to.word[i] |= word[first + i + 1] << (32 - shift);
    }
    std::memcpy(&value, to.word, sizeof(Value));
  }
};

/// Writes the values to the place of thread `to` in a block of `threads`.
template <typename... Values>
RECONVERGE_DEVICE void store_state(unsigned *state, int threads, int to,
                                   const Values &...values) {
  packed<Values...> all;
  all.pack(values...);
#pragma unroll
  for (int k = 0; k < all.words; ++k)
    state[k * threads + to] = all.word[k];
}

/// Reads them from the place of thread `from`.
template <typename... Values>
RECONVERGE_DEVICE void load_state(const unsigned *state, int threads, int from,
                                  Values &...values) {
  packed<Values...> all;
#pragma unroll
  for (int k = 0; k < all.words; ++k)
    all.word[k] = state[k * threads + from];
  all.unpack(values...);
}

} // namespace reconverge::detail

#endif
