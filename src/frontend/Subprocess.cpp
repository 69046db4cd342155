//===- frontend/Subprocess.cpp - Run a program and wait -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llvm::sys::ExecuteAndWait folds every signal into one code and leaves our own
// signal handling as it is; a profiled program's end must be reported exactly
// (128 + signal), and Ctrl-C must end the program while we stay to print what
// it did until then. Hence posix_spawn.
//
// A signal from the terminal goes to all of its foreground: us, the child and
// what that has started. One that somebody sends to us alone is passed on. A
// child that is expendable and has nothing to do with the terminal leads a
// process group of its own, so that what it has started ends with it. One that
// has the terminal must stay in our group, or could not read from it. So what
// it leaves becomes our child (a subreaper's, prctl(2)), and if a signal has
// come, is killed, until there is nothing any more. That also ends what has
// gone into a session of its own.
//
// Handlers, unlike ignored signals, are reset in the child by exec, so the
// child has the defaults.
//
// A child with a view of its own (PrivateView.h) has to act between fork and
// exec, which posix_spawn has no way to say: it is forked, and tells by a pipe
// that exec closes what has failed.
//
//===----------------------------------------------------------------------===//

#include "frontend/Subprocess.h"

#include "core/Error.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

using namespace llvm;

namespace reconverge::frontend {

/// As kill() takes it: the child, or its process group if that is negative.
static volatile sig_atomic_t CurrentChild = 0;
static volatile sig_atomic_t IsExpendable = 0, Interruption = 0;

int interruption() { return Interruption; }

static void interrupt(int Signal, siginfo_t *Info, void *) {
  Interruption = Signal;
  const bool HasIt = Info->si_code == SI_KERNEL; // from the terminal
  if (CurrentChild && (IsExpendable || !HasIt))
    kill(pid_t(CurrentChild), IsExpendable ? SIGKILL : Signal);
}

namespace {
/// Our signal handlers while a child runs, or several that as many threads wait
/// for.
class SignalsWhileWaiting {
public:
  explicit SignalsWhileWaiting(bool Expendable) {
    std::lock_guard<std::mutex> Guard(Lock);
    IsExpendable = Expendable;
    for (int I = 0; Waiting == 0 && I < Count; ++I)
      install(I);
    ++Waiting;
  }
  ~SignalsWhileWaiting() {
    std::lock_guard<std::mutex> Guard(Lock);
    CurrentChild = 0;
    --Waiting;
    for (int I = 0; Waiting == 0 && I < Count; ++I)
      sigaction(Signals[I], &Before[I], nullptr);
  }

private:
  static constexpr int Count = 4;
  static constexpr int Signals[Count] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  static inline std::mutex Lock;
  static inline unsigned Waiting = 0; ///< threads
  static inline struct sigaction Before[Count];

