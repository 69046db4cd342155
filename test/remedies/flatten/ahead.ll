; Which of the next 32 rounds have work is found out first, and then it is done.
;
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=7>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=7>' -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=TOLD
; TOLD: remark: {{.*}}flattened: lanes find out which of 32 rounds have work, and then do it
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=8>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=SEARCH
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=9>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=LEFT
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=10>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=MEMORY
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=11>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=EFFECT
;
; Without it the same loops are flattened.
; RUN: opt -passes='reconverge-flatten<branch=8>' -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=VOTED
; RUN: opt -passes='reconverge-flatten<branch=10>' -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=VOTED
; RUN: opt -passes='reconverge-flatten<branch=11>' -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=VOTED
; VOTED: flattened: lanes go on past rounds that skip work, and do it together, once 8 of 32 have some

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   for (k = 0, p = in; k < n; ++k, p += 2) {
;     v = p[threadIdx.x];
;     if (v < 5) s += v * v / 3;              branch 7
;   }
;   out[threadIdx.x] = s;
;
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: entry:
; CHECK: %[[MOST:.*]] = call i32 @llvm.umax.i32(i32 %n, i32 1)
; CHECK: %[[BACK:.*]] = add i32 %[[MOST]], -1
; CHECK: br label %ahead.group
;
; Rounds go on without the work: each has a bit.
; CHECK: {{^}}loop:
; CHECK: %v = load i32
; CHECK: %[[BIT:.*]] = zext i1 %z to i32
; CHECK: shl i32 %[[BIT]],
; CHECK: br label %tail
;
; CHECK: {{^}}work:
; CHECK-NEXT: %square = mul i32 %v.hit, %v.hit
; CHECK: %more = add i32 %[[SUM:s.*]], %part
; CHECK: br label %ahead.worked
; CHECK: {{^}}tail:
; CHECK: br label %ahead.next
; CHECK: {{^}}done:
; CHECK: store i32 %s{{.*}}, ptr %q
;
; Where the next group begins: what each step has come to. It has 32 rounds, or
; those that are left.
; CHECK: {{^}}ahead.group:
; CHECK: phi i32 [ 0, %entry ], [ %[[SUM]], %ahead.after ]
; CHECK: %[[REST:.*]] = phi i32 [ %[[BACK]], %entry ], [ %[[NEXT:.*]], %ahead.after ]
; CHECK: %[[MORE:[0-9]+]] = call i32 @llvm.umin.i32(i32 %[[REST]], i32 31)
; CHECK: %here = add nuw nsw i32 %[[MORE]], 1
; CHECK: %last = icmp ult i32 %[[REST]], 32
; CHECK: %[[NEXT]] = sub i32 %[[REST]], 32
;
; Four at a time, and those that are left over one by one.
; CHECK: {{^}}loop.epil:
; CHECK: br i1 %{{.*}}, label %loop.epil, label
; CHECK: {{^}}ahead.drain:
; CHECK: %[[SUM]] = phi i32 {{.*}}[ %more, %ahead.worked ]
; CHECK: %[[ANY:.*]] = icmp ne i32 %[[HITS:.*]], 0
; CHECK: br i1 %[[ANY]], label %ahead.pick, label %ahead.after
;
; The lowest bit's round, with its own k and p.
; CHECK: {{^}}ahead.pick:
; CHECK: and i32 %[[HITS]]
; CHECK: %at = call i32 @llvm.cttz.i32(i32 %[[HITS]], i1 true)
; CHECK: getelementptr i32, ptr
; CHECK: {{^}}ahead.after:
; CHECK-NEXT: br i1 %last, label %ahead.left, label %ahead.group
; CHECK: {{^}}loop.hit:
; CHECK: %v.hit = load i32
; CHECK: br label %work
;
; Of four rounds the last alone asks whether there are more.
; CHECK: {{^}}ahead.next.2:
; CHECK: br label %tail.3
; CHECK: {{^}}ahead.next.3:
; CHECK: %[[DONE:.*]] = add i32 %niter, 4
; CHECK: %[[GOES:.*]] = icmp ne i32 %[[DONE]],
; CHECK-NEXT: br i1 %[[GOES]], label %loop,
define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %p = phi ptr [ %in, %entry ], [ %p1, %tail ]
  %s = phi i32 [ 0, %entry ], [ %sum, %tail ]
  %a = getelementptr i32, ptr %p, i32 %t
  %v = load i32, ptr %a
  %z = icmp ult i32 %v, 5
  br i1 %z, label %work, label %tail, !rc.branch !0
work:
  %square = mul i32 %v, %v
  %part = sdiv i32 %square, 3
  %more = add i32 %s, %part
  br label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %more, %work ]
  %k1 = add i32 %k, 1
  %p1 = getelementptr i32, ptr %p, i64 2
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %sum, ptr %q
  ret void
}

