//===- core/QualityValues.cpp - Outputs as numbers ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Three forms: netpbm images, text, and raw numbers.
//
//   P5 6 4 255\n<bytes>     P2/P3: decimal; P5/P6: binary, two bytes a number,
//                           the high one first, if the maximum is above 255.
//                           Comments go from # to the end of the line.
//   1.5, -2e3 7             blanks, commas and semicolons lie between numbers
//   f32, f64, u8, i32       as they lie in memory, little-endian
//
// A number that is not finite has no distance from another, so it is refused
// here, by its place.
//
// Limitation: one image a file, and no bitmaps (P1, P4) or P7.
//
//===----------------------------------------------------------------------===//

#include "core/QualityValues.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"

#include <cmath>
#include <optional>

using namespace llvm;

namespace reconverge {

static constexpr StringLiteral Blanks = " \t\r\n\v\f";

static bool isImage(StringRef Bytes) {
  return Bytes.size() > 2 && Bytes[0] == 'P' &&
         StringRef("2356").contains(Bytes[1]) &&
         (Blanks.contains(Bytes[2]) || Bytes[2] == '#');
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

static Error badImage(StringRef Name, const Twine &Why) {
  return userError(
      Name + ": is no whole PGM or PPM image: " + Why,
      "Have the program write one image, P2, P3, P5 or P6; or name "
      "what it writes by type=.");
}

/// Takes the next decimal number off \p Rest, comments before it skipped; none
/// if there is something else.
static std::optional<uint32_t> takeDecimal(StringRef &Rest) {
  for (Rest = Rest.ltrim(Blanks); Rest.starts_with("#");
       Rest = Rest.ltrim(Blanks))
    Rest = Rest.drop_until([](char C) { return C == '\n'; });
  uint32_t N = 0;
  if (Rest.empty() || !isDigit(Rest.front()) || Rest.consumeInteger(10, N))
    return std::nullopt;
  return N;
}

static Expected<OutputValues> readImage(StringRef Bytes, StringRef Name) {
  const char Kind = Bytes[1];
  StringRef Rest = Bytes.drop_front(2);
  const auto Width = takeDecimal(Rest), Height = takeDecimal(Rest),
             Most = takeDecimal(Rest);
  if (!Width || !Height || !Most)
    return badImage(Name, "its header lacks width, height or maximum");
  if (!*Width || !*Height || !*Most || *Most > 65535)
    return badImage(Name, Twine(*Width) + " x " + Twine(*Height) +
                              " pixels with the maximum " + Twine(*Most));
  OutputValues V;
  V.Type = ValueType::Image;
  V.Width = *Width;
  V.Height = *Height;
  V.Channels = Kind == '3' || Kind == '6' ? 3 : 1;
  V.Peak = *Most;
  const bool IsBinary = Kind == '5' || Kind == '6';
  const size_t Each = !IsBinary ? 2 : *Most > 255 ? 2 : 1; // bytes, at least
  if (IsBinary)
    Rest = Rest.substr(1); // one blank, whichever
  const size_t Room = (Rest.size() + (IsBinary ? 0 : 1)) / Each;
  if (V.Height > Room / V.Width || V.Width * V.Height > Room / V.Channels)
    return badImage(Name, "it ends before its last pixel");
  const size_t Count = V.Width * V.Height * V.Channels;
  V.Numbers.reserve(Count);
  for (size_t I = 0; I != Count; ++I) {
    std::optional<uint32_t> N;
    if (!IsBinary)
      N = takeDecimal(Rest);
    else if (Each == 2)
      N = support::endian::read16be(Rest.data() + 2 * I);
    else
      N = uint8_t(Rest[I]);
    if (!N || *N > *Most)
      return badImage(Name, "number " + Twine(I + 1) + " of its pixels is " +
                                (N ? "above the maximum" : "none"));
    V.Numbers.push_back(*N);
  }
  Rest = IsBinary ? Rest.drop_front(Count * Each) : Rest;
  if (!Rest.trim(Blanks).empty())
    return badImage(Name, Twine(Rest.size()) + " bytes follow its last pixel");
  return V;
}

//===----------------------------------------------------------------------===//
// Text and raw numbers
//===----------------------------------------------------------------------===//

static Expected<OutputValues> readText(StringRef Bytes, StringRef Name) {
  OutputValues V;
  V.Type = ValueType::Text;
  size_t Line = 1;
  for (StringRef Rest = Bytes; !Rest.empty();) {
    if (StringRef(" \t\r\n\v\f,;").contains(Rest.front())) {
      Line += Rest.front() == '\n';
      Rest = Rest.drop_front();
      continue;
    }
    const StringRef Word = Rest.take_until(
        [](char C) { return StringRef(" \t\r\n\v\f,;").contains(C); });
    Rest = Rest.drop_front(Word.size());
    double Number = 0;
    if (Word.getAsDouble(Number)) {
      std::string Shown;
      raw_string_ostream OS(Shown);
      printEscapedString(Word.take_front(24), OS);
      return userError(
          Name + ":" + Twine(Line) + ": '" + Shown + "' is no number",
          "Name how numbers are written by type=f32, f64, u8, i32, "
          "text or image; or compare bytes by metric=mismatch.");
    }
    V.Numbers.push_back(Number);
  }
  return V;
}

template <typename T>
static Expected<OutputValues> readRaw(StringRef Bytes, ValueType Type,
                                      StringRef Name, StringRef Word) {
  if (Bytes.size() % sizeof(T))
    return userError(Name + ": " + Twine(Bytes.size()) +
                         " bytes are no whole number of " + Word,
                     "Name what the file holds by type=f32, f64, u8, i32, text "
                     "or image.");
  OutputValues V;
  V.Type = Type;
  V.Peak = Type == ValueType::U8 ? 255 : 0;
  V.Numbers.reserve(Bytes.size() / sizeof(T));
  for (size_t At = 0; At != Bytes.size(); At += sizeof(T))
    V.Numbers.push_back(double(
        support::endian::read<T, llvm::endianness::little>(Bytes.data() + At)));
  return V;
}

static Expected<OutputValues> readAs(StringRef Bytes, ValueType Type,
                                     StringRef Name) {
  switch (Type) {
  case ValueType::Any:
    return isImage(Bytes) ? readImage(Bytes, Name) : readText(Bytes, Name);
  case ValueType::Image:
    if (!isImage(Bytes))
      return badImage(Name, "it does not begin with P2, P3, P5 or P6");
    return readImage(Bytes, Name);
  case ValueType::Text:
    return readText(Bytes, Name);
  case ValueType::U8:
    return readRaw<uint8_t>(Bytes, Type, Name, "u8");
  case ValueType::I32:
    return readRaw<int32_t>(Bytes, Type, Name, "i32");
  case ValueType::F32:
    return readRaw<float>(Bytes, Type, Name, "f32");
  case ValueType::F64:
    return readRaw<double>(Bytes, Type, Name, "f64");
  }
  llvm_unreachable("all types are above");
}

Expected<OutputValues> readValues(StringRef Bytes, ValueType Type,
                                  StringRef Name) {
  auto V = readAs(Bytes, Type, Name);
  if (!V)
    return V.takeError();
  if (V->Numbers.empty())
    return userError(Name + ": has no values",
                     "Name an output that the program fills.");
  for (size_t I = 0; I != V->Numbers.size(); ++I)
    if (!std::isfinite(V->Numbers[I]))
      return userError(Name + ": value " + Twine(I + 1) + " is " +
                           (std::isnan(V->Numbers[I]) ? "NaN" : "infinite"),
                       "It has no distance from another. Name an output whose "
                       "values are finite, or compare bytes by "
                       "metric=mismatch.");
  return V;
}

} // namespace reconverge
