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
; RUN: not opt -passes='reconverge-collect<chunk=48>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=CHUNKS
; CHUNKS: collecting has no parameter 'chunk=48'
; RUN: not opt -passes='reconverge-collect<items=3>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: collecting has no parameter 'items=3'
; RUN: not opt -passes='reconverge-collect<paths=32>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=MANY
; MANY: collecting has no parameter 'paths=32'


; SHORT: remark: {{.*}} collected: 1 paths, 2 items a thread, 830 bytes
; SHORT: collect.known:
; SHORT: %path = phi i32 [ 1, %{{.*}} ], [ 1, %collect.end ], [ 0, %{{.*}} ], [ 1, %[[DONE:.*]] ]
; What it does, and what that follows from.
; SHORT: collect.slice
; SHORT: icmp sgt i32
; SHORT-NEXT: br i1 %{{.*}}, label %{{.*}}, label %[[OTHER:.*]]
; SHORT: [[OTHER]]:
; SHORT-NEXT: [[NEG:%.*]] = sub i32 0,
; SHORT-NEXT: br label %[[DONE]]
; SHORT: [[DONE]]:
; SHORT-NEXT: getelementptr
; SHORT-NEXT: store i32 [[NEG]], ptr addrspace(1)
; SHORT-NEXT: br label %collect.known

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

; CHECK: remark: {{.*}} collected: 2 paths, 2 items a thread, 892 bytes of shared memory, blocks of up to 128 threads

; CHECK: @__reconverge_counts_k = internal addrspace(3) global [64 x i32] poison, align 16
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
; CHECK: [[FIRST:%.*]] = select i1 [[WHOLE]], i32 %{{.*}}, i32 %thread
; CHECK-NEXT: [[STEP:%.*]] = select i1 [[WHOLE]], i32 32, i32 1024
; CHECK: lshr i32 [[FIRST]], 10
; CHECK-NEXT: and i32 [[FIRST]], 1023

; Each way to a path: one for each side, and one without work; then the next item.
; CHECK: collect.known:
; CHECK-NEXT: %path = phi i32 [ 2, %{{.*}} ], [ 2, %collect.end ], [ 0, %{{.*}} ], [ 1, %{{.*}} ]
; CHECK-NEXT: add i32 [[FIRST]], [[STEP]]

; What is needed of the slice: no store, and no loop.
; CHECK: collect.slice:
; CHECK-NOT: {{store|phi}}
; CHECK: load i32, ptr addrspace(1)
; CHECK-NEXT: icmp sgt i32
; CHECK-NEXT: br i1

; Both items' paths are known before the first ballot.
; CHECK: %path6 = phi i32
; CHECK-COUNT-4: call i32 @llvm.nvvm.vote.ballot.sync(i32 -1,
; CHECK: atomicrmw add ptr addrspace(3)
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK-COUNT-2: store i16 %{{.*}}, ptr addrspace(3)
; CHECK: collect.gaps:
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: collect.none:
; CHECK: store i16 -1, ptr addrspace(3)

; CHECK: collect.done:
; CHECK: ret void

; CHECK: attributes #[[RECIPE]] = { {{.*}}"reconverge-recipe"="for 1 2147483648 128 warps step k grid blocks 1 2 block same shared program 0 program 1 program 2 amount blocks 1 1 dimension 0 dimension 1 dimension 2" }
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
