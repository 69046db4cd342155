//===- core/JsonReader.h - Read a JSON file that may be damaged -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every value is read through a typed function that reports the path to it. The
// first fault ends the reading, so a damaged file gets one message that names
// the place. Keys that nobody asks for are ignored.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_JSONREADER_H
#define RECONVERGE_CORE_JSONREADER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace reconverge {

/// A whole number that is not negative and fits.
template <typename Unsigned>
bool readCount(const llvm::json::Value &V, llvm::json::Path P, Unsigned &Out) {
  static_assert(std::is_unsigned_v<Unsigned>);
  // getAsUINT64 would take 4e0 and refuse -1 in the same words as "x".
  std::optional<uint64_t> N = V.getAsUINT64();
  if (!N) {
    P.report("expected a whole number that is not negative");
    return false;
  }
  if (*N > std::numeric_limits<Unsigned>::max()) {
    P.report("number too large");
    return false;
  }
  Out = static_cast<Unsigned>(*N);
  return true;
}

/// The members of one JSON object, read by name. After the first fault the
/// path's root holds the message and every call returns false.
class Fields {
public:
  Fields(const llvm::json::Value &V, llvm::json::Path P);

  explicit operator bool() const { return O != nullptr; }
  llvm::json::Path path(llvm::StringRef Key) const { return P.field(Key); }
  const llvm::json::Value *value(llvm::StringRef Key) const;
  /// For keys that earlier versions did not write.
  bool has(llvm::StringRef Key) const { return O && O->get(Key); }

  bool text(llvm::StringRef Key, std::string &Out) const;
  bool texts(llvm::StringRef Key, std::vector<std::string> &Out) const;
  bool flag(llvm::StringRef Key, bool &Out) const;
  /// Finite and not negative.
  bool measure(llvm::StringRef Key, double &Out) const;
  bool measures(llvm::StringRef Key, std::vector<double> &Out) const;
  template <typename Unsigned>
  bool count(llvm::StringRef Key, Unsigned &Out) const {
    const llvm::json::Value *V = value(Key);
    return V && readCount(*V, P.field(Key), Out);
  }
  template <typename Unsigned>
  bool counts(llvm::StringRef Key, std::vector<Unsigned> &Out) const {
    return list(Key, Out, readCount<Unsigned>);
  }
  /// One of a few words; \p WordOf(value) is each one's.
  template <typename Enum, typename Words>
  bool choice(llvm::StringRef Key, Enum &Out, std::initializer_list<Enum> All,
              Words WordOf, llvm::StringLiteral Expected) const {
    std::string Word;
    if (!text(Key, Word))
      return false;
    for (Enum E : All)
      if (Word == WordOf(E)) {
        Out = E;
        return true;
      }
    P.field(Key).report(Expected);
    return false;
  }
  /// Calls Read(value, path, member).
  template <typename T, typename Reader>
  bool object(llvm::StringRef Key, T &Out, Reader Read) const {
    const llvm::json::Value *V = value(Key);
    return V && Read(*V, P.field(Key), Out);
  }
  /// Calls Read(value, path, element) for each element of an array.
  template <typename T, typename Reader>
  bool list(llvm::StringRef Key, std::vector<T> &Out, Reader Read) const {
    const llvm::json::Value *V = value(Key);
    if (!V)
      return false;
    const llvm::json::Array *A = V->getAsArray();
    if (!A) {
      P.field(Key).report("expected array");
      return false;
    }
    Out.clear();
    Out.resize(A->size());
    llvm::json::Path Whole = P.field(Key); // index() keeps a pointer to it
    for (size_t I = 0; I != A->size(); ++I)
      if (!Read((*A)[I], Whole.index(I), Out[I]))
        return false;
    return true;
  }

private:
  llvm::json::Path P;
  const llvm::json::Object *O;
};

/// What a file should be.
struct JsonDocument {
  llvm::StringLiteral Schema; ///< value of its key "schema"
  llvm::StringLiteral What;   ///< "a divergence profile"
  llvm::StringLiteral Remedy; ///< a sentence, for damaged files
};

/// Parses \p Text and has \p Read take its root apart. The UserError names \p
/// File and the place: line and column, or the path to the value.
llvm::Error parseDocument(
    llvm::StringRef Text, llvm::StringRef File, const JsonDocument &Kind,
    llvm::function_ref<bool(const llvm::json::Value &, llvm::json::Path)> Read);

} // namespace reconverge

#endif
