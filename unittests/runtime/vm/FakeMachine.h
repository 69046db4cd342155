//===- FakeMachine.h - A machine that runs nothing --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for the warp VM: "bitcode" is LLVM assembly, every function in it a
// kernel, every global a variable. A launch calls what the test gave it.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_UNITTESTS_RUNTIME_VM_FAKEMACHINE_H
#define RECONVERGE_UNITTESTS_RUNTIME_VM_FAKEMACHINE_H

#include "runtime/vm/Engine.h"
#include "warpvm/Machine.h"

#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <string>

namespace reconverge::fake {

struct Launch {
  std::string Kernel;
  LaunchShape Shape;
  void **Args;
  bool Counted, Observed;
  uint64_t Seed = 0; ///< of LaunchOptions
};

using OnLaunch = std::function<llvm::Error(const Launch &, LaunchCounts *)>;

/// How often machines were made and modules loaded, over all tests.
struct Calls {
  unsigned Machines = 0, Loads = 0;
};
Calls &calls();

runtime::MachineFactory factory(OnLaunch Run);

/// What clang leaves in a host object for one translation unit.
class Object {
public:
  /// A container that holds \p Assembly.
  explicit Object(llvm::StringRef Assembly);
  /// Any bytes at all, of static storage as in a program.
  explicit Object(const void *Data);
  ~Object();
  void **handle() const { return Handle; }
  void kernel(const void *Stub, const char *Name);
  void variable(void *Symbol, const char *Name, size_t Size, bool Constant);

private:
  void add(const void *Data);
  llvm::SmallVector<char, 0> Bytes;
  struct {
    int Magic, Version;
    const void *Data;
    void *Unused;
  } Wrapper;
  void **Handle;
};

} // namespace reconverge::fake

#endif
