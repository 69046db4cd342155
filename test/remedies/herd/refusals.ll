; Why branches are not herded, by code. Each kernel reads x = in[i], with i the
; thread's number, and asks c = x > 0.
;
; RUN: opt -passes='reconverge-herd<least=2>' -pass-remarks-missed=reconverge-herd -disable-output %s 2>&1 | FileCheck %s
; RUN: opt -passes='reconverge-herd<branch=99>' -pass-remarks-missed=reconverge-herd -disable-output %s 2>&1 | FileCheck %s --check-prefix=BRANCH
; BRANCH: not herded: the branch splits no warp (99) [RC1002]
; RUN: opt -passes='reconverge-herd<ways=two>' -pass-remarks-missed=reconverge-herd -disable-output %s 2>&1 | FileCheck %s --check-prefix=WAYS
; WAYS-COUNT-2: not herded: lanes would be sent where they do not want to go [RC1026]
;
; A branch that is named does not overrule the source.
; RUN: opt -passes='reconverge-herd<branch=7>' -pass-remarks-missed=reconverge-herd -disable-output %s 2>&1 | FileCheck %s --check-prefix=NAMED
; NAMED: not herded: the source forbids it [RC1021]

target triple = "nvptx64-nvidia-cuda"

@Flag = addrspace(3) global i32 poison

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare void @llvm.nvvm.barrier0()
declare void @llvm.nvvm.exit()
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @unknown(i32)

; if (n > 0) out[i] = x * x;
; CHECK: not herded: it has no branch that could be herded [RC1001]
define ptx_kernel void @uniform(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  %u = icmp sgt i32 %n, 0
  br i1 %u, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  ret void
}

; The same as a function that kernels call.
; CHECK: not herded: it is not a kernel [RC1003]
define void @function(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  ret void
}

; switch (x) { case 1: case 2: if (in[i + 1] > 0) out[i] = x * x; }
; CHECK: not herded: which lanes reach it together is not known [RC1004]
define ptx_kernel void @unknown_lanes(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  switch i32 %x, label %join [
    i32 1, label %inner
    i32 2, label %inner
  ]
inner:
  %p1 = getelementptr i32, ptr %p, i32 1
  %x1 = load i32, ptr %p1
  %c1 = icmp sgt i32 %x1, 0
  br i1 %c1, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  ret void
}

; do { if (c) { out[i] = x; if (in[++i] < 5) return; } } while (--n);
; CHECK: not herded: its sides do not meet in the same round [RC1005]
define ptx_kernel void @breaks(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br label %loop
loop:
  %k = phi i32 [ %n, %entry ], [ %k1, %latch ]
  br i1 %c, label %arm, label %latch
arm:
  store i32 %k, ptr %q
  %p1 = getelementptr i32, ptr %p, i32 %k
  %x1 = load i32, ptr %p1
  %d = icmp sgt i32 %x1, 5
  br i1 %d, label %latch, label %done, !rc.request.herd !0
latch:
  %k1 = sub i32 %k, 1
  %more = icmp ne i32 %k1, 0
  br i1 %more, label %loop, label %done, !rc.request.herd !0
done:
  ret void
}

; y = c ? x * x : x + 7, each in a block that stores it.
; CHECK: not herded: a lane that is dropped would lack a value [RC1006]
define ptx_kernel void @values(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %one, label %other
one:
  %a = mul i32 %x, %x
  store i32 %a, ptr %q
  br label %join
other:
  %b = add i32 %x, 7
  store i32 %b, ptr %q
  br label %join
join:
  %y = phi i32 [ %a, %one ], [ %b, %other ]
  store i32 %y, ptr %p
  ret void
}

; v = x % 4 ? x * x : nothing, as only those with c = 0 need it; y = c ? x + 7 : v.
; Who is dropped from either arm would need it.
; CHECK: not herded: a lane that is dropped would lack a value [RC1006]
; CHECK: not herded: a lane that is dropped would lack a value [RC1006]
define ptx_kernel void @nothing(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %r = and i32 %x, 3
  %z = icmp eq i32 %r, 0
  br i1 %z, label %rest, label %some
some:
  %a = mul i32 %x, %x
  store i32 %a, ptr %q
  br label %rest
rest:
  %v = phi i32 [ poison, %entry ], [ %a, %some ]
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %one, label %join
one:
  %b = add i32 %x, 7
  store i32 %b, ptr %q
  br label %join
join:
  %y = phi i32 [ %b, %one ], [ %v, %rest ]
  store i32 %y, ptr %p
  ret void
}

