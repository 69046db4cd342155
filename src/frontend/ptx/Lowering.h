//===- frontend/ptx/Lowering.h - One asm text into a function ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PTX_LOWERING_H
#define RECONVERGE_FRONTEND_PTX_LOWERING_H

#include "frontend/ptx/Syntax.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"

namespace reconverge::frontend::ptx {

/// The state of one lowering, and what the rows of the table work with: the
/// instruction at hand, its modifiers and operands, and a builder. A row that
/// meets what it cannot express calls refuse() and carries on with any value;
/// the function is then thrown away.
class Lowering {
public:
  /// Emits into \p F, an empty function of the asm's type. \p Constants holds
  /// for each input the value of an immediate, null for others.
  Lowering(llvm::Function &F, const llvm::InlineAsm &Asm,
           llvm::ArrayRef<llvm::ConstantInt *> Constants);

  /// False if it refused; reason() says why.
  bool run();
  const std::string &reason() const { return Reason; }
  void refuse(const llvm::Twine &Why);

  llvm::IRBuilder<> B;

  // The instruction at hand.
  llvm::StringRef opcode() const { return At->Opcode; }
  /// Uses up the modifier \p Name; false if it is not there.
  bool take(llvm::StringRef Name);
  /// Uses up the first of \p Names that is there; empty if none is.
  llvm::StringRef takeOneOf(llvm::ArrayRef<llvm::StringRef> Names);
  /// All modifiers, joined by dots, whether used up or not.
  std::string modifiers() const;
  void takeAll() { Used.assign(Used.size(), true); }
  /// Uses up the next modifier that is a type; refuses if there is none.
  Type type();
  /// The next modifier that is a type, if any.
  std::optional<Type> takeType();
  /// Refuses, and is false, unless \p T is one integer of one of \p Widths.
  bool requireInt(Type T, llvm::ArrayRef<unsigned> Widths);

  size_t count() const { return At->Operands.size(); }
  /// Refuses unless the instruction has \p N operands.
  void arity(size_t N);
  /// Of the instruction; a sink if it has too few.
  const Operand &operand(size_t N) const;

  // Values. An operand is read as LLVM's type for T: iN, float, <2 x half>, ...
  llvm::Type *llvmType(Type T);
  llvm::Value *read(const Operand &O, Type T, bool MayBeWider = false);
  llvm::Value *read(size_t N, Type T) { return read(operand(N), T); }
  /// \p V is of llvmType(T). A wider register takes it extended by T's sign.
  void write(const Operand &O, Type T, llvm::Value *V, bool MayBeWider = false);
  void write(size_t N, Type T, llvm::Value *V) { write(operand(N), T, V); }
  llvm::Value *readPredicate(size_t N) { return read(N, {Type::Pred, 1, 1}); }
  void writePredicate(const Operand &O, llvm::Value *V) {
    write(O, {Type::Pred, 1, 1}, V);
  }
  /// The address operand \p O as a pointer into \p AddressSpace.
  llvm::Value *pointer(const Operand &O, unsigned AddressSpace);
  /// A register that holds an address, as a pointer.
  llvm::Value *pointerIn(const Operand &O, unsigned AddressSpace);
  /// The literal value of operand \p N, if it is an integer constant.
  std::optional<uint64_t> literal(size_t N) const;
  /// Width in bits of a register or argument; 0 of anything else.
  unsigned widthOf(const Operand &O) const;

  llvm::Value *readCarry();
  void writeCarry(llvm::Value *V);

  llvm::Value *call(llvm::Intrinsic::ID ID, llvm::ArrayRef<llvm::Value *> Args,
                    llvm::ArrayRef<llvm::Type *> Overloads = {});

  /// The asm was `volatile` or has no result.
  bool isVolatile() const { return Asm.hasSideEffects(); }
  /// "memory" is among the asm's clobbers.
  bool clobbersMemory() const {
    return llvm::StringRef(Asm.getConstraintString()).contains("~{memory}");
  }

private:
  struct Slot {
    llvm::AllocaInst *Memory = nullptr; ///< an integer of Width bits
    unsigned Width = 0;
    llvm::Argument *Pointer = nullptr; ///< a pointer that came in as such
    llvm::ConstantInt *Constant = nullptr;
  };

  bool bindOperands(llvm::ArrayRef<llvm::ConstantInt *> Constants);
  Slot makeSlot(unsigned Width, const llvm::Twine &Name);
  const Slot *slotOf(const Operand &O) const;
  llvm::Value *literalValue(const Operand &O, Type T);
  llvm::Value *special(const Operand &O, Type T);
  llvm::Value *toBits(llvm::Value *V);
  void emit(const Instruction &I);
  void emitResult();
  void promote();

  llvm::Function &F;
  const llvm::InlineAsm &Asm;
  std::vector<Slot> Arguments; ///< by asm operand number: outputs, then inputs
  unsigned Outputs = 0;
  std::vector<Slot> Registers;
  Slot Carry;
  const Instruction *At = nullptr;
  llvm::SmallVector<bool, 8> Used;  ///< of At's modifiers
  llvm::Value *Condition = nullptr; ///< a pure instruction's guard
  std::string Reason;
};

} // namespace reconverge::frontend::ptx

#endif
