; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-uniformity>" -disable-output %s 2>&1 | FileCheck %s
;
; A cycle with two entries has no header at which its iterations could be
; counted. With a divergent branch inside nothing in it is called uniform.
target triple = "nvptx64-nvidia-cuda"

; if (n) goto a; else goto b;
; a: x = n + 1;
; b: if (threadIdx.x & 1) goto a;
define ptx_kernel void @split_inside(i32 %n) {
; CHECK-LABEL: uniformity of 'split_inside'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  %c = icmp ne i32 %n, 0
  br i1 %c, label %a, label %b
; CHECK: uniform branch: br i1 %c
a:
  %x = add i32 %n, 1
; CHECK: divergent(divergent control): %x =
  br label %b
b:
  br i1 %odd, label %a, label %end
; CHECK: divergent branch: br i1 %odd
end:
  %y = add i32 %n, 2
; CHECK: grid: %y =
  ret void
}

; if (threadIdx.x & 1) goto a; else goto b;   // lanes enter it at two places
define ptx_kernel void @entered_apart(i32 %n, i1 %u) {
; CHECK-LABEL: uniformity of 'entered_apart'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  br i1 %odd, label %a, label %b
a:
  %x = add i32 %n, 1
; CHECK: divergent(divergent control): %x =
  br label %b
b:
  br i1 %u, label %a, label %end
end:
  ret void
}

; if (u) goto a; else goto b;                 // all lanes together, all the way
define ptx_kernel void @entered_together(i32 %n, i1 %u) {
; CHECK-LABEL: uniformity of 'entered_together'
entry:
  br i1 %u, label %a, label %b
a:
  %i = phi i32 [ 0, %entry ], [ %j, %b ]
; CHECK: grid: %i = phi
  br label %b
b:
  %j = phi i32 [ 1, %entry ], [ %i, %a ]
; CHECK: grid: %j = phi
  %more = icmp slt i32 %j, %n
  br i1 %more, label %a, label %end
; CHECK: uniform branch: br i1 %more
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
