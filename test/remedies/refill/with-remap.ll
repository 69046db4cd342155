; Remapping by event inside a loop that is refilled: a round of remapping has
; barriers for the whole block, but lanes leave such a loop at different times
; before it is refilled, and warps do afterwards. So both orders say no, by name;
; and the loop is refilled as if nobody had asked.
;
; RUN: opt -passes='reconverge-refill,function(reconverge-remap<threshold=0>),verify' -pass-remarks=reconverge -pass-remarks-missed=reconverge -disable-output %s 2>&1 | FileCheck %s --check-prefix=AFTER
; AFTER: refilled: lanes that are through take the next
; AFTER-NOT: remapped{{$|:}}
; AFTER: not remapped: not all threads of the block reach the branch [RC201]
; RUN: opt -passes='function(reconverge-remap<threshold=0>),reconverge-refill,verify' -pass-remarks=reconverge -pass-remarks-missed=reconverge -disable-output %s 2>&1 | FileCheck %s --check-prefix=BEFORE
; BEFORE: not remapped: not all threads of the block reach the branch [RC201]
; BEFORE: refilled: lanes that are through take the next

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

;   x = in[i];
;   do {
;     if (x & 1) x = ... else x = ...;
;   } while (x % 64);
;   out[i] = x;
define ptx_kernel void @k(ptr %in, ptr %out) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %b, %d
  %i = add i32 %m, %t
  %wide = zext i32 %i to i64
  %a = getelementptr i32, ptr %in, i64 %wide
  %first = load i32, ptr %a
  br label %loop
loop:
  %x = phi i32 [ %first, %entry ], [ %next, %join ]
  %odd = trunc i32 %x to i1
  br i1 %odd, label %up, label %down
up:
  %u0 = mul i32 %x, 3
  %u1 = xor i32 %u0, 77
  %u2 = udiv i32 %u1, 5
  %u3 = mul i32 %u2, %u1
  %u4 = udiv i32 %u3, 7
  %u5 = add i32 %u4, 1
  br label %join
down:
  %w0 = udiv i32 %x, 3
  %w1 = xor i32 %w0, 99
  %w2 = udiv i32 %w1, 11
  %w3 = mul i32 %w2, %w1
  %w4 = udiv i32 %w3, 13
  br label %join
join:
  %next = phi i32 [ %u5, %up ], [ %w4, %down ]
  %part = and i32 %next, 63
  %go = icmp ne i32 %part, 0
  br i1 %go, label %loop, label %done
done:
  %at = getelementptr i32, ptr %out, i64 %wide
  store i32 %next, ptr %at
  ret void
}
