//===- core/ContainerIO.cpp - Write and check containers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A container comes from a file that anything may have happened to, so each
// field is checked before it is used, sizes in a way that cannot overflow. The
// hash covers both parts and the padding between them.
//
//===----------------------------------------------------------------------===//

#include "core/ContainerIO.h"

#include "core/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace llvm;

namespace reconverge {

static constexpr uint64_t PartAlignment = 8;

static uint64_t hashOf(const char *Container, uint64_t TotalBytes) {
  return xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(Container), TotalBytes)
          .drop_front(sizeof(ContainerHeader)));
}

/// Covers the sizes: they must be sound before anything is read by them.
static uint32_t checkOf(ContainerHeader Header) {
  Header.HeaderCheck = 0;
  return uint32_t(xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(&Header), sizeof(Header))));
}

SmallVector<char, 0> makeContainer(StringRef Bitcode, StringRef Fatbin) {
  ContainerHeader Header{};
  Header.Magic = ContainerMagic;
  Header.Version = ContainerVersion;
  Header.BitcodeOffset = sizeof(ContainerHeader);
  Header.BitcodeBytes = Bitcode.size();
  Header.FatbinOffset =
      alignTo(Header.BitcodeOffset + Header.BitcodeBytes, PartAlignment);
  Header.FatbinBytes = Fatbin.size();
  Header.TotalBytes =
      alignTo(Header.FatbinOffset + Header.FatbinBytes, PartAlignment);

  SmallVector<char, 0> Bytes(Header.TotalBytes, 0);
  llvm::copy(Bitcode, Bytes.begin() + Header.BitcodeOffset);
  llvm::copy(Fatbin, Bytes.begin() + Header.FatbinOffset);
  Header.Hash = hashOf(Bytes.data(), Header.TotalBytes);
  Header.HeaderCheck = checkOf(Header);
  std::memcpy(Bytes.data(), &Header, sizeof(Header));
  return Bytes;
}

/// Whether a part lies after the header and inside the container.
static bool isInside(const ContainerHeader &H, uint64_t Offset,
                     uint64_t Bytes) {
  return Offset >= sizeof(ContainerHeader) && Offset % PartAlignment == 0 &&
         Offset <= H.TotalBytes && Bytes <= H.TotalBytes - Offset;
}

Expected<ContainerView> openContainer(const void *Data, size_t Limit) {
  const char *Remedy = "Build the program again with this version of "
                       "reconverge.";
  auto *Bytes = static_cast<const char *>(Data);
  if (Limit < sizeof(ContainerHeader))
    return userError("the device code is cut off: " + Twine(Limit) +
                         " bytes, less than its header",
                     Remedy);
  ContainerHeader Header;
  std::memcpy(&Header, Bytes, sizeof(Header));
  if (Header.Magic != ContainerMagic)
    return userError("the device code was not built by reconverge", Remedy);
  if (Header.Version != ContainerVersion)
    return userError("the device code has format version " +
                         Twine(Header.Version) + "; this reconverge reads " +
                         Twine(ContainerVersion),
                     Remedy);
  if (Header.HeaderCheck != checkOf(Header))
    return userError("the device code is corrupt: its header is damaged",
                     Remedy);
  if (Header.TotalBytes > Limit)
    return userError("the device code is cut off: " + Twine(Limit) + " of " +
                         Twine(Header.TotalBytes) + " bytes",
                     Remedy);
  if (Header.TotalBytes < sizeof(ContainerHeader) ||
      !isInside(Header, Header.BitcodeOffset, Header.BitcodeBytes) ||
      !isInside(Header, Header.FatbinOffset, Header.FatbinBytes))
    return userError("the device code is corrupt: its parts lie outside it",
                     Remedy);
  if (hashOf(Bytes, Header.TotalBytes) != Header.Hash)
    return userError("the device code is corrupt: its hash does not match",
                     Remedy);
  ContainerView View;
  View.Bitcode = {Bytes + Header.BitcodeOffset, Header.BitcodeBytes};
  View.Fatbin = {Bytes + Header.FatbinOffset, Header.FatbinBytes};
  View.Hash = Header.Hash;
  return View;
}

} // namespace reconverge
