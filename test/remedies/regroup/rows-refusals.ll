; Which arrays are not copied into the order of threads, and why.
;
; RUN: opt -passes='reconverge-regroup<layout=rows>,verify' -pass-remarks-missed=reconverge-regroup -pass-remarks=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

@device = addrspace(1) global i32 0
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @called(ptr)

; A stride that is a constant: rows[k * 4096 + i].
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @constant(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, 4096
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
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

; Cells side by side in the thread's own row: rows[i * n + k].
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @own(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %i, %stride
  %cell = add i64 %row, %kw
  %p = getelementptr i32, ptr %rows, i64 %cell
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

; The cell of the next thread as well.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @neighbour(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v0 = load i32, ptr %p
  %p1 = getelementptr i32, ptr %p, i64 1
  %v2 = load i32, ptr %p1
  %v = add i32 %v0, %v2
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}

; An atomic on the array.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @atomic(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  %old = atomicrmw add ptr %p, i32 1 monotonic
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}

; The address is stored.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @kept(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  store ptr %p, ptr %out
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}

; The number is not that of the thread: blockIdx.x * 256 + threadIdx.x.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @other(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, 256
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
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

; Each cell once: for (k = 0; k < m; ++k) rows[k * n + i].
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @once(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k64 = phi i64 [ 0, %entry ], [ %k641, %loop ]
  %k641 = add i64 %k64, 1
  %row = mul i64 %k64, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
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

; A pointer that is found in memory.
; CHECK: not regrouped: other pointers may lead to the array of rows [RC617]
define ptx_kernel void @found(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = load ptr, ptr %out
  store i32 %v, ptr %q
  ret void
}

; A variable of the device.
; CHECK: not regrouped: other pointers may lead to the array of rows [RC617]
define ptx_kernel void @variable(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  store i32 %v, ptr addrspace(1) @device
  ret void
}

; A call.
; CHECK: not regrouped: other pointers may lead to the array of rows [RC617]
define ptx_kernel void @calls(ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = call i32 @called(ptr %out)
  store i32 %v, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i64 %i
  store i32 %v, ptr %q
  ret void
}

; A member of a structure passed by value that the kernel may write: the pointer
; that is followed need not be the one that the launch has given.
; CHECK: not regrouped: other pointers may lead to the array of rows [RC617]
define ptx_kernel void @written(ptr %rows, ptr byval({ptr, i32}) %s, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = load ptr, ptr %s
  store i32 %v, ptr %q
  store ptr null, ptr %s
  ret void
}

; The same of the stride.
; CHECK: not regrouped: no array of rows, used again, is accessed by thread [RC616]
define ptx_kernel void @stride(ptr %rows, ptr byval({ptr, i32}) %s, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %i = sext i32 %t to i64
  %pn = getelementptr i8, ptr %s, i64 8
  %given = load i32, ptr %pn
  %stride = sext i32 %given to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr i32, ptr %rows, i64 %cell
  %v = load i32, ptr %p
  %v1 = add i32 %v, %k
  store i32 %v1, ptr %p
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  store i32 %v, ptr %pn
  ret void
}
!0 = !{i32 0}
