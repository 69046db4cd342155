//===- frontend/ptx/Syntax.h - PTX statements as values ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_SYNTAX_H
#define RECONVERGE_FRONTEND_PTX_SYNTAX_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace reconverge::frontend::ptx {

/// A PTX type: .pred, .b32, .s64, .f16x2, ...
struct Type {
  enum Kind : uint8_t { Pred, Bits, Unsigned, Signed, Float, BFloat };
  Kind K = Bits;
  unsigned Width = 32; ///< bits of one lane; 1 for .pred
  unsigned Lanes = 1;  ///< 2 for the packed types

  unsigned bits() const { return Width * Lanes; }
  bool isFloat() const { return K == Float || K == BFloat; }
  bool isInt() const { return K == Bits || K == Unsigned || K == Signed; }
  bool isSigned() const { return K == Signed; }
  /// f16, bf16 and their packed forms.
  bool isHalf() const { return isFloat() && Width == 16; }
  Type lane() const { return {K, Width, 1}; }
  bool operator==(const Type &) const = default;
};

/// "s32" -> {Signed, 32, 1}; nothing if \p Name is no type that we know.
std::optional<Type> parseType(llvm::StringRef Name);

struct Operand {
  enum Kind : uint8_t {
    Register,  ///< Index into Program::Registers
    Argument,  ///< Index of the asm operand, $Index
    Integer,   ///< Literal
    FloatBits, ///< Literal holds the IEEE bits, Width of them
    Special,   ///< Name of a special register without '%', or WARP_SZ
    Address,   ///< [Parts[0] + Literal], or [Parts[0], Parts[1]] of an image
    Vector,    ///< {Parts...}
    Pair,      ///< Parts[0] | Parts[1]
    Sink,      ///< _
  };
  Kind K = Sink;
  unsigned Index = 0;
  uint64_t Literal = 0;
  unsigned Width = 0;
  bool Negated = false; ///< !p
  std::string Name;
  std::vector<Operand> Parts;
};

struct Guard {
  Operand Predicate; ///< Register or Argument; Negated for @!p
};

struct Instruction {
  std::string Opcode;
  llvm::SmallVector<std::string, 4> Modifiers; ///< without the dots
  std::vector<Operand> Operands;
  std::optional<Guard> If;
};

struct Register {
  std::string Name; ///< as declared; unique ones are told apart by index
  Type T;
};

/// The straight-line text of one asm call.
struct Program {
  std::vector<Register> Registers;
  std::vector<Instruction> Code;
};

/// \p Text is an LLVM asm string ($0 for operands, $$ for a dollar). The
/// error's text is the reason, a sentence without a full stop.
llvm::Expected<Program> parse(llvm::StringRef Text);

} // namespace reconverge::frontend::ptx

#endif
