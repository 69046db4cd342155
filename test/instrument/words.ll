; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes=reconverge-instrument,verify -S %s | FileCheck %s
;
; How a thread keeps its counters: what runs once in a bit, a loop with few
; counters in registers, one with many in bytes of registers.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; if (tid < 7) *p = 1;                    Two counters of a block: one addition.
define ptx_kernel void @once(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @once(
; CHECK-NOT: alloca
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp slt i32 %tid, 7
  br i1 %few, label %then, label %end
then:
; CHECK: then:
; CHECK: [[SPLIT:%[0-9]+]] = and i1
; CHECK: [[LEADS:%[0-9]+]] = icmp eq i32
; CHECK-DAG: select i1 [[SPLIT]], i32
; CHECK-DAG: select i1 [[LEADS]], i32
; CHECK: br label %end
  store i32 1, ptr %p, align 4
  br label %end
end:
; CHECK: %rc.bits.0 = phi i32
; Bytes of a word, one a counter: a sum of 32 lanes has room there.
; CHECK: and i32 %{{[0-9]+}}, 16843009
  ret void
}

; while (i < tid) ++i;                    Three counters: registers.
define ptx_kernel void @few(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @few(
; CHECK-NOT: alloca
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
; CHECK: head:
; CHECK-COUNT-3: %rc.word{{.*}} = phi i32 [ 0, %entry ]
; CHECK-NOT: -2139062144
; CHECK: br i1 %more, label %head, label %end
  %i = phi i32 [ 0, %entry ], [ %next, %head ]
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %tid
  br i1 %more, label %head, label %end
end:
  store i32 %next, ptr %p, align 4
  ret void
}

; while (i < tid) {                       Some twenty: bytes, and words in memory,
;   if (i & tid)     *p = i;              which take over what the bytes have
;   if (i & tid & 2) *p = i + 1;          when one is half full in any lane of
;   if (i & tid & 4) *p = i + 2;          those that are at the head together.
;   if (i & tid & 8) *p = i + 3;
;   ++i; }
define ptx_kernel void @many(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @many(
; CHECK: %rc.words = alloca [20 x i32], align 16
; CHECK: store <4 x i32> zeroinitializer, ptr %{{[0-9]+}}, align 16
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %head
head:
; CHECK: head:
; CHECK: %rc.bytes.0 = phi i32 [ 0, %entry ]
; CHECK: [[FULL:%[0-9]+]] = and i32 %{{[0-9]+}}, -2139062144
; CHECK-NEXT: [[MINE:%[0-9]+]] = icmp ne i32 [[FULL]], 0
; CHECK-NEXT: [[TOGETHER:%[0-9]+]] = call i32 @llvm.nvvm.activemask()
; CHECK: [[ALIKE:%[0-9]+]] = call i32 asm sideeffect
; CHECK: [[OTHERS:%[0-9]+]] = icmp ne i32 [[ALIKE]], [[TOGETHER]]
; CHECK-NEXT: [[ANY:%[0-9]+]] = or i1 [[MINE]], [[OTHERS]]
; CHECK-NEXT: br i1 [[ANY]], label %[[OVER:[0-9]+]], label %[[GO:[0-9]+]]
; CHECK: [[OVER]]:
; CHECK: [[BYTE:%[0-9]+]] = and i32 %{{[0-9]+}}, 255
; CHECK-NEXT: [[WORD:%[0-9]+]] = load volatile i32
; CHECK-NEXT: [[SUM:%[0-9]+]] = add i32 [[WORD]], [[BYTE]]
; CHECK-NEXT: store volatile i32 [[SUM]]
; CHECK: [[GO]]:
; CHECK: %rc.bytes.1 = phi i32 [ 0, %[[OVER]] ], [ %rc.bytes.0, %head ]
  %i = phi i32 [ 0, %entry ], [ %next, %latch ]
  %b = and i32 %i, %tid
  %c1 = icmp ne i32 %b, 0
  br i1 %c1, label %s1, label %t2
s1:
; No load and no store beside the program's own.
; CHECK: s1:
; CHECK-NOT: volatile
; CHECK: latch:
  store i32 %i, ptr %p, align 4
  br label %t2
t2:
  %b2 = and i32 %b, 2
  %c2 = icmp ne i32 %b2, 0
  br i1 %c2, label %s2, label %t3
s2:
  %i1 = add i32 %i, 1
  store i32 %i1, ptr %p, align 4
  br label %t3
t3:
  %b4 = and i32 %b, 4
  %c3 = icmp ne i32 %b4, 0
  br i1 %c3, label %s3, label %t4
s3:
  %i2 = add i32 %i, 2
  store i32 %i2, ptr %p, align 4
  br label %t4
t4:
  %b8 = and i32 %b, 8
  %c4 = icmp ne i32 %b8, 0
  br i1 %c4, label %s4, label %latch
s4:
  %i3 = add i32 %i, 3
  store i32 %i3, ptr %p, align 4
  br label %latch
latch:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %tid
  br i1 %more, label %head, label %end
end:
; Words are summed up in a loop, not all at once.
; CHECK: !llvm.loop
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK: !"llvm.loop.unroll.disable"
