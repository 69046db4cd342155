//===- core/QualityValues.h - Outputs as numbers ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_QUALITYVALUES_H
#define RECONVERGE_CORE_QUALITYVALUES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <vector>

namespace reconverge {

/// How the numbers of an output are written.
enum class ValueType {
  Any, ///< as its first bytes say: an image, or else text
  Image,
  Text,
  U8,
  I32,
  F32,
  F64
};

/// The numbers of an output.
struct OutputValues {
  std::vector<double> Numbers; ///< none is a NaN or infinite
  ValueType Type = ValueType::Text;
  /// Of an image: pixels a row, rows, numbers a pixel. Otherwise 0.
  size_t Width = 0, Height = 0, Channels = 0;
  double Peak = 0; ///< the greatest number that can be; 0: not known
};

/// Reads \p Bytes, the content of what messages call \p Name: netpbm's P2, P3,
/// P5 and P6, numbers as text between blanks or commas, or numbers as they lie
/// in memory, little-endian. The UserError says where it is none of that.
llvm::Expected<OutputValues> readValues(llvm::StringRef Bytes, ValueType Type,
                                        llvm::StringRef Name);

} // namespace reconverge

#endif
