; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes=reconverge-instrument,verify -S %s | FileCheck %s
;
; Two bodies: thread blocks that do not count run the code as it was, and only
; the choice between the two is new to them.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; int a[4]; a[tid & 3] = 1;               One array, whichever body uses it.
; while (i < tid) ++i;
; *p = a[i & 3];
define ptx_kernel void @kernel(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @kernel(
; CHECK: rc.choose:
; CHECK: %a = alloca [4 x i32]
; CHECK-NOT: alloca
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; CHECK: br i1 %{{[0-9]+}}, label %rc.row, label %rc.decide
; CHECK: rc.decide:
; CHECK: br i1 %{{[0-9]+}}, label %entry, label %entry.plain
; CHECK: entry:
; CHECK: head:
; CHECK: activemask
entry:
  %a = alloca [4 x i32], align 4
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %three = and i32 %tid, 3
  %at = getelementptr [4 x i32], ptr %a, i32 0, i32 %three
  store i32 1, ptr %at, align 4
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %tid
  br i1 %more, label %head, label %end
end:
  %last = and i32 %next, 3
  %from = getelementptr [4 x i32], ptr %a, i32 0, i32 %last
  %value = load i32, ptr %from, align 4
  store i32 %value, ptr %p, align 4
  ret void
}
; CHECK:      entry.plain:
; CHECK-NEXT:   [[TID:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NEXT:   [[THREE:%.*]] = and i32 [[TID]], 3
; CHECK-NEXT:   [[AT:%.*]] = getelementptr [4 x i32], ptr %a, i32 0, i32 [[THREE]]
; CHECK-NEXT:   store i32 1, ptr [[AT]]
; CHECK-NEXT:   br label %head.plain
; CHECK:      head.plain:
; CHECK-NEXT:   [[I:%.*]] = phi i32 [ 0, %entry.plain ], [ [[NEXT:%.*]], %head.plain ]
; CHECK-NEXT:   [[NEXT]] = add i32 [[I]], 1
; CHECK-NEXT:   [[MORE:%.*]] = icmp slt i32 [[NEXT]], [[TID]]
; CHECK-NEXT:   br i1 [[MORE]], label %head.plain, label %end.plain
; CHECK:      end.plain:
; CHECK:        store i32 %{{.*}}, ptr %p
; CHECK-NEXT:   ret void

; int f(int x) { while (x > 9) x /= 2; return x; }   A function chooses anew at
;                                         each call; rows are a kernel's alone.
define internal i32 @function(i32 %x) noinline {
; CHECK-LABEL: define internal i32 @function(
; CHECK-NEXT: rc.choose:
; CHECK-NOT: rc.row
; CHECK: br i1 %{{[0-9]+}}, label %entry, label %entry.plain
entry:
  br label %head
head:
  %now = phi i32 [ %x, %entry ], [ %half, %head ]
  %half = lshr i32 %now, 1
  %more = icmp ugt i32 %half, 9
  br i1 %more, label %head, label %end
end:
  ret i32 %half
; CHECK: end.plain:
; CHECK-NEXT: ret i32
}

define ptx_kernel void @calls(ptr %p) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %y = call i32 @function(i32 %tid)
  store i32 %y, ptr %p, align 4
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
