; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=2>,verify" -pass-remarks-missed=reconverge-remap -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s
;
; Products of matrices need their warp, though LLVM does not call them convergent.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32, i32, i32, i32)

; CHECK: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.mma.m8n8k16.row.col.s8) [RC211]
define ptx_kernel void @product(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %a = mul i32 %x, 3
  br label %j
f:
  %b = sub i32 7, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  %d = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %r, i32 %x, i32 0, i32 0)
  %s = extractvalue { i32, i32 } %d, 0
  store i32 %s, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}
; CHECK-NOT: remark
