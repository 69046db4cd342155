//===- runtime/vm/Vet.cpp - Look at foreign bitcode from afar -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's bitcode reader checks much and trusts the rest: bitcode of another
// version, or damaged before it was hashed, may end the process that reads it.
// Here that process is the user's program. So what this reconverge has not
// written itself (ContainerView::Foreign) is first read in a child:
//
//   fork -> child: no signal handlers, silent, with limits on time and memory;
//                  parse, verify, write what was found into a pipe
//        -> parent: reads the pipe; nothing in it (a signal, a time-out) or a
//                   complaint is an error
//
// What passes is then read here: the same bytes by the same code.
//
// The child forks off a process that may have threads. One of them may hold a
// lock of LLVM's that the child then waits for; the alarm ends it, and the code
// is refused rather than the program lost.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Vet.h"

#include "core/Error.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::runtime {

static constexpr unsigned SecondsAllowed = 20;
static constexpr rlim_t BytesAllowed = rlim_t(4) << 30;

/// What the child writes; nothing if it does not come that far.
enum Finding : char { Valid = 'v', Invalid = 'i', Unreadable = 'u' };

[[noreturn]] static void readAndExit(MemoryBufferRef Bitcode, int Answer) {
  for (int Signal :
       {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGALRM, SIGTERM})
    signal(Signal, SIG_DFL);
  sigset_t None;
  sigemptyset(&None);
  sigprocmask(SIG_SETMASK, &None, nullptr);
  alarm(SecondsAllowed);
  const rlimit NoCore = {0, 0};
  setrlimit(RLIMIT_CORE, &NoCore);
  // The data segment, not the address space: the VM has reserved much of that.
  const rlimit Data = {BytesAllowed, BytesAllowed};
  setrlimit(RLIMIT_DATA, &Data);
  if (int Null = open("/dev/null", O_WRONLY); Null >= 0) {
    dup2(Null, STDOUT_FILENO);
    dup2(Null, STDERR_FILENO);
  }
  LLVMContext Context;
  Finding Found = Unreadable;
  Expected<std::unique_ptr<Module>> M = parseBitcodeFile(Bitcode, Context);
  if (M)
    Found = verifyModule(**M) ? Invalid : Valid;
  else
    consumeError(M.takeError());
  _exit(write(Answer, &Found, 1) != 1);
}

/// What comes out of \p Pipe before its other end closes.
static std::optional<Finding> readFinding(int Pipe) {
  char Byte = 0;
  ssize_t Count;
  do
    Count = read(Pipe, &Byte, 1);
  while (Count < 0 && errno == EINTR);
  if (Count != 1)
    return std::nullopt;
  return Finding(Byte);
}

Error vetBitcode(MemoryBufferRef Bitcode) {
  const char *Remedy = "Build the program again with this version of "
                       "reconverge.";
  auto NotStarted = [&](int Code) {
    return userError(Twine("another version of reconverge wrote it, and the "
                           "process that is to check it cannot be started: ") +
                         std::strerror(Code),
                     Remedy);
  };
  int Pipe[2];
  if (pipe2(Pipe, O_CLOEXEC))
    return NotStarted(errno);
  // The program may wait for any child of the process, in a handler of SIGCHLD
  // or another thread: what ours found comes by the pipe, and its end is only
  // tidied up. Here, the handler must not count it as one of the program's.
  sigset_t Blocked, Before;
  sigemptyset(&Blocked);
  sigaddset(&Blocked, SIGCHLD);
  pthread_sigmask(SIG_BLOCK, &Blocked, &Before);
  const pid_t Child = fork();
  if (Child == 0)
    readAndExit(Bitcode, Pipe[1]);
  const int WhyNot = errno;
  close(Pipe[1]);
  std::optional<Finding> Found;
  if (Child > 0) {
    Found = readFinding(Pipe[0]);
    while (waitpid(Child, nullptr, 0) < 0 && errno == EINTR)
      ;
  }
  close(Pipe[0]);
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);

  if (Child < 0)
    return NotStarted(WhyNot);
  if (Found == Valid)
    return Error::success();
  return userError(
      Twine("another version of reconverge wrote it, and this "
            "one's LLVM ") +
          (Found == Invalid ? "finds it invalid" : "cannot read it"),
      Remedy);
}

} // namespace reconverge::runtime
