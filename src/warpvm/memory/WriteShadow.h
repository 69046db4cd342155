//===- warpvm/memory/WriteShadow.h - Which bytes were written ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_MEMORY_WRITESHADOW_H
#define RECONVERGE_WARPVM_MEMORY_WRITESHADOW_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

namespace reconverge::warpvm {

/// A byte for each byte of a range of addresses: 1 if it was written. Threads
/// may mark at once: they all write the same.
class WriteShadow {
public:
  /// Null if the system has no addresses for it.
  static std::unique_ptr<WriteShadow> create(uint64_t Begin, uint64_t End);
  ~WriteShadow();
  WriteShadow(const WriteShadow &) = delete;
  WriteShadow &operator=(const WriteShadow &) = delete;

  /// Where the shadow of \p Address lies; null if all \p Bytes are not in the
  /// range.
  uint8_t *of(uint64_t Address, uint64_t Bytes) const {
    return Address >= Begin && Address - Begin < Size &&
                   Bytes <= Size - (Address - Begin)
               ? Shadow + (Address - Begin)
               : nullptr;
  }
  void mark(const void *At, uint64_t Bytes);
  /// Nobody has written them.
  void clear(const void *At, uint64_t Bytes);
  /// [\p To, \p To + \p Bytes) is now what \p From was; what lies outside of the
  /// range counts as written.
  void copy(const void *To, const void *From, uint64_t Bytes);
  /// clear() for whole pages, which go back to the system.
  void forget(uint64_t Address, uint64_t Bytes);

private:
  WriteShadow(uint64_t Begin, uint64_t Size, uint8_t *Shadow)
      : Begin(Begin), Size(Size), Shadow(Shadow) {}
  const uint64_t Begin, Size;
  uint8_t *const Shadow;
};

/// Whether all \p Bytes of a shadow say "written".
bool allWritten(const uint8_t *Shadow, uint64_t Bytes);
/// Whether one does.
bool someWritten(const uint8_t *Shadow, uint64_t Bytes);

/// Bytes that nobody has written, among others.
struct Hole {
  uint64_t Offset, Bytes;
};
/// The first hole in a shadow that is none of padding. Padding has fewer than
/// 16 bytes; but a whole word of 4 or more at one end of 64 bytes and more, in
/// which there is no other hole, is an element that somebody has left out.
std::optional<Hole> holeIn(const uint8_t *Shadow, uint64_t Bytes);

} // namespace reconverge::warpvm

#endif
