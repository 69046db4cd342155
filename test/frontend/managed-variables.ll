; RUN: split-file %s %t
; RUN: opt -passes=reconverge-managed-variables,verify -S %t/host.ll | FileCheck %s
; RUN: opt -passes=reconverge-managed-variables,verify -S %t/device.ll | FileCheck %s --check-prefix=DEVICE
; RUN: not opt -passes=reconverge-managed-variables -S %t/pointer.ll -o /dev/null 2>&1 | FileCheck %s --check-prefix=POINTER
; RUN: not opt -passes=reconverge-managed-variables -S %t/thread.ll -o /dev/null 2>&1 | FileCheck %s --check-prefix=THREAD

; What __managed__ of our overlay leaves, and what becomes of it on either side.

;--- host.ll
target triple = "x86_64-pc-linux-gnu"

; __managed__ int x[4];  int *both[2] = {nullptr, &x[1]};
; Nothing is left of the host's stand-in but a place for its address.
; CHECK: @other = internal global i32 undef
; CHECK: @both = global [2 x ptr] zeroinitializer
; CHECK-NOT: "reconverge.managed"
; CHECK: @llvm.global.annotations = {{.*}}[1 x {{.*}}@other
; CHECK: @x.managed = internal global ptr null
; CHECK: @llvm.global_ctors = {{.*}}@ctor{{.*}}@x.managed.users
@x = internal global [4 x i32] undef
@other = internal global i32 undef
@both = global [2 x ptr] [ptr null, ptr getelementptr inbounds (i32, ptr @x, i64 1)]
@__cuda_gpubin_handle = internal global ptr null
@managed = private unnamed_addr constant [19 x i8] c"reconverge.managed\00", section "llvm.metadata"
@theirs = private unnamed_addr constant [7 x i8] c"theirs\00", section "llvm.metadata"
@file = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @x, ptr @managed, ptr @file, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr @other, ptr @theirs, ptr @file, i32 2, ptr null }], section "llvm.metadata"
@llvm.compiler.used = appending global [1 x ptr] [ptr @x], section "llvm.metadata"
@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @ctor, ptr null }]
@name = private constant [2 x i8] c"x\00"

declare void @__cudaRegisterVar(ptr, ptr, ptr, ptr, i32, i64, i32, i32)

; CHECK-LABEL: define internal void @ctor(
; CHECK: call void @__cudaRegisterManagedVar(ptr %h, ptr @x.managed, ptr @name, ptr @name, i32 0, i64 16, i32 0, i32 0)
; CHECK: call void @__cudaRegisterVar(ptr %h, ptr @other,
define internal void @ctor() {
  %h = load ptr, ptr @__cuda_gpubin_handle
  call void @__cudaRegisterVar(ptr %h, ptr @x, ptr @name, ptr @name, i32 0, i64 16, i32 0, i32 0)
  call void @__cudaRegisterVar(ptr %h, ptr @other, ptr @name, ptr @name, i32 0, i64 4, i32 0, i32 0)
  ret void
}

; x[2] = v;
; CHECK-LABEL: define void @write(
; CHECK: [[X:%.*]] = call ptr @reconverge.managed(ptr @x.managed)
; CHECK: [[AT:%.*]] = getelementptr i32, ptr [[X]], i64 2
; CHECK: store i32 %v, ptr [[AT]]
define void @write(i32 %v) {
  store i32 %v, ptr getelementptr (i32, ptr @x, i64 2)
  ret void
}

; return c ? x : y;
; CHECK-LABEL: define ptr @choose(
; CHECK: entry:
; CHECK: [[X:%.*]] = call ptr @reconverge.managed(ptr @x.managed)
; CHECK: switch
; CHECK: phi ptr [ [[X]], %entry ], [ [[X]], %entry ], [ %y, %other ]
define ptr @choose(i32 %c, ptr %y) {
entry:
  switch i32 %c, label %other [
    i32 1, label %done
    i32 2, label %done
  ]
other:
  br label %done
done:
  %p = phi ptr [ @x, %entry ], [ @x, %entry ], [ %y, %other ]
  ret ptr %p
}

; The first use of any of them has the runtime fill in the places.
; CHECK-LABEL: define internal ptr @reconverge.managed(
; CHECK: load i8, ptr @reconverge.managed.ready
; CHECK: first:
; CHECK: [[H:%.*]] = load ptr, ptr @__cuda_gpubin_handle
; CHECK: [[R:%.*]] = call i8 @__cudaInitModule(ptr [[H]])
; CHECK: store i8 [[R]], ptr @reconverge.managed.ready
; CHECK: done:
; CHECK: [[P:%.*]] = load ptr, ptr %0
; CHECK: ret ptr [[P]]

; CHECK-LABEL: define internal void @x.managed.users(
; CHECK: [[X:%.*]] = call ptr @reconverge.managed(ptr @x.managed)
; CHECK: [[AT:%.*]] = getelementptr inbounds i32, ptr [[X]], i64 1
; CHECK: [[BOTH:%.*]] = insertvalue [2 x ptr] {{.*}}, ptr [[AT]], 1
; CHECK: store [2 x ptr] [[BOTH]], ptr @both

;--- device.ll
target triple = "nvptx64-nvidia-cuda"

; DEVICE: @x = addrspace(1) externally_initialized global i32 5
; DEVICE-NOT: llvm.global.annotations
; DEVICE: !nvvm.annotations = !{[[NOTE:![0-9]+]]}
; DEVICE: [[NOTE]] = !{ptr addrspace(1) @x, !"managed", i32 1}
@x = addrspace(1) externally_initialized global i32 5
@managed = private unnamed_addr constant [19 x i8] c"reconverge.managed\00", section "llvm.metadata"
@file = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(1) @x to ptr), ptr @managed, ptr @file, i32 1, ptr null }], section "llvm.metadata"

;--- pointer.ll
target triple = "nvptx64-nvidia-cuda"

; __managed__ int x;  __device__ int *p = &x;
; POINTER: error: the initial value of device variable 'p' is the address of the managed variable 'x', which is not known before the program runs
@x = addrspace(1) externally_initialized global i32 5
@p = addrspace(1) externally_initialized global ptr addrspacecast (ptr addrspace(1) @x to ptr)
@managed = private unnamed_addr constant [19 x i8] c"reconverge.managed\00", section "llvm.metadata"
@file = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(1) @x to ptr), ptr @managed, ptr @file, i32 1, ptr null }], section "llvm.metadata"

;--- thread.ll
target triple = "x86_64-pc-linux-gnu"

; __managed__ int x;  thread_local int *p = &x;
; THREAD: error: the initial value of the thread_local variable 'p' is the address of the managed variable 'x', which is not known before the program runs: set it in a function
@x = internal global i32 undef
@p = thread_local global ptr @x
@managed = private unnamed_addr constant [19 x i8] c"reconverge.managed\00", section "llvm.metadata"
@file = private unnamed_addr constant [5 x i8] c"a.cu\00", section "llvm.metadata"
@llvm.global.annotations = appending global [1 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @x, ptr @managed, ptr @file, i32 1, ptr null }], section "llvm.metadata"
