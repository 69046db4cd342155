; What herding makes of an if and of a loop: who votes, and where lanes go on.
;
; RUN: opt -passes='reconverge-herd<least=0>,verify' -S %s | FileCheck %s
; RUN: opt -passes='reconverge-herd<least=0;every=1;threshold=8>,verify' -S %s | FileCheck %s --check-prefix=EACH
; RUN: opt -passes='reconverge-herd<least=0;ways=two>,verify' -S %s | FileCheck %s --check-prefix=TWO
; RUN: opt -passes='reconverge-herd<least=0;every=64>,verify' -S %s | FileCheck %s --check-prefix=MANY
; RUN: not opt -passes='reconverge-herd<threshold=32>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: herding has no parameter 'threshold=32'

target triple = "nvptx64-nvidia-cuda"

; Who is dropped may come to where a value is asked for that it lacks: it has 0.
; CHECK-LABEL: @filled(
; CHECK: vote.ballot
; CHECK: phi i32 [ 0, %join ], [ %a, %some ]
define ptx_kernel void @filled(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %y = mul i32 %x, %x
  %z = mul i32 %y, %x
  store i32 %z, ptr %q
  br label %join
join:
  %u = icmp sgt i32 %n, 5
  br i1 %u, label %some, label %rest
some:
  %a = add i32 %x, 1
  br label %rest
rest:
  %v = phi i32 [ poison, %join ], [ %a, %some ]
  br i1 %u, label %keep, label %end
keep:
  store i32 %v, ptr %p
  br label %end
end:
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   i = threadIdx.x; x = in[i];
;   if (x > 0) { x = x * x; out[i] = x; }
;   in[i] = x + 1;
;
; The lanes that there are follow from the block's size.
; CHECK-LABEL: define ptx_kernel void @arm(
; CHECK: %[[LEFT:.*]] = sub i32
; CHECK: call i32 @llvm.umin.i32(i32 %[[LEFT]], i32 32)
; CHECK: %herd.warp = lshr i32 -1,
; CHECK-NEXT: %herd.here = call i32 @llvm.ctpop.i32(i32 %herd.warp)
; CHECK-NEXT: %[[PART:.*]] = mul i32 %herd.here, 16
; CHECK-NEXT: %herd.few = lshr i32 %[[PART]], 5
; They vote, and those who want the arm run it if they are more than 16 of 32.
; CHECK: %herd.votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 %herd.warp, i1 %c)
; CHECK: %[[COUNT:.*]] = call i32 @llvm.ctpop.i32(i32 %herd.votes)
; CHECK: %herd.enough = icmp ugt i32 %[[COUNT]], %herd.few
; CHECK: %[[GOES:.*]] = and i1 %c, %herd.enough
; CHECK: br i1 %[[GOES]], label %arm, label %join
; A lane that does not go in has the value that it had.
; CHECK: join:
; CHECK: phi i32 [ %x, %entry ], [ %square, %arm ]
define ptx_kernel void @arm(ptr %in, ptr %out) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  %q = getelementptr i32, ptr %out, i32 %i
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ %x, %entry ], [ %square, %arm ]
  %z = add i32 %y, 1
  store i32 %z, ptr %p
  ret void
}

;   if (in[i] > 0) out[i] = 1; else out[i + 32] = 2;
;
; Each side has its own count; who is dropped goes on behind both.
; CHECK-LABEL: define ptx_kernel void @sides(
; CHECK: %[[NOT:.*]] = xor i1 %c, true
; CHECK: %[[ONE:.*]] = and i1 %c, %herd.enough
; CHECK: sub i32 %herd.here, %
; CHECK: %[[OTHER:.*]] = and i1 %[[NOT]], %herd.enough
; CHECK: br i1 %[[ONE]], label %one, label %herd.rest
; CHECK: herd.rest:
; CHECK-NEXT: br i1 %[[OTHER]], label %other, label %join
define ptx_kernel void @sides(ptr %in, ptr %out) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %one, label %other
one:
  store i32 1, ptr %q
  br label %join
other:
  %r = getelementptr i32, ptr %q, i32 32
  store i32 2, ptr %r
  br label %join
join:
  ret void
}

