; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; What collecting makes of a kernel: its parameters and its recipe, the copy of
; what decides a path, and the kernel as it was as the body of a loop.
;
;   i = blockIdx.x * blockDim.x + threadIdx.x;
;   if (i >= n) return;                       no work
;   if (in[i] > 0)                            path 0: the most code
;     for (k = 0; k < in[i]; ++k) s += k * k;
;   else                                      path 1
;     s = -in[i];
;   out[i] = s;
;
; RUN: opt -passes='reconverge-collect<threshold=10;items=2;short=0>,verify' -pass-remarks=reconverge-collect -S %s 2>&1 | FileCheck %s
; The second path is short, and could be run where it is found.
; RUN: opt -passes='reconverge-collect<threshold=10;items=2>,verify' -pass-remarks=reconverge-collect -S %s 2>&1 | FileCheck %s --check-prefix=SHORT
; Claims of 64: the place among them goes from turn to turn.
; RUN: opt -passes='reconverge-collect<threshold=10;items=2;short=0;chunk=64>,verify' -S %s | FileCheck %s --check-prefix=CHUNK
; No claims: warps take turns.
; RUN: opt -passes='reconverge-collect<threshold=10;items=2;short=0;chunk=0>,verify' -S %s | FileCheck %s --check-prefix=TURNS
; RUN: not opt -passes='reconverge-collect<chunk=48>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CHUNKS
; CHUNKS: collecting has no parameter 'chunk=48'
; RUN: not opt -passes='reconverge-collect<items=3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: collecting has no parameter 'items=3'
; RUN: not opt -passes='reconverge-collect<paths=32>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MANY
; MANY: collecting has no parameter 'paths=32'


; SHORT: remark: {{.*}} collected: 1 paths, 2 items a thread, 958 bytes
; What it does, and what that follows from, for one item and then for the other.
; SHORT: collect.slice{{[0-9]+}}:
; SHORT: icmp sgt i32
; SHORT: [[NEG:%.*]] = sub i32 0,
; SHORT-NEXT: [[OTHER:%.*]] = sub i32 0,
; SHORT: br i1 %{{.*}}, label %[[DO:.*]], label
; SHORT: [[DO]]:
; SHORT-NEXT: store i32 [[NEG]], ptr addrspace(1)
; SHORT: br i1 %{{.*}}, label %[[DO:.*]], label
; SHORT: [[DO]]:
; SHORT-NEXT: store i32 [[OTHER]], ptr addrspace(1)
; SHORT: [[PATH:%.*]] = select i1 [[IS:%.*]], i32 0, i32 1
; SHORT: call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 [[IS]])

; TURNS: collect.latch:
; TURNS-NEXT: [[NEXT:%.*]] = add i32 %place, 32
; TURNS: %place = phi i32 [ 0, %{{.*}} ], [ [[NEXT]], %collect.latch ]
; TURNS-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; TURNS-NEXT: mul i32 %place,

; CHUNK: collect.latch:
; CHUNK-NEXT: [[NEXT:%.*]] = add i32 %{{.*}}, 32
; CHUNK: %place = phi i32 [ 0, %{{.*}} ], [ [[NEXT]], %collect.latch ]
; CHUNK: [[PART:%.*]] = urem i32 %place, 64
; CHUNK: [[USED:%.*]] = icmp eq i32 [[PART]], 0
; CHUNK: atomicrmw add ptr addrspace(3) {{.*}}, i32 64 monotonic
; CHUNK: select i1 [[USED]], i32 %{{.*}}, i32 %place

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; CHECK: remark: {{.*}} collected: 2 paths, 2 items a thread, 1020 bytes of shared memory, blocks of up to 128 threads

; CHECK: @__reconverge_counts_k = internal addrspace(3) global [96 x i32] poison, align 16
; CHECK: @__reconverge_items_k = internal addrspace(3) global [318 x i16] poison, align 16

; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-SAME: ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n, i64 %blocks, i32 %grid.x, i32 %grid.y, i32 %grid.z) #[[RECIPE:[0-9]+]]
; CHECK: [[BLOCK:%.*]] = mul i32 %{{.*}}, 2

