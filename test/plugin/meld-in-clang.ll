; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; Stock clang melds last in its pipeline where it is asked to, and only there.
; RUN: clang -x ir --target=nvptx64-nvidia-cuda -O2 -S -emit-llvm %s -o - -fpass-plugin=%plugin -Xclang -load -Xclang %plugin -mllvm -reconverge-meld 2>&1 | FileCheck %s
; RUN: clang -x ir --target=nvptx64-nvidia-cuda -O2 -S -emit-llvm %s -o - -fpass-plugin=%plugin 2>&1 | FileCheck %s --check-prefix=UNASKED
; UNASKED: br i1
; CHECK-LABEL: @alike(
; CHECK-NOT: br i1
; CHECK: udiv
; CHECK-NOT: udiv
; CHECK: ret void
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @alike(ptr addrspace(1) %s, ptr addrspace(1) %u, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(1) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(1) %u
  br label %j
j:
  ret void
}
