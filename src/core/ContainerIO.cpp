//===- core/ContainerIO.cpp - Write and check containers ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A container comes from a file that anything may have happened to, so each
// field is checked before it is used, sizes in a way that cannot overflow. The
// hash covers both parts and the padding between them.
//
// A container that another reconverge wrote is as whole as one of ours, so who
// wrote it is told apart: the seal is a check of the header (and so of the hash
// of all the rest) that starts from the writer's name. It is no signature; it
// keeps accidents apart, as who may change a program may run anything in it.
//
//===----------------------------------------------------------------------===//

#include "core/ContainerIO.h"

#include "core/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

using namespace llvm;

namespace reconverge {

static constexpr uint64_t PartAlignment = 8;
static constexpr const char *Remedy =
    "Build the program again with this version of reconverge.";

/// Covers the sizes: they must be sound before anything is read by them.
static uint16_t checkOf(ContainerHeader Header, StringRef Writer) {
  Header.HeaderCheck = Header.Seal = 0;
  SmallVector<uint8_t, 128> Bytes(Writer.bytes_begin(), Writer.bytes_end());
  const auto *Begin = reinterpret_cast<const uint8_t *>(&Header);
  Bytes.append(Begin, Begin + sizeof(Header));
  return uint16_t(xxh3_64bits(Bytes));
}

StringRef containerWriter() {
  return "reconverge " RECONVERGE_VERSION ", LLVM " LLVM_VERSION_STRING;
}

SmallVector<char, 0> makeContainer(StringRef Bitcode, StringRef Fatbin,
                                   StringRef Writer) {
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
  Header.Hash = xxh3_64bits(
      StringRef(Bytes.data(), Bytes.size()).drop_front(sizeof(Header)));
  Header.HeaderCheck = checkOf(Header, "");
  Header.Seal = checkOf(Header, Writer);
  std::memcpy(Bytes.data(), &Header, sizeof(Header));
  return Bytes;
}

/// Whether a part lies after the header and inside the container.
static bool isInside(const ContainerHeader &H, uint64_t Offset,
                     uint64_t Bytes) {
  return Offset >= sizeof(ContainerHeader) && Offset % PartAlignment == 0 &&
         Offset <= H.TotalBytes && Bytes <= H.TotalBytes - Offset;
}

Expected<ContainerView> openHeader(const void *Data, size_t Limit) {
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
  if (Header.HeaderCheck != checkOf(Header, ""))
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
  ContainerView View;
  View.Bitcode = {Bytes + Header.BitcodeOffset, Header.BitcodeBytes};
  View.Fatbin = {Bytes + Header.FatbinOffset, Header.FatbinBytes};
  View.Rest =
      StringRef(Bytes, Header.TotalBytes).drop_front(sizeof(ContainerHeader));
  View.Hash = Header.Hash;
  View.Foreign = Header.Seal != checkOf(Header, containerWriter());
  return View;
}

Error checkRest(const ContainerView &Opened) {
  if (xxh3_64bits(Opened.Rest) != Opened.Hash)
    return userError("the device code is corrupt: its hash does not match",
                     Remedy);
  return Error::success();
}

Expected<ContainerView> openContainer(const void *Data, size_t Limit) {
  auto View = openHeader(Data, Limit);
  if (View)
    if (Error E = checkRest(*View))
      return std::move(E);
  return View;
}

std::string hashText(uint64_t Hash) {
  return utohexstr(Hash, /*LowerCase=*/true, /*Width=*/16);
}

std::string bitcodeHash(StringRef Bitcode) {
  return hashText(xxh3_64bits(Bitcode));
}

} // namespace reconverge
