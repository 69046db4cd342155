; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes=reconverge-instrument,verify -S %s | FileCheck %s
;
; Accesses to memory with a number are counted in a body of their own, by a call
; before each of them. Those without one are not. Where a call would let lanes
; join, the code stands there instead. There is no atomicrmw of ours:
; CellUpdate.cpp says why.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [64 x i64] undef, align 8

; p[tid] = 1;                             Nothing else to count: two bodies.
define ptx_kernel void @straight(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @straight(
; CHECK: rc.choose:
; CHECK-NOT: activemask
; CHECK: br i1 %{{[0-9]+}}, label %entry.memory, label %entry
; CHECK: entry:
; CHECK-NOT: activemask
; CHECK: ret void
; CHECK: entry.memory:
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: br i1 %{{[0-9]+}}, label %{{[0-9]+}}, label %{{[0-9]+}}
; CHECK: [[MASK:%[0-9]+]] = call i32 @llvm.nvvm.activemask()
; CHECK-NEXT: [[ADDRESS:%[0-9]+]] = ptrtoint ptr %{{.*}} to i64
; CHECK-NEXT: call void @__reconverge_global_store_4(i64 [[ADDRESS]], i64 %{{[0-9]+}}, i32 1, i32 [[MASK]])
; CHECK-NOT: asm
; CHECK: store i32 1,
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: store i64 1, ptr addrspace(1)
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %tid
  store i32 1, ptr %at, align 4, !rc.access !0
  ret void
}

; if (tid < 7) { x = tile[tid]; *q = x; }   Three bodies. The third counts lanes
; *p = 2;                                 and warps as the second does, and
;                                         leaves by the same code.
define ptx_kernel void @divergent(ptr %p, ptr %q) {
; CHECK-LABEL: define ptx_kernel void @divergent(
; CHECK: rc.decide:
; CHECK: br i1 %{{[0-9]+}}, label %rc.memory, label %entry.plain
; CHECK: rc.memory:
; CHECK: br i1 %{{[0-9]+}}, label %entry.memory, label %entry
; CHECK: then:
; CHECK-NOT: redux
; CHECK: activemask
; CHECK: rc.leave:
; CHECK: redux
; CHECK: ret void
; CHECK: then.plain:
; CHECK-NOT: activemask
; CHECK: entry.memory:
; CHECK: then.memory:
; CHECK: call void @__reconverge_shared_load_8(
; CHECK-NEXT: br label
; CHECK: load i64, ptr addrspace(3)
; CHECK: call void @__reconverge_global_atomic_4(
; CHECK: atomicrmw add ptr %p
; CHECK: activemask
; CHECK-NOT: redux
; CHECK: br label %rc.leave
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %few = icmp slt i32 %tid, 7
  br i1 %few, label %then, label %end
then:
  %at = getelementptr i64, ptr addrspace(3) @tile, i32 %tid
  %x = load i64, ptr addrspace(3) %at, align 8, !rc.access !1
  store i64 %x, ptr %q, align 8
  %old = atomicrmw add ptr %p, i32 1 monotonic, align 4, !rc.access !2
  br label %end
end:
  store i32 2, ptr %p, align 4, !rc.access !3
  ret void
}

; float2 v = p[tid]; *q = v.x + v.y;      One access of 8 bytes, as the GPU makes
;                                         it; it has the first one's place.
define ptx_kernel void @joined(ptr %p, ptr %q) {
; CHECK-LABEL: define ptx_kernel void @joined(
; CHECK: entry:
; CHECK: load <2 x float>
; CHECK: entry.memory:
; CHECK: call void @__reconverge_global_load_8({{.*}}, i32 2, i32 %{{[0-9]+}})
; CHECK: load <2 x float>
; CHECK-NOT: store float
; CHECK: call void @__reconverge_global_store_4({{.*}}, i32 3, i32 %{{[0-9]+}})
; CHECK: store float
; CHECK-NOT: call void @__reconverge
; CHECK: ret void
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr { float, float }, ptr %p, i32 %tid
  %next = getelementptr i8, ptr %at, i64 4
  %y = load float, ptr %next, align 4, !rc.access !0
  %x = load float, ptr %at, align 8, !rc.access !1
  %sum = fadd float %x, %y
  store float %sum, ptr %q, align 4, !rc.access !2
  ret void
}

; do atomicAdd(p, 1); while (--n);        A call would let rounds join.
define ptx_kernel void @repeated(ptr %p, i32 %n) {
; CHECK-LABEL: define ptx_kernel void @repeated(
; CHECK: loop.memory:
; CHECK-NOT: call void @__reconverge
; CHECK: [[MASK:%[0-9]+]] = call i32 @llvm.nvvm.activemask()
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 [[MASK]],
; CHECK: call i32 @llvm.nvvm.match.any.sync.i64(i32 [[MASK]],
; CHECK-COUNT-4: "red.global.add.u64
; CHECK-NOT: asm
; CHECK: atomicrmw add ptr %p
; CHECK-NOT: call void @__reconverge
; CHECK: br label %rc.leave
entry:
  br label %loop
loop:
  %i = phi i32 [ %n, %entry ], [ %next, %loop ]
  %old = atomicrmw add ptr %p, i32 1 monotonic, align 4, !rc.access !0
  %next = add i32 %i, -1
  %more = icmp ne i32 %next, 0
  br i1 %more, label %loop, label %end
end:
  ret void
}

; The same, in another's text.
define ptx_kernel void @text(ptr %p, i32 %n) {
; CHECK-LABEL: define ptx_kernel void @text(
; CHECK: loop.memory:
; CHECK-NOT: call void @__reconverge
; CHECK: br label %rc.leave
entry:
  br label %loop
loop:
  %i = phi i32 [ %n, %entry ], [ %next, %loop ]
  call void asm sideeffect "red.shared.add.u32 [$0], 1;", "l"(ptr %p)
  store i32 %i, ptr %p, align 4, !rc.access !0
  %next = add i32 %i, -1
  %more = icmp ne i32 %next, 0
  br i1 %more, label %loop, label %end
end:
  ret void
}

; x = p[0]; if (x) p[1] = 1; p[2] = 2; __syncwarp(); p[3] = 3;
;                                  Lanes come to the second access from the
;                                  first alone; others join them at the third
;                                  and at the fourth, where they ask the clock.
define ptx_kernel void @joins(ptr %p) {
; CHECK-LABEL: define ptx_kernel void @joins(
; CHECK: entry.memory:
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: br i1 [[ON:%[0-9]+]], label
; CHECK: call void @__reconverge_global_load_4(
; CHECK: then.memory:
; CHECK-NOT: clock
; CHECK: br i1 [[ON]], label
; CHECK-NOT: clock
; CHECK: call void @__reconverge_global_store_4(
; CHECK: join.memory:
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: call void @__reconverge_global_store_4(
; CHECK: call void @llvm.nvvm.bar.warp.sync(
; CHECK: call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK: call void @__reconverge_global_store_4(
; CHECK: br label %rc.leave
entry:
  %x = load i32, ptr %p, align 4, !rc.access !0
  %some = icmp ne i32 %x, 0
  br i1 %some, label %then, label %join
then:
  %p1 = getelementptr i32, ptr %p, i32 1
  store i32 1, ptr %p1, align 4, !rc.access !1
  br label %join
join:
  %p2 = getelementptr i32, ptr %p, i32 2
  store i32 2, ptr %p2, align 4, !rc.access !2
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %p3 = getelementptr i32, ptr %p, i32 3
  store i32 3, ptr %p3, align 4, !rc.access !3
  ret void
}

; Its frame would grow with each level of a recursion. (Places of its accesses
; come first in areas.)
define void @called(ptr %p) noinline {
; CHECK-LABEL: define void @called(
; CHECK: entry.memory:
; CHECK-NOT: call void @__reconverge
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(
; CHECK-NOT: call void @__reconverge
; CHECK: ret void
entry:
  store i32 1, ptr %p, align 4, !rc.access !0
  ret void
}

; Which sectors: the neighbour's or another; where they rise and fall, by match.
; CHECK-LABEL: define internal void @__reconverge_global_store_4(
; CHECK-SAME: i64 %0, i64 %1, i32 %2, i32 [[MASK:%[0-9]+]]) [[PROBE:#[0-9]+]]
; CHECK-NOT: activemask
; CHECK: [[SECTOR:%[0-9]+]] = trunc i64 %{{[0-9]+}} to i32
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 [[MASK]], i32 [[SECTOR]],
; CHECK-COUNT-2: call i32 @llvm.nvvm.vote.ballot.sync(i32 [[MASK]],
; CHECK: br i1 %{{[0-9]+}}, label %known, label %match
; CHECK: match:
; CHECK: call i32 @llvm.nvvm.match.any.sync.i32(i32 [[MASK]], i32 [[SECTOR]])
; CHECK: known:
; CHECK-NOT: sketch
; CHECK: br i1 %{{[0-9]+}}, label %add, label %end
; CHECK-COUNT-3: call void asm sideeffect "red.global.add.u64 [$0], $1;"
; CHECK-NOT: asm
; CHECK: ret void

; Halves of a warp, 16 lanes of 8 bytes each.
; CHECK-LABEL: define internal void @__reconverge_shared_load_8(
; CHECK-SAME: i32 [[MASK:%[0-9]+]]) [[PROBE]]
; CHECK: call i32 @llvm.nvvm.redux.sync.umin({{.*}}, i32 [[MASK]])
; CHECK: call i32 @llvm.nvvm.redux.sync.umax({{.*}}, i32 [[MASK]])
; CHECK: icmp ult i32 %{{[0-9]+}}, 16
; CHECK: match:
; CHECK-COUNT-2: call i32 @llvm.nvvm.redux.sync.umax
; CHECK-NOT: redux
; CHECK-COUNT-2: "red.global.add.u64
; CHECK-NOT: asm
; CHECK: ret void

; Turns, by the addresses.
; CHECK-LABEL: define internal void @__reconverge_global_atomic_4(
; CHECK: call i32 @llvm.nvvm.match.any.sync.i64(
; CHECK-COUNT-4: "red.global.add.u64
; CHECK-NOT: asm
; CHECK: ret void

; What a block loads is remembered.
; CHECK-LABEL: define internal void @__reconverge_global_load_8(
; CHECK: sketch:
; CHECK: "red.global.max.u32
; CHECK: ret void

; CHECK: attributes [[PROBE]] = { convergent noinline nounwind }

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)

!0 = !{i32 0}
!1 = !{i32 1}
!2 = !{i32 2}
!3 = !{i32 3}
