//===- warpvm/emit/CompilerProcess.cpp - Compile beside the program -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Not a thread: when a process ends, destructors of static objects run while
// its threads go on, LLVM makes such objects whenever it first needs them, and
// no order of exit handlers covers those. A process of its own also keeps a
// crash, and memory, away from the program.
//
//   the program                               compile-kernel
//     memory file with bitcode ────────────▶ 0, standard input
//     empty memory file        ◀──────────── 1, standard output: object file
//     one end of a socket      ◀───────────▶ 3, the other end
//
// The socket says how each one fares. A byte from the compiler: the object file
// is whole, or the compiler is of another build, whose code must not run here. Its
// end closed without one: there is no object file. The program's end closed, be it
// by a signal: the compiler ends as well.
//
// The program must not notice. The compiler is a child of a child that ends at
// once and sends no signal, so neither wait() nor a handler of SIGCHLD meets
// it. It has none of the program's other open files, no signal reaches it, and
// it yields the CPU to others. What it compiles when the program has ended is told
// otherwise (LeftWork.cpp).
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/CompilerProcess.h"

#include "warpvm/emit/Compile.h"

#include "core/Error.h"
#include "warpvm/emit/CachedFile.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"

#include <array>
#include <csignal>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {

enum : int { SocketInCompiler = 3 };
/// What the compiler says through the socket.
enum : char { Whole = '+', OtherBuild = '?' };

namespace {

/// An open file of this process alone, at a number that no new process gives
/// to its first files. -1: none could be opened.
class File {
public:
  File() = default;
  explicit File(int Any) {
    if (Any < 0)
      return;
    Number = fcntl(Any, F_DUPFD_CLOEXEC, 10);
    close(Any);
  }
  File(File &&Other) : Number(std::exchange(Other.Number, -1)) {}
  File &operator=(File &&Other) {
    std::swap(Number, Other.Number);
    return *this;
  }
  ~File() { reset(); }
  void reset() {
    if (Number >= 0)
      close(std::exchange(Number, -1));
  }
  operator int() const { return Number; }

private:
  int Number = -1;
};

/// What a new process is made of. It shares this process' memory until it runs
/// its program, so all is prepared before.
struct NewProcess {
  const char *Program;
  char *const *Arguments;
  std::array<int, 4> Files; ///< that become 0, 1, 2, 3
  alignas(16) char Stacks[2][32 << 10];

  /// Begins \p Part on a stack of its own and waits until it has ended or runs
  /// its program.
  pid_t begin(int (*Part)(void *), unsigned Stack, int Signal) {
    return clone(Part, Stacks[Stack] + sizeof(Stacks[Stack]),
                 CLONE_VM | CLONE_VFORK | Signal, this);
  }
};

} // namespace

static int runProgram(void *Argument) {
  auto &New = *static_cast<NewProcess *>(Argument);
  for (size_t I = 0; I < New.Files.size(); ++I)
    if (dup2(New.Files[I], int(I)) < 0)
      return 127;
  close_range(unsigned(New.Files.size()), ~0u, 0);
  execve(New.Program, New.Arguments, environ);
  return 127;
}

static int leaveBehind(void *Argument) {
  auto &New = *static_cast<NewProcess *>(Argument);
  New.begin(runProgram, 1, SIGCHLD);
  return 0;
}

/// Runs \p Program as nobody's child with \p Files as its first four, all
/// signals blocked.
static void runApart(const std::string &Program,
                     std::vector<std::string> Arguments,
                     std::array<int, 4> Files) {
  SmallVector<char *> Pointers = {const_cast<char *>(Program.c_str())};
  for (std::string &A : Arguments)
    Pointers.push_back(A.data());
  Pointers.push_back(nullptr);
  auto New = std::make_unique<NewProcess>();
  New->Program = Program.c_str();
  New->Arguments = Pointers.data();
  New->Files = Files;
  sigset_t Every, Before;
  sigfillset(&Every);
  pthread_sigmask(SIG_SETMASK, &Every, &Before);
  const pid_t Child = New->begin(leaveBehind, 0, /*Signal=*/0);
  if (Child > 0)
    waitpid(Child, nullptr, __WALL);
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
}

//===----------------------------------------------------------------------===//
// In the program
//===----------------------------------------------------------------------===//

struct CompilerProcess::Run {
  File Object, Socket;

  Run(const std::string &Program, const std::string &Isa, const Job &J) {
    File Bitcode(memfd_create("bitcode", MFD_CLOEXEC));
    File Null(open("/dev/null", O_WRONLY | O_CLOEXEC));
    Object = File(memfd_create("object", MFD_CLOEXEC));
    int Ends[2] = {-1, -1};
    (void)socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Ends);
    File Mine(Ends[0]), Theirs(Ends[1]);
    if (Bitcode < 0 || Null < 0 || Object < 0 || Theirs < 0)
      return;
    raw_fd_ostream OS(Bitcode, /*shouldClose=*/false);
    OS << *J.Bitcode;
    OS.flush();
    if (OS.has_error()) {
      OS.clear_error();
      return;
    }
    lseek(Bitcode, 0, SEEK_SET);
    runApart(Program, {J.Kernel, describe(J.Emit, J.Code), Isa, BuildId},
             {Bitcode, Object, Null, Theirs});
    Socket = std::move(Mine);
  }

  /// Whether it has ended.
  bool ended(bool Wait) {
    if (Socket < 0)
      return true;
    pollfd P = {Socket, POLLIN, 0};
    return ::poll(&P, 1, Wait ? -1 : 0) > 0;
  }

  /// The object file; null if there is none. \p Foreign: as its compiler is of
  /// another build.
  std::unique_ptr<MemoryBuffer> take(bool &Foreign) {
    char Word = 0;
    if (Socket >= 0)
      (void)!recv(Socket, &Word, 1, MSG_DONTWAIT);
    Foreign = Word == OtherBuild;
    if (Word != Whole)
      return nullptr;
    auto Read = MemoryBuffer::getOpenFile(
        sys::fs::convertFDToNativeFile(Object), "object", /*FileSize=*/-1,
        /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
    return Read ? std::move(*Read) : nullptr;
  }
};

