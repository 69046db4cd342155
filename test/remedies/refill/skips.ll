; Lanes of a loop part by whether they have work in a round. The rounds without
; work become a loop of their own, which is refilled.
;
; RUN: opt -passes='reconverge-refill<branch=7>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-refill<branch=8>' -pass-remarks-missed=reconverge-refill -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   for (k = 0; k < n; ++k) {           all make as many rounds
;     v = in[k + threadIdx.x];
;     if (v) s += work(v);              branch 7
;     out[k] = s;
;   }
;
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-SAME: i64 %items

; A round without work leads back to the header, one with work out of the loop.
; CHECK: {{^}}loop.again:{{ +}}; preds = %item.tail, %tail.worked
; CHECK: {{^}}loop:{{ +}}; preds = %refill.go
; CHECK: br i1 %z, label %tail, label %[[EXIT:.*]], !rc.branch
; CHECK: {{^}}[[EXIT]]:{{ +}}; preds = %loop
; CHECK-NEXT: br label %refill.ran
; CHECK: {{^}}work:{{ +}}; preds = %refill.leave
; CHECK: br label %tail.worked
; CHECK: {{^}}tail:{{ +}}; preds = %loop
; CHECK: store i32

; Who comes from the work has a copy of what follows.
; CHECK: {{^}}tail.worked:{{ +}}; preds = %work
; CHECK: store i32
; CHECK: br i1 %{{.*}}, label %loop.again, label %done
; CHECK: refill.leave:{{.*}}
; CHECK-NEXT: switch i32 %{{.*}}, label %refill.refilled [
; CHECK-NEXT: i32 3, label %
; CHECK-NEXT: i32 4, label %
; CHECK-NEXT: ]
define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %s = phi i32 [ 0, %entry ], [ %sum, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp eq i32 %v, 0
  br i1 %z, label %tail, label %work, !rc.branch !0
work:
  %square = mul i32 %v, %v
  %part = sdiv i32 %square, 3
  %more = add i32 %s, %part
  br label %tail
tail:
  %sum = phi i32 [ %s, %loop ], [ %more, %work ]
  %q = getelementptr i32, ptr %out, i32 %i
  store i32 %sum, ptr %q
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

;   for (k = 0, d = 5; k < n; ++k) {    a search: steps back pass the branch by
;     v = in[k + threadIdx.x];
;     if (v == n) goto back;
;     if (v & 1) {                      branch 9
;       s = v * v / 3;
;       if (s > n) goto back;
;     }
;     continue;
;   back:
;     out[--d] = k;
;   }
;
; RUN: opt -passes='reconverge-refill<branch=9>,verify' -S %s | FileCheck %s --check-prefix=BACK
; Who comes from the work has a copy of that, too.
; BACK-LABEL: define ptx_kernel void @search(
; BACK: {{^}}loop:{{ +}}; preds = %refill.go
; BACK: br i1 %stop, label %back, label %test
; BACK: {{^}}work:{{ +}}; preds = %refill.leave
; BACK: br i1 %far, label %back.worked, label %tail.worked
; BACK: {{^}}back:{{ +}}; preds = %loop
; BACK: br label %tail
; BACK: {{^}}back.worked:{{ +}}; preds = %work
; BACK: store i32 %k
; BACK: br label %tail.worked
define ptx_kernel void @search(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %d = phi i32 [ 5, %entry ], [ %depth, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %stop = icmp eq i32 %v, %n
  br i1 %stop, label %back, label %test, !rc.branch !2
test:
  %bit = and i32 %v, 1
  %z = icmp eq i32 %bit, 0
  br i1 %z, label %tail, label %work, !rc.branch !3
work:
  %square = mul i32 %v, %v
  %part = sdiv i32 %square, 3
  %far = icmp sgt i32 %part, %n
  br i1 %far, label %back, label %tail, !rc.branch !4
back:
  %less = sub i32 %d, 1
  %q = getelementptr i32, ptr %out, i32 %less
  store i32 %k, ptr %q
  br label %tail
tail:
  %depth = phi i32 [ %d, %test ], [ %d, %work ], [ %less, %back ]
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; Branches that are not there, and by which all lanes go the same way.
; NONE-COUNT-2: not refilled: the branch leaves no loop, and skips nothing in one (8) [RC402]
define ptx_kernel void @uniform(ptr %out, i32 %n) {
entry:
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %z = icmp eq i32 %k, %n
  br i1 %z, label %tail, label %work, !rc.branch !1
work:
  store i32 %k, ptr %out
  br label %tail
tail:
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

!0 = !{i32 7}
!1 = !{i32 8}
!2 = !{i32 20}
!3 = !{i32 9}
!4 = !{i32 21}
