; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -S %s | FileCheck %s
;
; Two arms of one block each: what is alike becomes one instruction, with a
; select where its operands differ.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; if (tid & 1) a[i] += 1; else b[i] += n;
define ptx_kernel void @operands_differ(ptr addrspace(1) %a, ptr addrspace(1) %b, i32 %n) {
; CHECK-LABEL: @operands_differ(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = and i32 %tid, 1
  %c = icmp eq i32 %odd, 0
  br i1 %c, label %t, label %f
; CHECK: %c = icmp eq
; CHECK-NOT: br i1
t:
  %pa = getelementptr i32, ptr addrspace(1) %a, i32 %tid
  %va = load i32, ptr addrspace(1) %pa
  %xa = add i32 %va, 1
  store i32 %xa, ptr addrspace(1) %pa
  br label %j
f:
  %pb = getelementptr i32, ptr addrspace(1) %b, i32 %tid
  %vb = load i32, ptr addrspace(1) %pb
  %xb = add i32 %vb, %n
  store i32 %xb, ptr addrspace(1) %pb
  br label %j
j:
; CHECK-DAG: [[ADD:%.*]] = select i1 %c, i32 1, i32 %n
; CHECK-DAG: [[AT:%.*]] = select i1 %c, ptr addrspace(1) %{{.*}}, ptr addrspace(1) %{{.*}}
; CHECK: [[V:%.*]] = load i32
; CHECK: [[X:%.*]] = add i32 [[V]], [[ADD]]
; CHECK: store i32 [[X]]
; CHECK-NOT: store
; CHECK: ret void
  ret void
}

; What the join takes from either side is selected, once.
define ptx_kernel void @value_after_the_join(ptr addrspace(1) %a, i32 %n) {
; CHECK-LABEL: @value_after_the_join(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = mul i32 %ta, %tid
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = mul i32 %fa, %n
  br label %j
j:
  %r = phi i32 [ %tb, %t ], [ %fb, %f ]
; CHECK: [[BY:%.*]] = select i1 %c, i32 %tid, i32 %n
; CHECK: [[L:%.*]] = load i32
; CHECK-NOT: load
; CHECK: [[R:%.*]] = mul i32 [[L]], [[BY]]
; CHECK-NEXT: store i32 [[R]]
  store i32 %r, ptr addrspace(1) %a
  ret void
}

; Flags, metadata and alignment that one side alone promises are gone.
define ptx_kernel void @promises(ptr addrspace(1) %a, ptr addrspace(1) %b) {
; CHECK-LABEL: @promises(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a, align 8, !range !0, !invariant.load !1
  %tb = add nsw nuw i32 %ta, %tid
  %tc = sdiv exact i32 %tb, 3
  store i32 %tc, ptr addrspace(1) %a, align 16
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %b, align 4
  %fb = add nsw i32 %fa, %tid
  %fc = sdiv i32 %fb, 3
  store i32 %fc, ptr addrspace(1) %b, align 8
  br label %j
j:
; CHECK: load i32, ptr addrspace(1) %{{.*}}, align 4{{$}}
; CHECK-NEXT: add nsw i32
; CHECK-NEXT: sdiv i32
; CHECK-NEXT: store i32 %{{.*}}, align 8
  ret void
}

; Floating point: a permission that changes bits must be both sides'.
define ptx_kernel void @permissions(ptr addrspace(1) %a, float %x) {
; CHECK-LABEL: @permissions(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ta = load float, ptr addrspace(1) %a
  %tb = fmul nnan float %ta, %x
  %tc = fadd reassoc float %tb, 2.0
  %td = call afn float @llvm.sqrt.f32(float %tc)
  store float %td, ptr addrspace(1) %a
  br label %j
f:
  %fa = load float, ptr addrspace(1) %a
  %fb = fmul float %fa, %x
  %fc = fadd float %fb, 2.0
  %fd = call afn float @llvm.sqrt.f32(float %fc)
  store float %fd, ptr addrspace(1) %a
  br label %j
j:
; CHECK: fmul float
; CHECK-NOT: fmul
; CHECK-DAG: fadd reassoc float
; CHECK-DAG: fadd float
; CHECK: call afn float @llvm.sqrt.f32
; CHECK-NOT: @llvm.sqrt
; CHECK: ret void
  ret void
}
declare float @llvm.sqrt.f32(float)

; A uniform branch does not split warps: nothing to gain.
define ptx_kernel void @uniform(ptr addrspace(1) %a, i32 %n) {
; CHECK-LABEL: @uniform(
; CHECK: br i1 %c, label %t, label %f
entry:
  %c = icmp slt i32 %n, 7
  br i1 %c, label %t, label %f
t:
  %ta = load i32, ptr addrspace(1) %a
  %tb = mul i32 %ta, 3
  store i32 %tb, ptr addrspace(1) %a
  br label %j
f:
  %fa = load i32, ptr addrspace(1) %a
  %fb = mul i32 %fa, %n
  store i32 %fb, ptr addrspace(1) %a
  br label %j
j:
  ret void
}
!0 = !{i32 0, i32 9}
!1 = !{}
