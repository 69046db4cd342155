; Host code of a kernel that is there twice: it registers both, and launches
; choose between them.
;
; RUN: opt -passes='reconverge-remedied<step/step$remedied/256/4096/1024/;big/big$remedied/512/65536/1024/>,verify' -S %s | FileCheck %s
; RUN: not opt -passes='reconverge-remedied<step/many>' -disable-output %s 2>&1 | FileCheck %s --check-prefix=SLIP
; SLIP: 'step/many' is no kernel with a remedy

target triple = "x86_64-unknown-linux-gnu"

@0 = private constant [5 x i8] c"step\00"
@1 = private constant [4 x i8] c"big\00"
@2 = private constant [6 x i8] c"plain\00"

; CHECK-DAG: @"step$remedied.handle" = internal global i8 0
; CHECK-DAG: @"big$remedied.handle" = internal global i8 0
; Only where a launch may need more than a block has unasked.
; CHECK-DAG: @"big$remedied.allowed" = internal global i64 0
; CHECK-NOT: @"step$remedied.allowed"

declare i32 @__cudaRegisterFunction(ptr, ptr, ptr, ptr, i32, ptr, ptr, ptr, ptr, ptr)
declare i32 @cudaLaunchKernel(ptr, i64, i32, i64, i32, ptr, i64, ptr)
declare i32 @cudaLaunchKernelExC(ptr, ptr, ptr)
declare i32 @cudaFuncSetAttribute(ptr, i32, i32)

; step<<<grid, block, shared>>>()
; CHECK-LABEL: define void @step_stub(
define void @step_stub(i64 %block_xy, i32 %block_z, i64 %shared) {
  ; CHECK: [[X:%.*]] = and i64 %block_xy, 4294967295
  ; CHECK: [[Y:%.*]] = lshr i64 %block_xy, 32
  ; CHECK: [[XY:%.*]] = mul i64 [[X]], [[Y]]
  ; CHECK: [[Z:%.*]] = zext i32 %block_z to i64
  ; CHECK: [[THREADS:%.*]] = mul i64 [[XY]], [[Z]]
  ; CHECK: [[CHOSEN:%.*]] = call ptr @reconverge.chosen(ptr @step_stub, i64 [[THREADS]], i64 %shared)
  ; CHECK: call i32 @cudaLaunchKernel(ptr [[CHOSEN]],
  %s = call i32 @cudaLaunchKernel(ptr @step_stub, i64 1, i32 1, i64 %block_xy, i32 %block_z, ptr null, i64 %shared, ptr null)
  ret void
}

; CHECK-LABEL: define void @big_stub(
define void @big_stub() {
  ; CHECK: call ptr @reconverge.chosen(ptr @big_stub
  %s = call i32 @cudaLaunchKernel(ptr @big_stub, i64 1, i32 1, i64 1, i32 1, ptr null, i64 0, ptr null)
  ret void
}

; A kernel without a remedy.
; CHECK-LABEL: define void @plain_stub(
define void @plain_stub() {
  ; CHECK: call i32 @cudaLaunchKernel(ptr @plain_stub,
  %s = call i32 @cudaLaunchKernel(ptr @plain_stub, i64 1, i32 1, i64 1, i32 1, ptr null, i64 0, ptr null)
  ret void
}

; Any kernel, by a configuration: one with attributes takes the original.
; CHECK-LABEL: define i32 @any(
define i32 @any(ptr %kernel, ptr %configuration) personality ptr null {
  ; CHECK: getelementptr i8, ptr %configuration, i64 48
  ; CHECK: [[THREADS:%.*]] = select i1 {{.*}}, i64 {{.*}}, i64 -1
  ; CHECK: [[CHOSEN:%.*]] = call ptr @reconverge.chosen(ptr %kernel, i64 [[THREADS]],
  ; CHECK: invoke i32 @cudaLaunchKernelExC(ptr %configuration, ptr [[CHOSEN]], ptr null)
  %s = invoke i32 @cudaLaunchKernelExC(ptr %configuration, ptr %kernel, ptr null) to label %well unwind label %ill
well:
  ret i32 %s
ill:
  %e = landingpad { ptr, i32 } cleanup
  ret i32 1
}

; CHECK-LABEL: define i32 @ask(
define i32 @ask() {
  ; CHECK: call i32 @reconverge.attribute(ptr @big_stub, i32 8, i32 100000)
  %s = call i32 @cudaFuncSetAttribute(ptr @big_stub, i32 8, i32 100000)
  ret i32 %s
}

; CHECK-LABEL: define void @__cuda_register_globals(
; CHECK-DAG: call i32 @__cudaRegisterFunction(ptr %module, ptr @"step$remedied.handle", ptr [[NAME:@.*]], ptr [[NAME]], i32 -1,
; CHECK-DAG: call i32 @__cudaRegisterFunction(ptr %module, ptr @step_stub, ptr @0, ptr @0, i32 -1,
; CHECK: call i32 @__cudaRegisterFunction(ptr %module, ptr @plain_stub, ptr @2, ptr @2, i32 -1,
; CHECK-NEXT: ret void
define void @__cuda_register_globals(ptr %module) {
  %a = call i32 @__cudaRegisterFunction(ptr %module, ptr @step_stub, ptr @0, ptr @0, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  %b = call i32 @__cudaRegisterFunction(ptr %module, ptr @big_stub, ptr @1, ptr @1, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  %c = call i32 @__cudaRegisterFunction(ptr %module, ptr @plain_stub, ptr @2, ptr @2, i32 -1, ptr null, ptr null, ptr null, ptr null, ptr null)
  ret void
}

; The bounds: threads, and dynamic shared memory. Beyond 48 KiB with the 1 KiB
; that the remedy takes, what the program has asked for.
; CHECK-LABEL: define internal ptr @reconverge.chosen(
; CHECK: icmp eq ptr %0, @step_stub
; CHECK: icmp ule i64 %1, 256
; CHECK: icmp ule i64 %2, 4096
; CHECK: select i1 {{.*}}, ptr @"step$remedied.handle", ptr %0
; CHECK: load atomic i64, ptr @"big$remedied.allowed"
; CHECK: call i64 @llvm.umax.i64(i64 {{.*}}, i64 48128)
; CHECK: icmp ule i64 %1, 512

; What is asked for a kernel is asked for its copy as well, in its bounds. An
; error of that is no error of the program's.
; CHECK-LABEL: define internal i32 @reconverge.attribute(
; CHECK: call i32 @cudaPeekAtLastError()
; CHECK: call i32 @llvm.smin.i32(i32 %2, i32 65536)
; CHECK: call i32 @cudaFuncSetAttribute(ptr @"big$remedied.handle"
; CHECK: store atomic i64 {{.*}}, ptr @"big$remedied.allowed"
; CHECK: call i32 @cudaGetLastError()
; CHECK: [[OWN:%.*]] = call i32 @cudaFuncSetAttribute(ptr %0, i32 %1, i32 %2)
; CHECK: ret i32 [[OWN]]
