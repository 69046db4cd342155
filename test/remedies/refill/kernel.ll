; What refilling makes of a kernel: where its edges lead, where lanes meet, and
; the recipe.
;
; RUN: opt -passes='reconverge-refill<threshold=4;source=slice;slice=8>,verify' -S %s | FileCheck %s --check-prefixes=CHECK,SLICE
; RUN: opt -passes='reconverge-refill<slice=2;items=5>,verify' -S %s | FileCheck %s --check-prefixes=CHECK,COUNTER
; RUN: opt -passes='reconverge-refill,verify' -S %s | FileCheck %s --check-prefix=DEFAULT
; DEFAULT: step k grid resident 1 1 most threads 1 128 block one 128 1
; RUN: opt -passes='reconverge-refill<source=slice;items=5>,verify' -S %s | FileCheck %s --check-prefix=LONG
; LONG: step k grid threads 1 4096 block one 128 1
; RUN: not opt -passes='reconverge-refill<source=queue>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: refilling has no parameter 'source=queue'

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()

;   i = blockIdx.x * blockDim.x + threadIdx.x;
;   if (i >= n) return;
;   s = 0;
;   for (t = in[i]; t; t /= 2) s += t * (n + 1);
;   out[i] = s;
;
; CHECK-LABEL: define ptx_kernel void @k(
; CHECK-SAME: ptr %in, ptr %out, i32 %n, i64 %items, i32 %grid.x, i32 %grid.y, i32 %grid.z, i32 %block.x, i32 %block.y, i32 %block.z{{(, ptr %counter)?}}) #[[RECIPE:[0-9]+]]
; What is the same for all items is computed once.
; CHECK: %more = add i32 %n, 1
; CHECK: br label %refill.fetch

; In a launch of one dimension the item is the thread's number.
; CHECK: {{.*}}:{{ +}}; preds = %refill.hand
; CHECK: br i1 {{.*}}, label %{{.*}}, label %{{.*}}
; CHECK: udiv i32
; CHECK: %i = phi i32 [ %{{.*}}, %{{.*}} ], [ %{{.*}}, %item.tail ]
; CHECK: br i1 %inside
; CHECK: load i32, ptr %a
; CHECK: br label %refill.refilled

; The loop: one round, then where lanes meet.
; CHECK: {{^}}loop:{{ +}}; preds = %refill.go
; CHECK-NEXT: mul i32 %{{.*}}, %more
; CHECK: br i1
; CHECK: br label %refill.ran

; The epilogue makes the address again from the number, which is kept.
; CHECK: {{^}}done:{{ +}}; preds = %refill.leave
; CHECK: sext i32
; CHECK: store i32

; CHECK: refill.go:
; CHECK: br i1 %{{.*}}, label %loop, label %refill.ran
; CHECK: refill.ran:
; CHECK: [[RUNS:%.*]] = icmp eq i32 %{{.*}}, 0
; CHECK: call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 [[RUNS]])
; CHECK: icmp ugt i32
; CHECK: br i1 %{{.*}}, label %refill.go, label %refill.refill
; CHECK: refill.leave:{{.*}}
; CHECK-NEXT: switch i32 %{{.*}}, label %refill.refilled [
; CHECK-NEXT: i32 3, label %done
; CHECK: refill.fetch:
; CHECK: call i32 @llvm.nvvm.vote.ballot.sync
; CHECK: call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
; SLICE-NOT: atomicrmw
; COUNTER: atomicrmw add ptr addrspace(1) %{{.*}}, i32 1 monotonic
; COUNTER: call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %{{.*}}, i32 0, i32 31)
; CHECK: refill.done:{{.*}}
; CHECK-NEXT: ret void
define ptx_kernel void @k(ptr %in, ptr %out, i32 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = mul i32 %b, %d
  %i = add i32 %m, %t
  %inside = icmp slt i32 %i, %n
  br i1 %inside, label %work, label %end
work:
  %wide = sext i32 %i to i64
  %a = getelementptr i32, ptr %in, i64 %wide
  %first = load i32, ptr %a
  %more = add i32 %n, 1
  br label %loop
loop:
  %left = phi i32 [ %first, %work ], [ %half, %loop ]
  %sum = phi i32 [ 0, %work ], [ %next, %loop ]
  %part = mul i32 %left, %more
  %next = add i32 %sum, %part
  %half = udiv i32 %left, 2
  %go = icmp ne i32 %half, 0
  br i1 %go, label %loop, label %done
done:
  %at = getelementptr i32, ptr %out, i64 %wide
  store i32 %next, ptr %at
  br label %end
end:
  ret void
}

; for (k = threadIdx.x; k; --k)
;   do { was = now; now = atomicCAS(most, was, max(was, k)); } while (now != was);
; Who fails here is held up by nobody, and so it may be refilled.
; CHECK-LABEL: define ptx_kernel void @most(
; CHECK-SAME: i64 %items
define ptx_kernel void @most(ptr %most, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %latch ]
  %first = load i32, ptr %most
  br label %try
try:
  %was = phi i32 [ %first, %loop ], [ %now, %try ]
  %new = call i32 @llvm.umax.i32(i32 %was, i32 %k)
  %pair = cmpxchg ptr %most, i32 %was, i32 %new monotonic monotonic
  %now = extractvalue { i32, i1 } %pair, 0
  %failed = icmp ne i32 %now, %was
  br i1 %failed, label %try, label %latch
latch:
  %k1 = sub i32 %k, 1
  %c = icmp ne i32 %k1, 0
  br i1 %c, label %loop, label %done
done:
  ret void
}

; SLICE: attributes #[[RECIPE]] = {{{.*}}"reconverge-recipe"="for 1 2147483648 18446744073709551615 step k grid threads 1 1024 block one 128 1 shared program 0 program 1 program 2 amount threads 1 1 dimension 0 dimension 1 dimension 2 dimension 3 dimension 4 dimension 5"
; COUNTER: attributes #[[RECIPE]] = {{{.*}}"reconverge-recipe"="for 1 2147483648 18446744073709551615 scratch one 4 1 zeroed step k grid resident 1 1 most threads 1 640 block one 128 1 shared program 0 program 1 program 2 amount threads 1 1 dimension 0 dimension 1 dimension 2 dimension 3 dimension 4 dimension 5 memory 0"
