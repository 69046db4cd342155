; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=2>,verify" -pass-remarks-missed=reconverge-remap -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s
;
; One function for each reason to leave a branch alone. But for that, each is
; the kernel @fine.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare i32 @llvm.nvvm.read.ptx.sreg.clock()
declare i32 @llvm.nvvm.activemask()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.down.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @unknown(i32)
declare float @__nv_sinf(float)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)
@large = internal addrspace(3) global [12224 x i32] undef
@exact = internal addrspace(3) global [7040 x i32] undef

define internal i32 @asks(i32 %x) noinline {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %r = add i32 %x, %tid
  ret i32 %r
}
define internal i32 @asks_not(i32 %x) noinline {
  %r = mul i32 %x, %x
  ret i32 %r
}
; CHECK-NOT: remark

; CHECK: remark: {{.*}} remapped: 1 values move, 1 are computed again, 8224 bytes of shared memory for blocks of up to 1024 threads
define ptx_kernel void @fine(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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

; A branch in an arm of another, on what is read there: the outer one has its
; round, the inner has none.
; CHECK-NEXT: remark: {{.*}} remapped:
; CHECK-NEXT: remark: {{.*}} not remapped: not all threads of the block reach the branch [RC201]
define ptx_kernel void @apart(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = load i32, ptr addrspace(1) %po
  %d = icmp sgt i32 %y, 9
  br i1 %d, label %tt, label %j
tt:
  %a = mul i32 %x, 3
  store i32 %a, ptr addrspace(1) %po
  br label %j
j:
  store i32 1, ptr addrspace(1) %pi
  ret void
}

; The loop's own branch, by which threads leave at different times.
; CHECK-NEXT: remark: {{.*}} not remapped: not all threads of the block reach the branch [RC201]
define ptx_kernel void @loop_exit(ptr addrspace(1) %in) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  br label %loop
loop:
  %x = load i32, ptr addrspace(1) %pi
  %y = lshr i32 %x, 1
  store i32 %y, ptr addrspace(1) %pi
  %c = icmp ne i32 %y, 0
  br i1 %c, label %loop, label %done
done:
  ret void
}

; if (i > n) return; for (k = 0; k < n; ++k) if (in[i] > 0) ...
; CHECK-NEXT: remark: {{.*}} not remapped: the condition depends on the thread's number alone [RC222]
; CHECK-NEXT: remark: {{.*}} not remapped: threads leave the kernel before the branch, which is in a loop [RC202]
define ptx_kernel void @exit_before_loop(ptr addrspace(1) %in, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %done, label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %j ]
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  %k1 = add i32 %k, 1
  %more = icmp ult i32 %k1, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: the branch has too many ways [RC203]
