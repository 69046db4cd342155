//===- core/JsonWriter.h - JSON for people and for diff ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The frame of a file is indented; rows of small objects take one line each.
// Numbers are written exactly: counts as 64-bit integers, others with as many
// digits as reading them back needs. Texts may hold any bytes (paths,
// arguments): what is no UTF-8 is mended.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_CORE_JSONWRITER_H
#define RECONVERGE_CORE_JSONWRITER_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace reconverge {

/// Writes the members of the object that is open.
class JsonWriter {
public:
  explicit JsonWriter(llvm::raw_ostream &OS, unsigned Indent = 1)
      : J(OS, Indent) {}

  /// The object that is the file.
  void root(llvm::function_ref<void()> Members) { J.object(Members); }

  void text(llvm::StringRef Key, llvm::StringRef Text);
  void texts(llvm::StringRef Key, const std::vector<std::string> &Texts);
  void flag(llvm::StringRef Key, bool Value) { J.attribute(Key, Value); }
  void count(llvm::StringRef Key, uint64_t N) { J.attribute(Key, N); }
  void integer(llvm::StringRef Key, int64_t N) { J.attribute(Key, N); }
  /// Finite.
  void number(llvm::StringRef Key, double Value);
  /// An array of them, on one line.
  void numbers(llvm::StringRef Key, const std::vector<double> &Values);
  void object(llvm::StringRef Key, llvm::function_ref<void()> Members) {
    J.attributeObject(Key, Members);
  }

  /// An array of counts, on one line.
  template <typename Range>
  void counts(llvm::StringRef Key, const Range &Numbers) {
    J.attributeBegin(Key);
    onOneLine([&](JsonWriter &W) {
      W.J.array([&] {
        for (auto N : Numbers)
          W.J.value(uint64_t(N));
      });
    });
    J.attributeEnd();
  }

  /// An array of such arrays, one a line.
  template <typename Range>
  void countLists(llvm::StringRef Key, const Range &Lists) {
    J.attributeArray(Key, [&] {
      for (const auto &Numbers : Lists)
        onOneLine([&](JsonWriter &W) {
          W.J.array([&] {
            for (auto N : Numbers)
              W.J.value(uint64_t(N));
          });
        });
    });
  }

  /// An object on one line.
  void line(llvm::StringRef Key, llvm::function_ref<void(JsonWriter &)> Fill);

  /// An array of objects, indented: Fill(writer, element) writes the members.
  template <typename Range, typename Filler>
  void objects(llvm::StringRef Key, const Range &Elements, Filler Fill) {
    J.attributeArray(Key, [&] {
      for (const auto &E : Elements)
        J.object([&] { Fill(*this, E); });
    });
  }

  /// The same, an object a line.
  template <typename Range, typename Filler>
  void lines(llvm::StringRef Key, const Range &Elements, Filler Fill) {
    J.attributeArray(Key, [&] {
      for (const auto &E : Elements)
        onOneLine([&](JsonWriter &W) { W.root([&] { Fill(W, E); }); });
    });
  }

private:
  /// A value on one line, whatever the depth.
  void onOneLine(llvm::function_ref<void(JsonWriter &)> Fill);

  llvm::json::OStream J;
};

} // namespace reconverge

#endif
