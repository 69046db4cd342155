; RUN: opt -passes="reconverge-meld,verify" -S %s | FileCheck %s --check-prefixes=CHECK,POLISHED
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -S %s | FileCheck %s --check-prefixes=CHECK,PLAIN
target triple = "nvptx64-nvidia-cuda"
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; for (i = 0; i < n; ++i)
;   if (odd) a[0] += i; else b[0] += i;
;
; Which array it is does not change: the select leaves the loop, and then so do
; the load and the store.
; CHECK-LABEL: define ptx_kernel void @same_word(
; POLISHED: select i1 %odd
; POLISHED: load i32
; CHECK: phi i32
; POLISHED-NOT: {{select|load|store}}
; PLAIN: load i32
; PLAIN: store i32
; CHECK: br i1
; POLISHED: store i32
; CHECK: ret void
define ptx_kernel void @same_word(ptr addrspace(3) noalias %a, ptr addrspace(3) noalias %b, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %low = and i32 %tid, 1
  %odd = icmp ne i32 %low, 0
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %join ]
  br i1 %odd, label %t, label %f
t:
  %x = load i32, ptr addrspace(3) %a
  %x1 = add i32 %x, %i
  store i32 %x1, ptr addrspace(3) %a
  br label %join
f:
  %y = load i32, ptr addrspace(3) %b
  %y1 = add i32 %y, %i
  store i32 %y1, ptr addrspace(3) %b
  br label %join
join:
  %next = add i32 %i, 1
  %more = icmp ult i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
