//===- core/Quality.h - How good an output still is -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_QUALITY_H
#define RECONVERGE_CORE_QUALITY_H

#include "core/QualityValues.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace reconverge {

/// What is measured of a result beside its reference.
enum class QualityMetric {
  Mismatch,      ///< share of bytes that differ
  MeanRelative,  ///< mean of |result - reference| / |reference|
  MaxRelative,   ///< the greatest of these
  RelativeL1,    ///< sum of |result - reference| over that of |reference|
  Rmse,          ///< root of the mean squared error, in the values' unit
  Psnr,          ///< peak signal to noise, dB; infinite where all is equal
  Ssim,          ///< mean structural similarity of images, 1 where all is equal
  Misclassified, ///< share of values that differ, each being a label
  User           ///< a function in a shared library
};

/// What --quality asks for.
struct QualityRequest {
  /// File that the program writes, "-": its standard output; empty: not named.
  /// "device:<kernel>:<number>" of a buffer, as it was asked.
  std::string Output;
  std::string Kernel;    ///< of a device buffer, as the user calls it
  unsigned Argument = 0; ///< of the kernel, which points there, from 1; 0: none
  QualityMetric Metric = QualityMetric::Mismatch;
  std::string Library, Function; ///< of QualityMetric::User
  ValueType Type = ValueType::Any;
  bool IsGreaterBetter = false;
  std::optional<double> Bound; ///< in the metric's unit; none: not named
  std::string Words;           ///< in which it was asked

  /// "psnr", or "lib.so:function".
  std::string metricName() const;
  /// Whether the output is memory of the device.
  bool isBuffer() const { return Argument; }
  /// Whether a result of this \p Quality may pass; true if there is no bound.
  bool isWithin(double Quality) const;
  /// Whether the bound lets anything change: of an error 0 does not, nor do
  /// psnr's infinity and ssim's 1.
  bool letsChange() const;
};

/// A result beside its reference.
struct Quality {
  double Value = 0;   ///< by the metric
  uint64_t Count = 0; ///< of values compared; of Mismatch: bytes
  /// Values whose reference is 0, in a relative metric: their absolute error
  /// stands for the relative one.
  uint64_t Zeros = 0;
};

/// "out=image.ppm,metric=psnr,bound=40": docs/quality.md has all keys. The
/// UserError names what is wrong in it.
llvm::Expected<QualityRequest> parseQuality(llvm::StringRef Text);

/// Measures the output \p Result beside \p Reference, the contents of files
/// that messages call \p ReferenceName and \p ResultName. A UserError if they
/// cannot be compared: other sizes, a NaN, nothing but zeros for a relative
/// metric, no image for ssim.
llvm::Expected<Quality> measureQuality(const QualityRequest &Request,
                                       llvm::StringRef Reference,
                                       llvm::StringRef ReferenceName,
                                       llvm::StringRef Result,
                                       llvm::StringRef ResultName);

/// A quality or a bound as people read it: "40.1 dB", "1.2 %", "0.98".
std::string qualityText(const QualityRequest &Request, double Value);

} // namespace reconverge

#endif
