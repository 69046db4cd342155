; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=2>,verify" -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes="reconverge-remap<threshold=2;threads=128>" -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=ASKED
; RUN: opt -passes="reconverge-remap<threshold=2;occupancy=0>" -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=ALL
; RUN: opt -passes="reconverge-remap<threshold=2;threads=256;shared=32768>" -pass-remarks=reconverge-remap -pass-remarks-missed=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=LAUNCHED
; RUN: opt -passes="reconverge-remap<threshold=2;shared=47104;occupancy=0>" -pass-remarks=reconverge-remap -pass-remarks-missed=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=NEARLY
;
; For how large a block a round is laid out.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
@half = internal addrspace(3) global [6144 x i32] undef
@most = internal addrspace(3) global [11264 x i32] undef

; Nothing is known: the largest that there is. A word a thread for x and for the
; id, and a count for each warp.
; CHECK: remapped: {{.*}} 8224 bytes of shared memory for blocks of up to 1024 threads{{$}}
; ASKED: 1056 bytes of shared memory for blocks of up to 128 threads (threads=)
;
; What launches add is shared memory as well; six blocks have room for a round.
; LAUNCHED: remapped: {{.*}} 2080 bytes of shared memory for blocks of up to 256 threads (threads=)
; A program that has not asked for more than 48 KiB a block must not need it.
; NEARLY: not remapped: the round needs more shared memory than there is (2080 bytes for the round with blocks of 256 threads, 0 of the kernel, 47104 of its launches, of 49152)
define ptx_kernel void @unknown(ptr addrspace(1) %in, ptr addrspace(1) %out) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; __launch_bounds__(200), of two numbers: 224 threads are whole warps.
; CHECK-NEXT: 1824 bytes of shared memory for blocks of up to 224 threads (__launch_bounds__)
; ASKED-NEXT: 1056 bytes of shared memory for blocks of up to 128 threads (threads=)
define ptx_kernel void @bounded(ptr addrspace(1) %in, ptr addrspace(1) %out) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; Eight blocks of 256 threads fit on an sm_90 with their own 24 KiB, and with
; the round for 256 threads, not for 512.
; CHECK-NEXT: 2080 bytes of shared memory for blocks of up to 256 threads (more would leave fewer blocks on a multiprocessor)
; LAUNCHED: not remapped: fewer blocks would run at a time (2080 bytes for the round with blocks of 256 threads, 24576 of the kernel, 32768 of its launches: 3 blocks instead of 4) [RC224]
; One that has, may: 227 KiB are the limit.
; NEARLY: 8224 bytes of shared memory for blocks of up to 1024 threads{{$}}
; NEARLY-NEXT: (shared memory has room for no more)
; ALL: up to 1024 threads
; ALL: (__launch_bounds__)
; ALL: 8224 bytes of shared memory for blocks of up to 1024 threads{{$}}
define ptx_kernel void @occupied(ptr addrspace(1) %in, ptr addrspace(1) %out) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 1, ptr addrspace(3) @half
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; 44 KiB of its own leave room for 256 threads, whatever the occupancy.
; ASKED-NOT: remapped
; ALL-NEXT: 2080 bytes of shared memory for blocks of up to 256 threads (48 KiB have room for no more)
define ptx_kernel void @full(ptr addrspace(1) %in, ptr addrspace(1) %out) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 1, ptr addrspace(3) @most
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

!nvvm.annotations = !{!0}
!0 = !{ptr @bounded, !"kernel", i32 1, !"maxntidx", i32 20, !"maxntidy", i32 10}
