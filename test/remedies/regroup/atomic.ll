; What decides may be read after an atomic operation on other memory, whatever
; its order: the thread has not written there. On memory that may be the same it
; may not.
;
; RUN: opt -passes='reconverge-regroup,verify' -pass-remarks=reconverge-regroup -pass-remarks-missed=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; atomicAdd(count, 1); if (in[t]) out[t] = 2;
; CHECK: regrouped: threads are sorted by 1 bits of 1 branches 1
define ptx_kernel void @apart(ptr noalias %out, ptr noalias %count, ptr noalias %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %old = atomicrmw add ptr %count, i32 1 seq_cst
  %swap = cmpxchg ptr %count, i32 7, i32 8 seq_cst seq_cst
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

; CHECK: not regrouped: what decides is read where the kernel has written [RC611]
define ptx_kernel void @together(ptr noalias %out, ptr %count, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %old = atomicrmw add ptr %count, i32 1 seq_cst
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

!0 = !{i32 1}
