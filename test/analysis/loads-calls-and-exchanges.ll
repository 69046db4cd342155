; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; RUN: opt -passes="print<reconverge-uniformity>" -disable-output %s 2>&1 | FileCheck %s
;
; Memory that nothing writes is as uniform as its address; other memory is so
; only for lanes that read it together. Exchanges between lanes, atomics, local
; memory and unknown calls have causes of their own. (What an executor that runs
; lanes apart may rely on, unittests/analysis/UniformityTest.cpp judges.)
target triple = "nvptx64-nvidia-cuda"

%params = type { i32, float }
@tile = addrspace(3) global [32 x float] undef
@table = addrspace(4) externally_initialized global [16 x i32] zeroinitializer

; __global__ void loads(Params in, Params inout, const int *__restrict__ ro, int *p)
define ptx_kernel void @loads(ptr byval(%params) %in, ptr byval(%params) %inout,
                              ptr noalias readonly %ro, ptr %p) {
; CHECK-LABEL: uniformity of 'loads'
; CHECK-NEXT: grid: ptr %in
; CHECK-NEXT: divergent(local memory): ptr %inout
; CHECK-NEXT: grid: ptr %ro
  %param = load i32, ptr %in
; CHECK: grid: %param =
  store i32 %param, ptr %inout
  %copy = load i32, ptr %inout
; CHECK: divergent(local memory): %copy =
  %constant = load i32, ptr addrspace(4) @table
; CHECK: grid: %constant =
  %restrict = load i32, ptr %ro
; CHECK-NEXT: grid: %restrict =
  %global = load i32, ptr %p
; CHECK-NEXT: warp: %global =
  %shared = load float, ptr addrspace(3) @tile
; CHECK-NEXT: warp: %shared =
  %array = alloca [4 x i32]
; CHECK-NEXT: divergent(local memory): %array =
  ret void
}

; __shfl_xor_sync, __ballot_sync, __any_sync, __match_any_sync, atomicAdd
define ptx_kernel void @exchanges(ptr %p) {
; CHECK-LABEL: uniformity of 'exchanges'
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %odd = trunc i32 %tid to i1
  %other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %tid, i32 1, i32 31)
; CHECK: divergent(shuffle): %other =
  %ballot = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %odd)
; CHECK-NEXT: warp: %ballot =
  %any = call i1 @llvm.nvvm.vote.any.sync(i32 -1, i1 %odd)
; CHECK-NEXT: warp: %any =
  %peers = call i32 @llvm.nvvm.match.any.sync.i32(i32 -1, i32 %tid)
; CHECK-NEXT: divergent(shuffle): %peers =
  %old = atomicrmw add ptr %p, i32 1 seq_cst
; CHECK-NEXT: divergent(atomic): %old =
  %now = call i64 @llvm.nvvm.read.ptx.sreg.clock64()
; CHECK-NEXT: divergent(clock): %now =
  ret void
}

; An operation on matrices: the same registers, but not the same elements.
define ptx_kernel void @tiles(ptr %p, <2 x half> %u) {
; CHECK-LABEL: uniformity of 'tiles'
  %b = call i32 @llvm.nvvm.wmma.m32n8k16.load.b.col.stride.s8.p0(ptr %p, i32 16)
; CHECK: divergent(shuffle): %b =
  %d = call { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(<2 x half> %u, <2 x half> %u, <2 x half> %u, <2 x half> %u, <2 x half> %u)
; CHECK-NEXT: divergent(shuffle): %d =
  %moved = call i32 @reconverge.movmatrix(i32 0)
; CHECK-NEXT: divergent(call): %moved =
  %plain = call i32 @"reconverge.cvt~rna.tf32.f32"(i32 0)
; CHECK-NEXT: grid: %plain =
  ret void
}

; sinf(u), unknown(n), asm("...")
define ptx_kernel void @calls(float %u, i32 %n) {
; CHECK-LABEL: uniformity of 'calls'
  %sine = call float @__nv_sinf(float %u)
; CHECK: grid: %sine =
  %fma = call float @llvm.fma.f32(float %sine, float %u, float %u)
; CHECK-NEXT: grid: %fma =
  %r = call i32 @unknown(i32 %n)
; CHECK-NEXT: divergent(call): %r =
  %a = call i32 asm "add.u32 $0, $1, 1;", "=r,r"(i32 %n)
; CHECK-NEXT: divergent(inline assembly): %a =
  ret void
}

; __device__ int device(int a)
define i32 @device(i32 %a) {
; CHECK-LABEL: uniformity of 'device'
; CHECK-NEXT: divergent(argument): i32 %a
  ret i32 %a
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.wmma.m32n8k16.load.b.col.stride.s8.p0(ptr, i32)
declare { <2 x half>, <2 x half> } @llvm.nvvm.mma.m16n8k8.row.col.f16.f16(<2 x half>, <2 x half>, <2 x half>, <2 x half>, <2 x half>)
declare i32 @reconverge.movmatrix(i32) convergent memory(none)
declare i32 @"reconverge.cvt~rna.tf32.f32"(i32) memory(none)
declare i64 @llvm.nvvm.read.ptx.sreg.clock64()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i1 @llvm.nvvm.vote.any.sync(i32, i1)
declare i32 @llvm.nvvm.match.any.sync.i32(i32, i32)
declare float @__nv_sinf(float)
declare float @llvm.fma.f32(float, float, float)
declare i32 @unknown(i32)
