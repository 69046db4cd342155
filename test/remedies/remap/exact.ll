; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; Rounds for thread blocks of one size: of other sizes none goes there, no warp
; counts as a partial one, and each path is looked after by a lane.
;
; RUN: opt -passes='reconverge-remap<threshold=0;threads=256;exact=1>,verify' -pass-remarks=reconverge-remap -S %s -o %t 2>&1 | FileCheck %s --check-prefix=SAID
; RUN: FileCheck %s < %t
; SAID: remapped: 1 values move, {{.*}} 2080 bytes of shared memory for blocks of 256 threads (threads=)
;
; RUN: not opt -disable-output -passes='reconverge-remap<threads=100;exact=1>' %s 2>&1 | FileCheck %s --check-prefix=PART
; RUN: not opt -disable-output -passes='reconverge-remap<exact=2>' %s 2>&1 | FileCheck %s --check-prefix=BAD
; PART: exact=1 is for whole warps, not for threads=100
; PART-NEXT: Say a multiple of 32
; BAD: remapping has no parameter 'exact=2'
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; 4 paths of 8 warps.
; CHECK-DAG: @__reconverge_counts_four = internal addrspace(3) global [32 x i8]
; CHECK-LABEL: define ptx_kernel void @four(
; The kernel asks for one number of its threads, so blocks must be flat.
; CHECK: [[X:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; CHECK: [[FLAT:%.*]] = icmp eq i32 [[X]], 256
; CHECK: [[ALL:%.*]] = icmp eq i32 %{{.*}}, 256
; CHECK: [[FITS:%.*]] = and i1 [[FLAT]], [[ALL]]
; CHECK: br i1 [[FITS]], label %remap.fits, label %remap.tail
; Two ballots, as a path has two bits.
; CHECK: remap.fits:
; CHECK-COUNT-2: call i32 @llvm.nvvm.vote.ballot.sync(i32 -1,
; CHECK-NOT: ballot
; CHECK: remap.count:
; CHECK: store i8
; CHECK: remap.vote:
; CHECK: call i32 @llvm.nvvm.barrier0.popc
; Eight counts are two words. No loop.
; CHECK: remap.move:
; CHECK-COUNT-2: load i32, ptr addrspace(3)
; CHECK: call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %{{.*}}, i32 1, i32 0)
; CHECK: call i32 @llvm.nvvm.shfl.sync.up.i32(i32 -1, i32 %{{.*}}, i32 2, i32 0)
; CHECK: call i32 @llvm.nvvm.shfl.sync.idx.i32(
; The value has a word, number and path share one.
; CHECK-COUNT-2: store i32
; CHECK: call void @llvm.nvvm.barrier0()
; CHECK-COUNT-2: load i32, ptr addrspace(3)
; CHECK: br label %remap.tail
define ptx_kernel void @four(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %t
  %v = load i32, ptr addrspace(1) %p
  switch i32 %v, label %a [ i32 1, label %b
                            i32 2, label %c
                            i32 3, label %d ]
a:
  %ra = mul i32 %v, 3
  br label %end
b:
  %rb = sub i32 %t, %v
  br label %end
c:
  %rc = xor i32 %v, %t
  br label %end
d:
  %rd = add i32 %v, 9
  br label %end
end:
  %r = phi i32 [ %ra, %a ], [ %rb, %b ], [ %rc, %c ], [ %rd, %d ]
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %r, ptr addrspace(1) %q
  ret void
}
