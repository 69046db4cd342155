//===- report/Page.cpp - A report as a page -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page is a template, made of web/, that holds its program and its style and
// lacks its data alone. The data stands in an element of JSON, which no browser
// executes; every `<` in it is written as an escape, so that a name such as
// "</script>" stays a name. The page itself sets text, never markup.
//
//===----------------------------------------------------------------------===//

#include "report/Page.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::report {

/// Where web/index.html wants the data, and block vectors: these are long, and
/// read only when somebody looks at them.
static constexpr StringLiteral DataPlace = "\"@RECONVERGE_DATA@\"",
                               VectorsPlace = "\"@RECONVERGE_VECTORS@\"";

/// \p Json without any `<`.
static void printEscaped(StringRef Json, raw_ostream &OS) {
  for (size_t Sign; (Sign = Json.find('<')) != StringRef::npos;) {
    OS << Json.take_front(Sign) << "\\u003c";
    Json = Json.drop_front(Sign + 1);
  }
  OS << Json;
}

Error printPage(StringRef Template, const PageInput &Input, raw_ostream &OS) {
  for (auto [Place, Print] : {std::pair(DataPlace, &printPageData),
                              std::pair(VectorsPlace, &printPageVectors)}) {
    const size_t At = Template.find(Place);
    if (At == StringRef::npos)
      return internalError("the page's template has no place for its data");
    std::string Data;
    raw_string_ostream DataOS(Data);
    Print(Input, DataOS);
    OS << Template.take_front(At);
    printEscaped(Data, OS);
    Template = Template.drop_front(At + Place.size());
  }
  OS << Template;
  return Error::success();
}

} // namespace reconverge::report