  void install(int Index) {
    struct sigaction Action{};
    Action.sa_sigaction = interrupt;
    Action.sa_flags = SA_SIGINFO;
    sigemptyset(&Action.sa_mask);
    sigaction(Signals[Index], nullptr, &Before[Index]);
    // nohup and the like: what was ignored stays ignored, in the child too.
    if (Before[Index].sa_handler != SIG_IGN)
      sigaction(Signals[Index], &Action, nullptr);
  }
};
} // namespace

/// Our children, also those that nobody has waited for yet.
static std::set<pid_t> children() {
  std::set<pid_t> Found;
  std::error_code EC;
  for (sys::fs::directory_iterator At("/proc", EC), End; !EC && At != End;
       At.increment(EC)) {
    pid_t Process = 0, Parent = 0;
    if (sys::path::filename(At->path()).getAsInteger(10, Process))
      continue;
    auto Stat = MemoryBuffer::getFileAsStream(At->path() + "/stat");
    if (!Stat)
      continue; // it is over
    // "<id> (<name>) <state> <parent> ...", where the name may be anything.
    StringRef Rest = (*Stat)->getBuffer().rsplit(") ").second.split(' ').second;
    if (!Rest.split(' ').first.getAsInteger(10, Parent) && Parent == getpid())
      Found.insert(Process);
  }
  return Found;
}

/// Kills all our children but \p Others. What dies leaves its own children to
/// us, so this looks again until nothing is left that can be killed.
static void killChildren(const std::set<pid_t> &Others) {
  bool IsAnyLeft = true;
  while (std::exchange(IsAnyLeft, false))
    for (pid_t Child : children())
      if (!Others.count(Child) && !kill(Child, SIGKILL)) {
        IsAnyLeft = true;
        waitpid(Child, nullptr, 0);
      }
}

using Clock = std::chrono::steady_clock;

/// Seconds that \p C, which began at \p Start, has taken of its own.
static double ownSeconds(const Command &C, Clock::time_point Start) {
  return std::chrono::duration<double>(Clock::now() - Start).count() -
         (C.Waited ? C.Waited() : 0);
}

/// Whether \p C leads a process group of its own.
static bool leadsGroup(const Command &C) {
  return C.IsExpendable && !C.Output.empty();
}

/// Waits for \p Child, which began at \p Start, killing it when \p C.TimeLimit
/// seconds (0: any time) are over. False if there is nothing to wait for.
static bool waitFor(pid_t Child, const Command &C, Clock::time_point Start,
                    int &Status, bool &TimedOut) {
  constexpr double Sometimes = 0.1; // s
  double Last = 0;
  while (true) {
    const bool IsLimited = C.TimeLimit > 0 && !TimedOut;
    const bool Polls = IsLimited || C.Meanwhile;
    const pid_t Got = waitpid(Child, &Status, Polls ? WNOHANG : 0);
    if (Got == Child)
      return true;
    if (Got < 0 && errno != EINTR)
      return false;
    if (!Polls)
      continue;
    const double Now = ownSeconds(C, Start);
    if (IsLimited && Now > C.TimeLimit) {
      TimedOut = true;
      kill(leadsGroup(C) ? -Child : Child, SIGKILL);
      continue;
    }
    if (C.Meanwhile && Now - Last > Sometimes) {
      Last = Now;
      C.Meanwhile();
    }
    usleep(2000);
  }
}

namespace {
/// What a new process is made of; the strings are \p C's.
struct Image {
  std::vector<char *> Arguments, Environment;
};
/// A file in place of a standard stream.
struct Redirection {
  int Stream;
  const std::string &Path;
  int Flags;
};
} // namespace

static Image imageOf(const Command &C) {
  Image I;
  for (const std::string &A : C.Arguments)
    I.Arguments.push_back(const_cast<char *>(A.c_str()));
  I.Arguments.push_back(nullptr);
  StringSet<> Replaced;
  for (const std::string &Entry : C.Environment) {
    I.Environment.push_back(const_cast<char *>(Entry.c_str()));
    Replaced.insert(StringRef(Entry).split('=').first);
  }
  for (char **Entry = environ; *Entry; ++Entry)
    if (!Replaced.contains(StringRef(*Entry).split('=').first))
      I.Environment.push_back(*Entry);
  I.Environment.push_back(nullptr);
  return I;
}

static int spawn(const Command &C, const Image &I,
                 ArrayRef<Redirection> Redirections, pid_t &Child) {
  posix_spawn_file_actions_t Files;
  posix_spawn_file_actions_init(&Files);
  for (const Redirection &R : Redirections)
    if (!R.Path.empty())
      posix_spawn_file_actions_addopen(&Files, R.Stream, R.Path.c_str(),
                                       R.Flags, 0600);
  if (C.InputEnd >= 0)
    posix_spawn_file_actions_adddup2(&Files, C.InputEnd, STDIN_FILENO);
  if (!C.Folder.empty())
    posix_spawn_file_actions_addchdir_np(&Files, C.Folder.c_str());
  posix_spawnattr_t How;
  posix_spawnattr_init(&How);
  if (leadsGroup(C)) // 0, which is the default: its own
    posix_spawnattr_setflags(&How, POSIX_SPAWN_SETPGROUP);
  const int Code = posix_spawn(&Child, I.Arguments[0], &Files, &How,
                               I.Arguments.data(), I.Environment.data());
  posix_spawnattr_destroy(&How);
  posix_spawn_file_actions_destroy(&Files);
  return Code;
}

/// What of \p C a child does by itself; returns what has failed, with errno.
static const char *becomeImage(const Command &C, const Image &I,
                               ArrayRef<Redirection> Redirections) {
  if (leadsGroup(C))
    setpgid(0, 0);
  for (const Redirection &R : Redirections) {
    if (R.Path.empty())
      continue;
    const int File = open(R.Path.c_str(), R.Flags | O_CLOEXEC, 0600);
    if (File < 0 || dup2(File, R.Stream) < 0)
      return R.Path.c_str();
  }
  if (C.InputEnd >= 0 && dup2(C.InputEnd, STDIN_FILENO) < 0)
    return "its input";
  if (const char *Refused = C.View->enter())
    return Refused;
  execve(I.Arguments[0], I.Arguments.data(), I.Environment.data());
  return I.Arguments[0];
}

static int forkInView(const Command &C, const Image &I,
                      ArrayRef<Redirection> Redirections, pid_t &Child,
                      std::string &What) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC))
    return errno;
  Child = fork();
  if (Child == 0) {
    const char *Failed = becomeImage(C, I, Redirections);
    const int Code = errno;
    (void)!write(Ends[1], &Code, sizeof(Code));
    (void)!write(Ends[1], Failed, strlen(Failed));
    _exit(127);
  }
  int Code = Child < 0 ? errno : 0;
  close(Ends[1]);
  char Text[256];
  ssize_t Got = 0;
  if (read(Ends[0], &Code, sizeof(Code)) == sizeof(Code))
    while ((Got = read(Ends[0], Text, sizeof(Text))) > 0)
      What.append(Text, size_t(Got));
  close(Ends[0]);
  if (!What.empty())
    waitpid(Child, nullptr, 0);
  return Code;
}

