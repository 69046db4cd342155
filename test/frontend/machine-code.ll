; What ptxas makes of blocks: print<reconverge-machine-code>.
; RUN: opt -passes='print<reconverge-machine-code>' -disable-output %s 2>&1 | FileCheck %s

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; if (i < n) p[i] += sqrt(p[i]).
; CHECK-LABEL: machine code of branches, {{[0-9]+}} registers
; CHECK-NEXT: block 0: {{.*}}S2R{{.*}}ISETP
; CHECK: block {{[0-9]+}}:{{.*}} LDG{{.*}} MUFU
; CHECK-NOT: 0x
define ptx_kernel void @branches(ptr addrspace(1) %p, i32 %n) #0 {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %in = icmp slt i32 %i, %n
  br i1 %in, label %then, label %end
then:
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i
  %x = load float, ptr addrspace(1) %at
  %root = call float @llvm.nvvm.sqrt.approx.f(float %x)
  %sum = fadd float %root, %x
  store float %sum, ptr addrspace(1) %at
  br label %end
end:
  ret void
}

; A loop of one multiply-add, which ptxas unrolls.
; CHECK-LABEL: machine code of unrolled,
; CHECK: block 4, {{[0-9]+}} copies:{{.*}} FFMA FFMA
define ptx_kernel void @unrolled(ptr addrspace(1) %p, i32 %n, float %a) #0 {
entry:
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %x = phi float [ 1.0, %entry ], [ %y, %loop ]
  %y = call float @llvm.fma.f32(float %x, float %a, float %a)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  store float %y, ptr addrspace(1) %p
  br label %end
end:
  ret void
}

; A store that no branch is worth.
; CHECK-LABEL: machine code of guarded,
; CHECK: block [[HEAD:[0-9]+]]: {{.*}}ISETP
; CHECK: block {{[0-9]+}}, issued by [[HEAD]]: {{.*}}@STS
define ptx_kernel void @guarded(ptr addrspace(3) %p, i32 %n) #0 {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = icmp eq i32 %i, %n
  br i1 %first, label %then, label %end
then:
  store i32 %n, ptr addrspace(3) %p
  br label %end
end:
  call void @llvm.nvvm.barrier0()
  ret void
}

; A kernel that lies elsewhere needs no code here.
declare ptx_kernel void @elsewhere()

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare float @llvm.nvvm.sqrt.approx.f(float)
declare float @llvm.fma.f32(float, float, float)
declare void @llvm.nvvm.barrier0()

!nvvm.annotations = !{!0}
!0 = !{ptr @elsewhere, !"kernel", i32 1}

attributes #0 = { "target-cpu"="sm_90" "target-features"="+ptx85,+sm_90" }
