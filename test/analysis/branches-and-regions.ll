; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-branches>" -disable-output %s 2>&1 | FileCheck %s
;
; Divergent branches, their kinds, and the blocks between a branch and its
; post-dominator. Blocks go by position in the kernel; paths that end in
; unreachable do not count.
target triple = "nvptx64-nvidia-cuda"

; int i = threadIdx.x;
; if (i >= n) return;                            // block 0
; for (j = 0; j < x[i]; ++j) {                   // blocks 2, 3
;   if (j & i) assert(n); else x[j] = 1;         // blocks 3-6
; }
define ptx_kernel void @walk(i32 %n, ptr %x) {
; CHECK-LABEL: kernel 'walk' (walk)
; CHECK-NEXT: block 0: #0, 3 instructions
; CHECK-NEXT: block 1: #1, 2 instructions
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %out = icmp sge i32 %i, %n
  br i1 %out, label %end, label %head
; CHECK: branch #0 in block 0: if, to 7 1, region 1 2 3 4 5 6, thread id, leaves the kernel
head:
  %p = getelementptr i32, ptr %x, i32 %i
  %limit = load i32, ptr %p
  br label %loop
loop:
  %j = phi i32 [ 0, %head ], [ %next, %latch ]
  %odd = and i32 %j, %i
  %c = icmp ne i32 %odd, 0
  br i1 %c, label %check, label %store
; CHECK-NEXT: branch #1 in block 2: if-else, to 3 5, region 3 4 5, thread id
check:
  %fine = icmp ne i32 %n, 0
  br i1 %fine, label %latch, label %trap
; CHECK-NOT: branch #2
trap:
  unreachable
store:
  %q = getelementptr i32, ptr %x, i32 %j
  store i32 1, ptr %q
  br label %latch
latch:
  %next = add i32 %j, 1
  %more = icmp slt i32 %next, %limit
  br i1 %more, label %loop, label %end
; CHECK: branch #3 in block 6: loop exit, to 2 7, region 2 3 4 5 6, load, leaves the kernel
end:
  ret void
}

; switch (kind[threadIdx.x]) { case 0: ...; case 1: ...; default: unreachable }
define ptx_kernel void @kinds(ptr %kind, ptr %x) {
; CHECK-LABEL: kernel 'kinds' (kinds)
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %kind, i32 %i
  %v = load i32, ptr %p
  switch i32 %v, label %never [ i32 0, label %zero
                                i32 1, label %one ]
; CHECK: branch #4 in block 0: switch, to 1 2 3, region 1 2 3, load
; CHECK-NOT: leaves
never:
  unreachable
zero:
  store i32 1, ptr %x
  br label %end
one:
  store i32 2, ptr %x
  br label %end
end:
  store i32 3, ptr %x
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
