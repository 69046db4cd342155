; Why a kernel is not refilled, by code. What ties threads to their places is in
; test/remedies/permute.
;
; RUN: opt -passes=reconverge-refill -pass-remarks-missed=reconverge-refill -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-refill<branch=7>' -pass-remarks-missed=reconverge-refill -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; RUN: opt -passes='reconverge-refill<branch=9>' -pass-remarks-missed=reconverge-refill -disable-output %s 2>&1 | FileCheck %s --check-prefix=AROUND
; RUN: opt -passes='reconverge-refill<branch=21>' -pass-remarks-missed=reconverge-refill -disable-output %s 2>&1 | FileCheck %s --check-prefix=FILLS
; BRANCH: not refilled: the branch leaves no loop, and skips nothing in one (7) [RC402]

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.bar.warp.sync(i32)
declare void @llvm.nvvm.exit()

; for (k = 0; k < n; ++k) out[k] = 0;     as many rounds for all
; CHECK: not refilled: it has no loop that threads leave at different times [RC401]
define ptx_kernel void @same(ptr %out, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 0, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; while (atomicExch(lock, 1)) ;     whoever has it may wait for its warp
; CHECK: not refilled: a loop waits for other threads [RC403]
define ptx_kernel void @lock(ptr %lock) {
entry:
  br label %loop
loop:
  %old = atomicrmw xchg ptr %lock, i32 1 monotonic
  %c = icmp ne i32 %old, 0
  br i1 %c, label %loop, label %done
done:
  store atomic i32 0, ptr %lock monotonic, align 4
  ret void
}

; while (*(volatile int *)flag < threadIdx.x) ;
; CHECK: not refilled: a loop waits for other threads [RC403]
define ptx_kernel void @flag(ptr %flag) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %now = load volatile i32, ptr %flag
  %c = icmp ult i32 %now, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do for (k = threadIdx.x; k; --k) ; while (*(volatile int *)flag);
; The loop to refill does not wait, but the one around it does, perhaps for a
; thread that has no lane yet.
; CHECK: not refilled: a loop waits for other threads [RC403]
; AROUND: not refilled: a loop waits for other threads [RC403]
define ptx_kernel void @around(ptr %flag, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %again
again:
  br label %loop
loop:
  %k = phi i32 [ %t, %again ], [ %k1, %loop ]
  store i32 %k, ptr %out
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %asks, !rc.branch !0
asks:
  %now = load volatile i32, ptr %flag
  %more = icmp ne i32 %now, 0
  br i1 %more, label %again, label %done
done:
  ret void
}

; for (k = threadIdx.x; k; --k) ;   then   while (atomicCAS(lock, 0, 1)) ;
; CHECK: not refilled: a loop waits for other threads [RC403]
define ptx_kernel void @behind(ptr %lock, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  store i32 %k, ptr %out
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %spin
spin:
  %got = cmpxchg ptr %lock, i32 0, i32 1 monotonic monotonic
  %free = extractvalue { i32, i1 } %got, 1
  br i1 %free, label %done, label %spin
done:
  store atomic i32 0, ptr %lock monotonic, align 4
  ret void
}

; for (k = threadIdx.x; k; --k) if (out[k]) asm("exit;");
; CHECK: not refilled: a thread may end by exit [RC404]
define ptx_kernel void @exits(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %latch ]
  %p = getelementptr i32, ptr %out, i32 %k
  %v = load i32, ptr %p
  %z = icmp eq i32 %v, 0
  br i1 %z, label %latch, label %leave
leave:
  call void @llvm.nvvm.exit()
  br label %latch
latch:
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %done
done:
  ret void
}

; int own[threadIdx.x]; ...
; CHECK: not refilled: it takes stack memory as it runs [RC405]
define ptx_kernel void @frame(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %own = alloca i32, i32 %t
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  store i32 %k, ptr %own
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %done
done:
  ret void
}

; The codes of all remedies that move threads are the same.
; CHECK: not refilled: its threads wait for each other (llvm.nvvm.bar.warp.sync) [RC312]
define ptx_kernel void @barrier(ptr %out) {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret void
}

; for (k = threadIdx.x; k; --k) ;   then, where a goto enters it in its midst,
; do { mid: } while (*(volatile int *)flag)
; CHECK: not refilled: a loop waits for other threads [RC403]
define ptx_kernel void @waits_where_entered_twice(ptr %flag, i1 %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %behind
behind:
  br i1 %in, label %mid, label %top
top:
  br label %mid
mid:
  %now = load volatile i32, ptr %flag
  %more = icmp ne i32 %now, 0
  br i1 %more, label %top, label %done
done:
  ret void
}


