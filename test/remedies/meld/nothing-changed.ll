; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
;
; The same input gives the same bytes.
; RUN: opt "-passes=reconverge-meld<polish=0>" -S %S/regions.ll -o %t.1
; RUN: opt "-passes=reconverge-meld<polish=0>" -S %S/regions.ll -o %t.2
; RUN: cmp %t.1 %t.2
;
; What is melded once is left alone, and what does not meld is as it was (but
; for the order in which comments list predecessors).
; RUN: opt "-passes=reconverge-meld<polish=0>,reconverge-meld<polish=0>" -S %S/regions.ll -o %t.3
; RUN: sed "s/;.*//" %t.1 > %t.once
; RUN: sed "s/;.*//" %t.3 | cmp - %t.once
; RUN: opt -passes=verify -S %s | sed "s/;.*//" > %t.before
; RUN: opt -passes=reconverge-meld -S %s | sed "s/;.*//" | cmp - %t.before
;
; The host's code is not looked at.
; RUN: sed s/nvptx64-nvidia-cuda/x86_64-linux-gnu/ %S/diamond.ll | opt -passes=reconverge-meld -S | FileCheck %s --check-prefix=HOST
; HOST: br i1 %c, label %t, label %f
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

define ptx_kernel void @unlike(ptr addrspace(3) %s, ptr addrspace(1) %g, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %x = load i32, ptr addrspace(3) %s
  %d = udiv i32 %x, %n
  %z = icmp eq i32 %d, 0
  br i1 %z, label %t1, label %j
t1:
  store i32 %d, ptr addrspace(3) %s
  br label %j
f:
  %y = atomicrmw add ptr addrspace(1) %g, i32 1 monotonic
  br label %j
j:
  %r = phi i32 [ %d, %t ], [ 3, %t1 ], [ %y, %f ]
  store i32 %r, ptr addrspace(1) %g
  ret void
}