;   if (i >= n) return;
;   k = in[i]; do s += k; while (k /= 2);
;   out[i] = s;
;
; Who votes are those who came to the loop, of whom some returned before.
; CHECK-LABEL: define ptx_kernel void @loop(
; CHECK: %herd.votes = call i32 @llvm.nvvm.vote.ballot.sync(i32 %herd.warp, i1 %gone)
; CHECK-NEXT: %herd.others = xor i32 %herd.warp, %herd.votes
; CHECK-NEXT: %herd.here = call i32 @llvm.ctpop.i32(i32 %herd.others)
; CHECK: start:
; CHECK: br label %herd.again
; Eight rounds become one, so that those without a vote cost nothing; and those
; who left meet before the vote, so that a round says nothing of them.
; CHECK: loop:
; CHECK: br i1 %c, label %loop.1, label %[[OUT:behind.edge.*]]
; CHECK: [[OUT]]:
; CHECK-NEXT: br label %herd.gone
; CHECK: loop.7:
; CHECK: br i1 %c.7, label %herd.round, label %behind.edge
; CHECK: herd.round:
; CHECK-NEXT: br label %herd.pause
; CHECK: herd.gone:
; CHECK: call void @llvm.sideeffect()
; CHECK-NEXT: br label %herd.vote
; Who left goes round with the others, from vote to vote.
; CHECK: herd.again:
; CHECK: br i1 %herd.in.{{.*}}, label %herd.enter, label %herd.vote
; CHECK: herd.vote:
; CHECK: %herd.inside = call i32 @llvm.nvvm.vote.ballot.sync(i32 %herd.others, i1 %herd.in.{{.*}})
; CHECK: br i1 %herd.enough, label %herd.again, label %herd.leave
; CHECK: herd.leave:
; CHECK-NEXT: br label %behind
;
; EACH-LABEL: define ptx_kernel void @loop(
; EACH: mul i32 %herd.here, 8
; EACH: loop:
; EACH: br i1 %c, label %herd.round
define ptx_kernel void @loop(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %gone = icmp uge i32 %i, %n
  br i1 %gone, label %done, label %start
start:
  %p = getelementptr i32, ptr %in, i32 %i
  %first = load i32, ptr %p
  br label %loop
loop:
  %k = phi i32 [ %first, %start ], [ %half, %loop ]
  %s = phi i32 [ 0, %start ], [ %sum, %loop ]
  %sum = add i32 %s, %k
  %half = lshr i32 %k, 1
  %c = icmp ne i32 %half, 0
  br i1 %c, label %loop, label %behind
behind:
  %q = getelementptr i32, ptr %out, i32 %i
  store i32 %sum, ptr %q
  br label %done
done:
  ret void
}

;   do { if ((k = in[k]) < 9) break; out[i] = k; } while (--n);
;
; A way out in the midst: who is inside when too few are goes on to it.
; CHECK-LABEL: define ptx_kernel void @breaks(
; CHECK: loop:
; CHECK: %[[NOW:.*]] = or i1 %stop, %herd.over
; CHECK-NEXT: br i1 %[[NOW]], label %done.edge{{.*}}, label %latch
; CHECK: herd.round:
; CHECK-NEXT: br i1 %herd.over{{.*}}, label %loop, label %herd.pause
; CHECK: herd.vote:
; CHECK: xor i1 %herd.enough, true
; CHECK-NEXT: br label %herd.again
; CHECK: herd.met:
; CHECK: br i1 %herd.over{{.*}}, label %herd.leave, label %herd.vote
;
; Too much code to unroll: a counter.
; MANY-LABEL: define ptx_kernel void @breaks(
; MANY: herd.round:
; MANY-NEXT: %[[LESS:.*]] = sub i32 %{{.*}}, 1
; MANY-NEXT: %[[MORE:.*]] = icmp ne i32 %[[LESS]], 0
; MANY-NEXT: %[[ON:.*]] = or i1 %[[MORE]], %herd.over
; MANY-NEXT: br i1 %[[ON]], label %loop, label %herd.pause
define ptx_kernel void @breaks(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %q = getelementptr i32, ptr %out, i32 %i
  br label %loop
loop:
  %left = phi i32 [ %n, %entry ], [ %less, %latch ]
  %k = phi i32 [ %i, %entry ], [ %next, %latch ]
  %p = getelementptr i32, ptr %in, i32 %k
  %next = load i32, ptr %p
  %stop = icmp slt i32 %next, 9
  br i1 %stop, label %done, label %latch
latch:
  store i32 %next, ptr %q
  %less = sub i32 %left, 1
  %more = icmp ne i32 %less, 0
  br i1 %more, label %loop, label %done
done:
  ret void
}

;   out[i] = x > 0 ? x * x * 5 : x / 3;     as an if
;
; With two ways, all lanes take the side that most want.
; TWO-LABEL: define ptx_kernel void @pure(
; TWO: %herd.enough = icmp ugt i32
; TWO-NEXT: br i1 %herd.enough, label %one, label %other
; With one, a lane that is dropped would have no value.
; CHECK-LABEL: define ptx_kernel void @pure(
; CHECK: br i1 %c, label %one, label %other
define ptx_kernel void @pure(ptr %in, ptr %out) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %one, label %other
one:
  %square = mul i32 %x, %x
  %a = mul i32 %square, 5
  br label %join
other:
  %b = sdiv i32 %x, 3
  br label %join
join:
  %y = phi i32 [ %a, %one ], [ %b, %other ]
  store i32 %y, ptr %q
  ret void
}

;   y = x; if (x > 0) { y = x * x; if (x > 9) y = y * y * y; }
;   out[i] = y;
;
; Inside, all lanes vote that come to the outer branch: all went in.
; TWO-LABEL: define ptx_kernel void @pure_in_pure(
; TWO: br i1 %herd.enough, label %arm, label %join
; TWO: arm:
; TWO: call i32 @llvm.nvvm.vote.ballot.sync(i32 %herd.warp, i1 %d)
; TWO: br i1 %herd.enough{{.*}}, label %more, label %both
define ptx_kernel void @pure_in_pure(ptr %in, ptr %out) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  %d = icmp sgt i32 %x, 9
  br i1 %d, label %more, label %both
more:
  %twice = mul i32 %square, %square
  %cube = mul i32 %twice, %square
  br label %both
both:
  %a = phi i32 [ %square, %arm ], [ %cube, %more ]
  br label %join
join:
  %y = phi i32 [ %x, %entry ], [ %a, %both ]
  store i32 %y, ptr %q
  ret void
}
