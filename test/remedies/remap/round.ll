; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=0>,verify" -S %s | FileCheck %s
; RUN: opt -passes="reconverge-remap<threshold=0>,verify" -S %s -o %t.once
; RUN: opt -passes="reconverge-remap<threshold=0>" -S %s -o %t.again
; RUN: diff %t.once %t.again
; RUN: opt -passes="reconverge-remap<threshold=0>" -S %t.once | FileCheck %s --check-prefix=TWICE
; RUN: opt -passes="reconverge-remap<threshold=0;threads=128>" -S %s | FileCheck %s --check-prefix=SMALL
; RUN: not opt -passes="reconverge-remap<sides=2>" -disable-output %s 2>&1 | FileCheck %s --check-prefix=BAD
; RUN: opt -passes="reconverge-remap" -S %s | FileCheck %s --check-prefix=CHEAP
;
; What a round looks like.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; BAD: remapping has no parameter 'sides=2'
; CHEAP-NOT: barrier0
; TWICE-COUNT-3: {{^}}remap.vote
; TWICE-NOT: {{^}}remap.vote
; A round whose exchange has room for 128 threads asks how many there are.
; SMALL: @__reconverge_words_two_paths = internal addrspace(3) global [256 x i32] poison
; SMALL: icmp ule i32 %{{.*}}, 128

; A count for each of 32 warps, and a word a thread for each of: the value
; loaded, the id.
; CHECK: @__reconverge_counts_two_paths = internal addrspace(3) global [32 x i8] poison, align 16
; CHECK: @__reconverge_words_two_paths = internal addrspace(3) global [2048 x i32] poison, align 16

; i = tid; x = in[i]; if (x > 0) ..; out[i] = ..
define ptx_kernel void @two_paths(ptr addrspace(1) %in, ptr addrspace(1) %out) {
; CHECK-LABEL: @two_paths(
; CHECK: %x = load i32
; CHECK: [[SURE:%.*]] = freeze i1 %c
; CHECK: [[PATH:%.*]] = select i1 [[SURE]], i32 0, i32 1
; CHECK: [[FIRST:%.*]] = icmp eq i32 [[PATH]], 0
; CHECK: call i32 @llvm.nvvm.vote.ballot.sync(i32 %{{.*}}, i1 [[FIRST]])
; CHECK: remap.vote:
; CHECK: [[MIXED:%.*]] = call i32 @llvm.nvvm.barrier0.popc
; CHECK: [[MOVES:%.*]] = icmp ugt i32 [[MIXED]], 1
; CHECK: br i1 [[MOVES]], label %remap.move, label %remap.tail
; CHECK: remap.give:
; CHECK: store i32 %x, ptr addrspace(3)
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK: [[X:%.*]] = load i32, ptr addrspace(3)
; CHECK: remap.tail:
; CHECK: [[NEWX:%.*]] = phi i32 [ %x, %remap.vote ], [ [[X]], %remap.give ]
; CHECK: [[NEWPATH:%.*]] = phi i32 [ [[PATH]], %remap.vote ], [ {{.*}}, %remap.give ]
; The address is not moved: it follows from the id.
; CHECK: %po{{[0-9]+}} = getelementptr i32, ptr addrspace(1) %out, i32
; CHECK: [[SIDE:%.*]] = icmp ult i32 [[NEWPATH]], 1
; CHECK: br i1 [[SIDE]], label %t, label %f
; CHECK: mul i32 [[NEWX]], 3
; CHECK: sub i32 7, [[NEWX]]
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %a = mul i32 %x, 3
  br label %j
f:
  %b = sub i32 7, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; if (in[i] < n) return, and more: threads that leave arrive with the others,
; as a path of their own, and leave after the round.
define ptx_kernel void @exits(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
; CHECK-LABEL: @exits(
; CHECK: br i1 %leaves, label %remap.arrive, label %body
; CHECK: remap.arrive:
; CHECK: [[PATH:%.*]] = phi i32 [ %{{.*}}, %body ], [ 2, %entry ]
; CHECK: phi i32 [ %x, %body ], [ poison, %entry ]
; CHECK: remap.merge:
; CHECK: [[STAYS:%.*]] = icmp ult i32 %{{.*}}, 2
; CHECK: br i1 [[STAYS]], label %remap.tail, label %remap.leave
; CHECK: remap.leave:
; CHECK-NEXT: ret void
; The block where threads left is gone.
; CHECK-NOT: {{^}}early:
; CHECK: {{^}}end:
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %cta = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %early, label %body
early:
  ret void
body:
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %end
t:
  %a = mul i32 %x, %cta
  store i32 %a, ptr addrspace(1) %pi
  br label %end
end:
  ret void
}

; Kinds of values, packed: an i1, an i8 and the id share a word; the others
; have two each (the address of out is the same for all).
; CHECK-LABEL: @packed(
; CHECK: freeze i8 %byte
; CHECK: freeze i1 %bit
; CHECK-COUNT-9: store i32 %{{[0-9]+}}, ptr addrspace(3)
; CHECK-NOT: store i32 %{{[0-9]+}}, ptr addrspace(3)
; CHECK: call void @llvm.nvvm.barrier0()
define ptx_kernel void @packed(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i64, ptr addrspace(1) %in, i32 %tid
  %long = load i64, ptr addrspace(1) %pi
  %d = load double, ptr addrspace(1) %pi
  %p = load ptr, ptr addrspace(1) %pi
  %v = load <2 x float>, ptr addrspace(1) %pi
  %byte = load i8, ptr addrspace(1) %pi
  %bit = load i1, ptr addrspace(1) %pi
  %c = icmp sgt i64 %long, 0
  br i1 %c, label %t, label %j
t:
  store double %d, ptr addrspace(1) %out
  store ptr %p, ptr addrspace(1) %out
  store <2 x float> %v, ptr addrspace(1) %out
  br label %j
j:
  store i64 %long, ptr addrspace(1) %out
  store i8 %byte, ptr addrspace(1) %out
  store i1 %bit, ptr addrspace(1) %out
  ret void
}
