//===- core/Quality.cpp - How good an output still is ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A metric makes one number of an output and its reference; the user's bound is
// for that number. Formulas, with r the reference, x the result, n values:
//
//   mean-relative   sum(|x - r| / |r|) / n; a value whose r is 0 counts by |x|,
//                   and how many did is told. Nothing but zeros is refused.
//   rmse            sqrt(sum((x - r)^2) / n)
//   psnr            20 log10(peak / rmse); peak: an image's maximum, 255 of u8,
//                   otherwise the reference's greatest minus its least value
//   ssim            Wang, Bovik, Sheikh and Simoncelli, "Image Quality
//                   Assessment: From Error Visibility to Structural
//                   Similarity" (2004): Gaussian windows of 11 x 11 with sigma
//                   1.5 that lie inside the image, K1 = 0.01, K2 = 0.03; the
//                   mean over windows and channels
//
// Bytes (mismatch) are compared as they are and need not be numbers.
//
//===----------------------------------------------------------------------===//

#include "core/Quality.h"

#include "core/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace llvm;

namespace reconverge {

//===----------------------------------------------------------------------===//
// The request
//===----------------------------------------------------------------------===//

namespace {
struct MetricRow {
  StringLiteral Word;
  QualityMetric Metric;
  bool IsGreaterBetter;
  bool IsShare; ///< shown as a percentage
};
} // namespace

static constexpr MetricRow Metrics[] = {
    {"mismatch", QualityMetric::Mismatch, false, true},
    {"mean-relative", QualityMetric::MeanRelative, false, true},
    {"max-relative", QualityMetric::MaxRelative, false, true},
    {"relative-l1", QualityMetric::RelativeL1, false, true},
    {"rmse", QualityMetric::Rmse, false, false},
    {"psnr", QualityMetric::Psnr, true, false},
    {"ssim", QualityMetric::Ssim, true, false},
    {"misclassified", QualityMetric::Misclassified, false, true}};

static constexpr std::pair<StringLiteral, ValueType> Types[] = {
    {"image", ValueType::Image}, {"text", ValueType::Text},
    {"u8", ValueType::U8},       {"i32", ValueType::I32},
    {"f32", ValueType::F32},     {"f64", ValueType::F64}};

static const MetricRow *rowOf(QualityMetric Metric) {
  const auto *Found = find_if(
      Metrics, [&](const MetricRow &Row) { return Row.Metric == Metric; });
  return Found == std::end(Metrics) ? nullptr : Found;
}

static Error badRequest(const Twine &What, const Twine &Remedy) {
  return userError("--quality: " + What, Remedy);
}

std::string QualityRequest::metricName() const {
  const MetricRow *Row = rowOf(Metric);
  return Row ? Row->Word.str() : Library + ":" + Function;
}

bool QualityRequest::isWithin(double Quality) const {
  return !Bound || (IsGreaterBetter ? Quality >= *Bound : Quality <= *Bound);
}

bool QualityRequest::letsChange() const {
  if (!Bound)
    return true;
  if (Metric == QualityMetric::Ssim)
    return *Bound < 1;
  return IsGreaterBetter ? std::isfinite(*Bound) : *Bound > 0;
}

static Error readMetric(StringRef Word, QualityRequest &Request) {
  for (const MetricRow &Row : Metrics)
    if (Row.Word == Word) {
      Request.Metric = Row.Metric;
      Request.IsGreaterBetter = Row.IsGreaterBetter;
      return Error::success();
    }
  const auto [Library, Function] = Word.rsplit(':');
  if (!Library.empty() && !Function.empty()) {
    Request.Metric = QualityMetric::User;
    Request.Library = Library.str();
    Request.Function = Function.str();
    return Error::success();
  }
  std::string All;
  for (const MetricRow &Row : Metrics)
    All += (All.empty() ? "" : ", ") + Row.Word.str();
  return badRequest("there is no metric '" + Word + "'",
                    "The metrics are " + All + " and <library>:<function>.");
}

static Error readBound(StringRef Word, QualityRequest &Request) {
  const bool IsPercent = Word.ends_with("%");
  double Bound = 0;
  if (Word.drop_back(IsPercent).rtrim().getAsDouble(Bound) || std::isnan(Bound))
    return badRequest("bound=" + Word + " is no number",
                      "Write a number in the metric's unit, as in bound=40 or "
                      "bound=5%.");
  Request.Bound = IsPercent ? Bound / 100 : Bound;
  return Error::success();
}

/// "device:render:2": what the second argument of the kernel points to.
static Error readOutput(StringRef Word, QualityRequest &Request) {
  Request.Output = Word == "stdout" ? "-" : Word.str();
  if (!Word.consume_front("device:"))
    return Error::success();
  const auto [Kernel, Number] = Word.rsplit(':');
  if (Kernel.empty() || Number.getAsInteger(10, Request.Argument) ||
      !Request.Argument)
    return badRequest("out=" + Request.Output + " names no buffer",
                      "Write device:<kernel>:<number>: the number, from 1, of "
                      "the argument that points there.");
  Request.Kernel = Kernel.str();
  return Error::success();
}

static Error readKey(StringRef Key, StringRef Value, QualityRequest &Request,
                     std::optional<bool> &Better) {
  if (Value.empty())
    return badRequest("'" + Key + "' has no value",
                      "Write <key>=<value>, with commas between them.");
  if (Key == "out")
    return readOutput(Value, Request);
  if (Key == "metric")
    return readMetric(Value, Request);
  if (Key == "bound")
    return readBound(Value, Request);
  if (Key == "type") {
    for (const auto &[Word, Type] : Types)
      if (Word == Value) {
        Request.Type = Type;
        return Error::success();
      }
    return badRequest("there is no type '" + Value + "'",
                      "The types are image, text, u8, i32, f32 and f64.");
  }
  if (Key == "better") {
    if (Value != "greater" && Value != "less")
      return badRequest("better=" + Value, "Write greater or less.");
    Better = Value == "greater";
    return Error::success();
  }
  return badRequest("there is no key '" + Key + "'",
                    "The keys are out, metric, bound, type and better.");
}

/// What only all keys together tell.
static Error settle(QualityRequest &Request, std::optional<bool> Better) {
  const bool IsUsers = Request.Metric == QualityMetric::User;
  if (Better && !IsUsers)
    return badRequest("better= is for a function of yours",
                      "Leave it out; it is known of " + Request.metricName() +
                          ".");
  if (Better)
    Request.IsGreaterBetter = *Better;
  if (Request.Metric == QualityMetric::Mismatch &&
      Request.Type != ValueType::Any)
    return badRequest("mismatch compares bytes and has no type=",
                      "Leave it out; misclassified compares values.");
  if (Request.isBuffer() && Request.Metric != QualityMetric::Mismatch &&
      (Request.Type == ValueType::Any || Request.Type == ValueType::Image ||
       Request.Type == ValueType::Text))
    return badRequest("out=" + Request.Output +
                          ": memory does not say of what type its values are",
                      "Add type=f32, f64, i32 or u8; mismatch needs none.");
  if (!Request.Bound || IsUsers)
    return Error::success();
  if (Request.IsGreaterBetter && *Request.Bound <= 0)
    return badRequest("a bound of " + Request.metricName() +
                          " lies above 0, for greater is better",
                      Request.Metric == QualityMetric::Psnr
                          ? "Write bound=40 for images that look alike, or "
                            "bound=inf if nothing may change."
                          : "Write bound=0.98 for images that look alike, or "
                            "bound=1 if nothing may change.");
  if (*Request.Bound < 0)
    return badRequest("a bound of " + Request.metricName() + " is not negative",
                      "Write bound=0 if nothing may change.");
  if (Request.Metric == QualityMetric::Ssim && *Request.Bound > 1)
    return badRequest("ssim is never above 1", "Write a bound below that.");
  return Error::success();
}

/// \p Text at its commas, less those between < and >, as of a template's name.
static SmallVector<StringRef> partsOf(StringRef Text) {
  SmallVector<StringRef> Parts;
  size_t Begin = 0;
  int Depth = 0;
  for (size_t I = 0; I != Text.size(); ++I) {
    Depth += Text[I] == '<' ? 1 : Text[I] == '>' ? -1 : 0;
    if (Text[I] != ',' || Depth > 0)
      continue;
    Parts.push_back(Text.slice(Begin, I));
    Begin = I + 1;
  }
  Parts.push_back(Text.drop_front(Begin));
  return Parts;
}

Expected<QualityRequest> parseQuality(StringRef Text) {
  QualityRequest Request;
  std::optional<bool> Better;
  SmallVector<StringRef> Seen;
  for (StringRef Part : partsOf(Text)) {
    const auto [Key, Value] = Part.split('=');
    if (is_contained(Seen, Key))
      return badRequest("'" + Key + "' is given twice", "Leave one out.");
    Seen.push_back(Key);
    if (Error E = readKey(Key, Value, Request, Better))
      return std::move(E);
  }
  if (!is_contained(Seen, "metric"))
    return badRequest("there is no metric in '" + Text + "'",
                      "Write metric=psnr or another; docs/quality.md has all.");
  if (Error E = settle(Request, Better))
    return std::move(E);
  Request.Words = Text.str();
  return Request;
}

std::string qualityText(const QualityRequest &Request, double Value) {
  const MetricRow *Row = rowOf(Request.Metric);
  std::string Text;
  raw_string_ostream OS(Text);
  if (Row && Row->IsShare)
    OS << format("%.4g %%", Value * 100);
  else
    OS << format("%.4g", Value);
  if (Request.Metric == QualityMetric::Psnr)
    OS << " dB";
  return Text;
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

static Error onlyZeros(StringRef Name) {
  return userError(Name + ": every value is 0, and no error is relative to 0",
                   "Use metric=rmse or metric=mismatch.");
}

static Expected<Quality> relative(const OutputValues &R, const OutputValues &X,
                                  bool Mean, StringRef Name) {
  Quality Q;
  double Sum = 0, Most = 0;
  for (auto [Ref, Res] : zip_equal(R.Numbers, X.Numbers)) {
    Q.Zeros += Ref == 0;
    const double Apart = std::fabs(Res - Ref);
    const double Part = Ref == 0 ? Apart : Apart / std::fabs(Ref);
    Sum += Part;
    Most = std::max(Most, Part);
  }
  if (Q.Zeros == R.Numbers.size())
    return onlyZeros(Name);
  Q.Value = Mean ? Sum / double(R.Numbers.size()) : Most;
  return Q;
}

static Expected<double> relativeL1(const OutputValues &R, const OutputValues &X,
                                   StringRef Name) {
  double Apart = 0, All = 0;
  for (auto [Ref, Res] : zip_equal(R.Numbers, X.Numbers)) {
    Apart += std::fabs(Res - Ref);
    All += std::fabs(Ref);
  }
  if (All == 0)
    return onlyZeros(Name);
  return Apart / All;
}

static double rmse(const OutputValues &R, const OutputValues &X) {
  double Sum = 0;
  for (auto [Ref, Res] : zip_equal(R.Numbers, X.Numbers))
    Sum += (Res - Ref) * (Res - Ref);
  return std::sqrt(Sum / double(R.Numbers.size()));
}

static Expected<double> psnr(const OutputValues &R, const OutputValues &X,
                             StringRef Name) {
  const double Error = rmse(R, X);
  if (Error == 0)
    return INFINITY;
  const auto [Least, Most] =
      std::minmax_element(R.Numbers.begin(), R.Numbers.end());
  const double Peak = R.Peak > 0 ? R.Peak : *Most - *Least;
  if (Peak == 0)
    return userError(Name + ": all values are the same, so psnr has no peak",
                     "Use metric=rmse, or type=u8 if they are bytes.");
  return 20 * std::log10(Peak / Error);
}

static constexpr size_t Window = 11;

/// The weights of a window's row or column; their sum is 1.
static std::array<double, Window> gaussian() {
  std::array<double, Window> W;
  double Sum = 0;
  for (size_t I = 0; I != Window; ++I) {
    const double D = double(I) - Window / 2;
    Sum += W[I] = std::exp(-D * D / (2 * 1.5 * 1.5));
  }
  for (double &Each : W)
    Each /= Sum;
  return W;
}

/// Of the window whose first number is \p First, in a channel of \p R.
static double ssimAt(const OutputValues &R, const OutputValues &X, size_t First,
                     const std::array<double, Window> &W) {
  double MeanR = 0, MeanX = 0, RR = 0, XX = 0, RX = 0;
  for (size_t J = 0; J != Window; ++J)
    for (size_t I = 0; I != Window; ++I) {
      const size_t At = First + (J * R.Width + I) * R.Channels;
      const double A = R.Numbers[At], B = X.Numbers[At], By = W[I] * W[J];
      MeanR += By * A;
      MeanX += By * B;
      RR += By * A * A;
      XX += By * B * B;
      RX += By * A * B;
    }
  const double C1 = 0.01 * 0.01 * R.Peak * R.Peak,
               C2 = 0.03 * 0.03 * R.Peak * R.Peak;
  const double VarR = RR - MeanR * MeanR, VarX = XX - MeanX * MeanX,
               Both = RX - MeanR * MeanX;
  return (2 * MeanR * MeanX + C1) * (2 * Both + C2) /
         ((MeanR * MeanR + MeanX * MeanX + C1) * (VarR + VarX + C2));
}

static Expected<double> ssim(const OutputValues &R, const OutputValues &X,
                             StringRef Name) {
  if (R.Type != ValueType::Image || R.Width < Window || R.Height < Window)
    return userError(Name + ": ssim needs a PGM or PPM image of 11 x 11 pixels "
                            "or more",
                     "Use metric=psnr or metric=rmse.");
  if (R.Numbers == X.Numbers)
    return 1.0; // which rounding could miss
  const auto W = gaussian();
  double Sum = 0;
  for (size_t Y = 0; Y != R.Height - Window + 1; ++Y)
    for (size_t At = 0; At != (R.Width - Window + 1) * R.Channels; ++At)
      Sum += ssimAt(R, X, Y * R.Width * R.Channels + At, W);
  return Sum /
         double((R.Width - Window + 1) * (R.Height - Window + 1) * R.Channels);
}

static Expected<double> byUser(const QualityRequest &Request,
                               const OutputValues &R, const OutputValues &X) {
  SmallString<128> Path(Request.Library);
  if (std::error_code EC = sys::fs::make_absolute(Path))
    return badRequest(Request.Library + ": " + EC.message(), "");
  std::string Why;
  auto Library = sys::DynamicLibrary::getPermanentLibrary(Path.c_str(), &Why);
  if (!Library.isValid())
    return badRequest("cannot load " + Request.Library + ": " + Why,
                      "Name a shared library, as cc -shared -fPIC builds it.");
  void *Found = Library.getAddressOfSymbol(Request.Function.c_str());
  if (!Found)
    return badRequest("there is no function '" + Request.Function + "' in " +
                          Request.Library,
                      "Declare it extern \"C\" double " + Request.Function +
                          "(const double *reference, const double *result, "
                          "size_t count).");
  using Measure = double (*)(const double *, const double *, size_t);
  const double Value = reinterpret_cast<Measure>(Found)(
      R.Numbers.data(), X.Numbers.data(), R.Numbers.size());
  if (std::isnan(Value))
    return badRequest(Request.metricName() + " returned NaN",
                      "It has to return a number for each pair of outputs.");
  return Value;
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

static Error unlike(StringRef ReferenceName, const Twine &Reference,
                    StringRef ResultName, const Twine &Result) {
  return userError("two outputs of two sizes: " + ReferenceName + " has " +
                       Reference + ", " + ResultName + " has " + Result,
                   "Name an output whose size does not depend on the result.");
}

static std::string sizeOf(const OutputValues &V) {
  if (V.Type != ValueType::Image)
    return (Twine(V.Numbers.size()) + " values").str();
  return (Twine(V.Width) + " x " + Twine(V.Height) + " pixels of " +
          Twine(V.Channels) + " values up to " + Twine(unsigned(V.Peak)))
      .str();
}

static double shareOf(size_t Part, size_t All) {
  return All ? double(Part) / double(All) : 0;
}

static Expected<Quality> mismatch(StringRef Reference, StringRef ReferenceName,
                                  StringRef Result, StringRef ResultName) {
  if (Reference.size() != Result.size())
    return unlike(ReferenceName, Twine(Reference.size()) + " bytes", ResultName,
                  Twine(Result.size()) + " bytes");
  if (Reference.empty())
    return userError(ReferenceName + ": has no values",
                     "Name an output that the program fills.");
  size_t Differ = 0;
  for (auto [A, B] : zip_equal(Reference, Result))
    Differ += A != B;
  return Quality{shareOf(Differ, Reference.size()), Reference.size()};
}

Expected<Quality> measureQuality(const QualityRequest &Request,
                                 StringRef Reference, StringRef ReferenceName,
                                 StringRef Result, StringRef ResultName) {
  if (Request.Metric == QualityMetric::Mismatch)
    return mismatch(Reference, ReferenceName, Result, ResultName);
  auto R = readValues(Reference, Request.Type, ReferenceName);
  if (!R)
    return R.takeError();
  auto X = readValues(Result, Request.Type, ResultName);
  if (!X)
    return X.takeError();
  if (R->Numbers.size() != X->Numbers.size() || R->Width != X->Width ||
      R->Channels != X->Channels || R->Peak != X->Peak)
    return unlike(ReferenceName, sizeOf(*R), ResultName, sizeOf(*X));
  Quality Q;
  Error E = Error::success();
  (void)bool(E); // looked at: some metrics cannot fail
  switch (Request.Metric) {
  case QualityMetric::Mismatch:
    llvm_unreachable("bytes are compared above");
  case QualityMetric::MeanRelative:
  case QualityMetric::MaxRelative:
    E = relative(*R, *X, Request.Metric == QualityMetric::MeanRelative,
                 ReferenceName)
            .moveInto(Q);
    break;
  case QualityMetric::RelativeL1:
    E = relativeL1(*R, *X, ReferenceName).moveInto(Q.Value);
    break;
  case QualityMetric::Rmse:
    Q.Value = rmse(*R, *X);
    break;
  case QualityMetric::Psnr:
    E = psnr(*R, *X, ReferenceName).moveInto(Q.Value);
    break;
  case QualityMetric::Ssim:
    E = ssim(*R, *X, ReferenceName).moveInto(Q.Value);
    break;
  case QualityMetric::Misclassified: {
    size_t Differ = 0;
    for (auto [A, B] : zip_equal(R->Numbers, X->Numbers))
      Differ += A != B;
    Q.Value = shareOf(Differ, R->Numbers.size());
    break;
  }
  case QualityMetric::User:
    E = byUser(Request, *R, *X).moveInto(Q.Value);
    break;
  }
  if (E)
    return std::move(E);
  if (std::isnan(Q.Value))
    return userError(ResultName + ": its values are too large for " +
                         Request.metricName(),
                     "Use metric=max-relative.");
  Q.Count = R->Numbers.size();
  return Q;
}

} // namespace reconverge
