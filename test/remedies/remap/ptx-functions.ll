; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=2>,verify" -pass-remarks-missed=reconverge-remap -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s
;
; What stands for PTX that LLVM has no intrinsic for: a conversion asks for no
; thread, a product of matrices is of a warp. And a function that another module
; may replace is not known.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @"reconverge.cvt~rna.tf32.f32"(float) memory(none)
declare i32 @"reconverge.ldmatrix~x1.b16"(ptr) convergent

define weak i32 @replaced(i32 %x) {
  ret i32 %x
}

; CHECK: remark: {{.*}} remapped:
define ptx_kernel void @converts(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %y = bitcast i32 %x to float
  %l = call i32 @"reconverge.cvt~rna.tf32.f32"(float %y)
  store i32 %l, ptr addrspace(1) %po
  %a = mul i32 %x, 3
  br label %j
f:
  %b = sub i32 7, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (reconverge.ldmatrix~x1.b16) [RC211]
define ptx_kernel void @multiplies(ptr addrspace(1) %in, ptr addrspace(1) %out) {
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
  %l = call i32 @"reconverge.ldmatrix~x1.b16"(ptr null) convergent
  %s = add i32 %r, %l
  store i32 %s, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch calls a function that may ask which thread it is (replaced) [RC215]
define ptx_kernel void @may_be_replaced(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 @replaced(i32 %x)
  store i32 %l, ptr addrspace(1) %po
  %a = mul i32 %x, 3
  br label %j
f:
  %b = sub i32 7, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  ret void
}
