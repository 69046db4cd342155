; Why loops are not flattened, by code.
;
; RUN: opt -passes=reconverge-flatten -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-flatten<branch=99>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; BRANCH: not flattened: the branch leaves no loop in a loop (99) [RC702]

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.exit()

; for (k = threadIdx.x; k; --k) out[k] = 0;     no loop around it
; CHECK: not flattened: it has no loop in a loop that threads leave at different times [RC701]
define ptx_kernel void @single(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 0, ptr %p
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do for (k = threadIdx.x; k; --k) ; while (*(volatile int *)flag);
; CHECK: not flattened: a loop waits for other threads [RC703]
define ptx_kernel void @waits(ptr %flag) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  br label %loop
loop:
  %k = phi i32 [ %t, %outer ], [ %k1, %loop ]
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %latch
latch:
  %now = load volatile i32, ptr %flag
  %more = icmp ne i32 %now, 0
  br i1 %more, label %outer, label %done
done:
  ret void
}

; for (i = 0; i < n; ++i) { for (k = threadIdx.x; k; --k) ; __syncthreads(); }
; CHECK: not flattened: lanes work together in the loops (llvm.nvvm.barrier0) [RC704]
define ptx_kernel void @together(i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %loop
loop:
  %k = phi i32 [ %t, %outer ], [ %k1, %loop ]
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %latch
latch:
  call void @llvm.nvvm.barrier0()
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; The same with asm("exit;") in place of the barrier.
; CHECK: not flattened: a thread may end by exit [RC705]
define ptx_kernel void @ends(i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  br label %loop
loop:
  %k = phi i32 [ %t, %outer ], [ %k1, %loop ]
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %latch
latch:
  call void @llvm.nvvm.exit()
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}
