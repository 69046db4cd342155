; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes='reconverge-collect<threshold=5;prologue=8>,verify' -pass-remarks-missed=reconverge-collect -pass-remarks=reconverge-collect -disable-output %s 2>&1 | FileCheck %s
;
; One kernel for each reason to leave a kernel alone. But for that, each is the
; kernel @fine.
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.exit()
; CHECK-NOT: remark

; if (in[tid] > 0) out[tid] = x * x * x * x; else out[tid] = 1;
; CHECK: remark: {{.*}} collected: 2 paths
define ptx_kernel void @fine(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; if (tid > 3) ...
; CHECK: remark: {{.*}} not collected: no branch on data splits its threads into paths [RC501]
define ptx_kernel void @no_path(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %c = icmp sgt i32 %tid, 3
  br i1 %c, label %then, label %else
then:
  %x = load i32, ptr addrspace(1) %pi
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; for (k = 0; k < 4; ++k) if (in[tid] > k) out[tid] = ...;
; CHECK: remark: {{.*}} not collected: the branch is in a loop, or comes after one [RC502]
define ptx_kernel void @in_loop(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  br label %head
head:
  %k = phi i32 [ 0, %entry ], [ %k1, %latch ]
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, %k
  br i1 %c, label %then, label %latch
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %k
  %x5 = xor i32 %x4, %x2
  %x6 = add i32 %x5, %x3
  store i32 %x6, ptr addrspace(1) %po
  br label %latch
latch:
  %k1 = add i32 %k, 1
  %more = icmp slt i32 %k1, 4
  br i1 %more, label %head, label %end
end:
  ret void
}

; out[tid] = 2; if (in[tid] > 0) ...
; CHECK: remark: {{.*}} not collected: the kernel does more than read before the branch [RC503]
define ptx_kernel void @effects(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  store i32 2, ptr addrspace(1) %po
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; The same, where the read is volatile.
; CHECK: remark: {{.*}} not collected: the kernel does more than read before the branch [RC503]
define ptx_kernel void @volatile(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load volatile i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; if (in[tid] * ... > 0) ...
; CHECK: remark: {{.*}} not collected: it takes too long to find the path ({{.*}} instructions) [RC504]
define ptx_kernel void @dear(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %a = mul i32 %x, %x
  %b = xor i32 %a, %tid
  %d = mul i32 %b, %x
  %e = xor i32 %d, %tid
  %f = mul i32 %e, %x
  %c = icmp sgt i32 %f, 0
  br i1 %c, label %then, label %else
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; if (in[tid] > 0) ...; else exit;
; CHECK: remark: {{.*}} not collected: its threads end by exit [RC511]
define ptx_kernel void @exits(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %x2 = mul i32 %x, %x
  %x3 = mul i32 %x2, %x
  %x4 = mul i32 %x3, %x
  store i32 %x4, ptr addrspace(1) %po
  ret void
else:
  call void @llvm.nvvm.exit()
  ret void
}

; int frame[x];
; CHECK: remark: {{.*}} not collected: it takes memory of a size that only the run knows [RC512]
define ptx_kernel void @frame(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %then, label %else
then:
  %p = alloca i32, i32 %x
  store i32 %tid, ptr %p
  %x2 = load i32, ptr %p
  %x3 = mul i32 %x2, %x
  store i32 %x3, ptr addrspace(1) %po
  ret void
else:
  store i32 1, ptr addrspace(1) %po
  ret void
}

; What ties threads to places does here, too.
; CHECK: remark: {{.*}} not collected: it uses shared memory [RC311]
@shared = internal addrspace(3) global i32 undef
define ptx_kernel void @tied(ptr addrspace(1) %out) {
  %x = load i32, ptr addrspace(3) @shared
  store i32 %x, ptr addrspace(1) %out
  ret void
}
