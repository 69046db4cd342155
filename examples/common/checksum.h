//===- examples/common/checksum.h - A result in 16 digits -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FNV-1a over the bytes of an array. The benchmarks compare the line that it
// ends up in with that of the same kernel written as scalar C++.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_EXAMPLES_CHECKSUM_H
#define RECONVERGE_EXAMPLES_CHECKSUM_H

#include <cstddef>
#include <cstdint>
#include <vector>

inline constexpr uint64_t ChecksumSeed = 0xcbf29ce484222325ull;

template <typename T>
uint64_t checksum(const std::vector<T> &Values, uint64_t Hash = ChecksumSeed) {
  const auto *Bytes = reinterpret_cast<const unsigned char *>(Values.data());
  for (size_t I = 0; I < Values.size() * sizeof(T); ++I)
    Hash = (Hash ^ Bytes[I]) * 0x100000001b3ull;
  return Hash;
}

#endif
