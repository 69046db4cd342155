//===- unittests/remedies/ItemKernels.h - Kernels of items ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that write down every number that they read, each thread at its own
// place, and ways to hand their threads out.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_REMEDIES_ITEMKERNELS_H
#define RECONVERGE_UNITTESTS_REMEDIES_ITEMKERNELS_H

#include "Harness.h"

#include "remedies/common/HiddenParameters.h"
#include "remedies/common/Items.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Verifier.h"

namespace reconverge::remedies {

using llvm::ArrayType, llvm::BasicBlock, llvm::Function, llvm::function_ref;
using llvm::IRBuilder, llvm::IRBuilderBase, llvm::LLVMContext, llvm::Module;
using llvm::PointerType, llvm::ReturnInst, llvm::Type, llvm::Use, llvm::Value;

inline constexpr unsigned Words = 12; ///< that a thread writes

/// Declarations, and the kernel's head.
inline std::string prelude() {
  std::string Text = R"(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
)";
  for (const char *Register : {"tid", "ctaid", "ntid", "nctaid"})
    for (const char *Dimension : {"x", "y", "z"})
      Text += "declare i32 @llvm.nvvm.read.ptx.sreg." + std::string(Register) +
              "." + Dimension + "()\n";
  return Text +
         "define ptx_kernel void @k(ptr addrspace(1) %out, i32 %n) {\nentry:\n";
}

/// %NAME = REGISTER, as in "tid.x".
inline std::string read(const std::string &Name, const std::string &Register) {
  return "  %" + Name + " = call i32 @llvm.nvvm.read.ptx.sreg." + Register +
         "()\n";
}

/// All twelve: tx, ty, tz, cx, cy, cz, bx, by, bz, gx, gy, gz.
inline std::string readAll() {
  std::string Text;
  for (auto [Letter, Register] :
       {std::pair("t", "tid."), std::pair("c", "ctaid."),
        std::pair("b", "ntid."), std::pair("g", "nctaid.")})
    for (const char *D : {"x", "y", "z"})
      Text += read(std::string(Letter) + D, std::string(Register) + D);
  return Text;
}

/// Stores all twelve from %at on.
inline std::string storeAll() {
  std::string Text;
  unsigned Word = 0;
  for (const char *Letter : {"t", "c", "b", "g"})
    for (const char *D : {"x", "y", "z"}) {
      const std::string At = "%at" + std::to_string(Word);
      Text += "  " + At + " = getelementptr i32, ptr addrspace(1) %at, i32 " +
              std::to_string(Word++) + "\n  store i32 %" + Letter + D +
              ", ptr addrspace(1) " + At + "\n";
    }
  return Text;
}

/// %at = &out[number of the thread in its launch]
inline const std::string OwnPlace = R"(
  %p0 = mul i32 %cz, %gy
  %p1 = add i32 %p0, %cy
  %p2 = mul i32 %p1, %gx
  %p3 = add i32 %p2, %cx
  %p4 = mul i32 %p3, %bz
  %p5 = add i32 %p4, %tz
  %p6 = mul i32 %p5, %by
  %p7 = add i32 %p6, %ty
  %p8 = mul i32 %p7, %bx
  %p9 = add i32 %p8, %tx
  %place = zext i32 %p9 to i64
  %at = getelementptr [12 x i32], ptr addrspace(1) %out, i64 %place
)";

inline const std::string Straight =
    readAll() + OwnPlace + storeAll() + "  ret void\n}\n";

// Reads again in the arms of a branch and in a loop.
//   for (k = 0; k <= threadIdx.y; ++k)
//     out[2] = (k odd ? blockIdx.x : threadIdx.z) + gridDim.x * out[2]
inline const std::string InBlocks = readAll() + OwnPlace + storeAll() + R"(
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %latch ]
  %odd = and i32 %k, 1
  %c = icmp ne i32 %odd, 0
  br i1 %c, label %t, label %f
t:
)" + read("again", "ctaid.x") +
                                    R"(
  br label %latch
f:
)" + read("other", "tid.z") + R"(
  br label %latch
latch:
  %v = phi i32 [ %again, %t ], [ %other, %f ]
)" + read("grid", "nctaid.x") + read("last", "tid.y") +
                                    R"(
  %old = load i32, ptr addrspace(1) %at2
  %m = mul i32 %old, %grid
  %new = add i32 %m, %v
  store i32 %new, ptr addrspace(1) %at2
  %k1 = add i32 %k, 1
  %more = icmp ule i32 %k1, %last
  br i1 %more, label %loop, label %done
