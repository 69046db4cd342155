//===- VmBackendTest.cpp - The library as the shim loads it ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/shim/Backend.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace {

/// Loads the library in this process and asks for its table.
const reconverge_backend_symbol *load(size_t &Count) {
  void *Library = dlopen(BACKEND, RTLD_NOW | RTLD_LOCAL);
  if (!Library) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  auto *Entry = reinterpret_cast<reconverge_backend_function *>(
      dlsym(Library, RECONVERGE_BACKEND_ENTRY));
  if (!Entry) {
    ADD_FAILURE() << dlerror();
    return nullptr;
  }
  EXPECT_EQ(dlsym(Library, "cudaMalloc"), nullptr) << "only the entry is seen";
  return Entry(&Count);
}

/// In a child with one variable of the environment set: exits with 0 if there
/// was a table that works, with 2 if the backend refused.
[[noreturn]] void child(const char *Name, const std::string &Value) {
  setenv(Name, Value.c_str(), 1);
  size_t Count = 0;
  const reconverge_backend_symbol *Table = load(Count);
  if (!Table)
    std::exit(2);
  int Devices = 0;
  for (size_t I = 0; I < Count; ++I)
    if (Table[I].name == std::string("cudaGetDeviceCount"))
      reinterpret_cast<int (*)(int *)>(Table[I].function)(&Devices);
  std::exit(testing::Test::HasFailure() || Devices != 1 ? 1 : 0);
}

TEST(Backend, GivesItsTable) {
  EXPECT_EXIT(child("RECONVERGE_VM", "threads=2,tier=blocks"),
              testing::ExitedWithCode(0), "^$");
}

TEST(Backend, RefusesWrongOptions) {
  EXPECT_EXIT(child("RECONVERGE_VM", "tier=fast"), testing::ExitedWithCode(2),
              "^reconverge: error: RECONVERGE_VM: tier is 'fast'\n"
              "  tier wants fused or blocks.\n$");
}

TEST(Backend, FindsTheMachineFileFromWhereItLies) {
  const std::string Path = testing::TempDir() + "reconverge-backend-test.json";
  EXPECT_EXIT(child("RECONVERGE_PROFILE", Path), testing::ExitedWithCode(0),
              "^$");
  EXPECT_EQ(std::remove(Path.c_str()), 0); // written at exit
}

} // namespace