; The kernel as it was, but that the path says which side; what returned goes on
; with the next item.
; CHECK: body:
; CHECK-NOT: icmp slt
; CHECK: work:
; CHECK: load i32, ptr addrspace(1)
; CHECK-NEXT: [[BIT:%.*]] = shl i32 1, %{{.*}}
; CHECK-NEXT: [[MINE:%.*]] = and i32 [[BIT]], 1
; CHECK-NEXT: [[IS:%.*]] = icmp ne i32 [[MINE]], 0
; CHECK-NEXT: br i1 [[IS]], label %loop, label %other
; CHECK: store i32 %{{.*}}, ptr addrspace(1)
; CHECK-NEXT: br label %collect.latch

; V warps take a block of the program's each, if there are so many: an item is a
; turn of ten bits' distance, and a thread.
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: [[WHOLE:%.*]] = icmp ule i32
; CHECK: [[FIRST:%.*]] = select i1 [[WHOLE]], i32 %{{.*}}, i32 %{{.*}}
; CHECK-NEXT: [[STEP:%.*]] = select i1 [[WHOLE]], i32 32, i32 1024
; CHECK: lshr i32 [[FIRST]], 10
; CHECK-NEXT: and i32 [[FIRST]], 1023

; What is needed of the slice, without its branches, of one item beside the other:
; both reads are under way before either is looked at.
; CHECK: collect.slice:
; CHECK: [[IN:%.*]] = icmp slt i32
; CHECK-NEXT: [[IN2:%.*]] = icmp slt i32
; CHECK-NEXT: [[COME:%.*]] = select i1 %{{.*}}, i1 [[IN]], i1 false
; CHECK: [[COME2:%.*]] = select i1 %{{.*}}, i1 [[IN2]], i1 false
; CHECK: br i1 [[COME]], label %[[READ:.*]], label %[[SLICE:.*]]
; CHECK: [[READ]]:
; CHECK-NEXT: [[X:%.*]] = load i32, ptr addrspace(1)
; CHECK-NEXT: br label %[[SLICE]]
; CHECK: [[SLICE]]:
; CHECK-NEXT: [[HAS:%.*]] = phi i32 [ 0, %{{.*}} ], [ [[X]], %[[READ]] ]
; CHECK-NEXT: br i1 [[COME2]], label %[[READ2:.*]], label %
; CHECK: [[READ2]]:
; CHECK-NEXT: load i32, ptr addrspace(1)
; CHECK: [[IS:%.*]] = icmp sgt i32 [[HAS]], 0

; The path: one for each side, and one without work.
; CHECK: [[ZERO:%.*]] = select i1 [[COME]], i1 [[IS]], i1 false
; CHECK: [[ONE:%.*]] = select i1 [[COME]], i1 %{{.*}}, i1 false
; CHECK: [[ELSE:%.*]] = select i1 [[ZERO]], i32 0, i32 2
; CHECK: select i1 [[ONE]], i32 1, i32 [[ELSE]]

; A ballot for each path of each item.
; CHECK-COUNT-4: call i32 @llvm.nvvm.vote.ballot.sync(i32 -1,
; CHECK: atomicrmw add ptr addrspace(3)
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK-COUNT-2: store i16 %{{.*}}, ptr addrspace(3)
; CHECK: call void @llvm.nvvm.barrier0()

; CHECK: collect.done:
; CHECK: ret void

; CHECK: attributes #[[RECIPE]] = { {{.*}}"reconverge-recipe"="for 1 2147483648 128 warps line step k grid blocks 1 2 block same shared program 0 program 1 program 2 amount blocks 1 1 dimension 0 dimension 1 dimension 2" }
define ptx_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m = mul i32 %b, %w
  %i = add i32 %m, %t
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %leave
leave:
  ret void
work:
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %loop, label %other
loop:
  %k = phi i32 [ 0, %work ], [ %k1, %loop ]
  %s = phi i32 [ 0, %work ], [ %s1, %loop ]
  %kk = mul i32 %k, %k
  %s1 = add i32 %s, %kk
  %k1 = add i32 %k, 1
  %more = icmp slt i32 %k1, %x
  br i1 %more, label %loop, label %join
other:
  %neg = sub i32 0, %x
  br label %join
join:
  %r = phi i32 [ %s1, %loop ], [ %neg, %other ]
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %r, ptr addrspace(1) %po
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @k, !"maxntidx", i32 128}
