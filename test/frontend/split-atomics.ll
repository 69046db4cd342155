; RUN: opt -S -passes='verify,reconverge-split-atomics,verify' %s \
; RUN:   | FileCheck %s --implicit-check-not='atomicrmw {{.*}}, i64 %'

; 64-bit additions to shared memory of which only the sums are read: by halves.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@sum = internal addrspace(3) global i64 undef, align 8
@sums = internal addrspace(3) global [4 x { i64, i32 }] undef, align 8
@dynamic = external addrspace(3) global [0 x i64], align 8

; atomicAdd(&sum, v): the high word gets the carry as well.
; CHECK-LABEL: define void @any(
; CHECK-NEXT:    [[LOW:%.*]] = trunc i64 %v to i32
; CHECK-NEXT:    [[SHIFTED:%.*]] = lshr i64 %v, 32
; CHECK-NEXT:    [[HIGH:%.*]] = trunc i64 [[SHIFTED]] to i32
; CHECK-NEXT:    [[OLD:%.*]] = atomicrmw add ptr addrspace(3) @sum, i32 [[LOW]] seq_cst, align 8
; CHECK-NEXT:    [[NEW:%.*]] = add i32 [[OLD]], [[LOW]]
; CHECK-NEXT:    [[OVER:%.*]] = icmp ult i32 [[NEW]], [[LOW]]
; CHECK-NEXT:    [[CARRY:%.*]] = zext i1 [[OVER]] to i32
; CHECK-NEXT:    [[UP:%.*]] = add i32 [[HIGH]], [[CARRY]]
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @sum, i64 4), i32 [[UP]] seq_cst, align 4, !reconverge.often.zero
; CHECK-NEXT:    ret void
define void @any(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @sum, i64 %v seq_cst, align 8
  ret void
}

; atomicAdd(&sum, (unsigned long long)v) of an unsigned v: its high word is zero.
; CHECK-LABEL: define void @zero_extended(
; CHECK-NEXT:    [[OLD:%.*]] = atomicrmw add ptr addrspace(3) @sum, i32 %v monotonic, align 8
; CHECK-NEXT:    [[NEW:%.*]] = add i32 [[OLD]], %v
; CHECK-NEXT:    [[OVER:%.*]] = icmp ult i32 [[NEW]], %v
; CHECK-NEXT:    [[CARRY:%.*]] = zext i1 [[OVER]] to i32
; CHECK-NEXT:    atomicrmw add {{.*}} i32 [[CARRY]] monotonic, align 4
; CHECK-NEXT:    ret void
define void @zero_extended(i32 %v) {
  %w = zext i32 %v to i64
  %old = atomicrmw add ptr addrspace(3) @sum, i64 %w monotonic, align 8
  ret void
}

; of an int v: all signs.
; CHECK-LABEL: define void @sign_extended(
; CHECK-NEXT:    [[HIGH:%.*]] = ashr i32 %v, 31
; CHECK-NEXT:    atomicrmw add {{.*}} i32 %v
; CHECK:         add i32 [[HIGH]],
define void @sign_extended(i32 %v) {
  %w = sext i32 %v to i64
  %old = atomicrmw add ptr addrspace(3) @sum, i64 %w monotonic, align 8
  ret void
}

; atomicAdd(&sum, -v)
; CHECK-LABEL: define void @subtracted(
; CHECK-NEXT:    [[MINUS:%.*]] = sub i64 0, %v
; CHECK-NEXT:    [[LOW:%.*]] = trunc i64 [[MINUS]] to i32
; CHECK:         atomicrmw add {{.*}} i32 [[LOW]]
define void @subtracted(i64 %v) {
  %old = atomicrmw sub ptr addrspace(3) @sum, i64 %v monotonic, align 8
  ret void
}

; A count beside the sum, plain accesses before and after, the block's scope.
; CHECK-LABEL: define i64 @among_others(
; CHECK:         atomicrmw add ptr addrspace(3) %at, i32 {{.*}} syncscope("ptx.cta") monotonic, align 8
; CHECK:         [[TOP:%.*]] = getelementptr inbounds i8, ptr addrspace(3) %at, i32 4
; CHECK:         atomicrmw add ptr addrspace(3) %count, i32 1
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) [[TOP]], i32 {{.*}} syncscope("ptx.cta") monotonic, align 4
; CHECK-NEXT:    call void @llvm.nvvm.barrier0()
define i64 @among_others(i64 %v, i32 %i) {
  call void @llvm.memset.p3.i64(ptr addrspace(3) @sums, i8 0, i64 64, i1 false)
  call void @llvm.nvvm.barrier0()
  %at = getelementptr [4 x { i64, i32 }], ptr addrspace(3) @sums, i32 0, i32 %i
  %count = getelementptr { i64, i32 }, ptr addrspace(3) %at, i32 0, i32 1
  %old = atomicrmw add ptr addrspace(3) %at, i64 %v syncscope("ptx.cta") monotonic, align 8
  %old2 = atomicrmw add ptr addrspace(3) %count, i32 1 monotonic, align 4
  call void @llvm.nvvm.barrier0()
  %sum = load i64, ptr addrspace(3) %at
  store i64 0, ptr addrspace(3) %at
  ret i64 %sum
}

; extern __shared__ long long dynamic[]; the generic address is looked through.
; CHECK-LABEL: define void @dynamic_array(
; CHECK:         atomicrmw add ptr %at, i32
; CHECK:         atomicrmw add ptr {{%.*}}, i32
define void @dynamic_array(i64 %v, i32 %i) {
  %generic = addrspacecast ptr addrspace(3) @dynamic to ptr
  %at = getelementptr i64, ptr %generic, i32 %i
  %old = atomicrmw add ptr %at, i64 %v monotonic, align 8
  ret void
}

; Both high words come after both low words and after a load from elsewhere, but
; before one of a sum.
; CHECK-LABEL: define i64 @high_words_last(
; CHECK:         atomicrmw add ptr addrspace(3) @sum, i32
; CHECK:         %x = load i64, ptr %p
; CHECK:         atomicrmw add ptr addrspace(3) @sums, i32
; CHECK:         atomicrmw add ptr addrspace(3) getelementptr {{.*}} @sum, i64 4)
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) getelementptr {{.*}} @sums, i64 4)
; CHECK-NEXT:    load i64, ptr addrspace(3) @sum
define i64 @high_words_last(i64 %v, ptr %p) {
  %old = atomicrmw add ptr addrspace(3) @sum, i64 %v monotonic, align 8
  %x = load i64, ptr %p
  %old2 = atomicrmw add ptr addrspace(3) @sums, i64 %x monotonic, align 8
  %mine = load i64, ptr addrspace(3) @sum
  ret i64 %mine
}

declare void @llvm.memset.p3.i64(ptr addrspace(3), i8, i64, i1)
declare void @llvm.nvvm.barrier0()
