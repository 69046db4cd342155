; Why loops are not flattened, by code.
;
; RUN: opt -passes=reconverge-flatten -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-flatten<branch=99>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; BRANCH: not flattened: the branch leaves no loop in a loop, and skips nothing in one (99) [RC702]
;
; A branch that is named does not overrule the source.
; RUN: opt -passes='reconverge-flatten<branch=7>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=NAMED
; NAMED: not flattened: the source forbids it [RC706]

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

; #pragma reconverge flatten off
; for (i = 0; i < n; ++i) for (k = threadIdx.x; k; --k) ;
; CHECK: not flattened: the source forbids it [RC706]
define ptx_kernel void @off_at_outer(i32 %n) {
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
  br i1 %c, label %loop, label %latch, !rc.branch !1
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done, !rc.request.flatten !0
done:
  ret void
}

; The same with the pragma before the inner loop.
; CHECK: not flattened: the source forbids it [RC706]
define ptx_kernel void @off_at_inner(i32 %n) {
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
  br i1 %c, label %loop, label %latch, !rc.request.flatten !0
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; for (i = 0; i < n; ++i) { k = threadIdx.x; if (i & 1) goto mid;
;                           do { out[k] = 0; mid: --k; } while (k > 0); }
; CHECK: not flattened: of two loops, one in the other, one is entered at two places [RC708]
define ptx_kernel void @inner_entered_twice(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i1, %latch ]
  %odd = trunc i32 %i to i1
  br i1 %odd, label %mid, label %top
top:
  %k = phi i32 [ %t, %outer ], [ %k2, %mid ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 0, ptr %p
  br label %mid
mid:
  %k1 = phi i32 [ %t, %outer ], [ %k, %top ]
  %k2 = sub i32 %k1, 1
  %c = icmp sgt i32 %k2, 0
  br i1 %c, label %top, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; if (n & 1) goto mid; do { for (k = threadIdx.x; k; --k) ; mid: } while (++i < n);
; CHECK: not flattened: of two loops, one in the other, one is entered at two places [RC708]
define ptx_kernel void @outer_entered_twice(i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %n to i1
  br i1 %odd, label %mid, label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %mid ]
  br label %loop
loop:
  %k = phi i32 [ %t, %outer ], [ %k1, %loop ]
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %mid
mid:
  %i1 = phi i32 [ 0, %entry ], [ %i, %loop ]
  %i2 = add i32 %i1, 1
  %more = icmp ult i32 %i2, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; A loop that is entered at two places may wait, too: behind the inner loop is
; if (i & 1) goto mid; do { mid: } while (*(volatile int *)flag);
; CHECK: not flattened: a loop waits for other threads [RC703]
define ptx_kernel void @waits_where_entered_twice(ptr %flag, i32 %n) {
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
  br i1 %c, label %loop, label %behind
behind:
  %odd = trunc i32 %i to i1
  br i1 %odd, label %mid, label %top
top:
  br label %mid
mid:
  %now = load volatile i32, ptr %flag
  %again = icmp ne i32 %now, 0
  br i1 %again, label %top, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; One that does not wait stays as it is, and the two around it are flattened.
; CHECK-NOT: not flattened
define ptx_kernel void @holds_one_entered_twice(ptr %out, i32 %n) {
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
  br i1 %c, label %loop, label %behind
behind:
  %odd = trunc i32 %i to i1
  br i1 %odd, label %mid, label %top
top:
  %j = phi i32 [ %t, %behind ], [ %j2, %mid ]
  %p = getelementptr i32, ptr %out, i32 %j
  store i32 0, ptr %p
  br label %mid
mid:
  %j1 = phi i32 [ %i, %behind ], [ %j, %top ]
  %j2 = lshr i32 %j1, 1
  %again = icmp ne i32 %j2, 0
  br i1 %again, label %top, label %latch
latch:
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

!0 = !{!"off"}
!1 = !{i32 7}