Expected<ProcessResult> runProcess(const Command &C) {
  const Image I = imageOf(C);
  const Redirection Redirections[] = {
      {STDIN_FILENO, C.Input, O_RDONLY},
      {STDOUT_FILENO, C.Output, O_WRONLY | O_CREAT | O_TRUNC},
      {STDERR_FILENO, C.Errors, O_WRONLY | O_CREAT | O_TRUNC}};

  std::set<pid_t> Others;
  if (C.IsExpendable) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    Others = children();
  }
  SignalsWhileWaiting Handlers(C.IsExpendable);
  pid_t Child = 0;
  const Clock::time_point Start = Clock::now();
  std::string What;
  const int Code = C.View ? forkInView(C, I, Redirections, Child, What)
                          : spawn(C, I, Redirections, Child);
  if (C.InputEnd >= 0)
    close(C.InputEnd);
  if (Code)
    return userError(
        "cannot run " + C.Arguments[0] +
        (What.empty() || What == C.Arguments[0] ? "" : ": " + What) + ": " +
        std::strerror(Code));
  CurrentChild = leadsGroup(C) ? -Child : Child;
  if (Interruption && IsExpendable) // it came before there was a child
    kill(pid_t(CurrentChild), SIGKILL);

  int Status = 0;
  ProcessResult Result;
  if (!waitFor(Child, C, Start, Status, Result.TimedOut))
    return internalError("waiting for " + C.Arguments[0] + ": " +
                         std::strerror(errno));
  if (Interruption && IsExpendable)
    killChildren(Others);
  Result.Seconds = ownSeconds(C, Start);
  if (WIFSIGNALED(Status))
    Result.Signal = WTERMSIG(Status);
  else
    Result.Exit = WEXITSTATUS(Status);
  return Result;
}

} // namespace reconverge::frontend
