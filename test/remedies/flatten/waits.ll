; A loop that looks at another place in each of so many rounds as are known before
; the first ends whatever other threads do: no wait. One place, or rounds without a
; bound, are one.
;
; RUN: opt -passes=reconverge-flatten -pass-remarks=reconverge-flatten -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; for (i = threadIdx.x; i < n; ++i)
;   for (k = 0; k < end[i] && volatile state[k] != 0; ++k) ;
; CHECK-NOT: RC703
; CHECK: flattened: lanes that are through with the inner loop
define ptx_kernel void @looks_around(ptr noalias readonly %end, ptr %state, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp slt i32 %t, %n
  br i1 %any, label %outer, label %done
outer:
  %i = phi i32 [ %t, %entry ], [ %i1, %latch ]
  %pe = getelementptr i32, ptr %end, i32 %i
  %e = load i32, ptr %pe
  br label %head
head:
  %k = phi i32 [ 0, %outer ], [ %k1, %body ]
  %in = icmp slt i32 %k, %e
  br i1 %in, label %body, label %latch
body:
  %p = getelementptr i32, ptr %state, i32 %k
  %s = load volatile i32, ptr %p
  %k1 = add nsw i32 %k, 1
  %c = icmp ne i32 %s, 0
  br i1 %c, label %head, label %latch
latch:
  %i1 = add nsw i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; ... volatile state[0] != 0: it waits, for so long and no longer.
; CHECK: not flattened: a loop waits for other threads [RC703]
define ptx_kernel void @waits_a_while(ptr noalias readonly %end, ptr %state, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp slt i32 %t, %n
  br i1 %any, label %outer, label %done
outer:
  %i = phi i32 [ %t, %entry ], [ %i1, %latch ]
  %pe = getelementptr i32, ptr %end, i32 %i
  %e = load i32, ptr %pe
  br label %head
head:
  %k = phi i32 [ 0, %outer ], [ %k1, %body ]
  %in = icmp slt i32 %k, %e
  br i1 %in, label %body, label %latch
body:
  %s = load volatile i32, ptr %state
  %k1 = add nsw i32 %k, 1
  %c = icmp ne i32 %s, 0
  br i1 %c, label %head, label %latch
latch:
  %i1 = add nsw i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}

; for (i = threadIdx.x; i < n; ++i)
;   for (at = start[i]; at != 0; at = volatile next[at]) ;
; CHECK: not flattened: a loop waits for other threads [RC703]
define ptx_kernel void @follows(ptr noalias readonly %start, ptr %next, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %any = icmp slt i32 %t, %n
  br i1 %any, label %outer, label %done
outer:
  %i = phi i32 [ %t, %entry ], [ %i1, %latch ]
  %pe = getelementptr i32, ptr %start, i32 %i
  %e = load i32, ptr %pe
  br label %head
head:
  %at = phi i32 [ %e, %outer ], [ %to, %body ]
  %in = icmp ne i32 %at, 0
  br i1 %in, label %body, label %latch
body:
  %p = getelementptr i32, ptr %next, i32 %at
  %to = load volatile i32, ptr %p
  br label %head
latch:
  %i1 = add nsw i32 %i, 1
  %more = icmp slt i32 %i1, %n
  br i1 %more, label %outer, label %done
done:
  ret void
}