done:
  ret void
}
)";

// for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
//      i += blockDim.x * gridDim.x)
//   atomicAdd(&out[i], i + threadIdx.x);
inline const std::string GridStride = read("cx", "ctaid.x") +
                                      read("bx", "ntid.x") +
                                      read("tx", "tid.x") + R"(
  %i0 = mul nsw i32 %cx, %bx
  %i1 = add nsw i32 %i0, %tx
  br label %head
head:
  %i = phi i32 [ %i1, %entry ], [ %next, %body ]
  %in = icmp ult i32 %i, %n
  br i1 %in, label %body, label %done
body:
  %at = getelementptr i32, ptr addrspace(1) %out, i32 %i
  %v = add i32 %i, %tx
  %old = atomicrmw add ptr addrspace(1) %at, i32 %v monotonic
)" + read("gx", "nctaid.x") + read("b", "ntid.x") +
                                      R"(
  %step = mul i32 %gx, %b
  %next = add i32 %i, %step
  br label %head
done:
  ret void
}
)";

/// Behind the kernel's own: the order, its length, and the launch.
inline Function &addOrder(Function &Kernel) {
  LLVMContext &C = Kernel.getContext();
  Type *I32 = Type::getInt32Ty(C);
  return addParameters(Kernel,
                       {PointerType::get(C, 1), Type::getInt64Ty(C), I32, I32,
                        I32, I32, I32, I32},
                       {"order", "items", "gx", "gy", "gz", "bx", "by", "bz"});
}

/// if (place >= items) return; become order[place];
inline void handOutBy(
    Module &M, function_ref<Value *(IRBuilderBase &)> ReadPlace,
    function_ref<void(Value *, const LaunchValues &, IRBuilderBase &)> Become) {
  const unsigned Own = M.getFunction("k")->arg_size();
  Function &Kernel = addOrder(*M.getFunction("k"));
  BasicBlock *Work = &Kernel.getEntryBlock();
  LLVMContext &C = M.getContext();
  auto *Idle = BasicBlock::Create(C, "idle", &Kernel, Work);
  ReturnInst::Create(C, Idle);
  IRBuilder<> B(BasicBlock::Create(C, "place", &Kernel, Idle));
  Value *Place = ReadPlace(B);
  B.CreateCondBr(B.CreateICmpULT(Place, Kernel.getArg(Own + 1)), Work, Idle);
  B.SetInsertPoint(Work, Work->getFirstInsertionPt());
  Value *Item = B.CreateLoad(
      B.getInt64Ty(), B.CreateGEP(B.getInt64Ty(), Kernel.getArg(Own), Place));
  Become(Item, launchFromParameters(Kernel, Own + 2), B);
  ASSERT_FALSE(verifyModule(M, &llvm::errs()));
}

inline void handOut(Module &M) {
  auto Plan = planItems(*M.getFunction("k"));
  ASSERT_TRUE(std::holds_alternative<ItemsPlan>(Plan))
      << std::get<Refusal>(Plan).Kind->code();
  handOutBy(M, readItem,
            [&](Value *Item, const LaunchValues &Of, IRBuilderBase &B) {
              becomeItem(std::get<ItemsPlan>(Plan), Item, Of, B);
            });
}

/// Item order[place] writes at out[place], whatever it is.
inline void writeAtPlace(Module &M) {
  Function &Old = *M.getFunction("k");
  auto Plan = std::get<ItemsPlan>(planItems(Old));
  Function &Kernel = addOrder(Old);
  auto *At = &*Kernel.getEntryBlock().getFirstInsertionPt();
  IRBuilder<> B(At);
  Value *Place = readItem(B);
  Value *Item = B.CreateLoad(
      B.getInt64Ty(), B.CreateGEP(B.getInt64Ty(), Kernel.getArg(2), Place));
  Value *Own = B.CreateGEP(ArrayType::get(B.getInt32Ty(), Words),
                           Kernel.getArg(0), Place);
  Kernel.getArg(0)->replaceUsesWithIf(
      Own, [&](Use &U) { return U.getUser() != Own; });
  becomeItem(Plan, Item, launchFromParameters(Kernel, 4), B);
  ASSERT_FALSE(verifyModule(M, &llvm::errs()));
}

} // namespace reconverge::remedies

#endif
