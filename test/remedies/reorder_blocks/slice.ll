; What order=slice makes of a kernel, and why it leaves some alone.
;
; RUN: opt -passes='reconverge-reorder-blocks<order=slice>,verify' -S %s 2>/dev/null | FileCheck %s
; RUN: opt -passes='reconverge-reorder-blocks<order=slice>' -pass-remarks-missed=reconverge-reorder-blocks -disable-output %s 2>&1 | FileCheck %s --check-prefix=SAID --implicit-check-not=remark

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.exit()
declare void @llvm.nvvm.barrier0()
@all = internal addrspace(3) global [64 x i32] undef

; for (k = threadIdx.x; k < rounds[block]; k += 64) { v = v * 3 + all[v & 63]; __syncthreads(); }
; A thread computes a block: it knows the rounds before the loop. No barrier, no
; shared memory, no read by a thread's number is left.
; CHECK-LABEL: define ptx_kernel void @"strided$costs$before"(
; CHECK-SAME: ptr %costs, i64 %units, i32 %grid.x
; CHECK: [[BELOW:%.*]] = icmp uge i64 {{.*}}, %units
; CHECK-NOT: addrspace(3)
; CHECK-NOT: barrier0
; CHECK: load i32, ptr %p
; CHECK-NOT: load
; CHECK: store i32 {{.*}}, ptr addrspace(1)
; CHECK-NOT: store
; CHECK: ret void
define ptx_kernel void @strided(ptr noalias %out, ptr noalias %rounds) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %rounds, i32 %b
  %n = load i32, ptr %p
  %some = icmp ult i32 %t, %n
  br i1 %some, label %loop, label %done
loop:
  %k = phi i32 [ %t, %entry ], [ %k1, %loop ]
  %v = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %i = and i32 %v, 63
  %s = getelementptr i32, ptr addrspace(3) @all, i32 %i
  %x = load i32, ptr addrspace(3) %s
  %m = mul i32 %v, 3
  %v1 = add i32 %m, %x
  call void @llvm.nvvm.barrier0()
  %k1 = add nuw i32 %k, 64
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  %w = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %q = getelementptr i32, ptr %out, i32 %t
  store i32 %w, ptr %q
  ret void
}

; The rounds are in shared memory, which another thread may have written.
; SAID: remark: {{.*}} blocks not reordered: what decides is read where the kernel has written [RC611]
define ptx_kernel void @shared(ptr noalias %out) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %s = getelementptr i32, ptr addrspace(3) @all, i32 %t
  store i32 %b, ptr addrspace(3) %s
  call void @llvm.nvvm.barrier0()
  %n = load i32, ptr addrspace(3) @all
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %v = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %v1 = mul i32 %v, 3
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %v1, ptr %out
  ret void
}

; Another lane has them.
; SAID: remark: {{.*}} blocks not reordered: what decides comes from an effect [RC612]
define ptx_kernel void @lanes(ptr noalias %out, ptr noalias %rounds) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %rounds, i32 %b
  %mine = load i32, ptr %p
  %n = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %mine, i32 %t, i32 31)
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %v = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %v1 = mul i32 %v, 3
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %v1, ptr %out
  ret void
}

; SAID: remark: {{.*}} blocks not reordered: a thread may end by exit [RC614]
define ptx_kernel void @ends(ptr noalias %out, ptr noalias %rounds) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %p = getelementptr i32, ptr %rounds, i32 %b
  %n = load i32, ptr %p
  %none = icmp eq i32 %n, 0
  br i1 %none, label %end, label %loop
end:
  call void @llvm.nvvm.exit()
  unreachable
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %v = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %v1 = mul i32 %v, 3
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %v1, ptr %out
  ret void
}

; All blocks make as many rounds.
; SAID: remark: {{.*}} blocks not reordered: nothing tells beforehand which thread blocks take long [RC804]
define ptx_kernel void @alike(ptr noalias %out, i32 %n) {
entry:
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %v = phi i32 [ %b, %entry ], [ %v1, %loop ]
  %v1 = mul i32 %v, 3
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %n
  br i1 %c, label %loop, label %done
done:
  store i32 %v1, ptr %out
  ret void
}
