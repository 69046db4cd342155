; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-uniformity>" -disable-output %s 2>&1 | FileCheck %s
;
; Lanes leave a loop in different iterations: a value of the loop is uniform for
; the lanes that are in it, and differs once they are out (temporal divergence).
target triple = "nvptx64-nvidia-cuda"

; int i = 0;
; do { ++i; } while (i < threadIdx.x);
; out[0] = i;
define ptx_kernel void @temporal(ptr %out) {
; CHECK-LABEL: uniformity of 'temporal'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
; CHECK: grid: %i = phi
  %next = add i32 %i, 1
; CHECK-NEXT: grid: %next =
  %more = icmp slt i32 %next, %tid
  br i1 %more, label %loop, label %end
; CHECK: divergent branch: br i1 %more
end:
  %lcssa = phi i32 [ %next, %loop ]
; CHECK: divergent(divergent control): %lcssa = phi
; CHECK-NEXT: temporal use of %next
  %direct = mul i32 %i, 3
; CHECK-NEXT: divergent(divergent control): %direct =
; CHECK-NEXT: temporal use of %i
  ret void
}

; for (i = 0; i < n; ++i) if (x[i] > threadIdx.x) break;   // in a nested if
; out[0] = i;
define ptx_kernel void @break(i32 %n, ptr %x) {
; CHECK-LABEL: uniformity of 'break'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
; CHECK: grid: %i = phi
  %more = icmp slt i32 %i, %n
  br i1 %more, label %body, label %end
; CHECK: uniform branch: br i1 %more
body:
  %p = getelementptr i32, ptr %x, i32 %i
  %v = load i32, ptr %p
; CHECK: warp: %v = load
  %positive = icmp sgt i32 %v, 0
  br i1 %positive, label %inner, label %latch
; CHECK: uniform branch: br i1 %positive
inner:
  %found = icmp sgt i32 %v, %tid
  br i1 %found, label %end, label %latch
; CHECK: divergent branch: br i1 %found
latch:
  %next = add i32 %i, 1
  br label %loop
end:
  %at = phi i32 [ %i, %loop ], [ %i, %inner ]
; CHECK: divergent(divergent control): %at = phi
; CHECK-NEXT: temporal use of %i
; CHECK-NEXT: temporal use of %i
  ret void
}

; for (i = 0; i < n; ++i)                     // the same for all lanes, although
;   for (j = 0; j < threadIdx.x; ++j);        // the inner loop is not
define ptx_kernel void @nested(i32 %n) {
; CHECK-LABEL: uniformity of 'nested'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %inext, %latch ]
; CHECK: grid: %i = phi
  br label %inner
inner:
  %j = phi i32 [ 0, %outer ], [ %jnext, %inner ]
; CHECK: grid: %j = phi
  %jnext = add i32 %j, 1
  %jmore = icmp slt i32 %jnext, %tid
  br i1 %jmore, label %inner, label %latch
; CHECK: divergent branch: br i1 %jmore
latch:
  %inext = add i32 %i, 1
; CHECK: grid: %inext =
  %imore = icmp slt i32 %inext, %n
  br i1 %imore, label %outer, label %end
; CHECK: uniform branch: br i1 %imore
end:
  %x = add i32 %i, 1
; CHECK: grid: %x =
; CHECK-NOT: temporal
  ret void
}

; do { any = __syncthreads_or(change()); } while (any);   // alike for the block
define ptx_kernel void @barrier_loop() {
; CHECK-LABEL: uniformity of 'barrier_loop'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
; CHECK: grid: %i = phi
  %next = add i32 %i, 1
  %any = call i32 @llvm.nvvm.barrier0.or(i32 %tid)
; CHECK: block: %any =
  %more = icmp ne i32 %any, 0
  br i1 %more, label %loop, label %end
; CHECK: uniform branch: br i1 %more
end:
  %x = add i32 %i, 1
; CHECK: block: %x =
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.barrier0.or(i32)
