; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld,verify" -pass-remarks-missed=reconverge-meld -pass-remarks=reconverge-meld -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes="reconverge-meld<limit=3>" -pass-remarks-missed=reconverge-meld -disable-output %s 2>&1 | FileCheck %s --check-prefix=LIMIT
; RUN: opt -passes="reconverge-meld<skip=6>,verify" -pass-remarks-missed=reconverge-meld -pass-remarks=reconverge-meld -disable-output %s 2>&1 | FileCheck %s --check-prefix=SKIP
; RUN: opt -passes="reconverge-meld<threshold=0.49>" -pass-remarks-missed=reconverge-meld -disable-output %s 2>&1 | FileCheck %s --check-prefix=DEAR
;
; One function for each reason to leave a branch alone. Both arms of each are
; much alike, so that nothing else stands in the way.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @callee(i32) nounwind memory(read)
declare void @unknown() convergent
declare { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32, i32, i32, i32)
; CHECK-NOT: remark

; CHECK: remark: {{.*}} not melded: a side has an operation that lanes must reach together (llvm.nvvm.barrier0) [RC101]
define ptx_kernel void @barrier(ptr addrspace(3) %s, i32 %n, i1 %c0) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  call void @llvm.nvvm.barrier0()
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side has an operation that lanes must reach together (llvm.nvvm.shfl.sync.bfly.i32) [RC101]
define ptx_kernel void @shuffle(ptr addrspace(3) %s) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 1, i32 31)
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 2, i32 31)
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; A product of matrices is one of a warp, though LLVM does not say so.
; CHECK-NEXT: remark: {{.*}} a side has an operation that lanes must reach together (llvm.nvvm.mma.m8n8k16.row.col.s8) [RC101]
define ptx_kernel void @product(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %tid, i32 %n, i32 0, i32 0)
  %x = extractvalue { i32, i32 } %a, 0
  store i32 %x, ptr addrspace(3) %s
  br label %j
f:
  %b = call { i32, i32 } @llvm.nvvm.mma.m8n8k16.row.col.s8(i32 %n, i32 %tid, i32 0, i32 0)
  %y = extractvalue { i32, i32 } %b, 0
  store i32 %y, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; What is not known may hold a barrier.
; CHECK-NEXT: remark: {{.*}} a side has an operation that lanes must reach together (unknown) [RC101]
define ptx_kernel void @unknown_call(ptr addrspace(3) %s) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  call void @unknown() convergent
  store i32 1, ptr addrspace(3) %s
  br label %j
f:
  call void @unknown() convergent
  store i32 2, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side has inline assembly that is not understood [RC102]
define ptx_kernel void @inline_asm(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  %x = call i32 asm "mystery.u32 $0, $1;", "=r,r"(i32 %a)
  store i32 %x, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side calls a function that must not be merged (callee) [RC103]
define ptx_kernel void @nomerge(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = call i32 @callee(i32 1) nomerge
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = call i32 @callee(i32 2) nomerge
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side calls a function that must not be merged (callee) [RC103]
define ptx_kernel void @noduplicate(ptr addrspace(3) %s) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = call i32 @callee(i32 1) noduplicate
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = call i32 @callee(i32 2) noduplicate
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; A lock: melded with the other arm's wait, nobody might ever get on.
; CHECK-NEXT: remark: {{.*}} a side has a volatile or atomic access in a loop [RC104]
define ptx_kernel void @spin(ptr addrspace(1) %s, ptr addrspace(1) %u) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = atomicrmw xchg ptr addrspace(1) %s, i32 1 monotonic
  %ca = icmp eq i32 %a, 0
  br i1 %ca, label %j, label %t
f:
  %b = atomicrmw xchg ptr addrspace(1) %u, i32 1 monotonic
  %cb = icmp eq i32 %b, 0
  br i1 %cb, label %j, label %f
j:
  ret void
}

; A flag that another lane sets.
; CHECK-NEXT: remark: {{.*}} a side has a volatile or atomic access in a loop [RC104]
define ptx_kernel void @wait(ptr addrspace(1) %s, ptr addrspace(1) %u) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = load volatile i32, ptr addrspace(1) %s
  %ca = icmp eq i32 %a, 0
  br i1 %ca, label %j, label %t
f:
  %b = load volatile i32, ptr addrspace(1) %u
  %cb = icmp eq i32 %b, 0
  br i1 %cb, label %j, label %f
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side has a loop that is entered at two places [RC105]
define ptx_kernel void @irreducible(ptr addrspace(3) %s, i32 %n, i1 %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  br i1 %p, label %x, label %y
x:
  %i = phi i32 [ 0, %t ], [ %k, %y ]
  %i1 = udiv i32 %i, %n
  br label %y
y:
  %k = phi i32 [ 1, %t ], [ %i1, %x ]
  %more = icmp ult i32 %k, %n
  br i1 %more, label %x, label %j
f:
  %b = udiv i32 %tid, %n
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side leaves the branch at several places [RC106]
define ptx_kernel void @early_return(ptr addrspace(3) %s, i32 %n, i1 %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %j ]
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %tid, %i
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  br i1 %p, label %end, label %j
f:
  %b = udiv i32 %tid, %n
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}

; `continue`: an arm goes back to before the branch.
; CHECK-NEXT: remark: {{.*}} a side leaves the branch at several places [RC106]
define ptx_kernel void @jump_back(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %i1, %t ]
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %tid, %i
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %i, %n
  store i32 %a, ptr addrspace(3) %s
  %again = icmp ult i32 %a, 9
  br i1 %again, label %loop, label %j
f:
  %b = udiv i32 %tid, %n
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} code that both sides run, or that is entered from elsewhere, is inside the branch [RC107]
define ptx_kernel void @entered_from_elsewhere(ptr addrspace(3) %s, i32 %n, i1 %p) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br i1 %p, label %branch, label %middle
branch:
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  br label %middle
middle:
  %v = phi i32 [ %a, %t ], [ 0, %entry ]
  store i32 %v, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %tid, %n
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side has an indirect jump or an exception [RC108]
define ptx_kernel void @indirect(ptr addrspace(3) %s, i32 %n, ptr %to) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  indirectbr ptr %to, [ label %j ]
f:
  %b = udiv i32 %tid, %n
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side makes a value that nothing may select [RC109]
define ptx_kernel void @token(ptr addrspace(3) %s, i32 %n) convergent {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %k = call token @llvm.experimental.convergence.anchor()
  store i32 1, ptr addrspace(3) %s
  br label %j
f:
  store i32 2, ptr addrspace(3) %s
  br label %j
j:
  ret void
}
declare token @llvm.experimental.convergence.anchor() convergent

