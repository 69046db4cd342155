; RUN: opt -S -passes='verify,reconverge-split-atomics,verify' %s \
; RUN:   | FileCheck %s --implicit-check-not=reconverge.often.zero

; Where somebody could see one half without the other, nothing is split: one
; reason an object.

target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@result = internal addrspace(3) global i64 undef, align 8
@loaded = internal addrspace(3) global i64 undef, align 8
@stored = internal addrspace(3) global i64 undef, align 8
@volatile = internal addrspace(3) global i64 undef, align 8
@exchanged = internal addrspace(3) global i64 undef, align 8
@compared = internal addrspace(3) global i64 undef, align 8
@largest = internal addrspace(3) global i64 undef, align 8
@float = internal addrspace(3) global double undef, align 8
@acquired = internal addrspace(3) global i64 undef, align 8
@packed = internal addrspace(3) global i64 undef, align 8
@counted = internal addrspace(3) global { i64, i32 } undef, align 8
@passed = internal addrspace(3) global i64 undef, align 8
@kept = internal addrspace(3) global i64 undef, align 8
@number = internal addrspace(3) global i64 undef, align 8
@chosen = internal addrspace(3) global i64 undef, align 8
@noted = internal addrspace(3) global i64 undef, align 8
@note = internal addrspace(1) global ptr addrspacecast (ptr addrspace(3) @noted to ptr)
@others = addrspace(3) global i64 undef, align 8
@global = internal addrspace(1) global i64 0, align 8
@dynamic = external addrspace(3) global [0 x i64], align 8
@dynamicToo = external addrspace(3) global [0 x i64], align 8

; CHECK-LABEL: define i64 @result_is_used(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @result, i64
define i64 @result_is_used(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @result, i64 %v monotonic, align 8
  ret i64 %old
}

; CHECK-LABEL: define i64 @atomic_load(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @loaded, i64
define i64 @atomic_load(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @loaded, i64 %v monotonic, align 8
  %now = load atomic i64, ptr addrspace(3) @loaded monotonic, align 8
  ret i64 %now
}

; CHECK-LABEL: define void @atomic_store(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @stored, i64
define void @atomic_store(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @stored, i64 %v monotonic, align 8
  store atomic i64 0, ptr addrspace(3) @stored monotonic, align 8
  ret void
}

; CHECK-LABEL: define i64 @volatile_load(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @volatile, i64
define i64 @volatile_load(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @volatile, i64 %v monotonic, align 8
  %now = load volatile i64, ptr addrspace(3) @volatile, align 8
  ret i64 %now
}

; CHECK-LABEL: define void @exchange(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @exchanged, i64
define void @exchange(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @exchanged, i64 %v monotonic, align 8
  %now = atomicrmw xchg ptr addrspace(3) @exchanged, i64 0 monotonic, align 8
  ret void
}

; CHECK-LABEL: define void @compare_and_swap(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @compared, i64
define void @compare_and_swap(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @compared, i64 %v monotonic, align 8
  %now = cmpxchg ptr addrspace(3) @compared, i64 0, i64 1 monotonic monotonic, align 8
  ret void
}

; CHECK-LABEL: define void @maximum(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @largest, i64
define void @maximum(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @largest, i64 %v monotonic, align 8
  %now = atomicrmw umax ptr addrspace(3) @largest, i64 0 monotonic, align 8
  ret void
}

; CHECK-LABEL: define void @floating(
; CHECK-NEXT:    atomicrmw fadd ptr addrspace(3) @float, double
define void @floating(double %v) {
  %old = atomicrmw fadd ptr addrspace(3) @float, double %v monotonic, align 8
  ret void
}

; CHECK-LABEL: define void @acquire_and_release(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @acquired, i64
define void @acquire_and_release(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @acquired, i64 %v acq_rel, align 8
  ret void
}

; CHECK-LABEL: define void @volatile_addition(
; CHECK-NEXT:    atomicrmw volatile add ptr addrspace(3) @packed, i64
define void @volatile_addition(i64 %v) {
  %old = atomicrmw volatile add ptr addrspace(3) @packed, i64 %v monotonic, align 8
  ret void
}

; The count's old value says how many have added before.
; CHECK-LABEL: define i32 @count_is_used(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @counted, i64
define i32 @count_is_used(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @counted, i64 %v monotonic, align 8
  %count = getelementptr { i64, i32 }, ptr addrspace(3) @counted, i32 0, i32 1
  %before = atomicrmw add ptr addrspace(3) %count, i32 1 monotonic, align 4
  ret i32 %before
}

; CHECK-LABEL: define void @address_passed(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @passed, i64
define void @address_passed(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @passed, i64 %v monotonic, align 8
  call void @look(ptr addrspacecast (ptr addrspace(3) @passed to ptr))
  ret void
}

; CHECK-LABEL: define void @address_stored(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @kept, i64
define void @address_stored(i64 %v, ptr %p) {
  %old = atomicrmw add ptr addrspace(3) @kept, i64 %v monotonic, align 8
  store ptr addrspace(3) @kept, ptr %p
  ret void
}

; CHECK-LABEL: define i64 @address_as_number(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @number, i64
define i64 @address_as_number(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @number, i64 %v monotonic, align 8
  ret i64 ptrtoint (ptr addrspace(3) @number to i64)
}

; CHECK-LABEL: define void @address_chosen(
; CHECK-NEXT:    select
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) %at, i64
define void @address_chosen(i64 %v, i1 %c, ptr addrspace(3) %p) {
  %at = select i1 %c, ptr addrspace(3) @chosen, ptr addrspace(3) %p
  %old = atomicrmw add ptr addrspace(3) %at, i64 %v monotonic, align 8
  ret void
}

; A variable holds the address.
; CHECK-LABEL: define void @address_in_initialiser(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @noted, i64
define void @address_in_initialiser(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @noted, i64 %v monotonic, align 8
  ret void
}

; Another module could use it.
; CHECK-LABEL: define void @visible_elsewhere(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @others, i64
define void @visible_elsewhere(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @others, i64 %v monotonic, align 8
  ret void
}

; Global memory has 64-bit atomics.
; CHECK-LABEL: define void @not_shared(
; CHECK-NEXT:    atomicrmw add ptr addrspace(1) @global, i64
define void @not_shared(i64 %v) {
  %old = atomicrmw add ptr addrspace(1) @global, i64 %v monotonic, align 8
  ret void
}

; Two names of the same memory, and the exchange is made under the other.
; CHECK-LABEL: define void @dynamic_arrays(
; CHECK-NEXT:    atomicrmw add ptr addrspace(3) @dynamic, i64
define void @dynamic_arrays(i64 %v) {
  %old = atomicrmw add ptr addrspace(3) @dynamic, i64 %v monotonic, align 8
  %now = atomicrmw xchg ptr addrspace(3) @dynamicToo, i64 %v monotonic, align 8
  ret void
}

declare void @look(ptr)
