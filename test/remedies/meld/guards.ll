; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<threshold=0;polish=0>,verify" -S %s | FileCheck %s
;
; What has no partner. Harmless instructions run for all lanes; a load, a store,
; a division or a call stands in a block that only its own lanes enter, or a
; load gets an address for the others.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; then: x = s[p];           s[p] = ((x ^ y) / y) * 3
; else: x = s[p]; s[q] = 1; s[p] = (x ^ y) / y
define ptx_kernel void @gap(ptr addrspace(3) %s, i32 %p, i32 %q, i32 %y) {
; CHECK-LABEL: @gap(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  %ap = getelementptr i32, ptr addrspace(3) %s, i32 %p
  %aq = getelementptr i32, ptr addrspace(3) %s, i32 %q
  br i1 %c, label %t, label %f, !rc.branch !0
; CHECK: load i32, ptr addrspace(3) %ap
; CHECK: br i1 %c, label %[[AFTER:.*]], label %[[ONLY:.*]], !rc.branch [[NUMBER:!.*]], !rc.guard
; CHECK: [[ONLY]]:
; CHECK-NEXT: store i32 1, ptr addrspace(3) %aq
; CHECK-NEXT: br label %[[AFTER]]
; CHECK: [[AFTER]]:
; CHECK: xor i32
; CHECK: udiv i32 %{{.*}}, %y
; CHECK: mul i32
; CHECK-NOT: udiv
; CHECK: ret void
t:
  %tx = load i32, ptr addrspace(3) %ap
  %tn = xor i32 %tx, %y
  %td = udiv i32 %tn, %y
  %t3 = mul i32 %td, 3
  store i32 %t3, ptr addrspace(3) %ap
  br label %j
f:
  %fx = load i32, ptr addrspace(3) %ap
  store i32 1, ptr addrspace(3) %aq
  %fn = xor i32 %fx, %y
  %fd = udiv i32 %fn, %y
  store i32 %fd, ptr addrspace(3) %ap
  br label %j
j:
  ret void
}

; The value of a guarded load reaches its use through a PHI, the other side's
; takes the other way: no select, and no load of an address that may be wild.
define ptx_kernel void @value_of_a_guard(ptr addrspace(3) %s, ptr addrspace(1) %g, i32 %y) {
; CHECK-LABEL: @value_of_a_guard(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
; CHECK: [[P:%.*]] = load i64, ptr addrspace(3) %s
; CHECK: br i1 %c, label %[[ONLY:.*]], label %[[AFTER:.*]], !rc.guard
; CHECK: [[ONLY]]:
; CHECK: [[L:%.*]] = load i64, ptr addrspace(1)
; CHECK: [[AFTER]]:
; CHECK: [[V:%.*]] = phi i64 [ [[L]], %[[ONLY]] ], [ [[P]], %{{.*}} ]
; CHECK: udiv i64 [[V]]
t:
  %tp = load i64, ptr addrspace(3) %s
  %ta = inttoptr i64 %tp to ptr addrspace(1)
  %tv = load i64, ptr addrspace(1) %ta
  %td = udiv i64 %tv, 7
  store i64 %td, ptr addrspace(3) %s
  br label %j
f:
  %fp = load i64, ptr addrspace(3) %s
  %fd = udiv i64 %fp, 7
  store i64 %fd, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; Both sides' leftovers at one place share a guard.
define ptx_kernel void @both_sides(ptr addrspace(3) %s, ptr addrspace(1) %g, i32 %y) {
; CHECK-LABEL: @both_sides(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
; CHECK: br i1 %c, label %[[T:.*]], label %[[F:.*]], !rc.guard
; CHECK: [[T]]:
; CHECK-NEXT: store i32 5, ptr addrspace(3) %s
; CHECK: [[F]]:
; CHECK-NEXT: store i32 5, ptr addrspace(1) %g
t:
  %tp = load i32, ptr addrspace(1) %g
  store i32 5, ptr addrspace(3) %s
  %td = udiv i32 %tp, %y
  store i32 %td, ptr addrspace(1) %g
  br label %j
f:
  %fp = load i32, ptr addrspace(1) %g
  store i32 5, ptr addrspace(1) %g
  %fd = udiv i32 %fp, %y
  store i32 %fd, ptr addrspace(1) %g
  br label %j
j:
  ret void
}

; A lone load of global memory needs no guard where the other side's lanes have
; an address at hand: they load again what they have just loaded.
; then: x = a[0] / b[0];   else: x = d[0] / y
define ptx_kernel void @safe_address(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %d, i32 %y) {
; CHECK-LABEL: @safe_address(
; CHECK-DAG: [[FIRST:%.*]] = select i1 %c, ptr addrspace(1) %a, ptr addrspace(1) %d
; CHECK-DAG: [[SAFE:%.*]] = select i1 %c, ptr addrspace(1) %b, ptr addrspace(1) %d
; CHECK-NOT: br i1
; CHECK: [[X:%.*]] = load i32, ptr addrspace(1) [[FIRST]], align 4
; CHECK: [[L:%.*]] = load i32, ptr addrspace(1) [[SAFE]], align 4{{$}}
; CHECK: [[BY:%.*]] = select i1 %c, i32 [[L]], i32 %y
; CHECK: udiv i32 [[X]], [[BY]]
; CHECK-NOT: br i1
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %tx = load i32, ptr addrspace(1) %a, align 4
  %ty = load i32, ptr addrspace(1) %b, align 4, !invariant.load !1, !range !2
  %td = udiv i32 %tx, %ty
  store i32 %td, ptr addrspace(1) %a, align 4
  br label %j
f:
  %fx = load i32, ptr addrspace(1) %d, align 4
  %fd = udiv i32 %fx, %y
  store i32 %fd, ptr addrspace(1) %d, align 4
  br label %j
j:
  ret void
}

; A volatile load is done by the lanes that it is for.
define ptx_kernel void @no_safe_address(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %d, i32 %y) {
; CHECK-LABEL: @no_safe_address(
; CHECK: br i1 %c, label %[[ONLY:.*]], label %[[AFTER:.*]], !rc.guard
; CHECK: [[ONLY]]:
; CHECK-NEXT: load volatile i32, ptr addrspace(1) %b
; CHECK: [[AFTER]]:
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %tx = load i32, ptr addrspace(1) %a, align 4
  %ty = load volatile i32, ptr addrspace(1) %b, align 4
  %td = udiv i32 %tx, %ty
  store i32 %td, ptr addrspace(1) %a, align 4
  br label %j
f:
  %fx = load i32, ptr addrspace(1) %d, align 4
  %fd = udiv i32 %fx, %y
  store i32 %fd, ptr addrspace(1) %d, align 4
  br label %j
j:
  ret void
}
!0 = !{i32 3}
!1 = !{}
!2 = !{i32 1, i32 9}
