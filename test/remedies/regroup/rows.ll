; An array in whose rows threads lie side by side is copied into the order before
; the kernel, and what has changed goes back behind it.
;
; RUN: opt -passes='reconverge-regroup<layout=rows>,verify' -pass-remarks=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: not opt -passes='reconverge-regroup<layout=row>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: regrouping has no parameter 'layout=row'

; CHECK: regrouped: threads are sorted by 6 bits of 1 branches 0; 1 arrays with 2 accesses lie in the order

; The column of the thread: 32 threads beside each other, 8 bytes a cell.
; CHECK-LABEL: define ptx_kernel void @walk(
; CHECK-SAME: ptr noalias %rows, {{.*}}, ptr noalias %row0, i64 %step, ptr %index, i64 %units
; CHECK: %rows{{[0-9]*}} = addrspacecast ptr %row0 to ptr addrspace(1)
; CHECK: [[WARP:%.*]] = lshr i64 [[PLACE:%.*]], 5
; CHECK: [[FAR:%.*]] = mul i64 [[WARP]], %step
; CHECK: [[LANE:%.*]] = and i64 [[PLACE]], 31
; CHECK: [[NEAR:%.*]] = mul i64 [[LANE]], 8
; CHECK: [[AT:%.*]] = add i64 [[FAR]], [[NEAR]]
; CHECK: %column = getelementptr i8, ptr addrspace(1) {{.*}}, i64 [[AT]]

; A row of 32 threads is 256 bytes, whatever the stride was.
; CHECK: shl {{.*}}i64 {{.*}}, 8
; CHECK: %v = load float, ptr addrspace(1) {{.*}}, align 8
; CHECK: store float %v1, ptr addrspace(1) {{.*}}, align 4
; CHECK: store float %v, ptr %q

; What the host is told: the array is argument 1, its cells have 8 bytes, and it
; is stored to; threads beyond the end of a row stay away from it. The stride is
; the integer in argument 4. The other pointers that are followed.
; CHECK: "reconverge-recipe"="for 4096 2147483648 18446744073709551615 line array 1 8 stored guarded argument 32 4 0 sext 64 32 0 elsewhere 3 0 elsewhere 2 0 scratch {{.*}} helper walk$scatter$before {{.*}} helper walk$take_rows$before grid threads 1 32 block one 256 1 memory 1 amount threads 1 1 amount one 8 1 amount one 32 1 rows 0 rows 1 rows 4 rows 5 rows 6 rows 7 rows 8 rows 3 helper walk$invert$before grid threads 1 256 block one 256 1 memory 1 amount threads 1 1 memory 7 step walk grid blocks 1 1 block blockthreads 1 1 shared program 0 program 1 program 2 program 3 program 4 rows 2 rows 3 memory 1 {{.*}} step walk$bring_rows$before

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; for (k = 0; k < many[i]; ++k)
;   { cell &c = rows[(k & 7) * n + i]; c.b += c.a; }
define ptx_kernel void @walk(ptr %unused, ptr %rows, ptr %out, ptr %many, i32 %n) {
entry:
  %x = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %d = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %m0 = mul i32 %b, %d
  %t = add i32 %m0, %x
  %ok = icmp slt i32 %t, %n
  br i1 %ok, label %head, label %end
head:
  %i = sext i32 %t to i64
  %stride = sext i32 %n to i64
  %pm = getelementptr i32, ptr %many, i64 %i
  %m = load i32, ptr %pm
  br label %loop
loop:
  %k = phi i32 [ 0, %head ], [ %k1, %loop ]
  %k7 = and i32 %k, 7
  %kw = zext i32 %k7 to i64
  %row = mul i64 %kw, %stride
  %cell = add i64 %row, %i
  %p = getelementptr [2 x float], ptr %rows, i64 %cell
  %v = load float, ptr %p, align 8
  %v1 = fadd float %v, 1.0
  %p1 = getelementptr i8, ptr %p, i64 4
  store float %v1, ptr %p1, align 4
  %k1 = add i32 %k, 1
  %c = icmp ult i32 %k1, %m
  br i1 %c, label %loop, label %done, !rc.branch !0
done:
  %q = getelementptr float, ptr %out, i64 %i
  store float %v, ptr %q
  br label %end
end:
  ret void
}
!0 = !{i32 0}
