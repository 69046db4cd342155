//===- runtime/vm/LateConstructors.cpp - Start without LLVM's compiler ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM has some 250 static objects with constructors, most of them options of its
// passes. They lie all over its code, so that to run them reads and writes more
// pages of memory than all else as the VM's library is loaded. A program whose
// kernels are in the cache needs none.
//
// So the linker puts the constructors of LLVM's archives into a list of their own
// (late-constructors.ld). They run before the process makes its first LLVMContext,
// without which nobody reads a module or compiles: calls of that constructor come
// here (--wrap). What needs no context, LLVM's support library and its linker for a
// process, has no such objects in LLVM 19.
//
// These objects are never destroyed. They are made late, so they would be destroyed
// early: before static objects of the program, whose destructors may launch kernels.
//
//===----------------------------------------------------------------------===//

#include "llvm/IR/LLVMContext.h"

#include <mutex>

// Names that the linker makes.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {
extern void (*const reconverge_late_constructors[])();
extern void (*const reconverge_late_constructors_end[])();

void __real__ZN4llvm11LLVMContextC1Ev(llvm::LLVMContext *New);
int __real___cxa_atexit(void (*Destroy)(void *), void *Object, void *Library);
}

/// Whether this thread makes LLVM's static objects.
static thread_local bool Constructing = false;

static void runConstructors() {
  Constructing = true;
  for (auto *Each = reconverge_late_constructors;
       Each != reconverge_late_constructors_end; ++Each)
    (*Each)();
  Constructing = false;
}

extern "C" void __wrap__ZN4llvm11LLVMContextC1Ev(llvm::LLVMContext *New) {
  static std::once_flag Once;
  std::call_once(Once, runConstructors);
  __real__ZN4llvm11LLVMContextC1Ev(New);
}

extern "C" int __wrap___cxa_atexit(void (*Destroy)(void *), void *Object,
                                   void *Library) {
  return Constructing ? 0 : __real___cxa_atexit(Destroy, Object, Library);
}
// NOLINTEND(readability-identifier-naming)
