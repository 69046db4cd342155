// REQUIRES: reconverge
// RUN: %reconverge cc --emit-device-bc %s -o %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s

// redux.sync takes the value, then the mask; the functions of CUDA take the
// mask first. clang 19's header forgets to change them over (overlay/clang).

// CHECK-LABEL: define {{.*}}void @reductions(
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.add(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.umin(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.umax(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.min(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.max(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.and(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.or(i32 {{%.*}}, i32 255)
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.redux.sync.xor(i32 {{%.*}}, i32 255)
extern "C" __global__ void reductions(unsigned *p) {
  unsigned value = p[threadIdx.x];
  p[0] = __reduce_add_sync(255, value);
  p[1] = __reduce_min_sync(255, value);
  p[2] = __reduce_max_sync(255, value);
  p[3] = __reduce_min_sync(255, int(value));
  p[4] = __reduce_max_sync(255, int(value));
  p[5] = __reduce_and_sync(255, value);
  p[6] = __reduce_or_sync(255, value);
  p[7] = __reduce_xor_sync(255, value);
}

// A program's own words are left alone.
// CHECK-LABEL: define {{.*}}void @ownWords(
// CHECK: call {{.*}}i32 @llvm.nvvm.redux.sync.add(i32 {{%.*}}, i32 255)
extern "C" __global__ void ownWords(unsigned *p) {
  p[0] = __nvvm_redux_sync_add(p[threadIdx.x], 255);
}
