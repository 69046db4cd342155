; A key of what loads read, weighted: the loop is gone whatever it does.
;
; RUN: opt -passes='reconverge-regroup<estimate=3:2.5;estimate=thread:-1.5;estimate=4:0.5;estimate=base:40>,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<estimate=3:1;branch=1;locality=12>,verify' -pass-remarks=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=BOTH
; RUN: opt -passes='reconverge-regroup<estimate=5:1>,verify' -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: opt -passes='reconverge-regroup<estimate=6:1>,verify' -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=WRITTEN
; RUN: not opt -passes='reconverge-regroup<estimate=3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP

; BOTH: regrouped: threads are sorted by 1 bits of 1 branches 1, and 12 of an estimate
; Two at once are no number, nor is what the thread itself may have written known.
; NONE: not regrouped: no load or feature of that number reads a number (5) [RC609]
; WRITTEN: not regrouped: what decides is read where the kernel has written [RC611]
; SLIP: regrouping has no parameter 'estimate=3'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; CHECK: regrouped: threads are sorted by 6 bits of 0 branches, and 2 of an estimate

; Bytes are unsigned where the kernel takes them to be. A sum of floats, from zero
; to what 32 bits hold, and the longest first.
; CHECK-LABEL: define ptx_kernel void @"search$keys$before"(
; CHECK-NOT: {{phi|call float}}
; CHECK-DAG: load float, ptr %ps
; CHECK-DAG: load i8, ptr %pb
; CHECK-DAG: uitofp i8
; CHECK-DAG: fmul float {{.*}}, 2.500000e+00
; CHECK-DAG: fmul float {{.*}}, -1.500000e+00
; CHECK-DAG: fmul float {{.*}}, 5.000000e-01
; CHECK: fcmp ogt float
; CHECK: fcmp olt float
; CHECK: fptoui float
; CHECK: xor i32 {{.*}}, -1
; CHECK: atomicrmw umax
; CHECK: ret void
define ptx_kernel void @search(ptr noalias %out, ptr noalias %bytes, ptr noalias %starts, ptr noalias %pairs) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pb = getelementptr i8, ptr %bytes, i32 %t
  %b = load i8, ptr %pb, !rc.access !3
  %n = zext i8 %b to i32
  %ps = getelementptr float, ptr %starts, i32 %t
  %start = load float, ptr %ps, !rc.access !4
  %pp = getelementptr <2 x float>, ptr %pairs, i32 %t
  %pair = load <2 x float>, ptr %pp, !rc.access !5
  %high = extractelement <2 x float> %pair, i32 1
  %c0 = fcmp ogt float %start, %high
  br i1 %c0, label %loop, label %done, !rc.branch !1
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %x = phi float [ %start, %entry ], [ %x1, %loop ]
  %s = call float @llvm.sqrt.f32(float %x)
  %x1 = fadd float %s, 1.5
  %k1 = add i32 %k, 1
  %far = fcmp ogt float %x1, %high
  %more = icmp ult i32 %k1, %n
  %c = and i1 %far, %more
  br i1 %c, label %loop, label %done, !rc.branch !2
done:
  %last = phi float [ %start, %entry ], [ %x1, %loop ]
  %q = getelementptr float, ptr %out, i32 %t
  store float %last, ptr %q
  %again = load float, ptr %q, !rc.access !6
  %twice = fadd float %again, %again
  store float %twice, ptr %q
  ret void
}

declare float @llvm.sqrt.f32(float)

!1 = !{i32 1}
!2 = !{i32 2}
!3 = !{i32 3}
!4 = !{i32 4}
!5 = !{i32 5}
!6 = !{i32 6}
