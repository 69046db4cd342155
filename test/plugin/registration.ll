; The passes have their names in a stock opt, and a name that is none of ours
; stays unknown.
;
; RUN: opt -passes='print<reconverge-uniformity>' -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='print<reconverge-branches>' -disable-output %s 2>&1 | FileCheck --check-prefix=BRANCHES %s
; RUN: opt -passes=reconverge-form-fma,verify -S %s | FileCheck --check-prefix=FMA %s
; RUN: not opt -passes=reconverge-nothing -disable-output %s 2>&1 | FileCheck --check-prefix=UNKNOWN %s
;
; BRANCHES: kernel 'scale'
; UNKNOWN: unknown pass name 'reconverge-nothing'

target triple = "nvptx64-nvidia-cuda"

; __global__ void scale(float *out, float a) { out[threadIdx.x] = a * a; }
;
; CHECK-LABEL: uniformity of 'scale':
; FMA-LABEL: define void @scale(
define void @scale(ptr %out, float %a) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() ; CHECK: thread id
  %p = getelementptr float, ptr %out, i32 %t
  %v = fmul float %a, %a ; FMA: fmul float %a, %a
  store float %v, ptr %p
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!nvvm.annotations = !{!0}
!0 = !{ptr @scale, !"kernel", i32 1}
