; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; DEFINE: %{by} =
; DEFINE: %{run} = opt -passes="reconverge-remap<threshold=0;%{by}>,verify" -pass-remarks=reconverge-remap -S %s
;
; REDEFINE: %{by} = algorithm=head_or_tail
; RUN: %{run} -o %t.head 2>&1 | FileCheck %s --check-prefix=TWO
; RUN: FileCheck %s --check-prefix=HEAD < %t.head
; RUN: opt -passes="reconverge-remap<algorithm=head_or_tail;threshold=0>" -S %s -o %t.again
; RUN: diff %t.head %t.again
;
; REDEFINE: %{by} = algorithm=data_group_indexing
; RUN: %{run} -o %t.group 2>&1 | FileCheck %s --check-prefix=ANY
; RUN: FileCheck %s --check-prefix=GROUP < %t.group
;
; REDEFINE: %{by} = algorithm=data_group_indexing;neighbours=64;threads=96
; RUN: %{run} 2>&1 | FileCheck %s --check-prefix=MANY
;
; In blocks of one size, more than two groups are refused.
; REDEFINE: %{by} = algorithm=head_or_tail;exact=1;threads=256
; RUN: opt -passes="reconverge-remap<threshold=0;%{by}>,verify" -pass-remarks=reconverge-remap -pass-remarks-missed=reconverge-remap -disable-output %s 2>&1 | FileCheck %s --check-prefix=EXACT
;
; What is wrong is named, and what there is.
; DEFINE: %{bad} = not opt -disable-output %s
; RUN: %{bad} -passes="reconverge-remap<algorithm=heads>" 2>&1 | FileCheck %s --check-prefix=BAD
; RUN: %{bad} -passes="reconverge-remap<neighbours=2>" 2>&1 | FileCheck %s --check-prefix=BAD
; RUN: %{bad} -passes="reconverge-remap<neighbours=24>" 2>&1 | FileCheck %s --check-prefix=BAD
; RUN: %{bad} -passes="reconverge-remap<neighbours=128>" 2>&1 | FileCheck %s --check-prefix=BAD
; RUN: %{bad} -passes="reconverge-remap<neighbours=x>" 2>&1 | FileCheck %s --check-prefix=BAD
; BAD: remapping has no parameter '{{(algorithm=heads|neighbours=(2|24|128|x))}}'
; BAD-NEXT: algorithm=<automatic, warp_aggregated, head_or_tail or data_group_indexing>, neighbours=<4, 8, 16, 32 or 64>
;
; REDEFINE: %{by} = algorithm=data_group_indexing;neighbours=4
; RUN: %{run} -o %t.less 2>&1 | FileCheck %s --check-prefix=LESS
;
; How the threads of a block find their places: one function for each reason to
; do it otherwise.
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

; TWO: remapped: {{.*}}; head_or_tail{{$}}
; ANY: remapped: {{.*}} 9472 bytes of shared memory for blocks of up to 1024 threads; data_group_indexing by 16{{$}}
; MANY: data_group_indexing by 64{{$}}

; Two counters; and 64 x 4 bytes of counts with 1024 of paths.
; HEAD-DAG: @__reconverge_counts_two = internal addrspace(3) global [16 x i8] poison, align 16
; GROUP-DAG: @__reconverge_counts_two = internal addrspace(3) global [1280 x i8] poison, align 16
; 2 x 2 x 4 bytes of counts, 96 of paths: a neighbourhood is of 64 threads, the
; last one smaller.
; MANY-DAG: @__reconverge_counts_three = internal addrspace(3) global [112 x i8] poison, align 16