define ptx_kernel void @switch(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  switch i32 %x, label %j [
    i32 1, label %t i32 2, label %f i32 3, label %t i32 4, label %f 
    i32 5, label %t i32 6, label %f i32 7, label %t i32 8, label %f 
    i32 9, label %t i32 10, label %f i32 11, label %t i32 12, label %f 
    i32 13, label %t i32 14, label %f i32 15, label %t i32 16, label %f 
    i32 17, label %t i32 18, label %f i32 19, label %t i32 20, label %f 
    i32 21, label %t i32 22, label %f i32 23, label %t i32 24, label %f 
    i32 25, label %t i32 26, label %f i32 27, label %t i32 28, label %f 
    i32 29, label %t i32 30, label %f i32 31, label %t i32 32, label %f 
    i32 33, label %t i32 34, label %f i32 35, label %t i32 36, label %f 
    i32 37, label %t i32 38, label %f i32 39, label %t i32 40, label %f 
    i32 41, label %t i32 42, label %f i32 43, label %t i32 44, label %f 
    i32 45, label %t i32 46, label %f i32 47, label %t i32 48, label %f 
    i32 49, label %t i32 50, label %f i32 51, label %t i32 52, label %f 
    i32 53, label %t i32 54, label %f i32 55, label %t i32 56, label %f 
    i32 57, label %t i32 58, label %f i32 59, label %t i32 60, label %f 
    i32 61, label %t i32 62, label %f i32 63, label %t i32 64, label %f 
    i32 65, label %t ]
t:
  store i32 3, ptr addrspace(1) %pi
  br label %j
f:
  store i32 4, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: the branch is in a loop that is entered at two places [RC204]
; CHECK-NEXT: remark: {{.*}} not remapped: the branch is in a loop that is entered at two places [RC204]
define ptx_kernel void @irreducible(ptr addrspace(1) %in, i32 %n, i1 %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  br i1 %p, label %one, label %two
one:
  %i = phi i32 [ 0, %entry ], [ %i2, %j ]
  br label %two
two:
  %i2 = phi i32 [ 1, %entry ], [ %i, %one ]
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  %y = mul i32 %x, 3
  store i32 %y, ptr addrspace(1) %pi
  br label %j
j:
  %more = icmp ult i32 %i2, %n
  br i1 %more, label %one, label %done
done:
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: the branch is not in a kernel (function) [RC205]
define void @function(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.read.ptx.sreg.laneid) [RC211]
define ptx_kernel void @lane(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.shfl.sync.down.i32) [RC211]
define ptx_kernel void @shuffle(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  %s = call i32 @llvm.nvvm.shfl.sync.down.i32(i32 -1, i32 %r, i32 1, i32 31)
  store i32 %s, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.vote.ballot.sync) [RC211]
define ptx_kernel void @ballot(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  %s = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %c)
  store i32 %s, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.activemask) [RC211]
define ptx_kernel void @activemask(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  %s = call i32 @llvm.nvvm.activemask()
  store i32 %s, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch depends on its warp or lane (llvm.nvvm.bar.warp.sync) [RC211]
define ptx_kernel void @syncwarp(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; What was read before the branch is a value like any other, and moves.
; CHECK-NEXT: remark: {{.*}} remapped: 2 values move, 1 are computed again
define ptx_kernel void @lane_before(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
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
  store i32 %l, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch reads a clock (llvm.nvvm.read.ptx.sreg.clock) [RC212]
define ptx_kernel void @clock(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  %s = call i32 @llvm.nvvm.read.ptx.sreg.clock()
  store i32 %s, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: a side has a barrier (llvm.nvvm.barrier0) [RC213]
define ptx_kernel void @barrier_in_arm(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  call void @llvm.nvvm.barrier0()
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

; All threads come to this one, whoever they are.
; CHECK-NEXT: remark: {{.*}} remapped: 1 values move, 1 are computed again
define ptx_kernel void @barrier_after(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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
  call void @llvm.nvvm.barrier0()
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: an array of the thread's own is in use across the branch (own) [RC214]
define ptx_kernel void @array(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %own = alloca [8 x i32]
  %k = and i32 %tid, 7
  %at = getelementptr i32, ptr %own, i32 %k
  store i32 %n, ptr %at
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
  %l = load i32, ptr %own
  store i32 %l, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; Used on one side of the round alone, it may stay.
; CHECK-NEXT: remark: {{.*}} remapped: 1 values move, 1 are computed again
define ptx_kernel void @array_after(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %own = alloca [8 x i32]
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %k = and i32 %x, 7
  %at = getelementptr i32, ptr %own, i32 %k
  store i32 %n, ptr %at
  %l = load i32, ptr %own
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch calls a function that may ask which thread it is (asks) [RC215]
define ptx_kernel void @callee_asks(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 @asks(i32 %x)
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch calls a function that may ask which thread it is (unknown) [RC215]
define ptx_kernel void @callee_unknown(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 @unknown(i32 %x)
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch calls a function that may ask which thread it is (a call through a pointer) [RC215]
define ptx_kernel void @callee_pointer(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %fn = load ptr, ptr addrspace(1) %in
  %l = call i32 %fn(i32 %x)
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} remapped: 1 values move, 1 are computed again
define ptx_kernel void @callee_fine(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 @asks_not(i32 %x)
  store i32 %l, ptr addrspace(1) %po
  %s = call float @__nv_sinf(float 1.0)
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

; CHECK-NEXT: remark: {{.*}} remapped: 1 values move, 1 are computed again
define ptx_kernel void @atomic_fine(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = atomicrmw add ptr addrspace(1) %out, i32 1 monotonic
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

; CHECK-NEXT: remark: {{.*}} not remapped: code after the branch has inline assembly that is not understood [RC216]
define ptx_kernel void @inline_asm(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %l = call i32 asm "mystery.u32 $0, $1;", "=r,r"(i32 %x) convergent
  store i32 %l, ptr addrspace(1) %po
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

; CHECK-NEXT: remark: {{.*}} not remapped: a value of a kind that cannot move is in use across the branch [RC217]
define ptx_kernel void @structure(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %pair = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %x, i32 %n)
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
  %l = extractvalue { i32, i1 } %pair, 0
  store i32 %l, ptr addrspace(1) %po
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; CHECK-NEXT: remark: {{.*}} not remapped: the round needs more shared memory than there is (2080 bytes for the round with blocks of 256 threads, 48896 of the kernel, of 49152) [RC218]
define ptx_kernel void @shared_memory(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 1, ptr addrspace(3) @large
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

; CHECK-NEXT: remark: {{.*}} not remapped: the condition depends on the thread's number alone [RC222]
define ptx_kernel void @thread_id(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp ult i32 %tid, %n
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

; CHECK-NEXT: remark: {{.*}} not remapped: the branch controls too little code for a round (1 instructions) [RC221]
define ptx_kernel void @small(ptr addrspace(1) %in) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j
t:
  store i32 0, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; __launch_bounds__(32)
; CHECK-NEXT: remark: {{.*}} not remapped: blocks have one warp (32 threads) [RC223]
define ptx_kernel void @one_warp(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
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

; Of the kernel's own shared memory, eight blocks just fit.
; CHECK-NEXT: remark: {{.*}} not remapped: fewer blocks would run at a time (2080 bytes for the round with blocks of 256 threads, 28160 of the kernel: 7 blocks instead of 8) [RC224]
define ptx_kernel void @exact_fit(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 1, ptr addrspace(3) @exact
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

; CHECK-NEXT: remark: {{.*}} not remapped: the source forbids it [RC231]
define ptx_kernel void @off(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f, !rc.request.remap !1
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

; What a pragma asks for and does not get is a warning.
; CHECK-NEXT: warning: {{.*}} not remapped, which a pragma asks for: the branch does not split a warp [RC232]
define ptx_kernel void @uniform(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %n, 0
  br i1 %c, label %t, label %f, !rc.request.remap !2
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

; CHECK-NEXT: warning: {{.*}} not remapped, which a pragma asks for: there is no such algorithm (heads_or_tails) [RC233]
define ptx_kernel void @algorithm(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f, !rc.request.remap !3
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
; CHECK-NOT: {{remark|warning}}

!nvvm.annotations = !{!0}
!0 = !{ptr @one_warp, !"maxntidx", i32 32}
!1 = !{!"off"}
!2 = !{!"on"}
!3 = !{!"on:algorithm=heads_or_tails"}
