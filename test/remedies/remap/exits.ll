; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=2>,verify" -pass-remarks-missed=reconverge-remap -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --implicit-check-not=remark
;
; Threads that leave before the branch, and what the others do in between.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @vprintf(ptr, ptr)

; if (i > n) return; __syncthreads(); if (in[i] > 0) ...: who leaves must not wait
; at the round while the others are at the barrier.
; CHECK: remark: {{.*}} not remapped: the condition depends on the thread's number alone [RC222]
; CHECK-NEXT: remark: {{.*}} not remapped: threads leave the kernel before the branch, and others wait for each other in between (llvm.nvvm.barrier0) [RC206]
define ptx_kernel void @barrier_after_exit(ptr addrspace(1) %in, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %done, label %body
body:
  call void @llvm.nvvm.barrier0()
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %done
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %done
done:
  ret void
}

; The same in a loop, where the barrier stands before the exit.
; CHECK-NEXT: remark: {{.*}} not remapped: not all threads of the block reach the branch [RC201]
; CHECK-NEXT: remark: {{.*}} not remapped: threads leave the kernel before the branch, and others wait for each other in between (llvm.nvvm.barrier0) [RC206]
define ptx_kernel void @barrier_before_exit_in_loop(ptr addrspace(1) %in, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %stays ]
  call void @llvm.nvvm.barrier0()
  %z = load i32, ptr addrspace(1) %pi
  %leaves = icmp ugt i32 %z, %k
  br i1 %leaves, label %done, label %stays
stays:
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %loop, label %body
body:
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %done
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %done
done:
  ret void
}

; A shuffle counts, too.
; CHECK-NEXT: remark: {{.*}} not remapped: the condition depends on the thread's number alone [RC222]
; CHECK-NEXT: remark: {{.*}} not remapped: threads leave the kernel before the branch, and others wait for each other in between (llvm.nvvm.shfl.sync.down.i32) [RC206]
define ptx_kernel void @shuffle_after_exit(ptr addrspace(1) %in, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %done, label %body
body:
  %z = load i32, ptr addrspace(1) %pi
  %x = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %z, i32 1, i32 31)
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %done
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %done
done:
  ret void
}

; A barrier before all exits does not, nor does the library.
; CHECK-NEXT: remark: {{.*}} remapped: {{.*}}; threads that leave before come along
; CHECK-NEXT: remark: {{.*}} not remapped: the condition depends on the thread's number alone [RC222]
define ptx_kernel void @barrier_before_exit(ptr addrspace(1) %in, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  call void @llvm.nvvm.barrier0()
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %done, label %body
body:
  %z = load i32, ptr addrspace(1) %pi
  %p = call i32 @vprintf(ptr null, ptr null) convergent
  %c = icmp sgt i32 %z, %p
  br i1 %c, label %t, label %done
t:
  %y = mul i32 %z, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %done
done:
  ret void
}
