; Why loops are not shared, by code.
;
; RUN: opt -passes=reconverge-share -pass-remarks-missed=reconverge-share -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-share<branch=99>' -pass-remarks-missed=reconverge-share -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; BRANCH: not shared: the branch leaves no loop (99) [RC902]
;
; A branch that is named does not overrule the source.
; RUN: opt -passes='reconverge-share<branch=7>' -pass-remarks-missed=reconverge-share -disable-output %s 2>&1 | FileCheck %s --check-prefix=NAMED
; NAMED: not shared: the source forbids it [RC915]
;
; Sums of floating-point values by atomic operations are shared if one asks.
; RUN: opt -passes='reconverge-share<atomics=1>' -pass-remarks-missed=reconverge-share -disable-output %s 2>&1 | FileCheck %s --check-prefix=FLOATS
; FLOATS-NOT: [RC910]

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.bar.warp.sync(i32)

; do out[k] = k; while (++k < n);
; CHECK: not shared: it has no loop that threads leave at different times [RC901]
define ptx_kernel void @alike(ptr %out, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = k; while (++k < *(volatile bound));      read anew: out may be there
; CHECK: not shared: how often the loop runs is not known before it [RC903]
define ptx_kernel void @bound(ptr %out, ptr %bounds) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = getelementptr i32, ptr %bounds, i32 %t
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %n = load i32, ptr %b
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do if (!in[k]) break; while (++k < threadIdx.x);
; CHECK: not shared: the loop may be left in several ways [RC904]
define ptx_kernel void @left(ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %latch ]
  %p = getelementptr i32, ptr %in, i32 %k
  %x = load i32, ptr %p
  %z = icmp eq i32 %x, 0
  br i1 %z, label %done, label %latch
latch:
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = s += in[k]; while (++k < threadIdx.x);      what is written hangs on s
; CHECK: not shared: an iteration needs what the one before it has made [RC905]
define ptx_kernel void @carried(ptr noalias %out, ptr noalias %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %i = getelementptr i32, ptr %in, i32 %k
  %x = load i32, ptr %i
  %s1 = mul i32 %s, %x
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %s1, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = in[k]; while (++k < threadIdx.x);      one may be the other
; CHECK: not shared: iterations of a thread may touch the same memory (argument 1 and argument 2) [RC906]
define ptx_kernel void @order(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %i = getelementptr i32, ptr %in, i32 %k
  %x = load i32, ptr %i
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %x, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k + 1] = out[k]; while (++k < threadIdx.x);
; CHECK: not shared: iterations of a thread may touch the same memory (argument 1 and argument 1) [RC906]
define ptx_kernel void @near(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  %x = load i32, ptr %p
  %q = getelementptr i32, ptr %p, i32 1
  store i32 %x, ptr %q
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do { atomicAdd(&out[in[k]], k); atomicMax(&out[in[k]], k); } while (++k < threadIdx.x);
; CHECK: not shared: iterations of a thread may touch the same memory (argument 1 and argument 1) [RC906]
define ptx_kernel void @kinds(ptr noalias %out, ptr noalias %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %i = getelementptr i32, ptr %in, i32 %k
  %x = load i32, ptr %i
  %q = getelementptr i32, ptr %out, i32 %x
  %a = atomicrmw add ptr %q, i32 %k monotonic
  %b = atomicrmw max ptr %q, i32 %k monotonic
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do __syncwarp(); while (++k < threadIdx.x);
; CHECK: not shared: lanes work together in the loop (llvm.nvvm.bar.warp.sync) [RC907]
define ptx_kernel void @together() {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do a[k] = k; while (++k < threadIdx.x);      int a[32], of the thread
; CHECK: not shared: the loop uses the thread's own memory [RC908]
define ptx_kernel void @local() {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = alloca [32 x i32]
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %a, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[atomicAdd(count, 1)] = k; while (++k < threadIdx.x);
; CHECK: not shared: the loop waits, or uses what atomic operations return [RC909]
define ptx_kernel void @result(ptr noalias %out, ptr noalias %count) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %at = atomicrmw add ptr %count, i32 1 monotonic
  %p = getelementptr i32, ptr %out, i32 %at
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do atomicAdd(&out[in[k]], 1.5f); while (++k < threadIdx.x);
; CHECK: not shared: a sum by atomic operations is of floating-point values [RC910]
define ptx_kernel void @floats(ptr noalias %out, ptr noalias %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %i = getelementptr i32, ptr %in, i32 %k
  %x = load i32, ptr %i
  %q = getelementptr float, ptr %out, i32 %x
  %a = atomicrmw fadd ptr %q, float 1.5 monotonic
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = lane; while (++k < threadIdx.x);      asked in the loop
; CHECK: not shared: an iteration depends on which thread runs it, or when [RC911]
define ptx_kernel void @lane(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %l = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %l, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = k; while (++k < threadIdx.x);  while (!*(volatile int *)flag);
; CHECK: not shared: a loop waits for other threads [RC912]
define ptx_kernel void @waits(ptr %out, ptr %flag) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %spin
spin:
  %f = load volatile i32, ptr %flag
  %z = icmp eq i32 %f, 0
  br i1 %z, label %spin, label %done
done:
  ret void
}

; do out[k] = k; while (++k < threadIdx.x);      out may lead to the caller's own array
; CHECK: not shared: it is not a kernel [RC913]
define void @function(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do out[k] = s; while (++k < threadIdx.x);      s: eight floats
; CHECK: not shared: a value of the loop cannot be handed to another lane [RC914]
define ptx_kernel void @type(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %from = getelementptr <8 x float>, ptr %out, i32 %t
  %s = load <8 x float>, ptr %from
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr <8 x float>, ptr %out, i32 %k
  store <8 x float> %s, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  ret void
}

; do s = (s * 3 + k) ^ 5 ...; while (++k < threadIdx.x);      nothing else
; CHECK: not shared: what each thread has to do itself is most of the loop [RC917]
define ptx_kernel void @chain(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %s2 = mul i32 %s, %k
  %s3 = xor i32 %s2, 5
  %s4 = mul i32 %s3, %k
  %s1 = xor i32 %s4, 9
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done
done:
  store i32 %s1, ptr %out
  ret void
}

; #pragma reconverge share off
; do out[k] = k; while (++k < threadIdx.x);
; CHECK: not shared: the source forbids it [RC915]
define ptx_kernel void @off(ptr %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %p = getelementptr i32, ptr %out, i32 %k
  store i32 %k, ptr %p
  %k1 = add nuw nsw i32 %k, 1
  %c = icmp ult i32 %k1, %t
  br i1 %c, label %loop, label %done, !rc.branch !1, !rc.request.share !0
done:
  ret void
}

!0 = !{!"off"}
!1 = !{i32 7}
