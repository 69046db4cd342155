//===- frontend/ptx/Lowering.cpp - One asm text into a function -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An asm text becomes the body of a function that has the asm's own type.
//  1. Every register of the text and every operand of the asm gets a slot, an
//     alloca of as many bits as PTX gives it. PTX registers are bags of bits,
//     and so are the slots: an f32 is read from 32 bits by a bitcast.
//  2. Instructions are emitted in order, each by its row of the table. The
//     carry flag is a slot too, which is all that `.cc` chains need.
//  3. A guard on a pure instruction selects between the new value and the old;
//     on one with effects it becomes a branch around it.
//  4. The outputs' slots are gathered into the result, and mem2reg removes the
//     slots.
// The function is the plan: if any instruction is refused, it is thrown away
// and the asm call stays as it was.
//
// PTX leaves the value of a register that was never written unspecified; ours
// reads zero, so that nothing of it depends on poison.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Lowering.h"

#include "analysis/device/AddressSpace.h"
#include "frontend/ptx/Table.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

Lowering::Lowering(Function &F, const InlineAsm &Asm,
                   ArrayRef<ConstantInt *> Constants)
    : B(F.getContext()), F(F), Asm(Asm) {
  B.SetInsertPoint(BasicBlock::Create(F.getContext(), "", &F));
  if (!bindOperands(Constants) && Reason.empty())
    refuse("the operands' constraints are not supported");
}

void Lowering::refuse(const Twine &Why) {
  if (Reason.empty())
    Reason = Why.str();
}

Lowering::Slot Lowering::makeSlot(unsigned Width, const Twine &Name) {
  Slot S;
  S.Width = Width;
  // Slots go to the front of the entry block, where mem2reg looks for them.
  IRBuilder<>::InsertPointGuard Keep(B);
  BasicBlock &Entry = F.getEntryBlock();
  B.SetInsertPoint(&Entry, Entry.begin());
  S.Memory = B.CreateAlloca(B.getIntNTy(Width), nullptr, Name);
  B.SetInsertPoint(&Entry, std::next(S.Memory->getIterator()));
  B.CreateStore(B.getIntN(Width, 0), S.Memory);
  return S;
}

/// Bits of a register of the constraint's class; 0 if it is none.
static unsigned widthOfConstraint(StringRef Code) {
  if (Code.size() != 1)
    return 0;
  switch (Code[0]) {
  case 'b':
    return 1;
  case 'h':
    return 16;
  case 'r':
  case 'f':
    return 32;
  case 'l':
  case 'd':
    return 64;
  case 'q':
    return 128;
  default:
    return 0;
  }
}

static bool isImmediate(StringRef Code) { return Code == "n" || Code == "i"; }

bool Lowering::bindOperands(ArrayRef<ConstantInt *> Constants) {
  const DataLayout &DL = F.getDataLayout();
  unsigned Input = 0;
  for (const InlineAsm::ConstraintInfo &C : Asm.ParseConstraints()) {
    if (C.Type == InlineAsm::isClobber)
      continue;
    if (C.Type == InlineAsm::isLabel || C.isIndirect ||
        C.isMultipleAlternative || C.Codes.size() != 1)
      return false;
    StringRef Code = C.Codes[0];
    unsigned Width = widthOfConstraint(Code);
    if (C.Type == InlineAsm::isOutput) {
      if (Width == 0)
        return false;
      Arguments.push_back(makeSlot(Width, "out"));
      ++Outputs;
      continue;
    }
    Argument *Arg = F.getArg(Input);
    ConstantInt *Constant = Constants[Input++];
    if (isImmediate(Code)) {
      if (!Constant)
        return false;
      Slot S;
      S.Constant = Constant;
      Arguments.push_back(S);
      continue;
    }
    // A tied input has the number of its output as its constraint.
    unsigned Tied;
    bool IsTied = !Code.getAsInteger(10, Tied);
    if (IsTied && Tied >= Outputs)
      return false;
    if (!IsTied && Width == 0)
      return false;
    Slot S = IsTied ? Arguments[Tied] : makeSlot(Width, "in");
    uint64_t Bits = DL.getTypeSizeInBits(Arg->getType());
    if (Bits > S.Width || !Arg->getType()->isSingleValueType())
      return false;
    Value *V = toBits(Arg);
    if (Arg->getType()->isPointerTy() && !IsTied)
      S.Pointer = Arg;
    B.CreateStore(B.CreateZExt(V, B.getIntNTy(S.Width)), S.Memory);
    Arguments.push_back(S);
  }
  return true;
}

