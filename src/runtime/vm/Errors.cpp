//===- runtime/vm/Errors.cpp - How a CUDA call ends -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA has two kinds of errors, and programs rely on the difference:
//
// 1. A call that was used wrongly returns its error and nothing else happens.
//    The error is also kept for the thread until cudaGetLastError fetches it;
//    calls that succeed in between leave it.
// 2. A kernel that faults breaks the context: from then on every call that
//    needs the device returns that fault, in every thread, for the life of the
//    process (cudaDeviceReset does not mend it). Calls that only ask about the
//    device or the runtime still work.
//
// Launches are synchronous here, and asynchronous with CUDA: a launch that
// faulted returns success all the same, and the fault is returned by the next
// call, cudaGetLastError included. Which calls return a fault was taken from
// what an H200 with CUDA 13 does.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Errors.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Findings.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"

#include <atomic>
#include <cerrno>
#include <mutex>
#include <unistd.h>

using namespace llvm;

namespace reconverge::runtime {

static thread_local cudaError_t LastError = cudaSuccess;
static std::atomic<cudaError_t> Sticky{cudaSuccess};

cudaError_t recorded(cudaError_t Error) {
  if (Error != cudaSuccess)
    LastError = Error;
  return Error;
}

cudaError_t stickyError() { return Sticky.load(std::memory_order_relaxed); }

void setStickyError(cudaError_t Error) {
  cudaError_t None = cudaSuccess;
  Sticky.compare_exchange_strong(None, Error);
}

void say(const Twine &Message) {
  SmallString<256> Line("reconverge: ");
  Message.toVector(Line);
  if (!StringRef(Line).ends_with("\n"))
    Line += '\n';
  for (StringRef Rest = Line; !Rest.empty();) {
    ssize_t Written = write(STDERR_FILENO, Rest.data(), Rest.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0)
      return; // nobody reads stderr
    Rest = Rest.drop_front(size_t(Written));
  }
}

void sayOnce(const Twine &Message) {
  static std::mutex Mutex;
  static StringSet<> &Said = *new StringSet<>; // outlives static destructors
  {
    std::lock_guard<std::mutex> Lock(Mutex);
    if (!Said.insert(Message.str()).second)
      return;
  }
  say(Message);
}

void sayUnsupported(const Twine &Message, StringRef Kernel) {
  FindingsLog *Log = FindingsLog::current();
  if (!Log)
    return sayOnce(Message);
  Finding F;
  F.Kind = FindingKind::Unsupported;
  F.Kernel = Kernel.str();
  F.Text = Message.str();
  Log->add(std::move(F));
}

cudaError_t unsupported(const Twine &What) {
  sayUnsupported(What + " is not supported by the warp VM");
  return cudaErrorNotSupported;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

namespace {
struct ErrorText {
  int Code;
  const char *Name, *Text;
};
} // namespace

static constexpr ErrorText Texts[] = {
#define RECONVERGE_CUDA_ERROR(Code, Name, Text) {Code, #Name, Text},
#include "runtime/vm/Errors.def"
#undef RECONVERGE_CUDA_ERROR
};

static const ErrorText &textOf(cudaError_t Error) {
  static constexpr ErrorText Unknown = {-1, "unrecognized error code",
                                        "unrecognized error code"};
  for (const ErrorText &T : Texts)
    if (T.Code == int(Error))
      return T;
  return Unknown;
}

const char *api::cudaGetErrorName(cudaError_t Error) {
  return textOf(Error).Name;
}

const char *api::cudaGetErrorString(cudaError_t Error) {
  return textOf(Error).Text;
}

cudaError_t api::cudaGetLastError() {
  return std::exchange(LastError, cudaSuccess);
}

cudaError_t api::cudaPeekAtLastError() { return LastError; }

} // namespace reconverge::runtime
