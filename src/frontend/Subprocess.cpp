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
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::frontend {

static volatile sig_atomic_t CurrentChild = 0, IsExpendable = 0,
                             Interruption = 0;

int interruption() { return Interruption; }

static void stayAlive(int Signal) {
  Interruption = Signal;
  if (IsExpendable && CurrentChild > 0)
    kill(CurrentChild, SIGKILL);
}
static void passOn(int Signal) {
  Interruption = Signal;
  if (CurrentChild > 0)
    kill(CurrentChild, IsExpendable ? SIGKILL : Signal);
}

namespace {
/// Our signal handlers while a child runs.
class SignalsWhileWaiting {
public:
  explicit SignalsWhileWaiting(bool Expendable) {
    IsExpendable = Expendable;
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

/// Waits for \p Child, killing it when \p Limit seconds (0: any time) are over.
/// False if there is nothing to wait for.
static bool waitFor(pid_t Child, double Limit, int &Status, bool &TimedOut) {
  using Clock = std::chrono::steady_clock;
  const auto Start = Clock::now();
  while (true) {
    const bool Polls = Limit > 0 && !TimedOut;
    const pid_t Got = waitpid(Child, &Status, Polls ? WNOHANG : 0);
    if (Got == Child)
      return true;
    if (Got < 0 && errno != EINTR)
      return false;
    if (!Polls)
      continue;
    if (std::chrono::duration<double>(Clock::now() - Start).count() > Limit) {
      TimedOut = true;
      kill(Child, SIGKILL);
    } else {
      usleep(2000);
    }
  }
}

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

  posix_spawn_file_actions_t Files;
  posix_spawn_file_actions_init(&Files);
  auto Redirect = [&](int Stream, const std::string &Path, int Flags) {
    if (!Path.empty())
      posix_spawn_file_actions_addopen(&Files, Stream, Path.c_str(), Flags,
                                       0600);
  };
  Redirect(STDIN_FILENO, C.Input, O_RDONLY);
  Redirect(STDOUT_FILENO, C.Output, O_WRONLY | O_CREAT | O_TRUNC);
  Redirect(STDERR_FILENO, C.Errors, O_WRONLY | O_CREAT | O_TRUNC);

  SignalsWhileWaiting Handlers(C.IsExpendable);
  pid_t Child = 0;
  const auto Start = std::chrono::steady_clock::now();
  const int Code = posix_spawn(&Child, Arguments[0], &Files, nullptr,
                               Arguments.data(), Environment.data());
  posix_spawn_file_actions_destroy(&Files);
  if (Code)
    return userError("cannot run " + C.Arguments[0] + ": " +
                     std::strerror(Code));
  CurrentChild = Child;
  if (Interruption && IsExpendable) // it came before there was a child
    kill(Child, SIGKILL);

  int Status = 0;
  ProcessResult Result;
  if (!waitFor(Child, C.TimeLimit, Status, Result.TimedOut))
    return internalError("waiting for " + C.Arguments[0] + ": " +
                         std::strerror(errno));
  Result.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start)
          .count();
  if (WIFSIGNALED(Status))
    Result.Signal = WTERMSIG(Status);
  else
    Result.Exit = WEXITSTATUS(Status);
  return Result;
}

} // namespace reconverge::frontend
