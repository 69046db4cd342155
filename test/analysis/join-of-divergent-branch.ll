; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-uniformity>" -disable-output %s 2>&1 | FileCheck %s
;
; A PHI tells lanes apart by the side they came from. What is computed on a side,
; or after the join, is as uniform as its operands.
target triple = "nvptx64-nvidia-cuda"

; int x;
; if (threadIdx.x < n) x = n + 1; else x = 2;
; out[0] = x;                    // differs from lane to lane
; out[1] = n;                    // does not
define ptx_kernel void @diamond(i32 %n, ptr %out) {
; CHECK-LABEL: uniformity of 'diamond'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK: affine(thread id, stride 1): %tid =
  %c = icmp slt i32 %tid, %n
; CHECK-NEXT: divergent(thread id): %c =
  br i1 %c, label %then, label %else
; CHECK-NEXT: divergent branch: br i1 %c
then:
  %one = add i32 %n, 1
; CHECK: grid: %one =
  br label %end
else:
  br label %end
end:
  %x = phi i32 [ %one, %then ], [ 2, %else ]
; CHECK: divergent(divergent control): %x = phi
  %same = phi i32 [ %n, %then ], [ %n, %else ]
; CHECK-NEXT: grid: %same = phi
  store i32 %x, ptr %out
  ret void
}

; int x = blockIdx.x == 0 ? f(1) : f(2);     // no lane of a block sees another
define ptx_kernel void @uniform_diamond(ptr %out) {
; CHECK-LABEL: uniformity of 'uniform_diamond'
entry:
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %c = icmp eq i32 %block, 0
  br i1 %c, label %then, label %end
; CHECK: uniform branch: br i1 %c
then:
  br label %end
end:
  %x = phi i32 [ 1, %then ], [ 2, %entry ]
; CHECK: block: %x = phi
  ret void
}

; if (threadIdx.x & 1) return;
; if (n > 3) ...                  // those that are left decide alike
define ptx_kernel void @early_return(i32 %n, ptr %out) {
; CHECK-LABEL: uniformity of 'early_return'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = trunc i32 %tid to i1
  br i1 %c, label %out.early, label %on
; CHECK: divergent branch: br i1 %c
out.early:
  ret void
on:
  %d = icmp sgt i32 %n, 3
  br i1 %d, label %a, label %b
; CHECK: uniform branch: br i1 %d
a:
  br label %b
b:
  %x = phi i32 [ 1, %on ], [ 2, %a ]
; CHECK: grid: %x = phi
  ret void
}

; switch (data[threadIdx.x]) { case 0: x = 1; case 1: x += 4; }
define ptx_kernel void @switch(ptr %data, ptr %out) {
; CHECK-LABEL: uniformity of 'switch'
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %data, i32 %tid
; CHECK: affine(thread id, stride 4): %p =
  %v = load i32, ptr %p
; CHECK-NEXT: divergent(load): %v =
  switch i32 %v, label %end [ i32 0, label %zero
                              i32 1, label %one ]
; CHECK-NEXT: divergent branch: switch
zero:
  br label %one
one:
  %x = phi i32 [ 0, %entry ], [ 1, %zero ]
; CHECK: divergent(divergent control): %x = phi
  %y = add i32 %x, 4
  br label %end
end:
  %z = phi i32 [ 0, %entry ], [ %y, %one ]
; CHECK: divergent(divergent control): %z = phi
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
