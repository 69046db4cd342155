; A kernel that counts whom it drops: a parameter more, a vote where it ends, and
; a recipe that keeps what is counted. It changes launches, so it is a module's
; pass.
;
; RUN: opt -passes='reconverge-herd<least=0;stop=0.125;recheck=8>,verify' -S %s | FileCheck %s
; RUN: not opt -passes='reconverge-herd<stop=1.5>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: herding has no parameter 'stop=1.5'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

;   i = threadIdx.x;
;   if (i > n) return;
;   if (in[i] > 0) in[i] = 1;
;
; CHECK-LABEL: define ptx_kernel void @arm(ptr %in, i32 %n, ptr %dropped)
; CHECK: %herd.warp = lshr i32 -1,
; Who wants the arm, and is too few, is dropped.
; CHECK: %herd.enough = icmp ugt i32
; CHECK: %[[NOT:.*]] = xor i1 %herd.enough, true
; CHECK: %[[NOW:.*]] = and i1 %c, %[[NOT]]
; Both ends are one; who ended before was not dropped.
; CHECK: herd.end:
; CHECK-NEXT: %[[WAS:.*]] = phi i1 [ false, %gone ], [ %{{.*}}, %join ]
; CHECK-NEXT: %herd.all = call i32 @llvm.nvvm.vote.ballot.sync(i32 %herd.warp, i1 %[[WAS]])
; CHECK-NEXT: %[[ANY:.*]] = icmp ne i32 %herd.all, 0
; CHECK-NEXT: br i1 %[[ANY]]
; The first of them adds how many they are.
; CHECK: %[[LESS:.*]] = call i32 @llvm.nvvm.read.ptx.sreg.lanemask.lt()
; CHECK: %[[BEFORE:.*]] = and i32 %herd.all, %[[LESS]]
; CHECK: %[[NONE:.*]] = icmp eq i32 %[[BEFORE]], 0
; CHECK: %[[FIRST:.*]] = and i1 %[[WAS]], %[[NONE]]
; CHECK: br i1 %[[FIRST]]
; CHECK: %[[AT:.*]] = addrspacecast ptr %dropped to ptr addrspace(1)
; CHECK: %[[LANES:.*]] = call i32 @llvm.ctpop.i32(i32 %herd.all)
; CHECK: atomicrmw add ptr addrspace(1) %[[AT]], i32 %[[LANES]] monotonic, align 4
; CHECK: "reconverge-recipe"="for 1 4294967295 {{[0-9]+}} stop 0 threads 125000 1000000 8 scratch one 4 1 zeroed kept step arm grid same block same shared program 0 program 1 memory 0"
define ptx_kernel void @arm(ptr %in, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %out = icmp sgt i32 %i, %n
  br i1 %out, label %gone, label %here
gone:
  ret void
here:
  %p = getelementptr i32, ptr %in, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  store i32 1, ptr %p
  br label %join
join:
  ret void
}