; CHECK-NEXT: remark: {{.*}} a side ends in a call that must be a tail call (tail) [RC110]
define void @tail(ptr addrspace(3) %s, i32 %n) {
entry:
  %c = icmp slt i32 %n, 7
  br i1 %c, label %t, label %f
t:
  store i32 1, ptr addrspace(3) %s
  musttail call void @tail(ptr addrspace(3) %s, i32 1)
  ret void
f:
  store i32 2, ptr addrspace(3) %s
  ret void
}

; CHECK-NEXT: remark: {{.*}} a side reserves stack memory [RC111]
define ptx_kernel void @stack(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a = alloca i32, i32 %n
  store i32 1, ptr %a
  br label %j
f:
  %b = alloca i32, i32 %n
  store i32 2, ptr %b
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} the sides never meet [RC112]
define ptx_kernel void @never_meet(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  store i32 1, ptr addrspace(3) %s
  ret void
f:
  store i32 2, ptr addrspace(3) %s
  ret void
}

; CHECK-NEXT: remark: {{.*}} the sides have nothing in common [RC121]
define ptx_kernel void @unlike(ptr addrspace(3) %s, ptr addrspace(1) %g) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  store i32 %tid, ptr addrspace(3) %s
  br label %j
f:
  store i32 %tid, ptr addrspace(1) %g
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} whole warps take one side [RC124]
define ptx_kernel void @whole_warps(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp ult i32 %tid, 64
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; In a block of several rows a warp may hold some of each.
; CHECK-NEXT: remark: {{.*}} melded: 2 instructions
define ptx_kernel void @rows(ptr addrspace(3) %s) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %c = icmp ult i32 %tid, 64
  br i1 %c, label %t, label %f
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; if (tid < 7) *s = tid / n;     one arm; said where nothing else is
; CHECK-NEXT: remark: {{.*}} not melded: no branch has code of its own on both sides [RC113]
define ptx_kernel void @one_armed(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %j
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  br label %j
j:
  ret void
}

; CHECK-NEXT: remark: {{.*}} melded: 2 instructions
; SKIP: remark: {{.*}} not melded: the profile says that warps hardly split here [RC125]
; SKIP-NOT: remark
; LIMIT: remark: {{.*}} the sides are too large to compare [RC123]
; DEAR: remark: {{.*}} melding the sides would cost more than it saves (20 of 44 issue slots saved) [RC122]
define ptx_kernel void @alike(ptr addrspace(3) %s, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f, !rc.branch !0
t:
  %a = udiv i32 %tid, %n
  store i32 %a, ptr addrspace(3) %s
  br label %j
f:
  %b = udiv i32 %n, %tid
  store i32 %b, ptr addrspace(3) %s
  br label %j
j:
  ret void
}
; CHECK-NOT: remark
!0 = !{i32 6}
