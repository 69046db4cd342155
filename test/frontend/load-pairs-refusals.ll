; RUN: opt -S -passes='verify,function(reconverge-load-pairs,instcombine,reconverge-load-pairs),verify' %s | FileCheck %s --implicit-check-not=reconverge.restored

; Loads that stay where LLVM has moved them to, or where the program has them.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Nothing says that both are of one unit.
; CHECK-LABEL: define float @unaligned(
; CHECK:       arm:
; CHECK:         load float
define float @unaligned(ptr %p) {
entry:
  %x = load float, ptr %p, align 4
  %py = getelementptr inbounds i8, ptr %p, i64 4
  %y = load float, ptr %py, align 4
  %is = fcmp ogt float %y, 0.0
  br i1 %is, label %arm, label %end
arm:
  %xx = fmul float %x, %x
  br label %end
end:
  %r = phi float [ %xx, %arm ], [ 0.0, %entry ]
  ret float %r
}

; They are neighbours of two units.
; CHECK-LABEL: define float @two_units(
; CHECK:       arm:
; CHECK:         load float
define float @two_units(ptr %p) {
entry:
  %px = getelementptr inbounds i8, ptr %p, i64 4
  %x = load float, ptr %px, align 4
  %py = getelementptr inbounds i8, ptr %p, i64 8
  %y = load float, ptr %py, align 8
  %is = fcmp ogt float %y, 0.0
  br i1 %is, label %arm, label %end
arm:
  %xx = fmul float %x, %x
  br label %end
end:
  %r = phi float [ %xx, %arm ], [ 0.0, %entry ]
  ret float %r
}

;   if (p->ready) return p->data;
; The program reads one part only if the other says so.
; CHECK-LABEL: define i32 @asked_first(
; CHECK:       arm:
; CHECK:         load i32
define i32 @asked_first(ptr %p) {
entry:
  %ready = load i32, ptr %p, align 8
  %is = icmp ne i32 %ready, 0
  br i1 %is, label %arm, label %end
arm:
  %pd = getelementptr inbounds i8, ptr %p, i64 4
  %data = load i32, ptr %pd, align 4
  br label %end
end:
  %r = phi i32 [ %data, %arm ], [ 0, %entry ]
  ret i32 %r
}

; The thread may end before it reads the other part.
; CHECK-LABEL: define i32 @may_end(
; CHECK:       arm:
; CHECK:         load i32
declare void @stop() memory(none) nounwind
define i32 @may_end(ptr %p) {
entry:
  %a = load i32, ptr %p, align 8
  call void @stop()
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %pb, align 4
  %is = icmp ne i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  %bb = mul i32 %b, %b
  br label %end
end:
  %r = phi i32 [ %bb, %arm ], [ 0, %entry ]
  ret i32 %r
}

; A write that may be to the same bytes lies between: in the first block, in a
; block between, before the load, and around a loop.
; CHECK-LABEL: define i32 @written_behind(
; CHECK:       arm:
; CHECK:         load i32
define i32 @written_behind(ptr %p, ptr %out) {
entry:
  %a = load i32, ptr %p, align 8, !reconverge.pair !0
  store i32 %a, ptr %out
  %is = icmp ne i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %pb, align 4
  br label %end
end:
  %r = phi i32 [ %b, %arm ], [ 0, %entry ]
  ret i32 %r
}

; CHECK-LABEL: define i32 @written_on_one_way(
; CHECK:       last:
; CHECK:         load i32
define i32 @written_on_one_way(ptr %p, ptr %out, i1 %c) {
entry:
  %a = load i32, ptr %p, align 8, !reconverge.pair !0
  %is = icmp ne i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  br i1 %c, label %write, label %last
write:
  store i32 %a, ptr %out
  br label %last
last:
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %pb, align 4
  br label %end
end:
  %r = phi i32 [ %b, %last ], [ 0, %entry ]
  ret i32 %r
}

; CHECK-LABEL: define i32 @barrier_before(
; CHECK:       arm:
; CHECK:         load i32
declare void @llvm.nvvm.barrier0() convergent nounwind
define i32 @barrier_before(ptr addrspace(3) %p, i1 %c) {
entry:
  %a = load i32, ptr addrspace(3) %p, align 8, !reconverge.pair !0
  br i1 %c, label %arm, label %end
arm:
  call void @llvm.nvvm.barrier0()
  %pb = getelementptr inbounds i8, ptr addrspace(3) %p, i64 4
  %b = load i32, ptr addrspace(3) %pb, align 4
  br label %end
end:
  %r = phi i32 [ %b, %arm ], [ %a, %entry ]
  ret i32 %r
}

; CHECK-LABEL: define void @written_in_loop(
; CHECK:       loop:
; CHECK:         load i32
define void @written_in_loop(ptr %p, ptr %out, i32 %n) {
entry:
  %a = load i32, ptr %p, align 8, !reconverge.pair !0
  br label %loop
loop:
  %i = phi i32 [ %a, %entry ], [ %next, %loop ]
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %pb, align 4
  store i32 %b, ptr %out
  %next = add i32 %i, %b
  %again = icmp slt i32 %next, %n
  br i1 %again, label %loop, label %end
end:
  ret void
}

; Not more than the bytes that are noted.
; CHECK-LABEL: define i64 @wider(
; CHECK:       arm:
; CHECK:         load i64
define i64 @wider(ptr %p) {
entry:
  %a = load i32, ptr %p, align 16, !reconverge.pair !1
  %is = icmp ne i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  %pb = getelementptr inbounds i8, ptr %p, i64 8
  %b = load i64, ptr %pb, align 8
  br label %end
end:
  %r = phi i64 [ %b, %arm ], [ 0, %entry ]
  ret i64 %r
}

; Volatile accesses are the program's business.
; CHECK-LABEL: define i32 @volatile(
; CHECK:       arm:
; CHECK:         load volatile
define i32 @volatile(ptr %p) {
entry:
  %a = load i32, ptr %p, align 8, !reconverge.pair !0
  %is = icmp ne i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load volatile i32, ptr %pb, align 4
  br label %end
end:
  %r = phi i32 [ %b, %arm ], [ 0, %entry ]
  ret i32 %r
}

!0 = !{i64 8, i64 0, i64 0, i64 8}
!1 = !{i64 16, i64 0, i64 0, i64 12}