; if (c) y = x * x; asm("exit;")
; CHECK: not herded: a thread may end by exit [RC1007]
define ptx_kernel void @exits(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  call void @llvm.nvvm.exit()
  ret void
}

; if (c) out[i] = x * x; while (*(volatile int *)in) ;
; CHECK: not herded: a loop waits for other threads [RC1008]
define ptx_kernel void @waits(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  br label %spin
spin:
  %now = load volatile i32, ptr %in
  %more = icmp ne i32 %now, 0
  br i1 %more, label %spin, label %done
done:
  ret void
}

; if (c) { out[i] = x; __syncthreads(); }
; CHECK: not herded: lanes work together in what would be skipped [RC1009]
define ptx_kernel void @together(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  store i32 %x, ptr %q
  call void @llvm.nvvm.barrier0()
  br label %join
join:
  ret void
}

; y = 0; if (c) out[i] = y = x * x; in[y] = 1;
; CHECK: not herded: an address would follow from what is skipped [RC1011]
define ptx_kernel void @address(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %at = getelementptr i32, ptr %in, i32 %y
  store i32 1, ptr %at
  ret void
}

; int a[2] = {..}; if (c) a[0] = x * x; in[a[0]] = 1;
; CHECK: not herded: an address would follow from what is skipped [RC1011]
define ptx_kernel void @address_by_array(ptr %in, ptr %out, i32 %n) {
entry:
  %a = alloca [2 x i32]
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %a
  br label %join
join:
  %y = load i32, ptr %a
  %at = getelementptr i32, ptr %in, i32 %y
  store i32 1, ptr %at
  ret void
}

; k = in[i]; do ++y; while (k /= 2); in[y] = 1;
; CHECK: not herded: an address would follow from what is skipped [RC1011]
define ptx_kernel void @address_by_loop(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %half, %loop ]
  %y = phi i32 [ 0, %entry ], [ %y1, %loop ]
  %y1 = add i32 %y, 1
  %half = lshr i32 %k, 1
  %more = icmp ne i32 %half, 0
  br i1 %more, label %loop, label %done
done:
  %at = getelementptr i32, ptr %in, i32 %y1
  store i32 1, ptr %at
  ret void
}

; y = 0; if (c) out[i] = y = x * x; in[i] = n / y;
; CHECK: not herded: an integer would be divided by what is skipped [RC1012]
define ptx_kernel void @divisor(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = udiv i32 %n, %y
  store i32 %d, ptr %p
  ret void
}

; for (k = n, j = 0; k; ++j) if (x > j) k &= (k - 1) / 2;
; (the loop itself says off)
; CHECK: not herded: a loop might not end without what is skipped [RC1013]
define ptx_kernel void @endless(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br label %loop
loop:
  %k = phi i32 [ %n, %entry ], [ %k1, %latch ]
  %j = phi i32 [ 0, %entry ], [ %j1, %latch ]
  %j1 = add i32 %j, 1
  %d = icmp sgt i32 %x, %j
  br i1 %d, label %arm, label %latch
arm:
  %less = sub i32 %k, 1
  %half = lshr i32 %less, 1
  br label %latch
latch:
  %y = phi i32 [ %k, %loop ], [ %half, %arm ]
  %k1 = and i32 %k, %y
  %more = icmp ne i32 %k1, 0
  br i1 %more, label %loop, label %done, !rc.request.herd !0
done:
  ret void
}

; The same with && j < n: it may be herded.
; CHECK-NOT: RC1013
define ptx_kernel void @ends_anyway(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br label %loop
loop:
  %k = phi i32 [ %n, %entry ], [ %k1, %next ]
  %j = phi i32 [ 0, %entry ], [ %j1, %next ]
  %j1 = add i32 %j, 1
  %d = icmp sgt i32 %x, %j
  br i1 %d, label %arm, label %latch
arm:
  %less = sub i32 %k, 1
  %half = lshr i32 %less, 1
  br label %latch
latch:
  %y = phi i32 [ %k, %loop ], [ %half, %arm ]
  %k1 = and i32 %k, %y
  %more = icmp ne i32 %k1, 0
  br i1 %more, label %next, label %done, !rc.request.herd !0
next:
  %ends = icmp ult i32 %j1, %n
  br i1 %ends, label %loop, label %done, !rc.request.herd !0
done:
  ret void
}

