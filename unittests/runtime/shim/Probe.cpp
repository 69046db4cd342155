// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program linked against the shim. Its argument says which calls to make; it
// prints what they return. Declarations as in FakeBackend.c.

#include "core/Container.h"

#include <barrier>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

struct Format {
  int V[5];
};

extern "C" {
double cudaMemcpy3DPeer(long, long, long, long, long, long, long, double,
                        double, double, double, double, double, double, double,
                        double, long);
int cudaDriverGetVersion();
int cudaRuntimeGetVersion(int *);
int cudaDeviceReset();
int cudaDeviceSynchronize();
const char *cudaGetErrorString(int);
Format cudaCreateChannelDesc(int, int, int, int, int);
void **__cudaRegisterFatBinary(void *);
const char *reconverge_shim_version();
}

using namespace reconverge;

static void registerBytes(const void *Data) {
  struct {
    int Magic = 0x466243b1, Version = 1;
    const void *Data;
    void *Unused = nullptr;
  } Wrapper{.Data = Data};
  // cudart must not be handed our own wrapper if its data changed, so the
  // caller's stays as it was.
  __cudaRegisterFatBinary(&Wrapper);
  std::printf("%s\n", Wrapper.Data == Data ? "kept" : "changed");
}

static void registerContainer(unsigned FatbinBytes, uint64_t FatbinOffset,
                              unsigned Version) {
  struct {
    ContainerHeader Header;
    char Bitcode[8] = {'b', 'i', 't'};
    char Fatbin[8] = {'f', 'a', 't'};
  } Bytes;
  Bytes.Header = {};
  Bytes.Header.Magic = ContainerMagic;
  Bytes.Header.Version = Version;
  Bytes.Header.TotalBytes = sizeof(Bytes);
  Bytes.Header.BitcodeOffset = sizeof(ContainerHeader);
  Bytes.Header.BitcodeBytes = sizeof(Bytes.Bitcode);
  Bytes.Header.FatbinOffset = FatbinOffset;
  Bytes.Header.FatbinBytes = FatbinBytes;
  registerBytes(&Bytes);
}

static void callFromThreads() {
  std::barrier Together(8);
  std::vector<std::thread> Threads;
  std::vector<int> Loads(8);
  for (int I = 0; I != 8; ++I)
    Threads.emplace_back([&, I] {
      Together.arrive_and_wait();
      Loads[I] = cudaDriverGetVersion();
      cudaDeviceReset();
    });
  for (auto &T : Threads)
    T.join();
  for (int L : Loads)
    std::printf("%d", L);
  std::printf("\n");
}

int main(int Count, char **Arguments) {
  std::string What = Count > 1 ? Arguments[1] : "";
  if (What == "arguments") {
    for (int I = 0; I != 2; ++I)
      std::printf("%.0f\n", cudaMemcpy3DPeer(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                             12, 13, 14, 15, 16, 17));
  } else if (What == "structure") {
    for (int V : cudaCreateChannelDesc(5, 4, 3, 2, 1).V)
      std::printf("%d", V);
    std::printf("\n%s\n", cudaGetErrorString(0));
  } else if (What == "missing") {
    int First = cudaDeviceReset(), Second = cudaDeviceReset();
    std::printf("%d %d %d\n", First, Second, cudaDeviceSynchronize());
  } else if (What == "threads") {
    callFromThreads();
  } else if (What == "version") {
    std::printf("%s\n", reconverge_shim_version());
  } else if (What == "driver") {
    std::printf("%d\n", cudaDriverGetVersion());
  } else if (What == "runtime") {
    int Version = 0, Error = cudaRuntimeGetVersion(&Version);
    std::printf("%d %d\n", Error, Version / 1000);
  } else if (What == "register-plain") {
    registerBytes("\x50\xed\x55\xba plain");
  } else if (What == "register") {
    registerContainer(8, 72, ContainerVersion);
  } else if (What == "register-cpu-only") {
    registerContainer(0, 0, ContainerVersion);
  } else if (What == "register-short") {
    registerContainer(8, ~uint64_t(0) - 4, ContainerVersion);
  } else if (What == "register-old") {
    registerContainer(8, 72, ContainerVersion + 1);
  } else {
    std::fprintf(stderr, "unknown probe \"%s\"\n", What.c_str());
    return 1;
  }
  return 0;
}
