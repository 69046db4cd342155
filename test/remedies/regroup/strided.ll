; What threads read in the first round of a loop over items is known before, too,
; though that loop has written by the time it reads again. The slice ends behind
; the last such load: both loops are gone.
;
; RUN: opt -passes='reconverge-regroup<estimate=3:100;estimate=4:-2>,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<tree=5:1/2/3>,verify' -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=INNER

; A load that an inner loop repeats is noted at its first execution, as before: to
; come there is most of what this kernel does.
; INNER: not regrouped: what decides is read where the kernel has written [RC611]

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()

; for (i = item; i < n; i += items) {
;   x = from[i], m = most[i];
;   while (x < m) { x = x * x + 1; from[i] = x; x += from[i + 1]; }
; }
;
; CHECK: regrouped: threads are sorted by 6 bits of 0 branches, and 2 of an estimate
; CHECK-LABEL: define ptx_kernel void @"strided$keys$before"(
; CHECK: br i1 {{.*}}, label %round, label %end
; CHECK: round: {{ *}}; preds = %entry{{$}}
; CHECK: load float
; CHECK: load float
; CHECK-NOT: load
; CHECK: br label %end
; CHECK: end: {{ *}}; preds = %{{(entry, %round|round, %entry)$}}
; CHECK-NOT: %grow
; CHECK: ret void
define ptx_kernel void @strided(ptr %from, ptr %most, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %bs = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
  %first = mul i32 %b, %w
  %item = add i32 %first, %t
  %items = mul i32 %bs, %w
  %any = icmp slt i32 %item, %n
  br i1 %any, label %round, label %done, !rc.branch !1
round:
  %i = phi i32 [ %item, %entry ], [ %i1, %next ]
  %pf = getelementptr float, ptr %from, i32 %i
  %x = load float, ptr %pf, !rc.access !3
  %pm = getelementptr float, ptr %most, i32 %i
  %m = load float, ptr %pm, !rc.access !4
  %c = fcmp olt float %x, %m
  br i1 %c, label %grow, label %next, !rc.branch !2
grow:
  %y = phi float [ %x, %round ], [ %y2, %grow ]
  %sq = fmul float %y, %y
  %y1 = fadd float %sq, 1.0
  store float %y1, ptr %pf
  %pn = getelementptr float, ptr %pf, i32 1
  %z = load float, ptr %pn, !rc.access !5
  %y2 = fadd float %y1, %z
  %more = fcmp olt float %y2, %m
  br i1 %more, label %grow, label %next, !rc.branch !6
next:
  %i1 = add i32 %i, %items
  %again = icmp slt i32 %i1, %n
  br i1 %again, label %round, label %done, !rc.branch !7
done:
  ret void
}

!1 = !{i32 1}
!2 = !{i32 2}
!3 = !{i32 3}
!4 = !{i32 4}
!5 = !{i32 5}
!6 = !{i32 6}
!7 = !{i32 7}
