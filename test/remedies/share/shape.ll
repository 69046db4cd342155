; What sharing makes of a loop: who comes to the meeting, what decides, a round.
;
; RUN: opt -passes='reconverge-share<threshold=20>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-share<threshold=0>,verify' -S %s | FileCheck %s --check-prefix=ALWAYS
; RUN: opt -passes='reconverge-share<threshold=20>,verify' -S %s -o %t.1
; RUN: opt -passes='reconverge-share<threshold=20>,verify' -S %s -o %t.2
; RUN: diff %t.1 %t.2
; RUN: not opt -passes='reconverge-share<lanes=4>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: sharing has no parameter 'lanes=4'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   if (threadIdx.x >= n) return;
;   float s = 0;
;   for (j = row[threadIdx.x], end = row[threadIdx.x + 1]; j < end; ++j)
;     s += in[j];
;   out[threadIdx.x] = s;
;
; CHECK-LABEL: define ptx_kernel void @k(
; The way past the loop by its guard, and that past all of it, lead by the
; meeting; so does the loop's own.
; CHECK: entry:
; CHECK: br i1 %in.range, label %row, label %share.past
; CHECK: row:
; CHECK: br i1 %any, label %loop.preheader, label %share.past
; CHECK: loop.preheader:
; CHECK: %iterations = add
; CHECK: br label %share.meet
; CHECK: loop:
; CHECK: fadd float
; CHECK: share.meet:
; CHECK: %[[HERE:.*]] = call i32 @llvm.nvvm.activemask()
; CHECK: %[[ALL:.*]] = icmp eq i32 %[[HERE]], -1
; CHECK: br i1 %[[ALL]], label %share.look, label %share.alone
; What is decided is the same in all lanes.
; CHECK: share.shared:
; CHECK-NEXT: call void @llvm.nvvm.bar.warp.sync(i32 -1)
; CHECK: share.alone:
; CHECK: label %share.own, label %share.dispatch
; CHECK: share.look:
; CHECK: call i1 @llvm.nvvm.vote.any.sync(i32 -1
; CHECK: br i1 %{{.*}}, label %share.weigh, label %share.alone
; CHECK: share.weigh:
; CHECK-COUNT-5: call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1
; CHECK: %[[MANY:.*]] = call i1 @llvm.nvvm.vote.any.sync(i32 -1
; CHECK: %[[PAYS:.*]] = call i1 @llvm.nvvm.vote.any.sync(i32 -1
; CHECK: br i1 %{{.*}}, label %share.shared, label %share.alone
; ALWAYS-LABEL: define ptx_kernel void @k(
; ALWAYS: share.weigh:
; ALWAYS: call i1 @llvm.nvvm.vote.any.sync
; ALWAYS-NOT: call i1 @llvm.nvvm.vote.any.sync
; ALWAYS: br i1 %{{.*}}, label %share.shared, label %share.alone
;
; A round: the owner by bisection, its first iteration and its j by shuffles; the
; iteration without its sum, and then the sum, four steps after each vote.
; CHECK: share.deal:
; CHECK-COUNT-7: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1
; CHECK: br i1 %{{.*}}, label %loop.share, label %share.join
; CHECK: loop.share:
; CHECK: load float
; CHECK-NOT: fadd
; CHECK: br label %share.join
; CHECK: share.ask:
; CHECK: call i1 @llvm.nvvm.vote.any.sync(i32 -1
; CHECK: share.step:
; CHECK-COUNT-4: fadd float
; CHECK: br label %share.ask
define ptx_kernel void @k(ptr %row.of, ptr %in, ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in.range = icmp ult i32 %t, %n
  br i1 %in.range, label %row, label %done
row:
  %at = getelementptr i32, ptr %row.of, i32 %t
  %begin = load i32, ptr %at
  %at1 = getelementptr i32, ptr %at, i32 1
  %end = load i32, ptr %at1
  %any = icmp slt i32 %begin, %end
  br i1 %any, label %loop, label %behind
loop:
  %j = phi i32 [ %begin, %row ], [ %j1, %loop ]
  %s = phi float [ 0.0, %row ], [ %s1, %loop ]
  %p = getelementptr float, ptr %in, i32 %j
  %x = load float, ptr %p
  %s1 = fadd float %s, %x
  %j1 = add nsw i32 %j, 1
  %c = icmp slt i32 %j1, %end
  br i1 %c, label %loop, label %behind
behind:
  %sum = phi float [ 0.0, %row ], [ %s1, %loop ]
  %q = getelementptr float, ptr %out, i32 %t
  store float %sum, ptr %q
  br label %done
done:
  ret void
}
