; What is not moved into the order of threads, and why.
;
; RUN: opt -passes='reconverge-regroup<layout=all>,verify' -pass-remarks-missed=reconverge-regroup -pass-remarks=reconverge-regroup -disable-output %s 2>&1 | FileCheck %s
; RUN: not opt -passes='reconverge-regroup<layout=on>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: regrouping has no parameter 'layout=on'

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.membar.gl()

; if (in[which[t]]) atomicAdd(out, 1);
; CHECK: not regrouped: no access by the thread's number alone [RC604]
define ptx_kernel void @elsewhere(ptr noalias %out, ptr noalias %in, ptr byval([99 x i32]) %which) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %w = getelementptr i32, ptr %which, i32 %t
  %i = load i32, ptr %w
  %p = getelementptr i32, ptr %in, i32 %i
  %v = load i32, ptr %p
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %old = atomicrmw add ptr %out, i32 1 monotonic
  br label %done
done:
  ret void
}

; Behind a store that others may be told of, which cannot wait for the end.
; if (n[*which + t]) { out[t] = 1; fence; atomicAdd(sum, 1); }
; CHECK: not regrouped: what is accessed by the thread's number has to stay [RC605]
define ptx_kernel void @told(ptr noalias %out, ptr noalias %n, ptr noalias %which, ptr noalias %sum) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %m = load i32, ptr %which
  %j = add i32 %m, %t
  %e = getelementptr i32, ptr %n, i32 %j
  %f = load i32, ptr %e
  %c = icmp ne i32 %f, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 1, ptr %q
  call void @llvm.nvvm.membar.gl()
  %old = atomicrmw add ptr %sum, i32 1 monotonic
  br label %done
done:
  ret void
}

; v = in[t]; out[t] = v;  if (v) out[t] = in[t + 9] + out[t];
; Pointers may lead to the same memory: the first load is moved, the second is
; not known before, and the store may be read.
; CHECK: regrouped: {{.*}} 1 loads and 0 stores are moved, 4 bytes a thread
define ptx_kernel void @aliased(ptr %out, ptr %in) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %v, ptr %q
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %p9 = getelementptr i8, ptr %p, i64 36
  %w = load i32, ptr %p9
  %x = add i32 %w, %v
  store i32 %x, ptr %q
  br label %done
done:
  ret void
}

; Without a doubt of names: in[t] and out[t] once each. A load whose condition
; comes from an effect stays.
; CHECK: regrouped: {{.*}} 1 loads and 1 stores are moved, 12 bytes a thread
define ptx_kernel void @conditional(ptr noalias %out, ptr noalias %in, ptr noalias %sum) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %t
  %v = load i32, ptr %p
  %c = icmp ne i32 %v, 0
  br i1 %c, label %then, label %done, !rc.branch !0
then:
  %old = atomicrmw add ptr %sum, i32 1 monotonic
  %few = icmp ult i32 %old, 9
  br i1 %few, label %more, label %done
more:
  %p9 = getelementptr i8, ptr %p, i64 36
  %w = load i32, ptr %p9
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %w, ptr %q
  br label %done
done:
  ret void
}

!0 = !{i32 0}
