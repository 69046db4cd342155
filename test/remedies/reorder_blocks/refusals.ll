; Why blocks keep their order. One that waits for a block of a lower number would
; wait for ever if that one is not on the GPU yet.
;
; RUN: opt -passes=reconverge-reorder-blocks -disable-output -pass-remarks-missed=reconverge-reorder-blocks %s 2>&1 | FileCheck %s --implicit-check-not=remark

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.smid()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.barrier0()
@ticket = addrspace(1) global i32 0
@flags = addrspace(1) global [64 x i32] zeroinitializer
@done = internal addrspace(3) global i32 undef

; A chain: each waits for the one before, by volatile reads.
; CHECK: remark: {{.*}} blocks not reordered: a loop waits for what another thread block writes [RC801]
define ptx_kernel void @chain() {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %before = sub i32 %b, 1
  %flag = getelementptr i32, ptr addrspace(1) @flags, i32 %before
  br label %spin
spin:
  %v = load volatile i32, ptr addrspace(1) %flag
  %c = icmp eq i32 %v, 0
  br i1 %c, label %spin, label %end
end:
  ret void
}

; The same with plain reads behind a fence.
; CHECK: remark: {{.*}} blocks not reordered: a loop waits for what another thread block writes [RC801]
define ptx_kernel void @fenced() {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %flag = getelementptr i32, ptr addrspace(1) @flags, i32 %b
  br label %spin
spin:
  call void @llvm.nvvm.membar.gl()
  %v = load i32, ptr addrspace(1) %flag
  %c = icmp eq i32 %v, 0
  br i1 %c, label %spin, label %end
end:
  ret void
}

; By adding nothing.
; CHECK: remark: {{.*}} blocks not reordered: a loop waits for what another thread block writes [RC801]
define ptx_kernel void @adds_nothing() {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %flag = getelementptr i32, ptr addrspace(1) @flags, i32 %b
  br label %spin
spin:
  %v = atomicrmw add ptr addrspace(1) %flag, i32 0 monotonic
  %c = icmp eq i32 %v, 0
  br i1 %c, label %spin, label %end
end:
  ret void
}

; In a function that it calls.
define internal void @await(ptr addrspace(1) %flag) noinline {
entry:
  br label %spin
spin:
  %v = load atomic i32, ptr addrspace(1) %flag acquire, align 4
  %c = icmp eq i32 %v, 0
  br i1 %c, label %spin, label %end
end:
  ret void
}
; CHECK: remark: {{.*}} blocks not reordered: a loop waits for what another thread block writes [RC801]
define ptx_kernel void @calls() {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %flag = getelementptr i32, ptr addrspace(1) @flags, i32 %b
  call void @await(ptr addrspace(1) %flag)
  ret void
}

; CHECK: remark: {{.*}} blocks not reordered: it never reads blockIdx [RC802]
define ptx_kernel void @nobody(ptr %out) {
  store i32 1, ptr %out
  ret void
}

; CHECK: remark: {{.*}} blocks not reordered: it asks for its multiprocessor {{.*}} [RC317]
define ptx_kernel void @resident(ptr %out) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = call i32 @llvm.nvvm.read.ptx.sreg.smid()
  %i = add i32 %b, %p
  store i32 %i, ptr %out
  ret void
}

; No wait: the last block to end does the rest, and is any of them; work is
; fetched from a counter; a loop's length lies in memory; a flag is the block's
; own.
define ptx_kernel void @no_wait(ptr %out, ptr addrspace(1) %count) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  call void @llvm.nvvm.membar.gl()
  %t = atomicrmw add ptr addrspace(1) @ticket, i32 1 monotonic
  %last = icmp eq i32 %t, 63
  br i1 %last, label %fetch, label %end
fetch:
  %w = atomicrmw add ptr addrspace(1) @ticket, i32 1 monotonic
  %more = icmp ult i32 %w, 100
  br i1 %more, label %fetch, label %walk
walk:
  %i = phi i32 [ 0, %fetch ], [ %i1, %walk ]
  call void @llvm.nvvm.membar.gl()
  %n = load i32, ptr addrspace(1) %count
  %i1 = add i32 %i, 1
  %in = icmp ult i32 %i1, %n
  br i1 %in, label %walk, label %own
own:
  call void @llvm.nvvm.barrier0()
  %d = load i32, ptr addrspace(3) @done
  %not = icmp eq i32 %d, 0
  br i1 %not, label %own, label %end
end:
  %p = getelementptr i32, ptr %out, i32 %b
  store i32 %b, ptr %p
  ret void
}
