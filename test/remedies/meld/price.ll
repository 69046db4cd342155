; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="reconverge-meld<polish=0>,verify" -pass-remarks-missed=reconverge-meld -pass-remarks=reconverge-meld -disable-output %s 2>&1 | FileCheck %s
;
; What melding is taken to save, beyond the instructions that become one.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; CHECK-NOT: remark

; Arms of few instructions are predicated, and do not wait one after the other:
; two stores are not worth a select of two addresses and one of two values.
; CHECK: remark: {{.*}} not melded: melding the sides would cost more than it saves (0 of 8 issue slots saved) [RC122]
define ptx_kernel void @predicated(ptr addrspace(1) %a, ptr addrspace(1) %b, i64 %x, i64 %y) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  store i64 %x, ptr addrspace(1) %a
  br label %j
f:
  store i64 %y, ptr addrspace(1) %b
  br label %j
j:
  ret void
}

; Each arm has 24 words in registers while both divide; melded code has 48 of
; them there, and a multiprocessor holds fewer warps.
; CHECK-NEXT: remark: {{.*}} melded: 5 instructions of both sides became one, about 36 of 202 issue slots saved
define ptx_kernel void @registers(ptr addrspace(1) %g, i32 %n, <8 x i32> %u, <8 x i32> %v) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %a0 = xor <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %a1 = xor <8 x i32> %v, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 9>
  %a2 = xor <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 8, i32 9>
  %ad = udiv i32 %tid, %n
  %ae = udiv i32 %n, %ad
  %af = udiv i32 %ae, %tid
  store i32 %af, ptr addrspace(1) %g
  %a3 = sub <8 x i32> %a0, %a1
  %a4 = sub <8 x i32> %a3, %a2
  %a5 = extractelement <8 x i32> %a4, i32 %af
  br label %j
f:
  %b0 = and <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %b1 = and <8 x i32> %v, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 9>
  %b2 = and <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 8, i32 9>
  %bd = udiv i32 %tid, %n
  %be = udiv i32 %n, %bd
  %bf = udiv i32 %be, %tid
  store i32 %bf, ptr addrspace(1) %g
  %b3 = or <8 x i32> %b0, %b1
  %b4 = or <8 x i32> %b3, %b2
  %b5 = extractelement <8 x i32> %b4, i32 %bf
  br label %j
j:
  %r = phi i32 [ %a5, %t ], [ %b5, %f ]
  store i32 %r, ptr addrspace(1) %g
  ret void
}

; The same where they are in use one after the other.
; CHECK-NEXT: remark: {{.*}} melded: 5 instructions of both sides became one, about 56 of 202 issue slots saved
define ptx_kernel void @few_registers(ptr addrspace(1) %g, i32 %n, <8 x i32> %u, <8 x i32> %v) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %c = icmp slt i32 %tid, 7
  br i1 %c, label %t, label %f
t:
  %ad = udiv i32 %tid, %n
  %ae = udiv i32 %n, %ad
  %af = udiv i32 %ae, %tid
  store i32 %af, ptr addrspace(1) %g
  %a0 = xor <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %a1 = xor <8 x i32> %v, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 9>
  %a3 = sub <8 x i32> %a0, %a1
  %a2 = xor <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 8, i32 9>
  %a4 = sub <8 x i32> %a3, %a2
  %a5 = extractelement <8 x i32> %a4, i32 %af
  br label %j
f:
  %bd = udiv i32 %tid, %n
  %be = udiv i32 %n, %bd
  %bf = udiv i32 %be, %tid
  store i32 %bf, ptr addrspace(1) %g
  %b0 = and <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8>
  %b1 = and <8 x i32> %v, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 9>
  %b3 = or <8 x i32> %b0, %b1
  %b2 = and <8 x i32> %u, <i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 8, i32 9>
  %b4 = or <8 x i32> %b3, %b2
  %b5 = extractelement <8 x i32> %b4, i32 %bf
  br label %j
j:
  %r = phi i32 [ %a5, %t ], [ %b5, %f ]
  store i32 %r, ptr addrspace(1) %g
  ret void
}
