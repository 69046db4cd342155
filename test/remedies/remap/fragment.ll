; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-remap<threshold=1>,verify" -pass-remarks=reconverge-remap -pass-remarks-missed=reconverge-remap -S %s -o %t.ll 2>&1 | FileCheck %s --check-prefix=REMARK
; RUN: FileCheck %s --input-file=%t.ll
; RUN: opt -passes="reconverge-remap<threshold=1;paths=2>" -pass-remarks=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=TWO
;
; What one round serves.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; if (x > 0) A; else if (y & 1) B; else C, with y read before: three paths, and
; the second condition is computed before the round.
; REMARK: remapped: {{.*}}; 3 paths of 2 branches
; CHECK-LABEL: @chain(
; CHECK: %odd{{.*}} = icmp ne i32 %bit{{.*}}, 0
; CHECK: [[ODD:%.*]] = freeze i1 %odd
; CHECK: [[ELSE:%.*]] = select i1 [[ODD]], i32 1, i32 2
; CHECK: select i1 %{{.*}}, i32 0, i32 [[ELSE]]
; CHECK-COUNT-1: call i32 @llvm.nvvm.barrier0.popc
; CHECK-NOT: barrier0.popc
; CHECK: remap.tail:
; CHECK: icmp ult i32 [[PATH:%.*]], 1
; CHECK: {{^}}f:
; CHECK-NOT: and i32
; CHECK: icmp ult i32 [[PATH]], 2
define ptx_kernel void @chain(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %y = load i32, ptr addrspace(1) %po
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  store i32 1, ptr addrspace(1) %pi
  br label %j
f:
  store i32 0, ptr addrspace(1) %po
  %bit = and i32 %y, 1
  %odd = icmp ne i32 %bit, 0
  br i1 %odd, label %ft, label %ff
ft:
  store i32 2, ptr addrspace(1) %pi
  br label %j
ff:
  store i32 3, ptr addrspace(1) %pi
  br label %j
j:
  ret void
}

; switch (x): a path for each place it leads to; a case that cannot be is none.
; REMARK-NEXT: remark: {{.*}}; 3 paths of 1 branches
; CHECK-LABEL: @ways(
; CHECK: [[X:%.*]] = freeze i32 %x
; CHECK: icmp eq i32 [[X]], 1
; CHECK: remap.tail:
; CHECK: switch i32 %{{.*}}, label %never [
; CHECK-NEXT: i32 0, label %one
; CHECK-NEXT: i32 1, label %some
; CHECK-NEXT: i32 2, label %j
; CHECK-NEXT: ]
; CHECK: phi i32 [ 7, %remap.tail ], [ 8, %one ], [ 9, %some ]
define ptx_kernel void @ways(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  switch i32 %x, label %never [ i32 1, label %one
                                i32 2, label %some
                                i32 3, label %some
                                i32 4, label %j
                                i32 5, label %j ]
one:
  store i32 3, ptr addrspace(1) %pi
  br label %j
some:
  store i32 4, ptr addrspace(1) %pi
  br label %j
j:
  %r = phi i32 [ 7, %entry ], [ 7, %entry ], [ 8, %one ], [ 9, %some ]
  store i32 %r, ptr addrspace(1) %pi
  ret void
never:
  unreachable
}

; Three branches in a row on x, y, and x again: four paths serve all.
; REMARK-NEXT: remark: {{.*}}; 4 paths of 3 branches
; TWO: remapped: {{.*}}threads
; TWO: remapped: {{.*}}threads
; TWO: remapped: {{.*}} up to 1024 threads{{$}}
; TWO-NEXT: remapped: {{.*}} up to 1024 threads{{$}}
; CHECK-LABEL: @row(
; CHECK-COUNT-1: call i32 @llvm.nvvm.barrier0.popc
; CHECK: [[SECOND:%.*]] = urem i32 [[PATH:%.*]], 2
; CHECK: [[FIRST:%.*]] = udiv i32 [[PATH]], 2
; CHECK: [[C:%.*]] = icmp ult i32 [[FIRST]], 1
; CHECK: br i1 [[C]], label %a, label %b
; CHECK: [[D:%.*]] = icmp ult i32 [[SECOND]], 1
; CHECK: br i1 [[D]], label %a2, label %c
; CHECK: [[E:%.*]] = icmp ult i32 [[FIRST]], 1
; CHECK: br i1 [[E]], label %a3, label %end
define ptx_kernel void @row(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %y = load i32, ptr addrspace(1) %po
  %c0 = icmp sgt i32 %x, 0
  br i1 %c0, label %a, label %b
a:
  store i32 1, ptr addrspace(1) %pi
  br label %b
b:
  %c1 = icmp sgt i32 %y, 5
  br i1 %c1, label %a2, label %c
a2:
  store i32 2, ptr addrspace(1) %pi
  br label %c
c:
  br i1 %c0, label %a3, label %end
a3:
  store i32 3, ptr addrspace(1) %pi
  br label %end
end:
  ret void
}

; A later branch on what is read in between has a round of its own.
; REMARK-NEXT: remark: {{.*}} up to 1024 threads{{$}}
; REMARK-NEXT: remark: {{.*}} up to 1024 threads{{$}}
; REMARK-NOT: remark
; CHECK-LABEL: @cut(
; CHECK-COUNT-2: call i32 @llvm.nvvm.barrier0.popc
define ptx_kernel void @cut(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c0 = icmp sgt i32 %x, 0
  br i1 %c0, label %a, label %b
a:
  store i32 1, ptr addrspace(1) %pi
  br label %b
b:
  %y = load i32, ptr addrspace(1) %po
  %c1 = icmp sgt i32 %y, 5
  br i1 %c1, label %a2, label %end
a2:
  store i32 2, ptr addrspace(1) %pi
  br label %end
end:
  ret void
}
