//===- frontend/ptx/Table.h - What is lowered, row by row -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_TABLE_H
#define RECONVERGE_FRONTEND_PTX_TABLE_H

#include "frontend/ptx/Lowering.h"

namespace reconverge::frontend::ptx {

/// What the first type among an instruction's modifiers is; tells rows of one
/// opcode apart.
enum Class : unsigned {
  AnyClass = 0,
  IntClass = 1,   ///< and the packed ones, .b, .pred
  FloatClass = 2, ///< .f32, .f64
  HalfClass = 4,  ///< .f16, .bf16 and the packed ones
};

struct Row {
  llvm::StringRef Opcode;
  unsigned Class;
  /// It touches memory, other lanes or the thread's life: under a guard it
  /// needs a branch, where a pure one is computed always and selected.
  bool Effects;
  void (*Emit)(Lowering &);
  llvm::StringRef Forms;   ///< for people: which modifiers and types
  llvm::StringRef Becomes; ///< for people: what comes out
};

/// Null if the table has none.
const Row *findRow(const Instruction &I);

/// All rows, grouped by the file that holds them.
struct RowGroup {
  llvm::StringRef Title;
  llvm::ArrayRef<Row> Rows;
};
llvm::ArrayRef<RowGroup> allRows();

llvm::ArrayRef<Row> dataRows();
llvm::ArrayRef<Row> integerRows();
llvm::ArrayRef<Row> bitRows();
llvm::ArrayRef<Row> floatRows();
llvm::ArrayRef<Row> halfRows();
llvm::ArrayRef<Row> compareRows();
llvm::ArrayRef<Row> convertRows();
llvm::ArrayRef<Row> memoryRows();
llvm::ArrayRef<Row> atomicRows();
llvm::ArrayRef<Row> simdRows();
llvm::ArrayRef<Row> syncRows();
llvm::ArrayRef<Row> asyncRows();
llvm::ArrayRef<Row> tileRows();
llvm::ArrayRef<Row> textureRows();

/// The function without operands that reads special register \p Name
/// ("tid.x"); null if there is none.
llvm::FunctionCallee specialRegister(llvm::Module &M, llvm::StringRef Name);

/// One of analysis/PtxFunctions.h. Without operands it only reads what never
/// changes.
llvm::FunctionCallee ownFunction(llvm::Module &M, llvm::StringRef Name,
                                 llvm::Type *Result,
                                 llvm::ArrayRef<llvm::Type *> Parameters);

/// A call of that function at the instruction at hand.
llvm::Value *callOwn(Lowering &L, llvm::StringRef Name, llvm::Type *Result,
                     llvm::ArrayRef<llvm::Value *> Args);

/// Likewise, of the variant of function \p Name that is the instruction at hand
/// with all its modifiers ("Name~modifiers"). On a GPU it is \p Text again, an
/// asm text with \p Constraints; addresses of shared memory take 32 bits there.
llvm::CallInst *callPtx(Lowering &L, const llvm::Twine &Name,
                        llvm::Type *Result, llvm::ArrayRef<llvm::Value *> Args,
                        const llvm::Twine &Text,
                        const llvm::Twine &Constraints);

} // namespace reconverge::frontend::ptx

#endif
