; What a kernel accesses by its thread's number alone is moved into the order of
; threads: its loads gathered before, its stores scattered behind.
;
; RUN: opt -passes='reconverge-regroup<layout=all>,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<layout=loads>,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s --check-prefix=LOADS

; CHECK: regrouped: threads are sorted by 6 bits of 1 branches 0; 3 loads and 2 stores are moved, 36 bytes a thread
; LOADS: 3 loads and 0 stores are moved, 24 bytes a thread

; The kernel accesses columns, 32 threads of one beside each other; the table is
; where it was. Which columns it stored to is a bit each.
; CHECK-LABEL: define ptx_kernel void @walk(
; CHECK-SAME: ptr noalias %records, ptr %index, i64 %units
; CHECK: mul i64 {{.*}}, 36
; CHECK: getelementptr i8, ptr addrspace(1) %own, i64 512
; CHECK: %m = load i32, ptr addrspace(1) {{.*}}, align 4
; CHECK: getelementptr i8, ptr addrspace(1) %own, i64 640
; CHECK: %r4 = load <4 x i32>, ptr addrspace(1) {{.*}}, align 16
; CHECK: %v = load i32, ptr %pt
; CHECK: store i32 %s1, ptr addrspace(1)
; CHECK: store i32 %m, ptr addrspace(1)
; CHECK: phi i32 [ {{.*}}, %more ], [ {{.*}}, %done ], [ 0, %body ]
; CHECK: store i32 {{.*}}, ptr addrspace(1)
; CHECK-NEXT: ret void

; Loads happen where the kernel's would: behind its guard. Threads beyond the
; last write nothing.
; CHECK-LABEL: define ptx_kernel void @"walk$gather$before"(
; CHECK: %ok = icmp slt i32 %t, %n
; CHECK: head:
; CHECK: %m = load i32, ptr %pm
; CHECK: load <4 x i32>, ptr %pr4
; CHECK-NOT: load
; CHECK: [[IN:%.*]] = icmp ult i64 {{.*}}, %units
; CHECK-NEXT: br i1 [[IN]]
; CHECK: store <4 x i32>
; CHECK: ret void

; What was not stored is not stored.
; CHECK-LABEL: define ptx_kernel void @"walk$return$before"(
; CHECK: body:
; CHECK: [[TO:%.*]] = getelementptr [2 x i32], ptr %out
; CHECK: and i32 [[FLAGS:%.*]], 1
; CHECK: store i32 {{.*}}, ptr [[TO]]
; CHECK: and i32 [[FLAGS]], 2
; CHECK: ret void

; Bytes for whole warps; the order of the steps.
; CHECK: "reconverge-recipe"="{{.*}} scratch threads 148608 4096 helper walk$keys$before {{.*}}helper walk$scatter$before {{.*}}helper walk$gather$before {{.*}}step walk grid {{.*}}step walk$return$before
; LOADS: step walk grid
; LOADS-NOT: walk$return


target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
define ptx_kernel void @walk(ptr noalias %out, ptr noalias %many, ptr noalias %in, ptr noalias %table, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %ok = icmp slt i32 %t, %n
  br i1 %ok, label %head, label %end
head:
  %i = sext i32 %t to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  %pr = getelementptr [8 x i32], ptr %in, i64 %i
  %r0 = load i32, ptr %pr
  %pr4 = getelementptr i8, ptr %pr, i64 16
  br label %loop
loop:
  %k = phi i32 [ 0, %head ], [ %k1, %loop ]
  %s = phi i32 [ %r0, %head ], [ %s1, %loop ]
  %r4 = load <4 x i32>, ptr %pr4, align 16
  %r40 = extractelement <4 x i32> %r4, i32 1
  %at0 = add i32 %r40, %k
  %at = and i32 %at0, 63
  %pt = getelementptr i32, ptr %table, i32 %at
  %v = load i32, ptr %pt
  %vs = mul i32 %v, %s
  %s1 = add i32 %s, %vs
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr [2 x i32], ptr %out, i64 %i
  store i32 %s1, ptr %q
  %odd = icmp slt i32 %s1, 0
  br i1 %odd, label %more, label %end
more:
  %q1 = getelementptr i8, ptr %q, i64 4
  store i32 %m, ptr %q1
  br label %end
end:
  ret void
}
!0 = !{i32 0}
