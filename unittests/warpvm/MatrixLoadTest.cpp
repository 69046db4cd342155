//===- unittests/warpvm/MatrixLoadTest.cpp - ldmatrix by intrinsics -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lane 4g + t gets elements 2t and 2t + 1 of row g of each matrix, or, with
// .trans, element g of rows 2t and 2t + 1 (PTX ISA, ldmatrix).
//
//===----------------------------------------------------------------------===//

#include "Harness.h"

using namespace llvm;

namespace reconverge::warpvm {
namespace {

/// ldmatrix by LLVM's intrinsic, from shared and from generic addresses. Rows
/// are given in a mixed order: lane l points at row 5 l + 3 (modulo 32).
TEST(MatrixLoad, EachCountAndBothWays) {
  for (unsigned Count : {1u, 2u, 4u})
    for (bool Transposed : {false, true})
      for (bool Generic : {false, true}) {
        std::string Result = "i32", Parts;
        if (Count > 1) {
          Result = "{ i32";
          for (unsigned I = 1; I != Count; ++I)
            Result += ", i32";
          Result += " }";
        }
        for (unsigned I = 0; I != Count; ++I) {
          const std::string S = std::to_string(I);
          Parts += Count == 1 ? "%v0 = add i32 %all, 0\n"
                              : "%v" + S + " = extractvalue " + Result +
                                    " %all, " + S + "\n";
          Parts += "%i" + S + " = add i32 %first, " + S + "\n%p" + S +
                   " = getelementptr i32, ptr %out, i32 %i" + S +
                   "\nstore i32 %v" + S + ", ptr %p" + S + "\n";
        }
        const std::string Name =
            "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x" + std::to_string(Count) +
            (Transposed ? ".trans.b16" : ".b16") + (Generic ? ".p0" : ".p3");
        const std::string Text =
            R"(
          @s = internal addrspace(3) global [256 x i16] poison, align 16
          define ptx_kernel void @k(ptr %in, ptr %out) {
            %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
            %lane = and i32 %tid, 31
            %pin = getelementptr [8 x i16], ptr %in, i32 %lane
            %row = load <4 x i32>, ptr %pin, align 16
            %mine = getelementptr [8 x i16], ptr addrspace(3) @s, i32 %lane
            store <4 x i32> %row, ptr addrspace(3) %mine, align 16
            call void @llvm.nvvm.barrier0()
            %five = mul i32 %lane, 5
            %three = add i32 %five, 3
            %which = and i32 %three, 31
            %given = getelementptr [8 x i16], ptr addrspace(3) @s, i32 %which
            %generic = addrspacecast ptr addrspace(3) %given to ptr
            %first = mul i32 %tid, )" +
            std::to_string(Count) + "\n%all = call " + Result + " @" + Name +
            (Generic ? "(ptr %generic)" : "(ptr addrspace(3) %given)") + "\n" +
            Parts + "ret void\n}";
        for (const MachineOptions &O : allSetups()) {
          SCOPED_TRACE(Name + ", " + describe(O));
          TestProgram P(Text, O);
          alignas(16) uint16_t In[32][8];
          for (unsigned I = 0; I != 256; ++I)
            In[I / 8][I % 8] = uint16_t(I * 0x9e37 + 11);
          std::vector<uint32_t> Out(64 * Count);
          P.run(shape(1, 64), &In[0][0], Out.data());
          for (unsigned T = 0; T != 64; ++T)
            for (unsigned X = 0; X != Count; ++X) {
              const unsigned G = T % 32 / 4, Pair = T % 4 * 2;
              auto At = [&](unsigned Row, unsigned Column) -> uint32_t {
                return In[((8 * X + Row) * 5 + 3) % 32][Column];
              };
              const uint32_t Want = Transposed
                                        ? At(Pair, G) | At(Pair + 1, G) << 16
                                        : At(G, Pair) | At(G, Pair + 1) << 16;
              ASSERT_EQ(Out[T * Count + X], Want)
                  << "thread " << T << ", matrix " << X;
            }
        }
      }
}

} // namespace
} // namespace reconverge::warpvm
