; RUN: opt -S -passes='verify,function(reconverge-form-fma),verify' %s | FileCheck %s

; What is fused, one shape a function. Flags of both instructions that remain
; are kept; `contract` itself goes.

target triple = "nvptx64-nvidia-cuda"

; x * y + z
; CHECK-LABEL: define float @product_left(
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %z)
; CHECK-NEXT:    ret float %s
define float @product_left(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %s = fadd contract float %m, %z
  ret float %s
}

; z + x * y
; CHECK-LABEL: define double @product_right(
; CHECK-NEXT:    %s = call double @llvm.fma.f64(double %x, double %y, double %z)
; CHECK-NEXT:    ret double %s
define double @product_right(double %x, double %y, double %z) {
  %m = fmul contract double %x, %y
  %s = fadd contract double %z, %m
  ret double %s
}

; x * y - z
; CHECK-LABEL: define float @minus_addend(
; CHECK-NEXT:    [[Z:%.*]] = fneg float %z
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float [[Z]])
; CHECK-NEXT:    ret float %s
define float @minus_addend(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %s = fsub contract float %m, %z
  ret float %s
}

; z - x * y
; CHECK-LABEL: define half @minus_product(
; CHECK-NEXT:    [[X:%.*]] = fneg half %x
; CHECK-NEXT:    %s = call half @llvm.fma.f16(half [[X]], half %y, half %z)
; CHECK-NEXT:    ret half %s
define half @minus_product(half %x, half %y, half %z) {
  %m = fmul contract half %x, %y
  %s = fsub contract half %z, %m
  ret half %s
}

; -(x * y) + z
; CHECK-LABEL: define float @negated_product(
; CHECK-NEXT:    [[X:%.*]] = fneg float %x
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float [[X]], float %y, float %z)
; CHECK-NEXT:    ret float %s
define float @negated_product(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %n = fneg float %m
  %s = fadd contract float %n, %z
  ret float %s
}

; z - -(x * y)
; CHECK-LABEL: define float @minus_negated_product(
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %z)
; CHECK-NEXT:    ret float %s
define float @minus_negated_product(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %n = fneg float %m
  %s = fsub contract float %z, %n
  ret float %s
}

; Of a vector.
; CHECK-LABEL: define <2 x half> @vector(
; CHECK-NEXT:    %s = call <2 x half> @llvm.fma.v2f16(<2 x half> %x, <2 x half> %y, <2 x half> %z)
; CHECK-NEXT:    ret <2 x half> %s
define <2 x half> @vector(<2 x half> %x, <2 x half> %y, <2 x half> %z) {
  %m = fmul contract <2 x half> %x, %y
  %s = fadd contract <2 x half> %m, %z
  ret <2 x half> %s
}

; __nv_bfloat16
; CHECK-LABEL: define bfloat @brain_float(
; CHECK-NEXT:    %s = call bfloat @llvm.fma.bf16(bfloat %x, bfloat %y, bfloat %z)
; CHECK-NEXT:    ret bfloat %s
define bfloat @brain_float(bfloat %x, bfloat %y, bfloat %z) {
  %m = fmul contract bfloat %x, %y
  %s = fadd contract bfloat %m, %z
  ret bfloat %s
}

; x * y + u * v: one of the two stays, the left one is taken.
; CHECK-LABEL: define float @two_products(
; CHECK-NEXT:    %n = fmul float %u, %v
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %n)
; CHECK-NEXT:    ret float %s
define float @two_products(float %x, float %y, float %u, float %v) {
  %m = fmul contract float %x, %y
  %n = fmul contract float %u, %v
  %s = fadd contract float %m, %n
  ret float %s
}

; m = x * y used twice, u * v once: fusing u * v saves a multiplication. m then
; stays for s, and so its other sum is not fused either.
; CHECK-LABEL: define float @product_with_fewer_uses(
; CHECK-NEXT:    %m = fmul float %x, %y
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %u, float %v, float %m)
; CHECK-NEXT:    %t = fadd float %m, %s
; CHECK-NEXT:    ret float %t
define float @product_with_fewer_uses(float %x, float %y, float %u, float %v) {
  %m = fmul contract float %x, %y
  %n = fmul contract float %u, %v
  %s = fadd contract float %m, %n
  %t = fadd contract float %m, %s
  ret float %t
}

; m + z and m - z: every use is a sum, so the product disappears.
; CHECK-LABEL: define float @every_use_a_sum(
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %z)
; CHECK-NEXT:    [[Z:%.*]] = fneg float %z
; CHECK-NEXT:    %t = call float @llvm.fma.f32(float %x, float %y, float [[Z]])
; CHECK-NEXT:    %d = fdiv float %s, %t
; CHECK-NEXT:    ret float %d
define float @every_use_a_sum(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %s = fadd contract float %m, %z
  %t = fsub contract float %m, %z
  %d = fdiv float %s, %t
  ret float %d
}

; Flags that both have stay; others go.
; CHECK-LABEL: define float @flags(
; CHECK-NEXT:    %s = call nnan float @llvm.fma.f32(float %x, float %y, float %z)
; CHECK-NEXT:    ret float %s
define float @flags(float %x, float %y, float %z) {
  %m = fmul nnan contract float %x, %y
  %s = fadd nnan ninf contract float %m, %z
  ret float %s
}

; if (c) s = x * y + z, with the product computed before.
; CHECK-LABEL: define float @sum_in_a_later_block(
; CHECK:         br i1 %c, label %then, label %done
; CHECK:       then:
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %z)
define float @sum_in_a_later_block(i1 %c, float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  br i1 %c, label %then, label %done
then:
  %s = fadd contract float %m, %z
  br label %done
done:
  %r = phi float [ %s, %then ], [ %z, %0 ]
  ret float %r
}

; -ffp-contract=on: permission for this one expression.
; CHECK-LABEL: define float @muladd(
; CHECK-NEXT:    %s = call float @llvm.fma.f32(float %x, float %y, float %z)
; CHECK-NEXT:    ret float %s
define float @muladd(float %x, float %y, float %z) {
  %s = call float @llvm.fmuladd.f32(float %x, float %y, float %z)
  ret float %s
}
declare float @llvm.fmuladd.f32(float, float, float)