bool Lowering::run() {
  if (!Reason.empty())
    return false;
  Expected<Program> P = parse(Asm.getAsmString());
  if (!P) {
    refuse(toString(P.takeError()));
    return false;
  }
  for (const Register &R : P->Registers)
    Registers.push_back(makeSlot(R.T.bits(), "reg"));
  Carry = makeSlot(1, "cc");
  for (const Instruction &I : P->Code) {
    emit(I);
    if (!Reason.empty())
      return false;
  }
  // `asm volatile("" ::: "memory")` orders the compiler and nothing else.
  if (P->Code.empty() && isVolatile() && clobbersMemory())
    B.CreateFence(AtomicOrdering::SequentiallyConsistent,
                  SyncScope::SingleThread);
  emitResult();
  if (!Reason.empty())
    return false;
  promote();
  return true;
}

void Lowering::emit(const Instruction &I) {
  std::string Name = I.Opcode;
  for (const std::string &Modifier : I.Modifiers)
    Name += "." + Modifier;
  const Row *R = findRow(I);
  if (!R)
    return refuse("'" + Name + "' is not in the table");
  At = &I;
  Used.assign(I.Modifiers.size(), false);
  Condition = nullptr;
  Value *Guarded = nullptr;
  if (I.If) {
    Guarded = read(I.If->Predicate, {Type::Pred, 1, 1});
    if (!R->Effects)
      Condition = Guarded;
  }
  BasicBlock *After = nullptr;
  if (Guarded && R->Effects) {
    LLVMContext &C = F.getContext();
    BasicBlock *Then = BasicBlock::Create(C, "guarded", &F);
    After = BasicBlock::Create(C, "", &F);
    B.CreateCondBr(Guarded, Then, After);
    B.SetInsertPoint(Then);
  }
  R->Emit(*this);
  if (After) {
    B.CreateBr(After);
    B.SetInsertPoint(After);
  }
  for (size_t M = 0; M != Used.size(); ++M)
    if (!Used[M])
      refuse("'" + Name + "': '." + I.Modifiers[M] + "' is not supported");
  if (!Reason.empty() && StringRef(Reason).front() != '\'')
    Reason = "'" + Name + "': " + Reason;
}

//===----------------------------------------------------------------------===//
// Modifiers
//===----------------------------------------------------------------------===//

bool Lowering::take(StringRef Name) {
  for (size_t M = 0; M != Used.size(); ++M)
    if (!Used[M] && At->Modifiers[M] == Name)
      return Used[M] = true;
  return false;
}

StringRef Lowering::takeOneOf(ArrayRef<StringRef> Names) {
  for (StringRef Name : Names)
    if (take(Name))
      return Name;
  return "";
}

std::string Lowering::modifiers() const { return join(At->Modifiers, "."); }

std::optional<Type> Lowering::takeType() {
  for (size_t M = 0; M != Used.size(); ++M)
    if (!Used[M])
      if (std::optional<Type> T = parseType(At->Modifiers[M])) {
        Used[M] = true;
        return T;
      }
  return std::nullopt;
}

Type Lowering::type() {
  if (std::optional<Type> T = takeType())
    return *T;
  refuse("a type is missing");
  return {};
}

bool Lowering::requireInt(Type T, ArrayRef<unsigned> Widths) {
  if (T.isInt() && T.Lanes == 1 && is_contained(Widths, T.Width))
    return true;
  refuse("the type is not supported");
  return false;
}

void Lowering::arity(size_t N) {
  if (count() != N)
    refuse("the number of operands is wrong");
}

