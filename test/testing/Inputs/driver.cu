// Calls CUDA's driver beside the runtime: linked to it, or (OPENS) by opening it.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

#ifdef OPENS
static void *library() {
  static void *Opened = dlopen("libcuda.so.1", RTLD_NOW);
  if (!Opened)
    std::printf("%s\n", dlerror());
  return Opened;
}
#define TEXT_(X) #X
#define TEXT(X) TEXT_(X)
#define DRIVER(Name)                                                           \
  reinterpret_cast<decltype(&Name)>(dlsym(library(), TEXT(Name)))
#else
#define DRIVER(Name) Name
#endif

__global__ void store(int *Out, int Value) { Out[threadIdx.x] = Value; }

static int works() {
  CUdevice Device;
  char Name[99];
  int Major, Minor, Values[4];
  DRIVER(cuInit)(0);
  DRIVER(cuDeviceGet)(&Device, 0);
  DRIVER(cuDeviceGetName)(Name, sizeof(Name), Device);
  DRIVER(cuDeviceGetAttribute)
  (&Major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, Device);
  DRIVER(cuDeviceGetAttribute)
  (&Minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, Device);
  std::printf("device %s, %d.%d\n", Name, Major, Minor);

  // The runtime's context is the driver's current one.
  CUcontext Own, Current;
  cudaFree(nullptr);
  DRIVER(cuDevicePrimaryCtxRetain)(&Own, Device);
  DRIVER(cuCtxGetCurrent)(&Current);
  CUdeviceptr Address;
  DRIVER(cuMemAlloc)(&Address, sizeof(Values));
  DRIVER(cuMemsetD32)(Address, 5, 4);
  store<<<1, 1>>>(reinterpret_cast<int *>(Address), 3);
  CUDA_MEMCPY2D Rows = {};
  Rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  Rows.srcDevice = Address;
  Rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  Rows.dstHost = Values + 2;
  Rows.WidthInBytes = 8;
  Rows.Height = 1;
  DRIVER(cuMemcpy2D)(&Rows);
  DRIVER(cuMemcpyDtoH)(Values, Address, 8);
  std::printf("current %d, values %d %d %d %d\n", Own == Current, Values[0],
              Values[1], Values[2], Values[3]);

  cudaFunction_t Function;
  int Value = 7;
  void *Args[] = {&Address, &Value};
  cudaGetFuncBySymbol(&Function, reinterpret_cast<const void *>(store));
  DRIVER(cuLaunchKernel)
  (Function, 1, 1, 1, 4, 1, 1, 0, nullptr, Args, nullptr);
  DRIVER(cuMemcpyDtoH)(Values, Address, sizeof(Values));
  std::printf("by its handle %d\n", Values[3]);

  const char *ErrorName, *Text;
  CUresult Error = DRIVER(cuMemFree)(Address + 1);
  DRIVER(cuGetErrorName)(Error, &ErrorName);
  DRIVER(cuGetErrorString)(Error, &Text);
  std::printf("%s, %s, %s\n", ErrorName, Text,
              cudaGetErrorString(cudaGetLastError()));
  return DRIVER(cuMemFree)(Address);
}

static void lacks() {
  CUmodule Module;
  CUresult First = DRIVER(cuModuleLoadData)(&Module, "");
  std::fflush(stderr);
  std::printf("%d %d\n", First, DRIVER(cuModuleLoadData)(&Module, ""));
}

static void name() {
  char Name[99] = "";
  DRIVER(cuDeviceGetName)(Name, sizeof(Name), 0);
  std::printf("device %s\n", Name);
}

int main(int, char **Words) {
  if (!std::strcmp(Words[1], "works"))
    return works();
  if (!std::strcmp(Words[1], "lacks"))
    lacks();
  else
    name();
  return 0;
}
