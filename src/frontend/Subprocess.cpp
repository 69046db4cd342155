//===- frontend/Subprocess.cpp - Run a program and wait -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::sys::ExecuteAndWait folds every signal into one code and leaves our own
// signal handling as it is; a profiled program's end must be reported exactly
// (128 + signal), and Ctrl-C must end the program while we stay to print what
// it did until then. Hence posix_spawn.
//
// Handlers, unlike ignored signals, are reset in the child by exec, so the
// child has the defaults.
//
//===----------------------------------------------------------------------===//

#include "frontend/Subprocess.h"

#include "core/Error.h"

#include "llvm/ADT/StringSet.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::frontend {

static volatile sig_atomic_t CurrentChild = 0;

static void stayAlive(int) {}
static void passOn(int Signal) {
  if (CurrentChild > 0)
    kill(CurrentChild, Signal);
}

namespace {
/// Our signal handlers while a child runs.
class SignalsWhileWaiting {
public:
  SignalsWhileWaiting() {
    install(0, SIGINT, stayAlive);
    install(1, SIGQUIT, stayAlive);
    install(2, SIGTERM, passOn);
    install(3, SIGHUP, passOn);
  }
  ~SignalsWhileWaiting() {
    CurrentChild = 0;
    for (int I = 0; I < Count; ++I)
      sigaction(Signals[I], &Before[I], nullptr);
  }

private:
  static constexpr int Count = 4;
  static constexpr int Signals[Count] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  struct sigaction Before[Count];

  void install(int Index, int Signal, void (*Handler)(int)) {
    struct sigaction Action{};
    Action.sa_handler = Handler;
    sigemptyset(&Action.sa_mask);
    sigaction(Signal, nullptr, &Before[Index]);
    // nohup and the like: what was ignored stays ignored, in the child too.
    if (Before[Index].sa_handler != SIG_IGN)
      sigaction(Signal, &Action, nullptr);
  }
};
} // namespace

Expected<ProcessResult> runProcess(const Command &C) {
  std::vector<char *> Arguments;
  for (const std::string &A : C.Arguments)
    Arguments.push_back(const_cast<char *>(A.c_str()));
  Arguments.push_back(nullptr);

  StringSet<> Replaced;
  std::vector<char *> Environment;
  for (const std::string &Entry : C.Environment) {
    Environment.push_back(const_cast<char *>(Entry.c_str()));
    Replaced.insert(StringRef(Entry).split('=').first);
  }
  for (char **Entry = environ; *Entry; ++Entry)
    if (!Replaced.contains(StringRef(*Entry).split('=').first))
      Environment.push_back(*Entry);
  Environment.push_back(nullptr);

  SignalsWhileWaiting Handlers;
  pid_t Child = 0;
  if (int Code = posix_spawn(&Child, Arguments[0], nullptr, nullptr,
                             Arguments.data(), Environment.data()))
    return userError("cannot run " + C.Arguments[0] + ": " +
                     std::strerror(Code));
  CurrentChild = Child;

  int Status = 0;
  while (waitpid(Child, &Status, 0) < 0)
    if (errno != EINTR)
      return internalError("waiting for " + C.Arguments[0] + ": " +
                           std::strerror(errno));
  ProcessResult Result;
  if (WIFSIGNALED(Status))
    Result.Signal = WTERMSIG(Status);
  else
    Result.Exit = WEXITSTATUS(Status);
  return Result;
}

} // namespace reconverge::frontend
