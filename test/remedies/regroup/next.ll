; With next=on the keys' kernel can also run on arguments of a launch that is not
; made yet: its loads have bounds, and data do not decide how long it runs.
;
; RUN: opt -passes='reconverge-regroup<next=on>,verify' -pass-remarks-missed=reconverge-regroup -S %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-regroup<next=on;layout=loads>,verify' -S %s 2>&1 | FileCheck %s --check-prefix=MOVED

target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
@table = addrspace(4) constant [64 x i32] zeroinitializer

; CHECK: not regrouped: keys of the next launch would read anywhere [RC618]
; CHECK: not regrouped: keys of the next launch may take any time [RC619]
; CHECK: not regrouped: keys of the next launch would read anywhere [RC618]
; CHECK-NOT: not regrouped
; Of what is refused nothing is left.
; MOVED-NOT: define {{.*}}chased${{.*}}before
; MOVED-NOT: define {{.*}}counted${{.*}}before

; It is a loop over blocks. many[t], many[t + 1] have one bound: 8 bytes. Beyond it, what is at the beginning
; is read.
; CHECK-LABEL: define ptx_kernel void @"walk$keys$before"(
; CHECK-SAME: ptr %range, i64 %from, i64 %to, i64 %units
; CHECK-DAG: %block = phi i64 [ %{{.*}}, %{{.*}} ], [ %{{.*}}, %next ]
; CHECK-DAG: %[[SIZE:.*]] = sub i64 %to, %from
; CHECK: %[[ROOM:.*]] = sub i64 %[[SIZE]], 8
; CHECK: %[[MOST:.*]] = select i1 %{{.*}}, i64 %[[ROOM]], i64 0
; CHECK: %[[FROM:.*]] = inttoptr i64 %from to ptr addrspace(1)
; CHECK: %[[SAFE:.*]] = getelementptr i8, ptr addrspace(1) %[[FROM]], i64 0
; CHECK: %[[BEHIND:.*]] = sub i64 %{{.*}}, %from
; CHECK: %[[IN:.*]] = icmp ule i64 %[[BEHIND]], %[[MOST]]
; CHECK: %[[AT:.*]] = select i1 %[[IN]], ptr addrspace(1) %{{.*}}, ptr addrspace(1) %[[SAFE]]
; CHECK: load i32, ptr addrspace(1) %{{.*}}
; CHECK: load i32, ptr addrspace(1) %{{.*}}
; CHECK: next:
; CHECK: br i1 %{{.*}}, label %{{.*}}, label %done
; CHECK: ret void
; CHECK: define ptx_kernel void @"masked$keys$before"(
; The order stays for the next launch; the range is where %many leads to.
; CHECK: attributes {{.*}} "reconverge-recipe"="for 4096 2147483648 {{[0-9]+}} ahead resident 1 4 3 8 8 4
; CHECK-SAME: part 1 0 8 advances part 2 0 4 advances loaded 1 0 8 scratch
; CHECK-SAME: scratch threads 4 1 kept
; CHECK-SAME: helper walk$keys$before making grid same
; CHECK-SAME: range 0 range 1 amount blocks 1 1 dimension 0
; CHECK-SAME: helper walk$scatter$before making
; CHECK-SAME: step walk grid blocks
define ptx_kernel void @walk(ptr noalias %out, ptr noalias %many, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %inside = icmp slt i32 %t, %n
  br i1 %inside, label %work, label %done, !rc.branch !1
work:
  %pm = getelementptr i32, ptr %many, i32 %t
  %m0 = load i32, ptr %pm
  %pm1 = getelementptr i32, ptr %pm, i32 1
  %m1 = load i32, ptr %pm1
  %m = sub i32 %m1, %m0
  br label %loop
loop:
  %k = phi i32 [ 0, %work ], [ %k1, %loop ]
  %s = phi i32 [ 1, %work ], [ %s1, %loop ]
  %p = mul i32 %s, 31
  %q = xor i32 %p, %k
  %s1 = add i32 %q, 7
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %m
  br i1 %c, label %loop, label %end, !rc.branch !0
end:
  %po = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %po
  br label %done
done:
  ret void
}

; A pointer that is loaded from memory.
define ptx_kernel void @chased(ptr noalias %out, ptr noalias %many, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pm = getelementptr ptr, ptr %many, i32 %t
  %at = load ptr, ptr %pm
  %m = load i32, ptr %at
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %p = mul i32 %s, 31
  %q = xor i32 %p, %k
  %s1 = add i32 %q, 7
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %m
  br i1 %c, label %loop, label %end, !rc.branch !0
end:
  %po = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %po
  ret void
}

; A search, whose rounds decide what follows.
define ptx_kernel void @counted(ptr noalias %out, ptr noalias %many, i32 %n) {
entry:
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  br label %search
search:
  %at = phi i32 [ %t, %entry ], [ %next, %search ]
  %pm = getelementptr i32, ptr %many, i32 %at
  %next = load i32, ptr %pm
  %found = icmp eq i32 %next, %at
  br i1 %found, label %loop, label %search
loop:
  %k = phi i32 [ 0, %search ], [ %k1, %loop ]
  %s = phi i32 [ 1, %search ], [ %s1, %loop ]
  %p = mul i32 %s, 31
  %q = xor i32 %p, %k
  %q1 = mul i32 %q, 77
  %q2 = xor i32 %q1, %s
  %q3 = mul i32 %q2, 79
  %s1 = add i32 %q3, 7
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %at
  br i1 %c, label %loop, label %end, !rc.branch !0
end:
  %po = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %po
  ret void
}

; An array of the thread's own, at an index that is loaded; then at the index's two
; lowest bits.
define ptx_kernel void @indexed(ptr noalias %out, ptr noalias %many) {
entry:
  %own = alloca [4 x i32]
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pm = getelementptr i32, ptr %many, i32 %t
  %which = load i32, ptr %pm
  store i32 3, ptr %own
  %own1 = getelementptr i32, ptr %own, i32 1
  store i32 100, ptr %own1
  %own2 = getelementptr i32, ptr %own, i32 2
  store i32 7, ptr %own2
  %own3 = getelementptr i32, ptr %own, i32 3
  store i32 50, ptr %own3
  %at = zext i32 %which to i64
  %po = getelementptr i32, ptr %own, i64 %at
  %m = load i32, ptr %po
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %p = mul i32 %s, 31
  %q = xor i32 %p, %k
  %q1 = mul i32 %q, 77
  %q2 = xor i32 %q1, %s
  %s1 = add i32 %q2, 7
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %m
  br i1 %c, label %loop, label %end, !rc.branch !0
end:
  %pt = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %pt
  ret void
}

define ptx_kernel void @masked(ptr noalias %out, ptr noalias %many) {
entry:
  %own = alloca [4 x i32]
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %pm = getelementptr i32, ptr %many, i32 %t
  %which = load i32, ptr %pm
  store i32 3, ptr %own
  %own1 = getelementptr i32, ptr %own, i32 1
  store i32 100, ptr %own1
  %own2 = getelementptr i32, ptr %own, i32 2
  store i32 7, ptr %own2
  %own3 = getelementptr i32, ptr %own, i32 3
  store i32 50, ptr %own3
  %low = and i32 %which, 3
  %at = zext i32 %low to i64
  %po = getelementptr i32, ptr %own, i64 %at
  %m = load i32, ptr %po
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %k1, %loop ]
  %s = phi i32 [ 1, %entry ], [ %s1, %loop ]
  %p = mul i32 %s, 31
  %q = xor i32 %p, %k
  %q1 = mul i32 %q, 77
  %q2 = xor i32 %q1, %s
  %s1 = add i32 %q2, 7
  %k1 = add i32 %k, 1
  %c = icmp slt i32 %k1, %m
  br i1 %c, label %loop, label %end, !rc.branch !0
end:
  %pt = getelementptr i32, ptr %out, i32 %t
  store i32 %s1, ptr %pt
  ret void
}

!0 = !{i32 0}
!1 = !{i32 1}
