; RUN: opt -S -passes='verify,function(reconverge-form-fma),verify' %s \
; RUN:   | FileCheck %s --implicit-check-not=@llvm.fma --implicit-check-not=contract

; What is not fused, one reason a function. `contract` goes from what stays, so
; that no later stage fuses it.

target triple = "nvptx64-nvidia-cuda"

; #pragma clang fp contract(off) on the product
; CHECK-LABEL: define float @product_not_allowed(
; CHECK:         fmul float
; CHECK-NEXT:    fadd float
define float @product_not_allowed(float %x, float %y, float %z) {
  %m = fmul float %x, %y
  %s = fadd contract float %m, %z
  ret float %s
}

; CHECK-LABEL: define float @sum_not_allowed(
; CHECK:         fmul float
; CHECK-NEXT:    fadd float
define float @sum_not_allowed(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %s = fadd float %m, %z
  ret float %s
}

; *p = m: the product is rounded anyway.
; CHECK-LABEL: define float @product_stored(
; CHECK:         [[M:%.*]] = fmul float %x, %y
; CHECK-NEXT:    store float [[M]]
; CHECK-NEXT:    fadd float [[M]], %z
define float @product_stored(ptr %p, float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  store float %m, ptr %p
  %s = fadd contract float %m, %z
  ret float %s
}

; m + z and m * z
; CHECK-LABEL: define float @product_multiplied(
; CHECK:         [[M:%.*]] = fmul float %x, %y
; CHECK-NEXT:    fadd float [[M]], %z
; CHECK-NEXT:    fmul float [[M]], %z
define float @product_multiplied(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %s = fadd contract float %m, %z
  %t = fmul contract float %m, %z
  %d = fdiv float %s, %t
  ret float %d
}

; m + z and -m, which is passed on
; CHECK-LABEL: define float @negation_passed_on(
; CHECK:         [[M:%.*]] = fmul float %x, %y
; CHECK:         fadd float [[M]], %z
define float @negation_passed_on(float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  %n = fneg float %m
  %s = fadd contract float %m, %z
  %d = fdiv float %s, %n
  ret float %d
}

; if (c) s = m + z; else s = m - z: ptxas keeps the multiplication above.
; CHECK-LABEL: define float @sums_in_two_blocks(
; CHECK-NEXT:    [[M:%.*]] = fmul float %x, %y
; CHECK:       then:
; CHECK-NEXT:    fadd float [[M]], %z
; CHECK:       else:
; CHECK-NEXT:    fsub float [[M]], %z
define float @sums_in_two_blocks(i1 %c, float %x, float %y, float %z) {
  %m = fmul contract float %x, %y
  br i1 %c, label %then, label %else
then:
  %s = fadd contract float %m, %z
  br label %done
else:
  %t = fsub contract float %m, %z
  br label %done
done:
  %r = phi float [ %s, %then ], [ %t, %else ]
  ret float %r
}

; m = x * y; while (n--) s += m: the product would be made in each turn.
; CHECK-LABEL: define float @sum_in_a_loop(
; CHECK-NEXT:    [[M:%.*]] = fmul float %x, %y
; CHECK:       loop:
; CHECK:         fadd float %s, [[M]]
define float @sum_in_a_loop(i32 %n, float %x, float %y) {
  %m = fmul contract float %x, %y
  br label %loop
loop:
  %i = phi i32 [ 0, %0 ], [ %j, %loop ]
  %s = phi float [ 0.0, %0 ], [ %t, %loop ]
  %t = fadd contract float %s, %m
  %j = add i32 %i, 1
  %c = icmp slt i32 %j, %n
  br i1 %c, label %loop, label %done
done:
  ret float %t
}

; The machine has no fused form of it.
; CHECK-LABEL: define fp128 @no_fused_form(
; CHECK:         fmul fp128
; CHECK-NEXT:    fadd fp128
define fp128 @no_fused_form(fp128 %x, fp128 %y, fp128 %z) {
  %m = fmul contract fp128 %x, %y
  %s = fadd contract fp128 %m, %z
  ret fp128 %s
}

; __fmul_rn(x, y) + z
; CHECK-LABEL: define float @rounded_on_purpose(
; CHECK:         call float @llvm.nvvm.mul.rn.f
; CHECK-NEXT:    fadd float
define float @rounded_on_purpose(float %x, float %y, float %z) {
  %m = call float @llvm.nvvm.mul.rn.f(float %x, float %y)
  %s = fadd contract float %m, %z
  ret float %s
}
declare float @llvm.nvvm.mul.rn.f(float, float)
