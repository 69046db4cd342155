; What reversing the order of blocks makes of a kernel: each read of blockIdx
; counts from the end of the grid in its dimension, and nothing else changes.
;
; RUN: opt -passes='reconverge-reorder-blocks<order=reversed>,verify' -S %s | FileCheck %s
; RUN: not opt -passes='reconverge-reorder-blocks<order=sorted>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: reordering blocks has no parameter 'order=sorted'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
declare void @llvm.nvvm.barrier0()
@all = internal addrspace(3) global [64 x i32] undef

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-SAME: ptr %out) #[[RECIPE:[0-9]+]]
; CHECK: [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK: [[SIZE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
; CHECK: [[LAST:%.*]] = sub i32 [[SIZE]], 1
; CHECK: [[NOW:%.*]] = sub i32 [[LAST]], [[X]]
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.nctaid.z()
; CHECK: %row = mul i32 {{.*}}, %columns
; CHECK: add i32 %row, [[NOW]]
define ptx_kernel void @k(ptr %out) {
  %x = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %z = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %columns = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %row = mul i32 %z, %columns
  %i = add i32 %row, %x
  store i32 %i, ptr addrspace(3) @all
  call void @llvm.nvvm.barrier0()
  %v = load i32, ptr addrspace(3) @all
  %p = getelementptr i32, ptr %out, i32 %i
  store i32 %v, ptr %p
  ret void
}

; CHECK: attributes #[[RECIPE]] = { "reconverge-recipe"="for 1 18446744073709551615 18446744073709551615 step k grid same block same shared program 0" }
