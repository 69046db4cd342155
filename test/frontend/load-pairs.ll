; RUN: opt -S -passes='verify,function(reconverge-load-pairs,instcombine,reconverge-load-pairs),verify' %s | FileCheck %s
; RUN: opt -S -passes='function(instcombine)' %s | FileCheck %s --check-prefix=LLVM

; Loads of neighbours that LLVM takes apart stand in one block again.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

;   float2 v = vertex[j];
;   return v.y > 0 ? v.x * v.x : 0;
; CHECK-LABEL: define float @first_part(
; CHECK:         %y = load float, ptr %py, align 4
; CHECK-NEXT:    %x = load float, ptr %p, align 8, {{.*}}!reconverge.restored
; CHECK-NEXT:    %is = fcmp
; CHECK:       arm:
; CHECK-NEXT:    %xx = fmul
; LLVM-LABEL: define float @first_part(
; LLVM:       arm:
; LLVM-NEXT:    %x = load
define float @first_part(ptr %vertex, i64 %j) {
entry:
  %p = getelementptr inbounds [8 x i8], ptr %vertex, i64 %j
  %x = load float, ptr %p, align 8
  %py = getelementptr inbounds i8, ptr %p, i64 4
  %y = load float, ptr %py, align 4
  %is = fcmp ogt float %y, 0.0
  br i1 %is, label %arm, label %end
arm:
  %xx = fmul float %x, %x
  br label %end
end:
  %r = phi float [ %xx, %arm ], [ 0.0, %entry ]
  ret float %r
}

; The second part's address goes along to the arm, and is computed anew.
; CHECK-LABEL: define float @second_part(
; CHECK:         %x = load float, ptr %p, align 8
; CHECK-NEXT:    [[AT:%.*]] = getelementptr inbounds i8, ptr %p, i64 4
; CHECK-NEXT:    %y = load float, ptr [[AT]], align 4, {{.*}}!reconverge.restored
; CHECK-NEXT:    %is = fcmp
define float @second_part(ptr %vertex, i64 %j) {
entry:
  %p = getelementptr inbounds [8 x i8], ptr %vertex, i64 %j
  %x = load float, ptr %p, align 8
  %py = getelementptr inbounds i8, ptr %p, i64 4
  %y = load float, ptr %py, align 4
  %is = fcmp ogt float %x, 0.0
  br i1 %is, label %arm, label %end
arm:
  %yy = fmul float %y, %y
  br label %end
end:
  %r = phi float [ %yy, %arm ], [ 0.0, %entry ]
  ret float %r
}

; Three parts of an int4 in shared memory. Their alignment is told by the first
; one alone.
; CHECK-LABEL: define i32 @of_four(
; CHECK:         %a = load i32, {{.*}}align 16
; CHECK:         %c = load i32, {{.*}}align 8, {{.*}}!reconverge.restored
; CHECK:         %d = load i32, {{.*}}align 4
; CHECK:       outer:
; CHECK-NEXT:    %cc = mul
; CHECK-NOT:     load
; CHECK:         ret
define i32 @of_four(ptr addrspace(3) %p, i32 %n) {
entry:
  %a = load i32, ptr addrspace(3) %p, align 16
  %pc = getelementptr inbounds i8, ptr addrspace(3) %p, i64 8
  %c = load i32, ptr addrspace(3) %pc, align 4
  %pd = getelementptr inbounds i8, ptr addrspace(3) %p, i64 12
  %d = load i32, ptr addrspace(3) %pd, align 4
  %is = icmp sgt i32 %a, %n
  br i1 %is, label %outer, label %end
outer:
  %cc = mul i32 %c, %c
  %both = icmp sgt i32 %cc, %n
  br i1 %both, label %inner, label %end
inner:
  %dd = mul i32 %d, %d
  br label %end
end:
  %r = phi i32 [ 0, %entry ], [ %cc, %outer ], [ %dd, %inner ]
  ret i32 %r
}

; What is written to elsewhere does not matter.
; CHECK-LABEL: define i32 @written_elsewhere(
; CHECK:         %b = load {{.*}}!reconverge.restored
; CHECK:         br i1
; CHECK:       store
define i32 @written_elsewhere(ptr noalias %p, ptr noalias %out) {
entry:
  %a = load i32, ptr %p, align 8, !reconverge.pair !0
  %is = icmp sgt i32 %a, 0
  br i1 %is, label %arm, label %end
arm:
  store i32 %a, ptr %out
  %pb = getelementptr inbounds i8, ptr %p, i64 4
  %b = load i32, ptr %pb, align 4
  br label %end
end:
  %r = phi i32 [ %b, %arm ], [ 0, %entry ]
  ret i32 %r
}

!0 = !{i64 8, i64 0, i64 0, i64 8}
