//===- frontend/VirtualTables.h - What virtual calls look up ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_VIRTUALTABLES_H
#define RECONVERGE_FRONTEND_VIRTUALTABLES_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace llvm {
class CallBase;
class Constant;
class Function;
class GlobalVariable;
class Instruction;
class Module;
} // namespace llvm

namespace reconverge::frontend {

/// A call of what stands Slot bytes behind where an object's table begins.
struct VirtualCall {
  llvm::Instruction *Table; ///< the load of its address
  int64_t Slot;
};

/// \p Call as one; none: it looks otherwise.
std::optional<VirtualCall> virtualCall(const llvm::CallBase &Call);

/// The tables of virtual functions of a module, as the Itanium C++ ABI has them.
class VirtualTables {
public:
  explicit VirtualTables(llvm::Module &M);

  /// The addresses of tables, as objects have them, in which \p F is what \p Call
  /// looks up. None where F may also come from elsewhere, so that they do not
  /// tell.
  std::optional<llvm::SmallVector<llvm::Constant *>>
  with(llvm::Function &F, const VirtualCall &Call) const;

private:
  struct Table {
    llvm::GlobalVariable *Of;
    std::vector<uint64_t> Points; ///< offsets that objects point to
  };
  std::vector<Table> All;
  bool HasVirtualBases = false;
};

} // namespace reconverge::frontend

#endif
