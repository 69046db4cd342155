; What is made of a kernel whose threads are sorted: one that computes keys and
; writes nothing else, those that sort, and itself, by an index.
;
; RUN: opt -passes='reconverge-regroup,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<locality=12>,verify' -S %s 2>&1 | FileCheck %s --check-prefix=PLACE
; RUN: opt -passes='reconverge-regroup<locality=12>,verify' -pass-remarks=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=SAID
; RUN: opt -passes='reconverge-regroup<reuse=on>,verify' -S %s | FileCheck %s --check-prefix=REUSE
; RUN: opt -passes='reconverge-regroup<window=on>,verify' -S %s | FileCheck %s --check-prefix=WINDOW

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; for (k = 0; k < many[t]; ++k) s += table[which[t] + k] * s;  out[t] = s;
; CHECK: regrouped: threads are sorted by 6 bits of 1 branches 0
; SAID: regrouped: threads are sorted by 6 bits of 1 branches 0, and 12 of load 2

; The kernel reads which thread it is.
; CHECK-LABEL: define ptx_kernel void @walk(
; CHECK-SAME: ptr %index, i64 %units, i32 %grid.x
; CHECK: load i32, ptr addrspace(1)
; CHECK: atomicrmw add ptr %sum

; What gives the rounds is left of it: no loop, no table, no effect.
; CHECK-LABEL: define ptx_kernel void @"walk$keys$before"(
; CHECK-NOT: phi i32 {{.*}}%loop
; CHECK: load i32, ptr %pm
; CHECK-NOT: atomicrmw
; CHECK-NOT: load
; CHECK: store i32 {{.*}}, ptr addrspace(1)
; CHECK-NOT: store
; CHECK: ret void

; With a place: the first read of the table, and what it needs.
; PLACE-LABEL: define ptx_kernel void @"walk$keys$before"(
; PLACE-NOT: atomicrmw add
; PLACE-NOT: load i32, ptr %pt
; PLACE: ptrtoint ptr
; PLACE: atomicrmw umax ptr addrspace(1)
; PLACE: atomicrmw umax ptr addrspace(1)
; PLACE: ret void

; CHECK: define ptx_kernel void @"walk$count$before"(
; CHECK: define ptx_kernel void @"walk$scan$before"(
; CHECK: define ptx_kernel void @"walk$scatter$before"(

; Of a sample the same slice, by an index, in a launch of threads / 1024; the
; steps that make the order are named so, and what later launches need is kept.
; REUSE: define ptx_kernel void @"walk$probe$before"({{.*}}ptr %classes, ptr %lines, ptr %range, ptr %index, i64 %units
; REUSE: attributes {{.*}} "reconverge-recipe"="for 4096 2147483648 {{[0-9]+}} reuse 12 threads 1 1024
; REUSE-SAME: scratch threads 4 1 kept
; REUSE-SAME: scratch one 4 1 kept helper walk$keys$before making grid same
; REUSE-SAME: helper walk$sample$before probing grid threads 1 262144
; REUSE-SAME: helper walk$probe$before probing grid threads 1 262144
; REUSE-SAME: helper walk$compare$before probing
; REUSE-SAME: helper walk$remember$before making
; REUSE-SAME: helper walk$scatter$before making
; REUSE-SAME: step walk grid blocks

; Within windows of 4096 threads one kernel sorts, and needs no counts: scratch
; that is left has a word.
; WINDOW-NOT: define {{.*}}scatter
; WINDOW: define ptx_kernel void @"walk$within$before"(
; WINDOW-NOT: define {{.*}}scatter
; WINDOW: attributes {{.*}} "reconverge-recipe"="for 4096
; WINDOW-SAME: scratch threads 4 1 scratch threads 4 1 scratch one 4 1 scratch one 4 1 scratch one 4 1 scratch one 4 1 scratch one 512 1 zeroed
; WINDOW-SAME: helper walk$keys$before {{.*}} helper walk$within$before grid threads 1 4096 {{.*}} step walk grid blocks

; The rest of the module stays as it was.
; CHECK-NOT: nvvm-reflect-ftz
define ptx_kernel void @walk(ptr noalias %out, ptr noalias %many, ptr noalias %which, ptr noalias %table, ptr noalias %sum) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pm = getelementptr i32, ptr %many, i32 %t
  %m = load i32, ptr %pm
  %pw = getelementptr i32, ptr %which, i32 %t
  %w = load i32, ptr %pw
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %at = add i32 %w, %k
  %pt = getelementptr i32, ptr %table, i32 %at
  %v = load i32, ptr %pt, !rc.access !1
  %vs = mul i32 %v, %s
  %s1 = add i32 %s, %vs
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %old = atomicrmw add ptr %sum, i32 %s1 monotonic
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %q
  ret void
}

!0 = !{i32 0}
!1 = !{i32 2}
