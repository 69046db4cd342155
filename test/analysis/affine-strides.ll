; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-uniformity>" -disable-output %s 2>&1 | FileCheck %s
;
; base + stride * threadIdx.x, and where the form is lost.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; int i = blockIdx.x * blockDim.x + threadIdx.x;
; float v = x[i];                              // 4 bytes from lane to lane
; y[n - i].second = v;                         // 8 bytes backwards
define ptx_kernel void @index(i32 %n, ptr %x, ptr %y) {
; CHECK-LABEL: uniformity of 'index'
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK: block: %block =
  %dim = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK-NEXT: grid: %dim =
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %base = mul i32 %block, %dim
; CHECK: block: %base =
  %i = add i32 %base, %tid
; CHECK-NEXT: affine(thread id, stride 1): %i =
  %w = sext i32 %i to i64
; CHECK-NEXT: affine(thread id, stride 1): %w =
  %px = getelementptr float, ptr %x, i64 %w
; CHECK-NEXT: affine(thread id, stride 4): %px =
  %v = load float, ptr %px
; CHECK-NEXT: divergent(load): %v =
  %back = sub i32 %n, %i
; CHECK-NEXT: affine(thread id, stride -1): %back =
  %py = getelementptr { float, float }, ptr %y, i32 %back, i32 1
; CHECK-NEXT: affine(thread id, stride -8): %py =
  store float %v, ptr %py
  ret void
}

; x[threadIdx.x * pitch], x[threadIdx.x & 31], x[threadIdx.x * threadIdx.x]
define ptx_kernel void @forms(i32 %pitch) {
; CHECK-LABEL: uniformity of 'forms'
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %row = mul i32 %tid, %pitch
; CHECK: affine(thread id): %row =
  %lane = and i32 %tid, 31
; CHECK-NEXT: divergent(thread id): %lane =
  %square = mul i32 %tid, %tid
; CHECK-NEXT: divergent(thread id): %square =
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
; CHECK-NEXT: divergent(thread id): %y =
  ret void
}

; for (i = threadIdx.x; i < n; i += blockDim.x) ...
define ptx_kernel void @strided_loop(i32 %n) {
; CHECK-LABEL: uniformity of 'strided_loop'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %dim = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  br label %loop
loop:
  %i = phi i32 [ %tid, %entry ], [ %next, %loop ]
; CHECK: affine(thread id, stride 1): %i = phi
  %next = add i32 %i, %dim
; CHECK-NEXT: affine(thread id, stride 1): %next =
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
; CHECK: divergent branch: br i1 %more
end:
  %last = add i32 %i, 1
; CHECK: divergent(divergent control): %last =
; CHECK-NEXT: temporal use of %i
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
