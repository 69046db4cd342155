//===- core/GpuTurn.cpp - Turns on the machine's GPUs ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lock is flock's, on a file in the user's cache: it belongs to the open
// file, which the driver and the program share, so either may release it and
// take it again. The driver releases it in the end: what a program has left
// running has the file open yet.
//
//===----------------------------------------------------------------------===//

#include "core/GpuTurn.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge {

static constexpr const char *Name = "RECONVERGE_GPU_TURN";

static int64_t now() {
  return std::chrono::nanoseconds(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Waits for the lock, whatever signals come.
static void take(int Lock) {
  while (flock(Lock, LOCK_EX) && errno == EINTR)
    ;
}

static GpuWait *share(int Memory) {
  void *At = Memory < 0 ? MAP_FAILED
                        : mmap(nullptr, sizeof(GpuWait), PROT_READ | PROT_WRITE,
                               MAP_SHARED, Memory, 0);
  return At == MAP_FAILED ? nullptr : static_cast<GpuWait *>(At);
}

GpuTurn::GpuTurn(bool Wanted) {
  SmallString<128> Path;
  if (!Wanted || !sys::path::cache_directory(Path))
    return;
  sys::path::append(Path, "reconverge");
  if (sys::fs::create_directories(Path))
    return;
  sys::path::append(Path, "gpu.lock");
  // Not closed in the program: it has the turn.
  Lock = open(Path.c_str(), O_RDWR | O_CREAT, 0600);
  if (Lock < 0)
    return;
  Memory = memfd_create("reconverge-gpu-turn", 0);
  if (Memory >= 0 && !ftruncate(Memory, sizeof(GpuWait)))
    Wait = share(Memory);
  if (Wait)
    new (Wait) GpuWait;
  take(Lock);
}

GpuTurn::~GpuTurn() {
  if (Wait)
    munmap(Wait, sizeof(GpuWait));
  if (Lock >= 0)
    (void)flock(Lock, LOCK_UN);
  for (int Descriptor : {Memory, Lock})
    if (Descriptor >= 0)
      close(Descriptor);
}

std::string GpuTurn::entry() const {
  std::string Value;
  if (Wait)
    Value = std::to_string(Lock) + "," + std::to_string(Memory);
  return std::string(Name) + "=" + Value;
}

double GpuTurn::waited() const {
  if (!Wait)
    return 0;
  const int64_t Since = Wait->Since;
  return double(Wait->Over + (Since ? now() - Since : 0)) * 1e-9;
}

namespace {
/// The turn of this process: breaks of its threads overlap, and the turn is
/// given away by the first and taken by the last.
struct ProcessTurn {
  int Lock = -1;
  GpuWait *Wait = nullptr;
  std::mutex Guard;
  unsigned Breaks = 0;

  ProcessTurn() {
    const char *Value = std::getenv(Name);
    int Memory = -1;
    if (StringRef Text = Value ? Value : "";
        !Text.consumeInteger(10, Lock) && Text.consume_front(","))
      (void)Text.getAsInteger(10, Memory);
    Wait = share(Memory);
  }
  static ProcessTurn &get() {
    static ProcessTurn &T = *new ProcessTurn; // until the process ends
    return T;
  }
};
} // namespace

GpuBreak::GpuBreak() {
  ProcessTurn &T = ProcessTurn::get();
  std::lock_guard<std::mutex> Guard(T.Guard);
  if (T.Wait && !T.Breaks++)
    (void)flock(T.Lock, LOCK_UN);
}

GpuBreak::~GpuBreak() {
  ProcessTurn &T = ProcessTurn::get();
  std::lock_guard<std::mutex> Guard(T.Guard);
  if (!T.Wait || --T.Breaks)
    return;
  T.Wait->Since = now();
  take(T.Lock);
  T.Wait->Over += now() - T.Wait->Since;
  T.Wait->Since = 0;
}

} // namespace reconverge
