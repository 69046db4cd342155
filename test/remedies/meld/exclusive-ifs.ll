; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -S %s | FileCheck %s
;
; Two ifs, one after the other, of which no lane takes both: they are the two
; arms of one branch.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; if (odd) s[p] = x / n;  y = x * 5;  if (!odd) s[q] = y / n;
define ptx_kernel void @negation(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %x, i32 %n) {
; CHECK-LABEL: @negation(
; CHECK: %y = mul i32 %x, 5
; CHECK-NOT: br i1
; CHECK: udiv
; CHECK: store
; CHECK-NOT: {{udiv|store|br i1}}
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = and i32 %tid, 1
  %c = icmp eq i32 %low, 0
  br i1 %c, label %m, label %a
a:
  %d = udiv i32 %x, %n
  store i32 %d, ptr addrspace(3) %p
  br label %m
m:
  %y = mul i32 %x, 5
  %not = icmp ne i32 %low, 0
  br i1 %not, label %j, label %b
b:
  %e = udiv i32 %y, %n
  store i32 %e, ptr addrspace(3) %q
  br label %j
j:
  ret void
}

; if (x < 0) r = x / n;  if (x > 0) r = x / k;  Lanes with x == 0 take neither.
define ptx_kernel void @neither(ptr addrspace(1) %g, i32 %n, i32 %k) {
; CHECK-LABEL: @neither(
; CHECK: [[BY:%.*]] = select i1 %neg, i32 %n, i32 %k
; CHECK: [[GO:%.*]] = select i1 %neg, i1 true, i1 %pos
; CHECK: br i1 [[GO]], label %[[DIV:.*]], label %[[OVER:.*]]
; CHECK: [[DIV]]:
; CHECK: [[D:%.*]] = sdiv i32 %x, [[BY]]
; CHECK-NOT: sdiv
; CHECK: phi i32
; CHECK: store
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr addrspace(1) %g, i32 %tid
  %x = load i32, ptr addrspace(1) %at
  %neg = icmp slt i32 %x, 0
  br i1 %neg, label %a, label %m
a:
  %d = sdiv i32 %x, %n
  br label %m
m:
  %r = phi i32 [ %d, %a ], [ 7, %entry ]
  %pos = icmp sgt i32 %x, 0
  br i1 %pos, label %b, label %j
b:
  %e = sdiv i32 %x, %k
  br label %j
j:
  %s = phi i32 [ %r, %m ], [ %e, %b ]
  store i32 %s, ptr addrspace(1) %at
  ret void
}

; x < 5 and x < 9: lanes may take both.
define ptx_kernel void @both(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n) {
; CHECK-LABEL: @both(
; CHECK: udiv
; CHECK: udiv
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %tid, 5
  br i1 %c, label %a, label %m
a:
  %d = udiv i32 %tid, %n
  store i32 %d, ptr addrspace(3) %p
  br label %m
m:
  %c2 = icmp ult i32 %tid, 9
  br i1 %c2, label %b, label %j
b:
  %e = udiv i32 %tid, %n
  store i32 %e, ptr addrspace(3) %q
  br label %j
j:
  ret void
}

; What stands between the two reads what the first may have written.
define ptx_kernel void @ordered(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n) {
; CHECK-LABEL: @ordered(
; CHECK: udiv
; CHECK: store
; CHECK: load
; CHECK: udiv
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = and i32 %tid, 1
  %c = icmp eq i32 %low, 0
  br i1 %c, label %a, label %m
a:
  %d = udiv i32 %tid, %n
  store i32 %d, ptr addrspace(3) %p
  br label %m
m:
  %y = load i32, ptr addrspace(3) %q
  br i1 %c, label %j, label %b
b:
  %e = udiv i32 %y, %n
  store i32 %e, ptr addrspace(3) %q
  br label %j
j:
  ret void
}
