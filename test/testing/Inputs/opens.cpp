// A program without CUDA in it that opens CUDA's driver.
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

int main(int, char **Words) {
  const bool Tables = !std::strcmp(Words[1], "tables");
  void *Driver = dlopen(Tables ? "libcuda.so.1" : Words[1], RTLD_NOW);
  if (!Driver)
    return std::printf("%s\n", dlerror());
  auto Find = [&](const char *Name) { return dlsym(Driver, Name); };
  using Init = int(unsigned);
  using Number = int(int *);
  using Table = int(void **, const char *);
  using Proc = int(const char *, void **, int, unsigned long long, int *);
  using Load = int(void **, const char *);
  int Version = 0, Devices = 0;
  reinterpret_cast<Number *>(Find("cuDriverGetVersion"))(&Version);
  reinterpret_cast<Init *>(Find("cuInit"))(0);
  if (Tables) {
    // What NVIDIA's runtime asks for first.
    void *Got;
    std::printf("tables %d\n",
                reinterpret_cast<Table *>(Find("cuGetExportTable"))(
                    &Got, "0123456789abcdef"));
    return 0;
  }
  reinterpret_cast<Number *>(Find("cuDeviceGetCount"))(&Devices);
  std::printf("version %d, %d device\n", Version / 1000, Devices);

  auto *Address = reinterpret_cast<Proc *>(Find("cuGetProcAddress_v2"));
  void *Newest = nullptr, *Oldest = nullptr, *None = nullptr;
  int A = Address("cuMemAlloc", &Newest, Version, 0, nullptr);
  int B = Address("cuMemAlloc", &Oldest, 3010, 0, nullptr);
  int C = Address("cuNone", &None, Version, 0, nullptr);
  if (Newest != Find("cuMemAlloc_v2") || Oldest != Find("cuMemAlloc") || None)
    std::printf("wrong functions\n");
  std::printf("cuMemAlloc %d, of CUDA 3.1 %d, none %d\n", A, B, C);

  // What is lacking is there to be called.
  void *Module = nullptr;
  Address("cuModuleLoad", &Newest, Version, 0, nullptr);
  std::printf("cuModuleLoad %d\n", reinterpret_cast<Load *>(Newest)(&Module, ""));
  return 0;
}