const Operand &Lowering::operand(size_t N) const {
  static const Operand None;
  return N < At->Operands.size() ? At->Operands[N] : None;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

llvm::Type *Lowering::llvmType(Type T) {
  llvm::Type *Lane = T.K == Type::BFloat                   ? B.getBFloatTy()
                     : T.K == Type::Float && T.Width == 16 ? B.getHalfTy()
                     : T.K == Type::Float && T.Width == 32 ? B.getFloatTy()
                     : T.K == Type::Float                  ? B.getDoubleTy()
                                          : B.getIntNTy(T.Width);
  return T.Lanes == 1 ? Lane : FixedVectorType::get(Lane, T.Lanes);
}

Value *Lowering::toBits(Value *V) {
  llvm::Type *T = V->getType();
  if (T->isPointerTy())
    return B.CreatePtrToInt(
        V, B.getIntNTy(F.getDataLayout().getTypeSizeInBits(T)));
  return T->isIntegerTy()
             ? V
             : B.CreateBitCast(V, B.getIntNTy(T->getPrimitiveSizeInBits()));
}

const Lowering::Slot *Lowering::slotOf(const Operand &O) const {
  if (O.K == Operand::Register)
    return &Registers[O.Index];
  if (O.K == Operand::Argument && O.Index < Arguments.size())
    return &Arguments[O.Index];
  return nullptr;
}

unsigned Lowering::widthOf(const Operand &O) const {
  const Slot *S = slotOf(O);
  return S ? S->Width : 0;
}

std::optional<uint64_t> Lowering::literal(size_t N) const {
  const Operand &O = operand(N);
  if (O.K == Operand::Integer)
    return O.Literal;
  const Slot *S = slotOf(O);
  if (S && S->Constant)
    return S->Constant->getValue().sextOrTrunc(64).getZExtValue();
  return std::nullopt;
}

Value *Lowering::literalValue(const Operand &O, Type T) {
  llvm::Type *LT = llvmType(T);
  if (O.K == Operand::Integer) {
    if (T.K == Type::Pred || T.isFloat())
      refuse("an integer literal does not fit the type");
    else
      // Negative literals are stored in 64 bits; 128 bits need the sign.
      return B.CreateBitCast(
          B.getInt(APInt(64, O.Literal).sextOrTrunc(T.bits())), LT);
    return Constant::getNullValue(LT);
  }
  if (T.Lanes == 1 && T.K == Type::Float && T.Width >= 32) {
    APFloat V = O.Width == 32
                    ? APFloat(APFloat::IEEEsingle(), APInt(32, O.Literal))
                    : APFloat(APFloat::IEEEdouble(), APInt(64, O.Literal));
    bool Lost;
    V.convert(T.Width == 32 ? APFloat::IEEEsingle() : APFloat::IEEEdouble(),
              APFloat::rmNearestTiesToEven, &Lost);
    return ConstantFP::get(LT, V);
  }
  if (T.K == Type::Bits && T.Width == O.Width)
    return B.getIntN(T.Width, O.Literal);
  refuse("a floating-point literal does not fit the type");
  return Constant::getNullValue(LT);
}

Value *Lowering::special(const Operand &O, Type T) {
  // A 64-bit counter has names for its halves.
  const bool Upper = O.Name == "clock_hi" || O.Name == "globaltimer_hi";
  const StringRef Name = O.Name == "clock_hi"         ? "clock64"
                         : Upper                      ? "globaltimer"
                         : O.Name == "globaltimer_lo" ? "globaltimer"
                                                      : StringRef(O.Name);
  FunctionCallee Read = specialRegister(*F.getParent(), Name);
  if (!Read) {
    refuse("special register '%" + O.Name + "' is not supported");
    return Constant::getNullValue(llvmType(T));
  }
  // A 64-bit counter may be read by its lower half: mov.u32 r, %gridid.
  const unsigned Width =
      Read.getFunctionType()->getReturnType()->getIntegerBitWidth();
  if (!T.isInt() || T.Lanes != 1 || T.Width > Width || T.Width < 32)
    refuse("special register '%" + O.Name + "' has another type");
  Value *V = B.CreateCall(Read);
  if (Upper)
    V = B.CreateLShr(V, 32);
  return B.CreateZExtOrTrunc(V, B.getIntNTy(T.bits()));
}

Value *Lowering::read(const Operand &O, Type T, bool MayBeWider) {
  llvm::Type *LT = llvmType(T);
  if (O.K == Operand::Integer || O.K == Operand::FloatBits)
    return literalValue(O, T);
  if (O.K == Operand::Special)
    return special(O, T);
  const Slot *S = slotOf(O);
  if (S && S->Constant) {
    Operand Literal;
    Literal.K = Operand::Integer;
    Literal.Literal = S->Constant->getValue().sextOrTrunc(64).getZExtValue();
    return literalValue(Literal, T);
  }
  if (!S || (MayBeWider ? S->Width < T.bits() : S->Width != T.bits())) {
    refuse("an operand's size or kind does not fit");
    return Constant::getNullValue(LT);
  }
  Value *V = B.CreateLoad(S->Memory->getAllocatedType(), S->Memory);
  if (S->Width > T.bits())
    V = B.CreateTrunc(V, B.getIntNTy(T.bits()));
  if (O.Negated) {
    if (T.K != Type::Pred)
      refuse("'!' is only allowed before a predicate");
    V = B.CreateNot(V);
  }
  return LT->isIntegerTy() ? V : B.CreateBitCast(V, LT);
}

void Lowering::write(const Operand &O, Type T, Value *V, bool MayBeWider) {
  if (O.K == Operand::Sink)
    return;
  const Slot *S = slotOf(O);
  bool IsInput = O.K == Operand::Argument && O.Index >= Outputs;
  if (!S || !S->Memory || O.Negated ||
      (MayBeWider ? S->Width < T.bits() : S->Width != T.bits()))
    return refuse("a destination's size or kind does not fit");
  // Writing an input would be undefined behaviour of the asm, but tied ones
  // share the slot of their output.
  if (IsInput && S->Pointer)
    return refuse("an input is written");
  Value *Bits = toBits(V);
  llvm::Type *Whole = S->Memory->getAllocatedType();
  if (S->Width > T.bits())
    Bits = T.isSigned() ? B.CreateSExt(Bits, Whole) : B.CreateZExt(Bits, Whole);
  if (Condition)
    Bits = B.CreateSelect(Condition, Bits, B.CreateLoad(Whole, S->Memory));
  B.CreateStore(Bits, S->Memory);
}

Value *Lowering::pointerIn(const Operand &O, unsigned AddressSpace) {
  PointerType *PT = B.getPtrTy(AddressSpace);
  const Slot *S = slotOf(O);
  // A generic address of global memory is its global address, and saying so by
  // a cast keeps the pointer's origin in sight. In other spaces the two differ,
  // and the bits are what the text means.
  if (S && S->Pointer) {
    unsigned From = S->Pointer->getType()->getPointerAddressSpace();
    if (From == AddressSpace)
      return S->Pointer;
    if (From == analysis::GenericSpace && AddressSpace == analysis::GlobalSpace)
      return B.CreateAddrSpaceCast(S->Pointer, PT);
  }
  // Shared memory may be addressed by 32 bits.
  unsigned Width =
      O.K == Operand::Integer || (S && S->Constant) ? 64 : widthOf(O);
  bool Fits =
      Width == 64 || (Width == 32 && AddressSpace == analysis::SharedSpace);
  if (!Fits) {
    refuse("the address has a size that does not fit its space");
    return Constant::getNullValue(PT);
  }
  Value *Address = read(O, {Type::Bits, Width, 1});
  return B.CreateIntToPtr(B.CreateZExt(Address, B.getInt64Ty()), PT);
}

Value *Lowering::pointer(const Operand &O, unsigned AddressSpace) {
  if (O.K != Operand::Address || O.Parts.size() != 1) {
    refuse("an address is expected");
    return Constant::getNullValue(B.getPtrTy(AddressSpace));
  }
  Value *P = pointerIn(O.Parts[0], AddressSpace);
  if (O.Literal)
    P = B.CreatePtrAdd(P, B.getInt64(O.Literal));
  return P;
}

Value *Lowering::readCarry() {
  return B.CreateLoad(B.getInt1Ty(), Carry.Memory);
}

void Lowering::writeCarry(Value *V) {
  if (Condition)
    V = B.CreateSelect(Condition, V, readCarry());
  B.CreateStore(V, Carry.Memory);
}

Value *Lowering::call(Intrinsic::ID ID, ArrayRef<Value *> Args,
                      ArrayRef<llvm::Type *> Overloads) {
  return B.CreateCall(Intrinsic::getDeclaration(F.getParent(), ID, Overloads),
                      Args);
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

void Lowering::emitResult() {
  llvm::Type *Result = F.getReturnType();
  if (Result->isVoidTy()) {
    B.CreateRetVoid();
    return;
  }
  auto *Struct = dyn_cast<StructType>(Result);
  Value *Whole = PoisonValue::get(Result);
  for (unsigned N = 0; N != Outputs; ++N) {
    llvm::Type *T = Struct ? Struct->getElementType(N) : Result;
    uint64_t Bits = F.getDataLayout().getTypeSizeInBits(T);
    if (!T->isSingleValueType() || Bits > Arguments[N].Width)
      return refuse("an output's type does not fit its constraint");
    AllocaInst *Memory = Arguments[N].Memory;
    Value *V = B.CreateLoad(Memory->getAllocatedType(), Memory);
    V = B.CreateTrunc(V, B.getIntNTy(Bits));
    if (T->isPointerTy())
      V = B.CreateIntToPtr(V, T);
    else if (!T->isIntegerTy())
      V = B.CreateBitCast(V, T);
    Whole = Struct ? B.CreateInsertValue(Whole, V, N) : V;
  }
  B.CreateRet(Whole);
}

void Lowering::promote() {
  std::vector<AllocaInst *> Slots;
  for (llvm::Instruction &I : F.getEntryBlock())
    if (auto *A = dyn_cast<AllocaInst>(&I))
      Slots.push_back(A);
  DominatorTree DT(F);
  PromoteMemToReg(Slots, DT);
  // Bits that were made for a slot and then taken in their own type.
  for (BasicBlock &Block : F)
    for (llvm::Instruction &I : make_early_inc_range(reverse(Block)))
      if (isInstructionTriviallyDead(&I))
        I.eraseFromParent();
}

} // namespace reconverge::frontend::ptx
