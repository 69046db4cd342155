; Host code of a kernel whose remedy has a recipe: its launches go through the
; archive, which may say that the kernel is to be launched as it was.
;
; RUN: opt -passes='reconverge-remedied<step/step$remedied/256/2147483647/0/for 1 99 99 scratch threads 4 1 helper fill grid threads 1 256 block one 256 1 memory 0 step step$remedied grid same block same memory 0>,verify' -S %s | FileCheck %s
; RUN: not opt -passes='reconverge-remedied<step/step$remedied/256/0/0/for many>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: 'step/step$remedied/256/0/0/for many' is no kernel with a remedy

target triple = "x86_64-unknown-linux-gnu"

@0 = private constant [5 x i8] c"step\00"
@1 = private constant [6 x i8] c"plain\00"

; CHECK-DAG: @"step$remedied.handle" = internal global i8 0
; CHECK-DAG: @fill.handle = internal global i8 0
; CHECK-DAG: @"step$remedied.handles" = internal global [2 x ptr] [ptr @fill.handle, ptr @"step$remedied.handle"]
; CHECK-DAG: @"step$remedied.recipe" = internal global { ptr, ptr, ptr, ptr } { ptr [[TEXT:@[0-9]+]], ptr @step_stub, ptr @"step$remedied.handles", ptr null }
; CHECK-DAG: [[TEXT]] = private unnamed_addr constant {{.*}} c"for 1 99 99 scratch threads 4 1 helper fill

declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchKernel_ptsz(ptr, i64, i32, i64, i32, ptr, i64, ptr)

; CHECK-LABEL: define void @step_stub(
define void @step_stub() {
  ; CHECK: call i32 @reconverge.launch(ptr
  %s = call i32 @cudaLaunchKernel(ptr @step_stub, i64 1, i32 1, i64 8, i32 1, ptr null, i64 0, ptr null)
  ; CHECK: call i32 @reconverge.launch_ptsz(ptr
  %t = call i32 @cudaLaunchKernel_ptsz(ptr @step_stub, i64 1, i32 1, i64 8, i32 1, ptr null, i64 0, ptr null)
  ret void
}

; Of a kernel without a remedy nothing changes.
; CHECK-LABEL: define void @plain_stub(
define void @plain_stub() {
  ; CHECK: call i32 @cudaLaunchKernel(ptr @plain_stub,
  %s = call i32 @cudaLaunchKernel(ptr @plain_stub, i64 1, i32 1, i64 1, i32 1, ptr null, i64 0, ptr null)
  ret void
}

; CHECK-LABEL: define void @register(
define void @register(ptr %module) {
  ; CHECK-DAG: @__cudaRegisterFunction(ptr %module, ptr @"step$remedied.handle",
  ; CHECK-DAG: @__cudaRegisterFunction(ptr %module, ptr @fill.handle,
  ; CHECK-DAG: @__cudaRegisterFunction(ptr %module, ptr @step_stub, ptr @0,
  %s = call i32 @__cudaRegisterFunction(ptr %module, ptr @step_stub, ptr @0, ptr @0, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  %p = call i32 @__cudaRegisterFunction(ptr %module, ptr @plain_stub, ptr @1, ptr @1, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  ret void
}

; CHECK-LABEL: define internal i32 @reconverge.launch(
; CHECK: icmp eq ptr %0, @step_stub
; CHECK: recipe:
; CHECK: store i64 %1, ptr [[GRID:%.*]], align 4
; CHECK: store i64 %3, ptr [[BLOCK:%.*]], align 4
; CHECK: [[ERROR:%.*]] = call i32 @reconverge_launch(ptr @"step$remedied.recipe", ptr [[GRID]], ptr [[BLOCK]], ptr %5, i64 %6, ptr %7, i32 0,
; CHECK: next:
; CHECK-NEXT: [[REAL:%.*]] = call i32 @cudaLaunchKernel(ptr %0, i64 %1, i32 %2, i64 %3, i32 %4, ptr %5, i64 %6, ptr %7)
; CHECK-NEXT: ret i32 [[REAL]]
; CHECK: done:
; CHECK-NEXT: ret i32 [[ERROR]]
; CHECK: original:
; CHECK-NEXT: br label %next

; CHECK-LABEL: define internal i32 @reconverge.launch_ptsz(
; CHECK: call i32 @reconverge_launch({{.*}}, i32 1,
; CHECK: call i32 @cudaLaunchKernel_ptsz(
