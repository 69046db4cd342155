//===- warpvm/memory/WriteShadow.cpp - Which bytes were written -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "warpvm/memory/WriteShadow.h"

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

bool someWritten(const uint8_t *Shadow, uint64_t Bytes) {
  return std::memchr(Shadow, 1, Bytes) != nullptr;
}

} // namespace reconverge::warpvm