;     if (in[k + threadIdx.x] < s) s = in[k + threadIdx.x] / 3;     branch 8
; SEARCH: not flattened: an iteration depends on the work of an earlier one [RC709]
define ptx_kernel void @least(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %s = phi i32 [ 99, %entry ], [ %sum, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp ult i32 %v, %s
  br i1 %z, label %work, label %tail, !rc.branch !1
work:
  %less = sdiv i32 %v, 3
  br label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %less, %work ]
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %sum, ptr %out
  ret void
}

;     if (in[k + threadIdx.x] < 5) { if ((s += k / 3) > 99) break; }    branch 9
; LEFT: not flattened: the loop is left at several places, or in the work [RC712]
define ptx_kernel void @left(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %s = phi i32 [ 0, %entry ], [ %sum, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp ult i32 %v, 5
  br i1 %z, label %work, label %tail, !rc.branch !2
work:
  %part = sdiv i32 %k, 3
  %more = add i32 %s, %part
  %enough = icmp ugt i32 %more, 99
  br i1 %enough, label %done, label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %more, %work ]
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

;     if (in[k + threadIdx.x] < 5) out[k] = k / 3;      branch 10
; MEMORY: not flattened: an iteration depends on the work of an earlier one (memory) [RC709]
define ptx_kernel void @memory(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp ult i32 %v, 5
  br i1 %z, label %work, label %tail, !rc.branch !3
work:
  %part = sdiv i32 %k, 3
  %q = getelementptr i32, ptr %out, i32 %k
  store i32 %part, ptr %q
  br label %tail
tail:
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; The same with __restrict__.
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=12>,verify' -S %s | FileCheck %s --check-prefix=APART
; APART-LABEL: define ptx_kernel void @apart(
; APART: {{^}}ahead.drain:
define ptx_kernel void @apart(ptr noalias readonly %in, ptr noalias %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp ult i32 %v, 5
  br i1 %z, label %work, label %tail, !rc.branch !5
work:
  %part = sdiv i32 %k, 3
  %q = getelementptr i32, ptr %out, i32 %k
  store i32 %part, ptr %q
  br label %tail
tail:
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

;     if (threadIdx.x * k % 7 < 2) s += k / 3;      branch 11
;     out[k] = k;
; EFFECT: not flattened: rounds without work write to memory, or call a function [RC710]
define ptx_kernel void @effect(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %s = phi i32 [ 0, %entry ], [ %sum, %tail ]
  %i = mul i32 %k, %t
  %v = urem i32 %i, 7
  %z = icmp ult i32 %v, 2
  br i1 %z, label %work, label %tail, !rc.branch !4
work:
  %part = sdiv i32 %k, 3
  %more = add i32 %s, %part
  br label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %more, %work ]
  %q = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %q
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %sum, ptr %out
  ret void
}

; Rounds that nobody can count before the loop: each may be the last.
;   do { v = *p++; if (v < 5) s += v * v / 3; } while (v);      branch 13
; RUN: opt -passes='reconverge-flatten<ahead=1;branch=13>,verify' -S %s | FileCheck %s --check-prefix=OPEN
; OPEN-LABEL: define ptx_kernel void @open(
; OPEN: {{^}}tail:
; OPEN: br i1 %c, label %ahead.next, label %ahead.leaving
; OPEN: {{^}}ahead.after:
; OPEN-NEXT: br i1 %{{.*}}, label %ahead.left, label %ahead.group
; OPEN: {{^}}ahead.next:
; OPEN-NEXT: %[[DONE:.*]] = add i32 %{{.*}}, 1
; OPEN-NEXT: %[[MORE:.*]] = icmp ult i32 %[[DONE]], 32
; OPEN-NEXT: br i1 %[[MORE]], label %loop, label %ahead.drain
; OPEN: {{^}}ahead.leaving:
; OPEN: br label %ahead.drain
define ptx_kernel void @open(ptr %in, ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr i32, ptr %in, i32 %t
  br label %loop
loop:
  %p = phi ptr [ %from, %entry ], [ %p1, %tail ]
  %s = phi i32 [ 0, %entry ], [ %sum, %tail ]
  %v = load i32, ptr %p
  %z = icmp ult i32 %v, 5
  br i1 %z, label %work, label %tail, !rc.branch !6
work:
  %square = mul i32 %v, %v
  %part = sdiv i32 %square, 3
  %more = add i32 %s, %part
  br label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %more, %work ]
  %p1 = getelementptr i32, ptr %p, i64 1
  %c = icmp ne i32 %v, 0
  br i1 %c, label %loop, label %done
done:
  store i32 %sum, ptr %out
  ret void
}

!0 = !{i32 7}
!1 = !{i32 8}
!2 = !{i32 9}
!3 = !{i32 10}
!4 = !{i32 11}
!5 = !{i32 12}
!6 = !{i32 13}
