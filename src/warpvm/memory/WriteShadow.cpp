//===- warpvm/memory/WriteShadow.cpp - Which bytes were written -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/WriteShadow.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>

namespace reconverge::warpvm {

std::unique_ptr<WriteShadow> WriteShadow::create(uint64_t Begin, uint64_t End) {
  // Pages come as they are touched, zeroed.
  void *At = mmap(nullptr, End - Begin, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (At == MAP_FAILED)
    return nullptr;
  return std::unique_ptr<WriteShadow>(
      new WriteShadow(Begin, End - Begin, static_cast<uint8_t *>(At)));
}

WriteShadow::~WriteShadow() { munmap(Shadow, Size); }

void WriteShadow::mark(const void *At, uint64_t Bytes) {
  if (uint8_t *S = of(uint64_t(At), Bytes))
    std::memset(S, 1, Bytes);
}

void WriteShadow::clear(const void *At, uint64_t Bytes) {
  if (uint8_t *S = of(uint64_t(At), Bytes))
    std::memset(S, 0, Bytes);
}

void WriteShadow::copy(const void *To, const void *From, uint64_t Bytes) {
  uint8_t *Now = of(uint64_t(To), Bytes);
  const uint8_t *Then = of(uint64_t(From), Bytes);
  if (Now && Then)
    std::memmove(Now, Then, Bytes);
  else if (Now)
    std::memset(Now, 1, Bytes);
}

void WriteShadow::forget(uint64_t Address, uint64_t Bytes) {
  if (uint8_t *S = of(Address, Bytes))
    madvise(S, Bytes, MADV_DONTNEED);
}

bool allWritten(const uint8_t *Shadow, uint64_t Bytes) {
  uint64_t Eight;
  for (; Bytes >= sizeof(Eight); Bytes -= sizeof(Eight), Shadow += 8) {
    std::memcpy(&Eight, Shadow, sizeof(Eight));
    if (Eight != 0x0101010101010101)
      return false;
  }
  for (; Bytes; --Bytes)
    if (!*Shadow++)
      return false;
  return true;
}

std::optional<Hole> holeIn(const uint8_t *Shadow, uint64_t Bytes) {
  constexpr uint64_t PastPadding = 16, Word = 4, Several = 64;
  const uint8_t *const End = Shadow + Bytes;
  Hole Last = {};
  unsigned Holes = 0;
  for (const uint8_t *At = Shadow; At != End;) {
    const uint8_t *Begin = std::find(At, End, 0);
    if (Begin == End)
      break;
    At = std::find(Begin, End, 1);
    Last = {uint64_t(Begin - Shadow), uint64_t(At - Begin)};
    ++Holes;
    if (Last.Bytes >= PastPadding || Last.Bytes == Bytes)
      return Last;
  }
  const bool AtAnEnd = !Last.Offset || Last.Offset + Last.Bytes == Bytes;
  if (Holes == 1 && AtAnEnd && Last.Bytes >= Word && Bytes >= Several)
    return Last;
  return std::nullopt;
}

bool someWritten(const uint8_t *Shadow, uint64_t Bytes) {
  return std::memchr(Shadow, 1, Bytes) != nullptr;
}

} // namespace reconverge::warpvm
