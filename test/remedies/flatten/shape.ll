; What flattening makes of a loop in a loop: where its edges lead, and the votes.
;
; RUN: opt -passes='reconverge-flatten<threshold=4>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-flatten<rounds=3>,verify' -S %s | FileCheck %s --check-prefix=ROUNDS
; RUN: opt -passes='reconverge-flatten<threshold=0>,verify' -S %s | FileCheck %s --check-prefix=ONCE
; RUN: not opt -passes='reconverge-flatten<lanes=4>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: flattening has no parameter 'lanes=4'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   for (i = 0; i < n; ++i) {
;     s = i;
;     for (k = in[i + threadIdx.x]; k; k /= 2) s += k;
;     out[i] = s;
;   }
;
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK: prologue:
; CHECK: br label %flatten.came
; A round of the inner loop ends at a vote.
; CHECK: inner:
; CHECK: br label %flatten.ran
; Behind it is the rest of the outer loop, which goes back without one.
; CHECK: epilogue:
; CHECK: store i32
; CHECK: br label %flatten.outer
; CHECK: flatten.enter:
; CHECK-NEXT: %[[MASK:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK: flatten.stop:
; CHECK: br i1 %none{{.*}}, label %flatten.leave, label %flatten.turn
; CHECK: flatten.came:
; CHECK: %running = call i32 @llvm.nvvm.vote.ballot.sync(i32 %[[MASK]], i1
; CHECK: %waiting = call i32 @llvm.nvvm.vote.ballot.sync(i32 %[[MASK]], i1
; CHECK: mul i32 %{{.*}}, 4
; CHECK: %[[LIMIT:.*]] = sub i32
; CHECK: br i1 %enough, label %flatten.stop, label %flatten.gate
; In the rounds the vote is one ballot, against the limit of the last stop.
; CHECK: flatten.ran:
; CHECK: call i32 @llvm.nvvm.vote.ballot.sync(i32 %[[MASK]], i1
; CHECK-NOT: vote.ballot
; CHECK: icmp ule i32 %{{.*}}, %[[LIMIT]]
; CHECK-NEXT: br i1 %{{.*}}, label %flatten.stop, label %flatten.gate
; ROUNDS-LABEL: define ptx_kernel void @k(
; ROUNDS: %[[LESS:.*]] = sub i32 %left{{.*}}, 1
; ROUNDS: %[[MORE:.*]] = icmp ne i32 %[[LESS]], 0
; ROUNDS: br i1 %[[MORE]], label %inner, label %flatten.ran
;
; Without votes lanes come to one place first, and back to it from both loops; a
; convergent operation keeps it. The outer loop's way back leads to its header.
; ONCE-LABEL: define ptx_kernel void @k(
; ONCE-NOT: vote.ballot
; ONCE: inner.edge:
; ONCE-NEXT: br label %flatten.met
; ONCE: prologue.edge:
; ONCE-NEXT: br label %prologue
; ONCE: flatten.enter:
; ONCE-NEXT: br label %flatten.met
; ONCE: flatten.met:
; ONCE: call i32 @llvm.nvvm.activemask()
; ONCE: br i1 %{{.*}}, label %flatten.leave, label %flatten.gate
; ONCE: flatten.gate:
; ONCE: br i1 %{{.*}}, label %inner, label %flatten.outer
; ONCE-NOT: vote.ballot
define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %prologue
prologue:
  %i = phi i32 [ 0, %entry ], [ %i1, %epilogue ]
  %at = add i32 %i, %t
  %p = getelementptr i32, ptr %in, i32 %at
  %first = load i32, ptr %p
  br label %inner
inner:
  %k = phi i32 [ %first, %prologue ], [ %half, %inner ]
  %s = phi i32 [ %i, %prologue ], [ %sum, %inner ]
  %sum = add i32 %s, %k
  %half = lshr i32 %k, 1
  %c = icmp ne i32 %half, 0
  br i1 %c, label %inner, label %epilogue
epilogue:
  %q = getelementptr i32, ptr %out, i32 %at
  store i32 %sum, ptr %q
  %i1 = add i32 %i, 1
  %more = icmp ult i32 %i1, %n
  br i1 %more, label %prologue, label %done
done:
  ret void
}
