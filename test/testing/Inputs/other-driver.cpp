// Stands for CUDA's driver on a machine that has one.
#include <cstring>

extern "C" int cuInit(unsigned) { return 100; }
extern "C" int cuDeviceGetName(char *Name, int, int) {
  std::strcpy(Name, "of another driver");
  return 0;
}
