; What decides is read before the kernel writes, which has more blocks behind than
; LLVM looks at to tell what is reachable from where. And loops behind what is
; asked for are no part of the slice, whatever they do.
;
; RUN: opt -passes='reconverge-regroup,verify' -pass-remarks=reconverge-regroup -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<estimate=7:2.5>,verify' -pass-remarks=reconverge-regroup -pass-remarks-missed=reconverge-regroup -S %s 2>&1 | FileCheck %s --check-prefix=ESTIMATE

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; out[t] = in[t]; if (in[t] != 0) out[t] = 2; and forty blocks behind it
; CHECK: regrouped: threads are sorted by 1 bits of 1 branches 1
; ESTIMATE: not regrouped: no load or feature of that number
define ptx_kernel void @many(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %v, ptr %q
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %b0, !rc.branch !0
then:
  store i32 2, ptr %q
  br label %b0
b0:
  store volatile i32 0, ptr %q
  br label %b1
b1:
  store volatile i32 1, ptr %q
  br label %b2
b2:
  store volatile i32 2, ptr %q
  br label %b3
b3:
  store volatile i32 3, ptr %q
  br label %b4
b4:
  store volatile i32 4, ptr %q
  br label %b5
b5:
  store volatile i32 5, ptr %q
  br label %b6
b6:
  store volatile i32 6, ptr %q
  br label %b7
b7:
  store volatile i32 7, ptr %q
  br label %b8
b8:
  store volatile i32 8, ptr %q
  br label %b9
b9:
  store volatile i32 9, ptr %q
  br label %b10
b10:
  store volatile i32 10, ptr %q
  br label %b11
b11:
  store volatile i32 11, ptr %q
  br label %b12
b12:
  store volatile i32 12, ptr %q
  br label %b13
b13:
  store volatile i32 13, ptr %q
  br label %b14
b14:
  store volatile i32 14, ptr %q
  br label %b15
b15:
  store volatile i32 15, ptr %q
  br label %b16
b16:
  store volatile i32 16, ptr %q
  br label %b17
b17:
  store volatile i32 17, ptr %q
  br label %b18
b18:
  store volatile i32 18, ptr %q
  br label %b19
b19:
  store volatile i32 19, ptr %q
  br label %b20
b20:
  store volatile i32 20, ptr %q
  br label %b21
b21:
  store volatile i32 21, ptr %q
  br label %b22
b22:
  store volatile i32 22, ptr %q
  br label %b23
b23:
  store volatile i32 23, ptr %q
  br label %b24
b24:
  store volatile i32 24, ptr %q
  br label %b25
b25:
  store volatile i32 25, ptr %q
  br label %b26
b26:
  store volatile i32 26, ptr %q
  br label %b27
b27:
  store volatile i32 27, ptr %q
  br label %b28
b28:
  store volatile i32 28, ptr %q
  br label %b29
b29:
  store volatile i32 29, ptr %q
  br label %b30
b30:
  store volatile i32 30, ptr %q
  br label %b31
b31:
  store volatile i32 31, ptr %q
  br label %b32
b32:
  store volatile i32 32, ptr %q
  br label %b33
b33:
  store volatile i32 33, ptr %q
  br label %b34
b34:
  store volatile i32 34, ptr %q
  br label %b35
b35:
  store volatile i32 35, ptr %q
  br label %b36
b36:
  store volatile i32 36, ptr %q
  br label %b37
b37:
  store volatile i32 37, ptr %q
  br label %b38
b38:
  store volatile i32 38, ptr %q
  br label %b39
b39:
  store volatile i32 39, ptr %q
  br label %b40
b40:
  ret void
}

; n = sizes[t]; the numbers of two loops hang on what the first has written.
; CHECK: not regrouped: what decides is read where the kernel has written [RC611]
; ESTIMATE: regrouped: threads are sorted by 6 bits of 0 branches, and 2 of an estimate
; ESTIMATE-LABEL: define ptx_kernel void @"loops$keys$before"(
; ESTIMATE: load i32, ptr %ps
; ESTIMATE-NOT: phi
; ESTIMATE: ret void
define ptx_kernel void @loops(ptr noalias %out, ptr noalias %sizes) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %ps = getelementptr i32, ptr %sizes, i32 %t
  %n = load i32, ptr %ps, !rc.access !3
  br label %first
first:
  %i = phi i32 [ 0, %entry ], [ %i1, %first ]
  %x = load i32, ptr %out
  %x1 = add i32 %x, %n
  store i32 %x1, ptr %out
  %i1 = add i32 %i, 1
  %c1 = icmp slt i32 %x1, 100
  br i1 %c1, label %first, label %second, !rc.branch !1
second:
  %j = phi i32 [ 0, %first ], [ %j1, %second ]
  %y = load i32, ptr %out
  %y1 = mul i32 %y, 3
  store i32 %y1, ptr %out
  %j1 = add i32 %j, 1
  %c2 = icmp slt i32 %y1, %i1
  br i1 %c2, label %second, label %done, !rc.branch !2
done:
  ret void
}

!0 = !{i32 1}
!1 = !{i32 2}
!2 = !{i32 3}
!3 = !{i32 7}
