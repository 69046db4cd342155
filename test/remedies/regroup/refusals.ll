; Why threads are not sorted, by code. What ties threads to their places is in
; test/remedies/permute.
;
; RUN: opt -passes=reconverge-regroup -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<branch=70>' -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; RUN: opt -passes='reconverge-regroup<locality=4;gather=70>' -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s --check-prefix=GATHER
; RUN: not opt -passes='reconverge-regroup<locality=17>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; BRANCH: not regrouped: no branch of that number splits a warp (70) [RC602]
; GATHER: not regrouped: no load of that number (70) [RC603]
; SLIP: regrouping has no parameter 'locality=17'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.exit()

; All threads go the same way.
; CHECK: not regrouped: nothing tells beforehand what its threads will do [RC601]
define ptx_kernel void @uniform(ptr %out, i32 %n) {
entry:
  %c = icmp eq i32 %n, 3
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  store i32 0, ptr %out
  br label %done
done:
  ret void
}

; out[0] = 1; if (in[t]) out[t] = 2;     the same memory, for all that is known
; CHECK: not regrouped: what decides is read where the kernel has written [RC611]
define ptx_kernel void @written(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 1, ptr %out
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 2, ptr %q
  br label %done
done:
  ret void
}

; if (atomicAdd(in, 1) & 1) out[t] = 2;
; CHECK: not regrouped: what decides comes from an effect [RC612]
define ptx_kernel void @exchange(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = atomicrmw add ptr %in, i32 1 monotonic
  %b = and i32 %v, 1
  %c = icmp ne i32 %b, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 2, ptr %q
  br label %done
done:
  ret void
}

; for (x = in[t]; x > 1; x = x & 1 ? 3 * x + 1 : x / 2) ++k;     all is the slice
; CHECK: not regrouped: to know it takes as long as the kernel [RC613]
define ptx_kernel void @dear(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  br label %loop
loop:
  %x = phi i32 [ %v, %entry ], [ %next, %loop ]
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %b = and i32 %x, 1
  %odd = icmp ne i32 %b, 0
  %m = mul i32 %x, 3
  %m1 = add i32 %m, 1
  %h = lshr i32 %x, 1
  %next = select i1 %odd, i32 %m1, i32 %h
  %k1 = add i32 %k, 1
  %c = icmp ugt i32 %next, 1
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %k1, ptr %q
  ret void
}

; CHECK: not regrouped: a thread may end by exit [RC614]
define ptx_kernel void @ends(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  call void @llvm.nvvm.exit()
  br label %done
done:
  store i32 2, ptr %out
  ret void
}

!0 = !{i32 0}
