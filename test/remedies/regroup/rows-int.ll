; Indices of 32 bits that may not wrap are taken apart; others are not.
;
; RUN: opt -passes='reconverge-regroup<layout=rows>,verify' -pass-remarks-missed=reconverge-regroup -pass-remarks=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

; rows[(k & 7) * n + i] of ints
; CHECK: regrouped: {{.*}}1 arrays with 2 accesses lie in the order
define ptx_kernel void @ints(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %row = mul nsw i32 %k7, %n
  %cell = add nsw i32 %row, %t
  %at = sext i32 %cell to i64
  %p = getelementptr i32, ptr %rows, i64 %at
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}

; The same, where it may wrap.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @wraps(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %row = mul i32 %k7, %n
  %cell = add i32 %row, %t
  %at = sext i32 %cell to i64
  %p = getelementptr i32, ptr %rows, i64 %at
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}
!0 = !{i32 0}