; f = (void (*)())in; if (c) f = (void (*)())out, *out = x; f();
; CHECK: not herded: a function is called through what is skipped [RC1014]
define ptx_kernel void @pointer(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %f = phi ptr [ %in, %entry ], [ %out, %arm ]
  call void %f()
  ret void
}

; y = 0; if (c) out[i] = y = x * x; if (y) __syncthreads();
; CHECK: not herded: who comes to a barrier or an exchange would follow from what is skipped [RC1015]
define ptx_kernel void @reach(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = icmp ne i32 %y, 0
  br i1 %d, label %sync, label %done, !rc.request.herd !0
sync:
  call void @llvm.nvvm.barrier0()
  br label %done
done:
  ret void
}

; y = 0; if (c) out[i] = y = x * x; in[i] = __shfl_sync(y, x, 0);
; CHECK: not herded: who comes to a barrier or an exchange would follow from what is skipped [RC1015]
define ptx_kernel void @reach_by_mask(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 %y, i32 %x, i32 0, i32 31)
  store i32 %d, ptr %p
  ret void
}

; y = 0; if (c) out[i] = y = x * x; if (y) out[n] = 1;
; CHECK: not herded: a branch that would follow from what is skipped guards an access [RC1016]
define ptx_kernel void @guard(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = icmp ne i32 %y, 0
  br i1 %d, label %write, label %done, !rc.request.herd !0
write:
  %at = getelementptr i32, ptr %out, i32 %n
  store i32 1, ptr %at
  br label %done
done:
  ret void
}

; The same with in[i] = 1, which is read before: it may be herded.
; CHECK-NOT: RC1016
define ptx_kernel void @guard_of_done(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = icmp ne i32 %y, 0
  br i1 %d, label %write, label %done, !rc.request.herd !0
write:
  store i32 1, ptr %p
  br label %done
done:
  ret void
}

; y = 0; if (c) out[i] = y = x * x; unknown(y);
; CHECK: not herded: a function that is not known gets what is skipped [RC1017]
define ptx_kernel void @passed(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  %d = call i32 @unknown(i32 %y)
  ret void
}

; #pragma reconverge herd off
; if (c) out[i] = x * x;
; CHECK: not herded: the source forbids it [RC1021]
define ptx_kernel void @off(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join, !rc.branch !1, !rc.request.herd !0
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  %y = phi i32 [ 0, %entry ], [ %square, %arm ]
  ret void
}

; #pragma reconverge herd
; if (n > 0) out[i] = x * x;
; CHECK: not herded: all lanes of a warp go the same way [RC1022]
define ptx_kernel void @asked_in_vain(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  %u = icmp sgt i32 %n, 0
  br i1 %u, label %arm, label %join, !rc.request.herd !2
arm:
  store i32 %x, ptr %q
  br label %join
join:
  ret void
}

; if (c) out[i] = x;
; CHECK: not herded: it controls too little code for a vote (1 instructions) [RC1023]
define ptx_kernel void @small(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br i1 %c, label %arm, label %join
arm:
  store i32 %x, ptr %q
  br label %join
join:
  ret void
}

; if (i < n) out[i] = x * x;
; CHECK: not herded: its condition follows from the thread's number alone [RC1024]
define ptx_kernel void @ids(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  %d = icmp ult i32 %i, %n
  br i1 %d, label %arm, label %join
arm:
  %square = mul i32 %x, %x
  store i32 %square, ptr %q
  br label %join
join:
  ret void
}

; do if ((k += in[k]) > 9) break; while (in[k + n] > 3);
; CHECK: not herded: another way out of the loop is herded [RC1025]
define ptx_kernel void @another(ptr %in, ptr %out, i32 %n) {
entry:
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i32, ptr %in, i32 %i
  %q = getelementptr i32, ptr %out, i32 %i
  %x = load i32, ptr %p
  %c = icmp sgt i32 %x, 0
  br label %loop
loop:
  %k = phi i32 [ %x, %entry ], [ %k1, %latch ]
  %k1 = add i32 %k, 3
  %d = icmp sgt i32 %k1, %x
  br i1 %d, label %done, label %latch
latch:
  %pk = getelementptr i32, ptr %in, i32 %k1
  %xk = load i32, ptr %pk
  %more = icmp sgt i32 %xk, 3
  br i1 %more, label %loop, label %done
done:
  ret void
}

!0 = !{!"off"}
!1 = !{i32 7}
!2 = !{!"on"}
