; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes=reconverge-instrument,verify -S %s | FileCheck %s
; RUN: opt -passes=reconverge-instrument -S %s -o %t.1
; RUN: opt -passes=reconverge-instrument -S %s -o %t.2
; RUN: cmp %t.1 %t.2
;
; Probes: where they stand, and where none is needed. The host tells kernels
; through one constant variable where their counters are.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; CHECK: @__reconverge_probes = addrspace(4) externally_initialized global [11 x i64] zeroinitializer

; *p = 1;                                 One way through: nothing to be counted.
define ptx_kernel void @straight(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @straight(
; CHECK-NEXT: store i32 1, ptr %p
; CHECK-NEXT: ret void
  store i32 1, ptr %p, align 4
  ret void
}

; if (n > 5) *p = 1;                      Uniform: lanes, and warps follow.
define ptx_kernel void @uniform(ptr %p, i32 %n) {
; CHECK-LABEL: define ptx_kernel void @uniform(
entry:
  %big = icmp sgt i32 %n, 5
  br i1 %big, label %then, label %end
; CHECK: br i1 %big, label %then, label %end
then:
; CHECK: then:
; CHECK-NEXT: store i32 1, ptr %p
; CHECK-NOT: activemask
; CHECK: br label %end
  store i32 1, ptr %p, align 4
  br label %end
end:
; CHECK: end:
; CHECK: %rc.bits.0 = phi i32 [ %{{[0-9]+}}, %then ], [ 0, %entry ]
; CHECK: load i64, ptr addrspace(4) @__reconverge_probes
  ret void
}

; if (tid < 7) *p = 1;                    The side tells of the split.
define ptx_kernel void @divergent(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @divergent(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp slt i32 %tid, 7
; CHECK: [[BEFORE:%[0-9]+]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: br i1 %few, label %then, label %end
  br i1 %few, label %then, label %end
then:
; CHECK: then:
; CHECK: [[SIDE:%[0-9]+]] = call i32 @llvm.nvvm.activemask()
; CHECK: icmp ne i32 [[SIDE]], [[BEFORE]]
; CHECK-NOT: asm
; CHECK: br label %end
  store i32 1, ptr %p, align 4
  br label %end
end:
; CHECK: call i32 @llvm.nvvm.redux.sync.add(i32 {{.*}}, i32 -1)
; CHECK: call void asm sideeffect "red.global.add.u64 [$0], $1;"
; CHECK-NOT: atomicrmw
  ret void
}

; while (i < tid) ++i;                    A loop tells an iteration later.
define ptx_kernel void @loop(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @loop(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
; CHECK: head:
; CHECK: [[LAST:%rc.round.*]] = phi i32 [ 0, %entry ], [ [[NOW:%[0-9]+]], %head ]
; CHECK: [[NOW]] = call i32 @llvm.nvvm.activemask()
; CHECK: icmp ne i32 [[NOW]], [[LAST]]
; CHECK-NOT: asm
; CHECK: br i1 %more, label %head, label %end
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %tid
  br i1 %more, label %head, label %end
end:
  store i32 %next, ptr %p, align 4
  ret void
}

; if (tid >= 9) return; __syncthreads();  Who returns is not held up: each way
;                                         out has a flush of its own.
define ptx_kernel void @early(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @early(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %out = icmp sge i32 %tid, 9
; CHECK: call i32 @llvm.ctpop.i32(
; CHECK: br i1 %out, label %end{{(.copy)?}}, label %stay
  br i1 %out, label %end, label %stay
stay:
; CHECK: stay:
; CHECK: br label %end{{(.copy)?}}
  call void @llvm.nvvm.barrier0()
  store i32 1, ptr %p, align 4
  br label %end
end:
; CHECK-COUNT-2: ret void
  ret void
}

; switch (tid) ...                        No side stands for itself: votes.
define ptx_kernel void @votes(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @votes(
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-COUNT-3: asm sideeffect "{ .reg .pred p; {{.*}}@p activemask.b32 $0; @!p activemask.b32 $0; }"
; CHECK: switch i32 %tid
  switch i32 %tid, label %end [ i32 1, label %one
                                i32 2, label %two ]
one:
  store i32 1, ptr %p, align 4
  br label %end
two:
  store i32 2, ptr %p, align 4
  br label %end
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
