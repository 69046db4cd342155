; What permuting makes of a kernel: its parameters, the kernel before, and the
; recipe. A block is no larger than the launch bounds were.
;
; RUN: opt -passes='reconverge-permute<order=reversed>,verify' -S %s | FileCheck %s
; RUN: not opt -passes='reconverge-permute<order=all>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: permuting has no parameter 'order=all'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-SAME: ptr %out, ptr %index, i64 %units, i32 %grid.x, i32 %grid.y, i32 %grid.z, i32 %block.x, i32 %block.y, i32 %block.z) #[[RECIPE:[0-9]+]]
; CHECK: %frame = alloca i32
; CHECK: icmp uge i64 %{{.*}}, %units
; CHECK: load i32, ptr addrspace(1)
; CHECK: store i32 %{{.*}}, ptr %frame
define ptx_kernel void @k(ptr %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %frame = alloca i32
  store i32 %t, ptr %frame
  %i = zext i32 %t to i64
  %p = getelementptr i32, ptr %out, i64 %i
  store i32 %t, ptr %p
  ret void
}

; CHECK-LABEL: define ptx_kernel void @"k$before"(ptr %0, i64 %1)
; CHECK: icmp ult i64 %{{.*}}, %1
; CHECK: [[LAST:%.*]] = sub i64 %1, 1
; CHECK: [[ITEM:%.*]] = sub i64 [[LAST]],
; CHECK: trunc i64 [[ITEM]] to i32

; CHECK: attributes #[[RECIPE]] = { "reconverge-recipe"="for 1 4294967296 18446744073709551615 scratch threads 4 1 helper k$before grid threads 1 256 block one 256 1 memory 0 amount threads 1 1 step k grid threads 1 64 block one 64 1 shared program 0 memory 0 amount threads 1 1 dimension 0 dimension 1 dimension 2 dimension 3 dimension 4 dimension 5" }
; CHECK: = !{ptr @k, !"maxntidx", i32 64}

!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"maxntidx", i32 64}
