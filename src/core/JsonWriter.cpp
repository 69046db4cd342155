//===- core/JsonWriter.cpp - JSON for people and for diff -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/JsonWriter.h"

#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cmath>

using namespace llvm;

namespace reconverge {

static json::Value mended(StringRef Text) {
  return json::isUTF8(Text) ? json::Value(Text)
                            : json::Value(json::fixUTF8(Text));
}

void JsonWriter::text(StringRef Key, StringRef Text) {
  J.attribute(Key, mended(Text));
}

void JsonWriter::texts(StringRef Key, const std::vector<std::string> &Texts) {
  J.attributeArray(Key, [&] {
    for (const std::string &T : Texts)
      J.value(mended(T));
  });
}

void JsonWriter::number(StringRef Key, double Value) {
  assert(std::isfinite(Value) && "JSON has no infinities");
  J.attribute(Key, std::isfinite(Value) ? Value : 0.0);
}

void JsonWriter::numbers(StringRef Key, const std::vector<double> &Values) {
  J.attributeBegin(Key);
  onOneLine([&](JsonWriter &W) {
    W.J.array([&] {
      for (double X : Values)
        W.J.value(X);
    });
  });
  J.attributeEnd();
}

void JsonWriter::onOneLine(function_ref<void(JsonWriter &)> Fill) {
  J.rawValue([&](raw_ostream &OS) {
    JsonWriter Line(OS, /*Indent=*/0);
    Fill(Line);
  });
}

void JsonWriter::line(StringRef Key, function_ref<void(JsonWriter &)> Fill) {
  J.attributeBegin(Key);
  onOneLine([&](JsonWriter &W) { W.root([&] { Fill(W); }); });
  J.attributeEnd();
}

} // namespace reconverge
