// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program linked against the shim of libcuda. Its arguments are the calls to
// make, in their order; it prints what they return.

#include <cstdio>
#include <cstring>

extern "C" {
int cuInit(unsigned);
int cuDriverGetVersion(int *);
int cuDeviceGetCount(int *);
int cuGetExportTable(const void **, const void *);
int cuModuleLoad(void **, const char *);
int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
}

/// Of cuGetProcAddress: "Name Version Flags" to a code and a status.
static void findAddress(const char *Name, int Version, unsigned Flags) {
  void *Function = nullptr;
  int Status = -1;
  int Code = cuGetProcAddress_v2(Name, &Function, Version, Flags, &Status);
  std::printf("%s %d %d %s\n", Name, Code, Status, Function ? "there" : "null");
}

int main(int Count, char **Words) {
  for (int I = 1; I != Count; ++I) {
    auto Is = [&](const char *Name) { return !std::strcmp(Words[I], Name); };
    int Value = -1;
    if (Is("init"))
      std::printf("init %d\n", cuInit(0));
    else if (Is("flags"))
      std::printf("flags %d\n", cuInit(1));
    else if (Is("version")) {
      int Code = cuDriverGetVersion(&Value);
      std::printf("version %d %d\n", Code, Value / 1000);
    } else if (Is("count")) {
      int Code = cuDeviceGetCount(&Value);
      std::printf("count %d %d\n", Code, Value);
    } else if (Is("tables")) {
      const void *Table = Words;
      int Code = cuGetExportTable(&Table, Words);
      std::printf("tables %d %d\n", Code, Table == nullptr);
    } else if (Is("lacks")) {
      void *Module;
      std::printf("lacks %d\n", cuModuleLoad(&Module, ""));
    } else if (Is("addresses")) {
      findAddress("cuMemAlloc", 12000, 0);
      findAddress("cuMemcpyHtoD", 12000, 2);
      findAddress("cuMemAllocAsync", 3020, 0);
      findAddress("cuNothing", 12000, 0);
    }
    std::fflush(stdout);
  }
  return 0;
}
