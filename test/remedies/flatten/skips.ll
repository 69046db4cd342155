; Lanes of a loop part by whether they have work in a round. The rounds without
; work become a loop of their own, and are flattened with the loop around them.
;
; RUN: opt -passes='reconverge-flatten<branch=7;threshold=4>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-flatten<branch=7>' -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=TOLD
; TOLD: remark: {{.*}}flattened: lanes go on past rounds that skip work, and do it together, once 8 of 32 have some
; RUN: opt -passes='reconverge-flatten<branch=8>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=NONE
; RUN: opt -passes='reconverge-flatten<branch=9>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=TOGETHER
;
; Nobody named it: the heaviest is taken, of kernels without a loop in a loop.
; RUN: opt -passes=reconverge-flatten -pass-remarks=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNNAMED
; UNNAMED: remark: {{.*}}flattened: lanes go on past rounds that skip work, and do it together, once 8 of 32 have some
; What is marked alone: nothing is.
; RUN: opt -passes='reconverge-flatten<marked=1>' -pass-remarks-missed=reconverge-flatten -disable-output %s 2>&1 | FileCheck %s --check-prefix=UNMARKED --allow-empty
; UNMARKED-NOT: rounds that skip work

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()

;   for (k = 0; k < n; ++k) {           all make as many rounds
;     v = in[k + threadIdx.x];
;     if (v) s += work(v);              branch 7
;     out[k + threadIdx.x] = s;
;   }
;
; CHECK-LABEL: define ptx_kernel void @k(
; A round without work ends at a vote, and so does one that has come to work.
; CHECK: {{^}}loop:
; CHECK: br i1 %z, label %tail, label %[[WORK:.*]], !rc.branch
; CHECK: {{^}}[[WORK]]:
; CHECK-NEXT: br label %flatten.ran
; Those that stop do the work, and their copy of what follows it.
; CHECK: {{^}}work:
; CHECK: sdiv
; CHECK: br label %tail.worked
; CHECK: {{^}}tail:
; CHECK: br i1 %c, label %[[BACK:.*]], label %
; CHECK: {{^}}[[BACK]]:
; CHECK-NEXT: br label %flatten.ran
; CHECK: {{^}}tail.worked:
; CHECK: store i32
; CHECK: flatten.turn:
; CHECK: label %flatten.outer, label %flatten.came
; CHECK: {{^}}flatten.gate:
; CHECK: label %loop, label %flatten.ran
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

; All lanes go the same way.
; NONE: not flattened: the branch leaves no loop in a loop, and skips nothing in one (8) [RC702]
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

;   for (k = 0; k < n; ++k) {
;     if (in[k + threadIdx.x]) out[threadIdx.x] += k;    branch 9
;     __syncthreads();
;   }
; TOGETHER: not flattened: lanes work together in the loops (llvm.nvvm.barrier0) [RC704]
define ptx_kernel void @together(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr i32, ptr %out, i32 %t
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %tail ]
  %i = add i32 %k, %t
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %z = icmp eq i32 %v, 0
  br i1 %z, label %tail, label %work, !rc.branch !2
work:
  %old = load i32, ptr %q
  %sum = add i32 %old, %k
  store i32 %sum, ptr %q
  br label %tail
tail:
  call void @llvm.nvvm.barrier0()
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

!0 = !{i32 7}
!1 = !{i32 8}
!2 = !{i32 9}
