; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -S %s | FileCheck %s
;
; Arms with branches and loops of their own.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; The paper's example, one step of bitonic sort: an if in each arm.
define ptx_kernel void @bitonic(ptr addrspace(3) %s, i32 %j, i32 %k) {
; CHECK-LABEL: @bitonic(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ixj = xor i32 %tid, %j
  %p = getelementptr i32, ptr addrspace(3) %s, i32 %tid
  %q = getelementptr i32, ptr addrspace(3) %s, i32 %ixj
  %and = and i32 %tid, %k
  %c = icmp eq i32 %and, 0
  br i1 %c, label %t, label %f
; CHECK: [[V:%.*]] = load i32, ptr addrspace(3) %q
; CHECK: [[W:%.*]] = load i32, ptr addrspace(3) %p
; CHECK-NOT: load
; CHECK: [[INNER:%.*]] = select i1 %c, i1 %{{.*}}, i1 %{{.*}}
; CHECK-NEXT: br i1 [[INNER]], label %[[SWAP:.*]], label %[[JOIN:.*]]
; CHECK: [[SWAP]]:
; CHECK-NEXT: store i32 [[V]], ptr addrspace(3) %p
; CHECK-NEXT: store i32 [[W]], ptr addrspace(3) %q
; CHECK-NEXT: br label %[[JOIN]]
; CHECK: [[JOIN]]:
; CHECK-NEXT: ret void
t:
  %v1 = load i32, ptr addrspace(3) %q
  %v2 = load i32, ptr addrspace(3) %p
  %c1 = icmp slt i32 %v1, %v2
  br i1 %c1, label %ts, label %j1
ts:
  store i32 %v1, ptr addrspace(3) %p
  store i32 %v2, ptr addrspace(3) %q
  br label %j1
f:
  %w1 = load i32, ptr addrspace(3) %q
  %w2 = load i32, ptr addrspace(3) %p
  %c2 = icmp sgt i32 %w1, %w2
  br i1 %c2, label %fs, label %j1
fs:
  store i32 %w1, ptr addrspace(3) %p
  store i32 %w2, ptr addrspace(3) %q
  br label %j1
j1:
  ret void
}

; The same where LLVM has made one of the two swaps: the shared tail is undone,
; and found again.
define ptx_kernel void @shared_tail(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %k) {
; CHECK-LABEL: @shared_tail(
; CHECK: br i1
; CHECK-NOT: br i1
; CHECK: store
; CHECK: store
; CHECK-NOT: store
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %and = and i32 %tid, %k
  %c = icmp eq i32 %and, 0
  %v = load i32, ptr addrspace(3) %q
  %w = load i32, ptr addrspace(3) %p
  br i1 %c, label %t, label %f
t:
  %c1 = icmp slt i32 %v, %w
  br i1 %c1, label %swap, label %j
f:
  %c2 = icmp sgt i32 %v, %w
  br i1 %c2, label %swap, label %j
swap:
  store i32 %v, ptr addrspace(3) %p
  store i32 %w, ptr addrspace(3) %q
  br label %j
j:
  ret void
}

; if (x < n) A else B   against   if (x >= n) B else A
define ptx_kernel void @successors_swapped(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n, i32 %k) {
; CHECK-LABEL: @successors_swapped(
; CHECK: [[X:%.*]] = load i32, ptr addrspace(3) %p
; CHECK: [[C:%.*]] = icmp slt i32 [[X]], %n
; CHECK-NOT: xor
; CHECK: br i1 [[C]]
; CHECK: udiv
; CHECK-NOT: udiv
; CHECK: atomicrmw
; CHECK-NOT: atomicrmw
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %and = and i32 %tid, 1
  %c = icmp eq i32 %and, 0
  br i1 %c, label %t, label %f
t:
  %x = load i32, ptr addrspace(3) %p
  %cx = icmp slt i32 %x, %n
  br i1 %cx, label %ta, label %tb
ta:
  %d = udiv i32 %x, %k
  store i32 %d, ptr addrspace(3) %p
  br label %j
tb:
  %o = atomicrmw add ptr addrspace(3) %q, i32 %x monotonic
  br label %j
f:
  %y = load i32, ptr addrspace(3) %p
  %cy = icmp sge i32 %y, %n
  br i1 %cy, label %fb, label %fa
fb:
  %oo = atomicrmw add ptr addrspace(3) %q, i32 %y monotonic
  br label %j
fa:
  %dd = udiv i32 %y, %k
  store i32 %dd, ptr addrspace(3) %p
  br label %j
j:
  ret void
}

; A loop in each arm: one loop, one counter, as many rounds as the longer.
define ptx_kernel void @loops(ptr addrspace(1) %a, i32 %n, i32 %m) {
; CHECK-LABEL: @loops(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %t, label %f
; CHECK: [[BOUND:%.*]] = select i1 %c, i32 %n, i32 %m
; CHECK: [[LOOP:.*]]:
; CHECK: phi i32 [ [[NEXT:%.*]], %[[LOOP]] ], [ 0, %entry ]
; CHECK: phi i32 [ [[SUM:%.*]], %[[LOOP]] ], [ 0, %entry ]
; CHECK-NOT: phi
; CHECK: load i32
; CHECK-NOT: load i32
; CHECK: [[SUM]] = add i32
; CHECK: icmp ult i32 %{{.*}}, [[BOUND]]
; CHECK: br i1 %{{.*}}, label %[[LOOP]], label %j
t:
  %k = phi i32 [ 0, %entry], [%k1, %t]
  %s = phi i32 [ 0, %entry], [%s1, %t]
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %k
  %va = load i32, ptr addrspace(1) %pa
  %s1 = add i32 %s, %va
  %k1 = add i32 %k, 1
  %ca = icmp ult i32 %k1, %n
  br i1 %ca, label %t, label %j
f:
  %l = phi i32 [ 0, %entry], [%l1, %f]
  %u = phi i32 [ 0, %entry], [%u1, %f]
  %pb = getelementptr i32, ptr addrspace(1) %a, i32 %l
  %vb = load i32, ptr addrspace(1) %pb
  %mul = mul i32 %vb, %tid
  %u1 = add i32 %u, %mul
  %l1 = add i32 %l, 1
  %cb = icmp ult i32 %l1, %m
  br i1 %cb, label %f, label %j
j:
  %r = phi i32 [ %s1, %t ], [ %u1, %f ]
  store i32 %r, ptr addrspace(1) %a
  ret void
}

; A region without a partner between two that have one is guarded as a whole.
define ptx_kernel void @region_alone(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n) {
; CHECK-LABEL: @region_alone(
; CHECK: udiv
; CHECK: br i1 %c, label %[[ONLY:.*]], label %[[AFTER:.*]], !rc.guard
; CHECK: [[ONLY]]:
; CHECK: br i1
; CHECK: atomicrmw
; CHECK: [[AFTER]]:
; CHECK: urem
; CHECK-NOT: {{urem|udiv|atomicrmw}}
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %t, label %f
t:
  %x = load i32, ptr addrspace(3) %p
  %d = udiv i32 %x, %n
  store i32 %d, ptr addrspace(3) %q
  %z = icmp eq i32 %d, 0
  br i1 %z, label %t1, label %t2
t1:
  %o = atomicrmw add ptr addrspace(3) %q, i32 1 monotonic
  br label %t2
t2:
  %r = urem i32 %x, %n
  store i32 %r, ptr addrspace(3) %p
  br label %j
f:
  %y = load i32, ptr addrspace(3) %p
  %e = udiv i32 %y, %n
  store i32 %e, ptr addrspace(3) %q
  %s = urem i32 %y, %n
  store i32 %s, ptr addrspace(3) %p
  br label %j
j:
  ret void
}

; if (x < n && (y = s[q]) > x) A else B: the two branches that decide come to B
; from two places. They are brought together first.
define ptx_kernel void @short_circuit(ptr addrspace(3) %p, ptr addrspace(3) %q, i32 %n) {
; CHECK-LABEL: @short_circuit(
; CHECK: phi i1
; CHECK: udiv
; CHECK: store
; CHECK-NOT: {{udiv|store}}
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, %n
  br i1 %c, label %second, label %b
second:
  %y = load i32, ptr addrspace(3) %q
  %d = icmp sgt i32 %y, %tid
  br i1 %d, label %a, label %b
a:
  %da = udiv i32 %y, %n
  store i32 %da, ptr addrspace(3) %p
  br label %j
b:
  %db = udiv i32 %tid, %n
  store i32 %db, ptr addrspace(3) %q
  br label %j
j:
  ret void
}

; if (odd) { if (c) A else B } else { if (d) A' else B' }: the two branches inside
; go first, then the one around them; all four are one.
define ptx_kernel void @inside_out(ptr addrspace(3) %p, i32 %n, i32 %m) {
; CHECK-LABEL: @inside_out(
; CHECK-NOT: br i1
; CHECK: udiv
; CHECK-NOT: {{udiv|br i1}}
; CHECK: store
; CHECK-NOT: store
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  %x = load i32, ptr addrspace(3) %p
  %q = getelementptr i32, ptr addrspace(3) %p, i32 %n
  %c = icmp ult i32 %x, %tid
  %d = icmp ugt i32 %x, %n
  br i1 %odd, label %t, label %f
t:
  br i1 %c, label %ta, label %tb
ta:
  %ta1 = udiv i32 %x, %n
  store i32 %ta1, ptr addrspace(3) %p
  br label %j
tb:
  %tb1 = udiv i32 %x, %m
  store i32 %tb1, ptr addrspace(3) %q
  br label %j
f:
  br i1 %d, label %fa, label %fb
fa:
  %fa1 = udiv i32 %n, %x
  store i32 %fa1, ptr addrspace(3) %p
  br label %j
fb:
  %fb1 = udiv i32 %m, %x
  store i32 %fb1, ptr addrspace(3) %q
  br label %j
j:
  ret void
}
