; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -S %s | FileCheck %s
;
; One arm is a block, the other has the like of it under a condition: the
; block's lanes are sent along the path that leads there.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; if (c) s[p] = x / n;  else if (x > 4) s[q] = x / n;
define ptx_kernel void @along_a_path(ptr addrspace(3) %s, i32 %p, i32 %q, i32 %n) {
; CHECK-LABEL: @along_a_path(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  %ap = getelementptr i32, ptr addrspace(3) %s, i32 %p
  %aq = getelementptr i32, ptr addrspace(3) %s, i32 %q
  %x = load i32, ptr addrspace(3) %s
  br i1 %c, label %t, label %f
; CHECK: [[AT:%.*]] = select i1 %c, ptr addrspace(3) %ap, ptr addrspace(3) %aq
; CHECK: [[BIG:%.*]] = icmp ugt i32 %x, 4
; CHECK: [[GO:%.*]] = select i1 %c, i1 true, i1 [[BIG]]
; CHECK: br i1 [[GO]], label %[[DO:.*]], label %[[JOIN:.*]]
; CHECK: [[DO]]:
; CHECK: [[D:%.*]] = udiv i32 %x, %n
; CHECK: store i32 [[D]], ptr addrspace(3) [[AT]]
; CHECK: [[JOIN]]:
; CHECK-NEXT: ret void
t:
  %d = udiv i32 %x, %n
  store i32 %d, ptr addrspace(3) %ap
  br label %j
f:
  %big = icmp ugt i32 %x, 4
  br i1 %big, label %f1, label %j
f1:
  %e = udiv i32 %x, %n
  store i32 %e, ptr addrspace(3) %aq
  br label %j
j:
  ret void
}

; A value of the run that is used later comes out through PHIs.
define ptx_kernel void @value_of_the_run(ptr addrspace(3) %s, i32 %n) {
; CHECK-LABEL: @value_of_the_run(
; CHECK: udiv
; CHECK-NOT: udiv
; CHECK: [[R:%.*]] = phi i32 [ 0, %entry ], [ %{{.*}}, %{{.*}} ]
; CHECK-NEXT: store i32 [[R]]
; CHECK-NEXT: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  %x = load i32, ptr addrspace(3) %s
  br i1 %c, label %t, label %f
t:
  %d = udiv i32 %x, %n
  br label %j
f:
  %big = icmp ugt i32 %x, 4
  br i1 %big, label %f1, label %j
f1:
  %e = udiv i32 %x, %n
  br label %j
j:
  %r = phi i32 [ %d, %t ], [ %e, %f1 ], [ 0, %f ]
  store i32 %r, ptr addrspace(3) %s
  ret void
}

; An address that the run makes is known on its path only: the load of b, which
; only the other lanes need, stays behind a guard.
define ptx_kernel void @address_of_the_run(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(3) %s, i32 %n) {
; CHECK-LABEL: @address_of_the_run(
; CHECK: udiv
; CHECK-NOT: udiv
; CHECK: br i1 %c, label %j, label %[[ONLY:.*]], !rc.guard
; CHECK: [[ONLY]]:
; CHECK-NEXT: load i32, ptr addrspace(1) %b
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %t, label %f
t:
  %i = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  %x = load i32, ptr addrspace(1) %i
  %d = udiv i32 %x, %n
  br label %j
f:
  %big = icmp ugt i32 %n, 4
  br i1 %big, label %f1, label %f2
f1:
  %k = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  %y = load i32, ptr addrspace(1) %k
  %e = udiv i32 %y, %n
  br label %f2
f2:
  %q = phi i32 [ 0, %f ], [ %e, %f1 ]
  %z = load i32, ptr addrspace(1) %b
  br label %j
j:
  %r = phi i32 [ %d, %t ], [ %q, %f2 ]
  %o = phi i32 [ 0, %t ], [ %z, %f2 ]
  %sum = add i32 %r, %o
  store i32 %sum, ptr addrspace(3) %s
  ret void
}

; switch (x & 3): three cases that do the same to different places are one.
define ptx_kernel void @cases(ptr addrspace(3) %s, ptr addrspace(3) %u, ptr addrspace(3) %v, i32 %n) {
; CHECK-LABEL: @cases(
; CHECK-NOT: switch
; CHECK: udiv
; CHECK-NOT: udiv
; CHECK: store
; CHECK-NOT: store
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %x = and i32 %tid, 3
  switch i32 %x, label %j [ i32 0, label %c0
                            i32 1, label %c1
                            i32 2, label %c2 ]
c0:
  %d0 = udiv i32 %tid, %n
  store i32 %d0, ptr addrspace(3) %s
  br label %j
c1:
  %d1 = udiv i32 %tid, %n
  store i32 %d1, ptr addrspace(3) %u
  br label %j
c2:
  %d2 = udiv i32 %tid, %n
  store i32 %d2, ptr addrspace(3) %v
  br label %j
j:
  ret void
}
