; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<threshold=0;polish=0>,verify" -S %s | FileCheck %s
;
; What can be one instruction although it is not written alike, and what cannot
; although it looks alike.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.nvvm.sin.approx.f(float)
declare i32 @pure(i32) #0
declare i32 @other(i32) #0
attributes #0 = { nounwind memory(read) }

; s = a[0] * n   against   s = n * a[0]
define ptx_kernel void @commutes(ptr addrspace(1) %a, i32 %n) {
; CHECK-LABEL: @commutes(
; CHECK: load i32
; CHECK-NEXT: mul i32
; CHECK-NEXT: store
; CHECK-NEXT: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = mul i32 %ta, %n
  store i32 %tb, ptr addrspace(1) %a
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = mul i32 %n, %fa
  store i32 %fb, ptr addrspace(1) %a
  br label %j
j:
  ret void
}

; x < n   against   n > x   and   !(x >= n)
define ptx_kernel void @comparisons(ptr addrspace(1) %a, i32 %n) {
; CHECK-LABEL: @comparisons(
; CHECK: load i32
; CHECK-NEXT: icmp slt i32
; CHECK-NOT: icmp
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = icmp slt i32 %ta, %n
  %tc = select i1 %tb, i32 %tid, i32 5
  store i32 %tc, ptr addrspace(1) %a
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = icmp sgt i32 %n, %fa
  %fc = select i1 %fb, i32 %tid, i32 5
  store i32 %fc, ptr addrspace(1) %a
  br label %j
j:
  ret void
}

; `or disjoint` is an addition.
define ptx_kernel void @disjoint_or(ptr addrspace(1) %a, i32 %n) {
; CHECK-LABEL: @disjoint_or(
; CHECK: load i32
; CHECK-NEXT: add i32 %{{.*}}, 3
; CHECK-NEXT: store
; CHECK-NEXT: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = or disjoint i32 %ta, 3
  store i32 %tb, ptr addrspace(1) %a
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = add nsw i32 %fa, 3
  store i32 %fb, ptr addrspace(1) %a
  br label %j
j:
  ret void
}

; x + 3   against   x - 4,   and   x << 3   against   x * 6
define ptx_kernel void @families(ptr addrspace(1) %a) {
; CHECK-LABEL: @families(
; CHECK-DAG: [[ADD:%.*]] = select i1 %c, i32 3, i32 -4
; CHECK-DAG: [[MUL:%.*]] = select i1 %c, i32 8, i32 6
; CHECK: [[X:%.*]] = load i32
; CHECK-NEXT: [[Y:%.*]] = add i32 [[X]], [[ADD]]
; CHECK-NEXT: [[Z:%.*]] = mul i32 [[Y]], [[MUL]]
; CHECK-NEXT: shl i32 [[Z]],
; CHECK-NEXT: store
; CHECK-NEXT: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = add nsw i32 %ta, 3
  %tc = shl nuw i32 %tb, 3
  %td = shl i32 %tc, %tid
  store i32 %td, ptr addrspace(1) %a
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = sub nsw i32 %fa, 4
  %fc = mul nuw i32 %fb, 6
  %fd = shl i32 %fc, 1
  store i32 %fd, ptr addrspace(1) %a
  br label %j
j:
  ret void
}

; Intrinsics and calls of the same function; not of different ones.
define ptx_kernel void @calls(ptr addrspace(1) %a, float %x, float %y) {
; CHECK-LABEL: @calls(
; CHECK: call float @llvm.nvvm.sin.approx.f
; CHECK-NOT: @llvm.nvvm.sin
; CHECK: call i32 @pure
; CHECK-NOT: @pure
; CHECK-DAG: call i32 @other(i32 1)
; CHECK-DAG: call i32 @third(i32 1)
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = call float @llvm.nvvm.sin.approx.f(float %x)
  store float %ta, ptr addrspace(1) %a
  %tb = call i32 @pure(i32 %tid)
  %tc = call i32 @other(i32 1)
  %td = add i32 %tb, %tc
  store i32 %td, ptr addrspace(1) %a
  br label %j
f:
  %fa = call float @llvm.nvvm.sin.approx.f(float %y)
  store float %fa, ptr addrspace(1) %a
  %fb = call i32 @pure(i32 3)
  %fc = call i32 @third(i32 1)
  %fd = add i32 %fb, %fc
  store i32 %fd, ptr addrspace(1) %a
  br label %j
j:
  ret void
}
declare i32 @third(i32) #0

; Equal atomics are one atomic; a different operation is not.
define ptx_kernel void @atomics(ptr addrspace(1) %a, ptr addrspace(1) %b) {
; CHECK-LABEL: @atomics(
; CHECK: atomicrmw add ptr addrspace(1) %{{.*}}, i32 %{{.*}} monotonic
; CHECK-NOT: atomicrmw add
; CHECK: atomicrmw {{umax|umin}}
; CHECK: atomicrmw {{umax|umin}}
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = atomicrmw add ptr addrspace(1) %a, i32 %tid monotonic
  %tb = atomicrmw umax ptr addrspace(1) %a, i32 %ta monotonic
  br label %j
f:
  %fa = atomicrmw add ptr addrspace(1) %b, i32 1 monotonic
  %fb = atomicrmw umin ptr addrspace(1) %b, i32 %fa monotonic
  br label %j
j:
  ret void
}

; A select of a shared and a global address would be generic.
define ptx_kernel void @spaces(ptr addrspace(3) %s, ptr addrspace(1) %g, i32 %n) {
; CHECK-LABEL: @spaces(
; CHECK-NOT: select i1 %c, ptr
; CHECK: load i32, ptr {{.*}}%s
; CHECK-NOT: select i1 %c, ptr
; CHECK: load i32, ptr {{.*}}%g
; CHECK-NOT: select i1 %c, ptr
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  %gs = addrspacecast ptr addrspace(3) %s to ptr
  %gg = addrspacecast ptr addrspace(1) %g to ptr
  br i1 %c, label %t, label %f
t:
  %t0 = load i32, ptr addrspace(3) %s
  %t1 = load i32, ptr %gs
  %t2 = udiv i32 %t1, %n
  %t3 = add i32 %t2, %t0
  br label %j
f:
  %f0 = load i32, ptr addrspace(1) %g
  %f1 = load i32, ptr %gg
  %f2 = udiv i32 %f1, %n
  %f3 = add i32 %f2, %f0
  br label %j
j:
  %r = phi i32 [ %t3, %t ], [ %f3, %f ]
  store i32 %r, ptr addrspace(1) %g
  ret void
}

; What must stay constant: the field of a structure, an immediate argument.
%pair = type { i32, i32 }
define ptx_kernel void @constants(ptr addrspace(1) %a) {
; CHECK-LABEL: @constants(
; CHECK-DAG: getelementptr %pair, ptr addrspace(1) %a, i32 %tid, i32 0
; CHECK-DAG: getelementptr %pair, ptr addrspace(1) %a, i32 %tid, i32 1
; CHECK: load i32
; CHECK-NOT: load i32
; CHECK: call i32 @llvm.ctlz.i32(i32 %{{.*}}, i1 {{true|false}})
; CHECK: call i32 @llvm.ctlz.i32(i32 %{{.*}}, i1 {{true|false}})
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %pa = getelementptr %pair, ptr addrspace(1) %a, i32 %tid, i32 0
  %va = load i32, ptr addrspace(1) %pa
  %za = call i32 @llvm.ctlz.i32(i32 %va, i1 true)
  store i32 %za, ptr addrspace(1) %a
  br label %j
f:
  %pb = getelementptr %pair, ptr addrspace(1) %a, i32 %tid, i32 1
  %vb = load i32, ptr addrspace(1) %pb
  %zb = call i32 @llvm.ctlz.i32(i32 %vb, i1 false)
  store i32 %zb, ptr addrspace(1) %a
  br label %j
j:
  ret void
}
declare i32 @llvm.ctlz.i32(i32, i1)