; What stands before the last barrier has to be the same in each block, and what
; stands behind it must only read the shared memory.
@table = internal addrspace(3) global [64 x i32] undef
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()

; if (!n) return; __syncthreads();
; CHECK: not refilled: a thread may return before a barrier [RC331]
define ptx_kernel void @returns(i32 %n) {
entry:
  %c = icmp eq i32 %n, 0
  br i1 %c, label %done, label %waits
waits:
  call void @llvm.nvvm.barrier0()
  br label %done
done:
  ret void
}

; CHECK: not refilled: it writes more than shared memory before its last barrier [RC332]
define ptx_kernel void @writes(ptr %p) {
  store i32 0, ptr addrspacecast (ptr addrspace(3) @table to ptr)
  store i32 0, ptr %p
  call void @llvm.nvvm.barrier0()
  ret void
}

; CHECK: not refilled: it writes more than shared memory before its last barrier [RC332]
define ptx_kernel void @counts(ptr %p) {
  %old = atomicrmw add ptr %p, i32 1 monotonic
  call void @llvm.nvvm.barrier0()
  ret void
}

; table[threadIdx.x] = p[blockIdx.x];
; CHECK: not refilled: what it does before its last barrier depends on blockIdx [RC333]
define ptx_kernel void @own_data(ptr %p) {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr %p, i32 %b
  %x = load i32, ptr %at
  %to = getelementptr i32, ptr addrspace(3) @table, i32 %t
  store i32 %x, ptr addrspace(3) %to
  call void @llvm.nvvm.barrier0()
  ret void
}

; if (blockIdx.x == 3) table[0] = 1;
; CHECK: not refilled: what it does before its last barrier depends on blockIdx [RC333]
define ptx_kernel void @own_way() {
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %c = icmp eq i32 %b, 3
  br i1 %c, label %fill, label %waits
fill:
  store i32 1, ptr addrspace(3) @table
  br label %waits
waits:
  call void @llvm.nvvm.barrier0()
  ret void
}

; x = table[0], read between two barriers, is another one's later on.
; CHECK: not refilled: a value from before its last barrier cannot be made again [RC334]
define ptx_kernel void @reads_shared(ptr %p) {
  store i32 1, ptr addrspace(3) @table
  call void @llvm.nvvm.barrier0()
  %x = load i32, ptr addrspace(3) @table
  call void @llvm.nvvm.barrier0()
  store i32 %x, ptr %p
  ret void
}

; The thread's array, written before and read after.
; CHECK: not refilled: a value from before its last barrier cannot be made again [RC334]
define ptx_kernel void @reads_frame(ptr %p) {
  %own = alloca i32
  store i32 1, ptr %own
  call void @llvm.nvvm.barrier0()
  %x = load i32, ptr %own
  store i32 %x, ptr %p
  ret void
}

; CHECK: not refilled: it changes shared memory behind its last barrier [RC335]
define ptx_kernel void @changes(ptr %p) {
  call void @llvm.nvvm.barrier0()
  %generic = addrspacecast ptr addrspace(3) @table to ptr
  %at = getelementptr i32, ptr %generic, i32 5
  store i32 0, ptr %at
  ret void
}

; CHECK: not refilled: it changes shared memory behind its last barrier [RC335]
define ptx_kernel void @tells(ptr %p) {
  call void @llvm.nvvm.barrier0()
  store ptr addrspace(3) @table, ptr %p
  ret void
}

; A barrier behind the last one that all come to.
; CHECK: not refilled: its threads wait for each other (llvm.nvvm.barrier0) [RC312]
define ptx_kernel void @in_loop(i32 %n) {
entry:
  call void @llvm.nvvm.barrier0()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  call void @llvm.nvvm.barrier0()
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; for (k = threadIdx.x; k < 64; ++k) table[k] = 0; __syncthreads();
; CHECK: not refilled: it has no loop that threads leave at different times [RC401]
; FILLS: not refilled: the loop is before the last barrier [RC409]
define ptx_kernel void @fills() {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  %to = getelementptr i32, ptr addrspace(3) @table, i32 %k
  store i32 0, ptr addrspace(3) %to
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, 64
  br i1 %c, label %loop, label %waits, !rc.branch !1
waits:
  call void @llvm.nvvm.barrier0()
  ret void
}

!0 = !{i32 9}
!1 = !{i32 21}
