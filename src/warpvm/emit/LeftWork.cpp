//===- warpvm/emit/LeftWork.cpp - Compile after the program's end ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test program launches many kernels, none for long enough to be compiled well
// while it runs, and is run again and again. As it ends it leaves a list of them
// in the cache, and a process that outlives it:
//
//   program ──▶ <hash>.job: how, which kernels, bitcode ──▶ compile-kernel left
//                                                             │ under a lock
//                                                             ▼
//                                  the cache's files, as the program would ask
//
// 1. Of all that are begun for one cache, one process works; others end at once.
//    So many programs that end together do not take the CPU for themselves.
// 2. It takes the newest list, which is most likely to be of use yet, compiles what
//    the cache lacks, and removes it. When no list is left it gives the lock back,
//    and looks once more: whoever left a list before that has found the lock taken.
// 3. Each kernel is compiled in a child, which may crash, or be killed when it has
//    taken too long, without an end to the rest. That is noted in an empty file,
//    and not tried again.
//
// A list outlives a process that is killed, as by the end of a container: the next
// one goes on with it. Who cannot wait does the same without the lock and from the
// list's end: the two meet in its middle, and each finds that the rest is there.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/LeftWork.h"

#include "core/CacheFolder.h"
#include "warpvm/emit/CachedFile.h"
#include "warpvm/emit/Compile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <csignal>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::warpvm {

static constexpr StringLiteral Suffix = ".job", InVain = ".none";

/// CPU seconds after which a kernel is given up: a hundred times the usual.
static constexpr rlim_t Patience = 60;

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

// Lines, an empty one behind them, then the bitcode. The first line is the module's
// hash and Isa, each other one a kernel.
bool leaveWork(StringRef CacheDir, StringRef Isa, StringRef ModuleHash,
               StringRef Bitcode, ArrayRef<LeftKernel> Kernels) {
  std::string List = (ModuleHash + "\t" + Isa + "\n").str();
  for (const LeftKernel &K : Kernels)
    List += K.Words + "\t" + K.Name + "\n";
  List += "\n";
  List += Bitcode;
  return writeWhole(cachePath(CacheDir, xxh3_64bits(List)) + Suffix.str(),
                    List);
}

namespace {
struct Job {
  std::string ModuleHash, Isa;
  std::vector<LeftKernel> Kernels;
  StringRef Bitcode;
};
} // namespace

static Job jobOf(StringRef List) {
  Job J;
  StringRef Line;
  std::tie(Line, List) = List.split('\n');
  const auto [Hash, Isa] = Line.split('\t');
  J.ModuleHash = Hash.str();
  J.Isa = Isa.str();
  while (std::tie(Line, List) = List.split('\n'), !Line.empty()) {
    const auto [Words, Name] = Line.split('\t');
    J.Kernels.push_back({Name.str(), Words.str()});
  }
  J.Bitcode = List;
  return J;
}

/// The path of the newest list; empty: there is none.
static std::string newestList(StringRef CacheDir) {
  std::pair<sys::TimePoint<>, std::string> Newest;
  std::error_code EC;
  for (sys::fs::directory_iterator It(CacheDir, EC), End; It != End && !EC;
       It.increment(EC)) {
    if (!StringRef(It->path()).ends_with(Suffix) ||
        !isCacheName(sys::path::filename(It->path())))
      continue;
    const auto Status = It->status();
    if (!Status)
      continue;
    std::pair Candidate(Status->getLastModificationTime(), It->path());
    if (Newest.second.empty() || Newest < Candidate)
      Newest = std::move(Candidate);
  }
  return Newest.second;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

/// Runs \p Work in a process of its own. False: it failed, and would again.
static bool apart(function_ref<bool()> Work) {
  const pid_t Child = fork();
  if (Child == 0) {
    const rlimit Limit = {Patience, Patience + 1}, None = {0, 0};
    setrlimit(RLIMIT_CPU, &Limit);
    setrlimit(RLIMIT_CORE, &None);
    sigset_t TooLong;
    sigemptyset(&TooLong);
    sigaddset(&TooLong, SIGXCPU);
    sigprocmask(SIG_UNBLOCK, &TooLong, nullptr);
    _exit(Work() ? 0 : 1);
  }
  int Status = 0;
  while (Child > 0 && waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(Status)
             ? WEXITSTATUS(Status) == 0
             : WTERMSIG(Status) == SIGKILL || WTERMSIG(Status) == SIGTERM;
}

enum class From { Begin, End };

/// What cannot be compiled is left out: the program has other code.
static bool compile(Job J, StringRef CacheDir, From Where) {
  MachineOptions Options;
  Options.Isa = J.Isa;
  Options.CacheDir = CacheDir.str();
  auto C = Compiler::create(Options, Effort::Well, /*Library=*/{});
  if (!C)
    return !errorToBool(C.takeError());
  LLVMContext Context;
  std::unique_ptr<Module> M;
  if (Where == From::End)
    std::reverse(J.Kernels.begin(), J.Kernels.end());
  for (const LeftKernel &K : J.Kernels) {
    EmitOptions Emit;
    if (!parseDescription(K.Words, Emit, Options.Code))
      continue;
    const std::string Path =
        (*C)->cachePath(J.ModuleHash, K.Name, Emit, Options.Code);
    if (sys::fs::exists(Path) || sys::fs::exists(Path + InVain))
      continue;
    if (!M) {
      auto Read = parseBitcodeFile(MemoryBufferRef(J.Bitcode, "left"), Context);
      if (!Read)
        return !errorToBool(Read.takeError());
      M = std::move(*Read);
    }
    Function *F = M->getFunction(K.Name);
    if (F && !apart([&] {
          auto Object = (*C)->build(*F, Emit, Options.Code);
          return Object ? writeWhole(Path, (*Object)->getBuffer())
                        : !errorToBool(Object.takeError());
        }))
      writeWhole(Path + InVain.str(), "");
  }
  return true;
}

/// False: a list cannot be removed, and would come back for ever.
static bool compileLists(StringRef CacheDir, From Where) {
  for (std::string Path; !(Path = newestList(CacheDir)).empty();) {
    if (auto List = readWhole(Path))
      apart([&] { return compile(jobOf(List->getBuffer()), CacheDir, Where); });
    if (sys::fs::remove(Path))
      return false;
  }
  return true;
}

void finishLeftWork(StringRef CacheDir) { compileLists(CacheDir, From::End); }

void compileLeftWork(StringRef CacheDir) {
  SmallString<128> Lock(CacheDir);
  sys::path::append(Lock, "llvmcache-lock");
  for (bool Mine = true; Mine && !newestList(CacheDir).empty();) {
    const int File = open(Lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (File < 0)
      return;
    Mine =
        !flock(File, LOCK_EX | LOCK_NB) && compileLists(CacheDir, From::Begin);
    close(File);
  }
}

} // namespace reconverge::warpvm