; i = tid; x = in[i]; if (x > 0) ..; out[i] = ..
define ptx_kernel void @two(ptr addrspace(1) %in, ptr addrspace(1) %out) {
; HEAD-LABEL: @two(
; HEAD: [[PATH:%.*]] = select i1 %{{.*}}, i32 0, i32 1
; HEAD: call i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
; HEAD: [[RESETS:%.*]] = icmp eq i32 [[THREAD:%.*]], 0
; HEAD: br i1 [[RESETS]], label %remap.ends, label %remap.vote
; HEAD: remap.ends:
; HEAD: store i32 0, ptr addrspace(3) @__reconverge_counts_two
; HEAD: [[LAST:%.*]] = sub i32 [[THREADS:%.*]], 1
; HEAD: store i32 [[LAST]], ptr addrspace(3) getelementptr (i32, ptr addrspace(3) @__reconverge_counts_two, i32 1)
; Nobody votes.
; HEAD-NOT: ballot
; HEAD: remap.vote:
; HEAD: [[FIRST:%.*]] = icmp eq i32 [[PATH]], 0
; HEAD: [[ONE:%.*]] = zext i1 [[FIRST]] to i32
; HEAD: [[HEADS:%.*]] = call i32 @llvm.nvvm.barrier0.popc(i32 [[ONE]])
; HEAD: [[SOME:%.*]] = icmp ne i32 [[HEADS]], 0
; HEAD: [[OTHERS:%.*]] = icmp ne i32 [[HEADS]], [[THREADS]]
; HEAD: [[MOVES:%.*]] = and i1 [[SOME]], [[OTHERS]]
; HEAD: br i1 [[MOVES]], label %remap.move, label %remap.tail
; HEAD: remap.move:
; HEAD: [[END:%.*]] = select i1 [[FIRST]], ptr addrspace(3) @__reconverge_counts_two,
; HEAD: [[BY:%.*]] = select i1 [[FIRST]], i32 1, i32 -1
; HEAD: [[PLACE:%.*]] = atomicrmw add ptr addrspace(3) [[END]], i32 [[BY]]
; HEAD: icmp uge i32 [[THREAD]], [[HEADS]]
; HEAD: store i32 %x, ptr addrspace(3)
; HEAD: call void @llvm.nvvm.barrier0()

; GROUP-LABEL: @two(
; GROUP: [[MINE:%.*]] = lshr i32 [[THREAD:%.*]], 4
; All counts are set to nothing.
; GROUP: remap.more:
; GROUP: [[AT:%.*]] = phi i32 [ [[THREAD]], %entry ], [ [[NEXT:%.*]], %remap.reset ]
; GROUP: [[MORE:%.*]] = icmp ult i32 [[AT]], 64
; GROUP: br i1 [[MORE]], label %remap.reset, label %remap.count
; GROUP: remap.reset:
; GROUP: store i32 0, ptr addrspace(3)
; GROUP: [[NEXT]] = add i32 [[AT]], [[THREADS:%.*]]
; GROUP: remap.count:
; GROUP: store i8 [[PATH:%.*]], ptr addrspace(3)
; GROUP: call void @llvm.nvvm.barrier0()
; GROUP: [[FIRST:%.*]] = load i8, ptr addrspace(3) getelementptr (i8, ptr addrspace(3) @__reconverge_counts_two, i32 256)
; GROUP: [[DIFFERS:%.*]] = icmp ne i8 [[FIRST]], [[PATH]]
; GROUP: remap.add:
; GROUP: atomicrmw add ptr addrspace(3) %{{.*}}, i32 1
; GROUP: remap.vote:
; GROUP: [[ONE:%.*]] = zext i1 [[DIFFERS]] to i32
; GROUP: [[OTHERS:%.*]] = call i32 @llvm.nvvm.barrier0.popc(i32 [[ONE]])
; GROUP: [[MOVES:%.*]] = icmp ne i32 [[OTHERS]], 0
; GROUP: br i1 [[MOVES]], label %remap.move, label %remap.tail
; Of the neighbourhood, those before this thread.
; GROUP: remap.sum:
; GROUP: icmp ult i32 %{{.*}}, [[MINE]]
; GROUP: remap.rank:
; GROUP: icmp ult i32 %{{.*}}, [[THREAD]]
; GROUP: remap.walked:
; GROUP: store i32 %x, ptr addrspace(3)
; GROUP: call void @llvm.nvvm.barrier0()
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %po = getelementptr i32, ptr addrspace(1) %out, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %f
t:
  %a = mul i32 %x, 3
  br label %j
f:
  %b = sub i32 7, %x
  br label %j
j:
  %r = phi i32 [ %a, %t ], [ %b, %f ]
  store i32 %r, ptr addrspace(1) %po
  ret void
}

; if (i > n) return; if (in[i] > 0) ..: those that leave are a third group.
; TWO-NEXT: remapped: {{.*}}; threads that leave before come along; data_group_indexing by 16, as head_or_tail parts two groups, not 3{{$}}
; EXACT: not remapped: head_or_tail separates only two groups of threads [RC226]{{$}}
; ANY-NEXT: remapped: {{.*}}; threads that leave before come along; data_group_indexing by 16{{$}}
; HEAD-LABEL: @three(
; HEAD: remap.rank:
; GROUP-LABEL: @three(
; GROUP: icmp ult i32 %{{.*}}, 128
; Whole neighbourhoods before this thread's, less those of other paths.
; GROUP: shl i32 %{{.*}}, 4
; Larger blocks leave at once, with no memory touched.
; MANY-LABEL: @three(
; MANY: [[FITS:%.*]] = icmp ule i32 %{{.*}}, 96
; MANY-NEXT: br i1 [[FITS]], label %remap.fits, label %remap.merge
; MANY: remap.fits:
; MANY: store i8 %{{.*}}, ptr addrspace(3)
; MANY: getelementptr (i8, ptr addrspace(3) @__reconverge_counts_three, i32 16)
define ptx_kernel void @three(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %leaves = icmp ugt i32 %tid, %n
  br i1 %leaves, label %end, label %body
body:
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %end
t:
  %a = mul i32 %x, %n
  store i32 %a, ptr addrspace(1) %pi
  br label %end
end:
  ret void
}

; Each branch says which: what the rounds share is as large as the largest needs.
; TWO-NEXT: remapped: {{.*}}; data_group_indexing by 16{{$}}
; TWO-NEXT: remapped: {{[^;]*$}}
; TWO-NEXT: remapped: {{.*}}; head_or_tail{{$}}
; HEAD-LABEL: @each(
; HEAD: atomicrmw add {{.*}} i32 1
; HEAD: call i32 @llvm.nvvm.vote.ballot.sync
; HEAD: select i1 %{{.*}}, ptr addrspace(3) @__reconverge_counts_each,
define ptx_kernel void @each(ptr addrspace(1) %in, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %t, label %j, !rc.request.remap !0
t:
  store i32 5, ptr addrspace(1) %pi
  br label %j
j:
  %y = load i32, ptr addrspace(1) %pi
  %d = icmp sgt i32 %y, 0
  br i1 %d, label %jt, label %k, !rc.request.remap !1
jt:
  store i32 6, ptr addrspace(1) %pi
  br label %k
k:
  %z = load i32, ptr addrspace(1) %pi
  %e = icmp sgt i32 %z, 0
  br i1 %e, label %kt, label %end
kt:
  store i32 7, ptr addrspace(1) %pi
  br label %end
end:
  ret void
}

; Ten paths and 47 KiB of the kernel's own: there is room for counts of 32
; threads each, not of fewer.
; LESS-COUNT-4: data_group_indexing by 4
; LESS-NEXT: data_group_indexing by 32{{$}}
@most = internal addrspace(3) global [12096 x i32] undef
define ptx_kernel void @less(ptr addrspace(1) %in, ptr addrspace(1) %out) "target-cpu"="sm_90" {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  store i32 1, ptr addrspace(3) @most
  %pi = getelementptr i32, ptr addrspace(1) %in, i32 %tid
  %x = load i32, ptr addrspace(1) %pi
  switch i32 %x, label %end [ i32 0, label %a
                              i32 1, label %b
                              i32 2, label %c
                              i32 3, label %d
                              i32 4, label %e
                              i32 5, label %f
                              i32 6, label %g
                              i32 7, label %h
                              i32 8, label %i ]
a:
  store i32 11, ptr addrspace(1) %out
  br label %end
b:
  store i32 12, ptr addrspace(1) %out
  br label %end
c:
  store i32 13, ptr addrspace(1) %out
  br label %end
d:
  store i32 14, ptr addrspace(1) %out
  br label %end
e:
  store i32 15, ptr addrspace(1) %out
  br label %end
f:
  store i32 16, ptr addrspace(1) %out
  br label %end
g:
  store i32 17, ptr addrspace(1) %out
  br label %end
h:
  store i32 18, ptr addrspace(1) %out
  br label %end
i:
  store i32 19, ptr addrspace(1) %out
  br label %end
end:
  ret void
}

!0 = !{!"on:algorithm=data_group_indexing", !"a.cu:1"}
!1 = !{!"on:algorithm=warp_aggregated", !"a.cu:2"}