CompilerProcess::CompilerProcess(std::string Program, std::string Isa,
                                 std::function<void(StringRef)> Say)
    : Program(std::move(Program)), Isa(std::move(Isa)), Say(std::move(Say)),
      Home(getpid()) {}

CompilerProcess::~CompilerProcess() = default;

void CompilerProcess::add(Job J) {
  std::lock_guard<std::mutex> Guard(Lock);
  Jobs.push_back(std::move(J));
}

void CompilerProcess::advance() {
  if (Current) {
    Job Done = std::move(Jobs.front());
    Jobs.pop_front();
    bool Foreign;
    if (auto Object = Current->take(Foreign))
      Done.Take(std::move(Object));
    else if (Foreign && Say)
      Say(Program + " is of another build than the warp VM: kernels stay as "
                    "slow as they begin. Install both from one build.");
    Current = nullptr;
  }
  if (!Jobs.empty())
    Current = std::make_unique<Run>(Program, Isa, Jobs.front());
}

void CompilerProcess::poll() {
  std::unique_lock<std::mutex> Guard(Lock, std::try_to_lock);
  const auto Now = std::chrono::steady_clock::now();
  if (!Guard || Now < NextLook || Jobs.empty() || Home != getpid())
    return;
  NextLook = Now + std::chrono::milliseconds(1);
  if (!Current || Current->ended(/*Wait=*/false))
    advance();
}

void CompilerProcess::wait() {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Home != getpid())
    return;
  while (!Jobs.empty())
    if (!Current || Current->ended(/*Wait=*/true))
      advance();
}

void CompilerProcess::leave(StringRef CacheDir, StringRef ModuleHash,
                            StringRef Bitcode, ArrayRef<LeftKernel> Kernels) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (Home != getpid() ||
      !leaveWork(CacheDir, Isa, ModuleHash, Bitcode, Kernels) ||
      std::exchange(HasLeft, true))
    return;
  File Null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (Null >= 0)
    runApart(Program, {"left", CacheDir.str()}, {Null, Null, Null, Null});
}

//===----------------------------------------------------------------------===//
// In the compiler
//===----------------------------------------------------------------------===//

static Error compileInput(StringRef Kernel, StringRef Words, StringRef Isa) {
  EmitOptions Emit;
  MachineOptions Options;
  if (!parseDescription(Words, Emit, Options.Code))
    return internalError("'" + Words + "' says nothing of how to compile");
  Options.Isa = Isa.str();
  auto C = Compiler::create(Options, Effort::Well, /*Library=*/{});
  if (!C)
    return C.takeError();
  auto Bitcode = MemoryBuffer::getSTDIN();
  if (!Bitcode)
    return errorCodeToError(Bitcode.getError());
  LLVMContext Context;
  auto M = parseBitcodeFile(**Bitcode, Context);
  if (!M)
    return M.takeError();
  Function *F = (*M)->getFunction(Kernel);
  if (!F)
    return internalError("there is no kernel " + Kernel);
  auto Object = (*C)->build(*F, Emit, Options.Code);
  if (!Object)
    return Object.takeError();
  outs() << (*Object)->getBuffer();
  outs().flush();
  if (outs().has_error())
    return errorCodeToError(outs().error());
  return Error::success();
}

static int compileForParent(ArrayRef<const char *> Arguments) {
  (void)!nice(10);
  std::thread([] {
    char Nothing;
    while (read(SocketInCompiler, &Nothing, 1) < 0 && errno == EINTR)
      ;
    _exit(1); // the program has ended
  }).detach();
  auto Tell = [](char Word) { return write(SocketInCompiler, &Word, 1) == 1; };
  if (StringRef(Arguments[3]) != BuildId) {
    Tell(OtherBuild);
    _exit(1);
  }
  if (Error E = compileInput(Arguments[0], Arguments[1], Arguments[2])) {
    errs() << toString(std::move(E)) << '\n';
    _exit(1);
  }
  _exit(Tell(Whole) ? 0 : 1);
}

/// Nobody waits for this one, and it does not matter when it is done. Where the
/// kernel shares the CPU among sessions, its own gets least.
static int compileInBackground(StringRef CacheDir) {
  setsid();
  const File Session(open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC));
  (void)!write(Session, "19", 2);
  (void)!nice(19);
  const sched_param Any = {};
  sched_setscheduler(0, SCHED_IDLE, &Any);
  compileLeftWork(CacheDir);
  return 0;
}

int runCompiler(ArrayRef<const char *> Arguments) {
  const StringRef What = Arguments.empty() ? "" : Arguments[0];
  if (Arguments.size() == 2 && What == "left")
    return compileInBackground(Arguments[1]);
  if (Arguments.size() == 2 && What == "finish") {
    finishLeftWork(Arguments[1]);
    return 0;
  }
  if (Arguments.size() == 4 && fcntl(SocketInCompiler, F_GETFD) >= 0)
    return compileForParent(Arguments);
  errs() << "compile-kernel: the warp VM runs this program, for itself\n";
  return 2;
}

} // namespace reconverge::warpvm
