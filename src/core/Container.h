//===- core/Container.h - The device code we embed --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A host object carries one container where nvcc would put a fat binary
// (-fcuda-include-gpubinary takes any bytes; the wrapper carries no length):
//
//   ContainerHeader | bitcode (8-aligned) | fat binary (8-aligned, may be
//   empty)
//
// The header is plain data, without LLVM, because the shim reads it too.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_CONTAINER_H
#define RECONVERGE_CORE_CONTAINER_H

#include <cstdint>

namespace reconverge {

inline constexpr uint64_t ContainerMagic =
    0x31'45'47'52'45'56'4e'43; // "CNVERGE1"
inline constexpr uint32_t ContainerVersion = 1;

struct ContainerHeader {
  uint64_t Magic;
  uint32_t Version;
  uint16_t HeaderCheck; ///< of the header with this field and the next 0
  uint16_t Seal;        ///< the same, mixed with who wrote it (ContainerIO.h)
  uint64_t TotalBytes;  ///< header included
  uint64_t BitcodeOffset, BitcodeBytes;
  uint64_t FatbinOffset, FatbinBytes;
  uint64_t Hash; ///< xxh3 (64 bit) of all bytes after the header
};
static_assert(sizeof(ContainerHeader) == 64);

/// What compilers put in .nvFatBinSegment and pass to __cudaRegisterFatBinary:
/// where a fat binary is, or a container of ours in its place.
struct FatbinWrapper {
  static constexpr int32_t ItsMagic = 0x466243b1;
  int32_t Magic, Version;
  const void *Data;
  void *Unused;
};
static_assert(sizeof(FatbinWrapper) == 24);

} // namespace reconverge

#endif
