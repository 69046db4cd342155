//===- unittests/warpvm/EffortTest.cpp - Compiled fast, then well ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How much was spent on a kernel's code changes neither results nor counts, and
// code may be exchanged while a launch runs.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "RandomKernel.h"

#include "analysis/Uniformity.h"
#include "core/ContainerIO.h"
#include "warpvm/emit/Compile.h"
#include "warpvm/emit/CompilerProcess.h"
#include "warpvm/emit/LeftWork.h"
#include "warpvm/emit/Regions.h"
#include "warpvm/prepare/Prepare.h"

#include "llvm/IR/Dominators.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <csignal>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <sys/file.h>
#include <sys/wait.h>

using namespace llvm;

namespace reconverge::warpvm {
namespace {

using namespace std::chrono_literals;

const RandomKernelOptions Small = {.Depth = 2, .Statements = 3};

MachineOptions compiling(Effort How) {
  MachineOptions O = optionsFor(32, Tier::Fused, PolicyKind::Frontier);
  O.Compile = How;
  O.CompilerProgram = RECONVERGE_COMPILE_KERNEL;
  return O;
}

/// Wants every third block, takes its time before one of the first and waits
/// for the compiler before a later one.
class Slow : public VectorObserver {
public:
  explicit Slow(Machine &M) : M(M) {}
  bool wants(uint64_t Block) override {
    if (Block == 4)
      std::this_thread::sleep_for(300ms);
    if (Block == 10)
      M.finishCompiling();
    return Block % 3 == 0;
  }
  void record(uint64_t Block, unsigned, ArrayRef<uint32_t> Vectors,
              ArrayRef<uint64_t> AsRun) override {
    Of[Block] = {Vectors.vec(), AsRun.vec()};
  }
  std::map<uint64_t, std::pair<std::vector<uint32_t>, std::vector<uint64_t>>>
      Of;

private:
  Machine &M;
};

struct Outcome {
  std::vector<uint32_t> Out, Sums;
  LaunchCounts Counts;
  decltype(Slow::Of) Vectors;
  bool Before, After; ///< compiled well

  Outcome(Module &M, Machine &On) {
    constexpr unsigned Blocks = 20, Threads = 80;
    std::vector<uint32_t> In(RandomKernelInWords);
    for (unsigned I = 0; I < In.size(); ++I)
      In[I] = I * 2654435761u >> (I % 28);
    Out.resize(Blocks * Threads * RandomKernelOutBytes / 4);
    Sums.resize(RandomKernelSums);
    TestProgram P(M, On);
    Slow Observer(On);
    P.Observer = &Observer;
    Kernel *K = cantFail(P.program().kernel("k"));
    // A launch of no work: the observer has nothing to say to its only block.
    P.run(shape(1, Threads), In.data(), Out.data(), Sums.data(), 5u);
    Before = K->compiledWell();
    Out.assign(Out.size(), 0);
    Sums.assign(Sums.size(), 0);
    Observer.Of.clear();
    P.run(shape(Blocks, Threads), In.data(), Out.data(), Sums.data(), 5u);
    After = K->compiledWell();
    Counts = P.counts();
    Vectors = Observer.Of;
  }
};

void expectSame(const Outcome &A, const Outcome &B) {
  EXPECT_EQ(A.Out, B.Out);
  EXPECT_EQ(A.Sums, B.Sums);
  EXPECT_EQ(differenceOf(A.Counts, B.Counts), "");
  EXPECT_EQ(A.Vectors, B.Vectors);
}

TEST(Effort, CodeIsExchangedWhileALaunchRuns) {
  LLVMContext C;
  auto M = randomKernel(C, 3, Small);
  auto Auto = cantFail(Machine::create(compiling(Effort::Auto)));
  const Outcome Mixed(*M, *Auto);
  EXPECT_FALSE(Mixed.Before);
  EXPECT_TRUE(Mixed.After);
  const Outcome Fast(*M, machineFor(compiling(Effort::Fast)));
  EXPECT_FALSE(Fast.After);
  expectSame(Mixed, Fast);
  const Outcome Well(*M, machineFor(compiling(Effort::Well)));
  EXPECT_TRUE(Well.Before);
  expectSame(Mixed, Well);
}

/// CPU seconds that this thread spends in \p Work.
double secondsIn(function_ref<void()> Work) {
  timespec Begin, End;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &Begin);
  Work();
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &End);
  return double(End.tv_sec - Begin.tv_sec) +
         1e-9 * double(End.tv_nsec - Begin.tv_nsec);
}

/// A launch of one block: it has no other chance than its barriers. Good code may
/// come late where other processes keep the CPU busy, as it is compiled when they
/// leave it alone; so there are three launches, each on a machine of its own, and
/// one of them must have got it in time.
TEST(Effort, CodeIsExchangedWhereBarriersOpen) {
  constexpr unsigned Threads = 64, Rounds = 10000000, Fewer = Rounds / 50;
  const std::string Text = R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    declare void @llvm.nvvm.barrier0()
    define ptx_kernel void @k(ptr %out, i32 %n) {
    entry:
      %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      br label %loop
    loop:
      %i = phi i32 [0, %entry], [%j, %loop]
      %x = phi i32 [%t, %entry], [%y, %loop]
      call void @llvm.nvvm.barrier0()
      %m = mul i32 %x, 1664525
      %y = add i32 %m, %i
      %j = add i32 %i, 1
      %more = icmp ult i32 %j, %n
      br i1 %more, label %loop, label %done
    done:
      %at = getelementptr i32, ptr %out, i32 %t
      store i32 %y, ptr %at
      ret void
    })";
  std::vector<uint32_t> Out(Threads), Expected(Threads);
  for (uint32_t T = 0; T < Threads; ++T) {
    Expected[T] = T;
    for (uint32_t I = 0; I < Rounds; ++I)
      Expected[T] = Expected[T] * 1664525 + I;
  }
  bool InTime = false;
  for (int Try = 0; Try < 3 && !InTime; ++Try) {
    auto On = cantFail(Machine::create(compiling(Effort::Auto)));
    TestProgram P(Text, *On), Slow(Text, compiling(Effort::Fast));
    Kernel *K = cantFail(P.program().kernel("k"));
    P.run(shape(1, Threads), Out.data(), 2u);
    EXPECT_FALSE(K->compiledWell());
    Slow.run(shape(1, Threads), Out.data(), 2u);
    const double AsList =
        secondsIn([&] { Slow.run(shape(1, Threads), Out.data(), Fewer); });
    const double Mixed =
        secondsIn([&] { P.run(shape(1, Threads), Out.data(), Rounds); });
    InTime = Mixed < 0.7 * AsList * Rounds / Fewer;
    EXPECT_TRUE(K->compiledWell() || !InTime);
    EXPECT_EQ(Out, Expected);
    EXPECT_EQ(P.block("loop").Warps, uint64_t(Rounds) * 2);
    EXPECT_EQ(P.block("loop").Lanes, uint64_t(Rounds) * Threads);
  }
  EXPECT_TRUE(InTime);
}

TEST(Effort, WithoutTheCompilersProgramAutoIsWell) {
  MachineOptions O = compiling(Effort::Auto);
  O.CompilerProgram += "-is-not-there";
  LLVMContext C;
  auto M = randomKernel(C, 3, Small);
  auto On = cantFail(Machine::create(O));
  EXPECT_TRUE(Outcome(*M, *On).Before);
}

/// The first code will do.
TEST(Effort, ACompilerThatFailsIsNotNoticed) {
  MachineOptions O = compiling(Effort::Auto);
  O.CompilerProgram = "/bin/false";
  LLVMContext C;
  auto M = randomKernel(C, 3, Small);
  auto On = cantFail(Machine::create(O));
  const Outcome Failed(*M, *On);
  EXPECT_FALSE(Failed.After);
  expectSame(Failed, Outcome(*M, machineFor(compiling(Effort::Fast))));
}

TEST(Effort, WhatIsOnDiskIsTakenAtOnce) {
  SmallString<128> Folder;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("effort", Folder));
  MachineOptions O = compiling(Effort::Auto);
  O.CacheDir = std::string(Folder);
  LLVMContext C;
  auto M = randomKernel(C, 5, Small);
  for (bool Again : {false, true}) {
    auto On = cantFail(Machine::create(O));
    EXPECT_EQ(Outcome(*M, *On).Before, Again);
  }
  sys::fs::remove_directories(Folder);
}

/// Loops with branches, one behind the other.
std::string longKernel(unsigned Loops) {
  std::string Text = R"(
    declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    define ptx_kernel void @k(ptr %out) {
    pre:
      %v = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
      br label %head0
)";
  // In a loop's text, @ stands for its number, $ for the values before it.
  const StringRef Loop = R"(
    head@:
      %x@ = phi i32 [%v$, %pre$], [%y@, %latch@]
      %i@ = phi i32 [0, %pre$], [%j@, %latch@]
      %bits@ = and i32 %x@, 5
      %go@ = icmp ult i32 %i@, %bits@
      br i1 %go@, label %body@, label %pre.@
    body@:
      %m@ = mul i32 %x@, 77
      %odd@ = icmp slt i32 %m@, 0
      br i1 %odd@, label %then@, label %latch@
    then@:
      %s@ = xor i32 %m@, 99
      br label %latch@
    latch@:
      %y@ = phi i32 [%m@, %body@], [%s@, %then@]
      %j@ = add i32 %i@, 1
      br label %head@
    pre.@:
      %v.@ = add i32 %x@, 1
      br label %head#
)";
  for (unsigned I = 0; I < Loops; ++I)
    for (char C : Loop)
      Text += C == '@'   ? std::to_string(I)
              : C == '#' ? std::to_string(I + 1)
              : C == '$' ? (I ? "." + std::to_string(I - 1) : "")
                         : std::string(1, C);
  return Text + "head" + std::to_string(Loops) + ":\nstore i32 %v." +
         std::to_string(Loops - 1) + ", ptr %out\nret void\n}\n";
}

/// Compiling takes more than twice as long for a region twice the size, so no
/// region may grow with its kernel.
TEST(Effort, RegionsDoNotGrowWithTheKernel) {
  const unsigned Limit = EmitOptions().RegionLimit;
  for (unsigned Loops : {20, 160}) {
    LLVMContext C;
    auto M = parseKernel(C, longKernel(Loops));
    PreparedKernel K = cantFail(prepareKernel(*M->getFunction("k")));
    DominatorTree DT(*K.F);
    LoopInfo LI(DT);
    auto Uniform = analysis::computeUniformity(*K.F);
    const RegionPlanner Plan(*K.F, LI, Uniform, Tier::Fused, Limit);
    for (const Region &R : Plan.Regions) {
      size_t Instructions = 0;
      for (unsigned I = R.First; I <= R.Last; ++I)
        Instructions += Plan.Order[I]->size();
      EXPECT_LE(Instructions, Limit);
    }
    EXPECT_EQ(Plan.Regions.size() > 1, Loops == 160);
  }
}

//===----------------------------------------------------------------------===//
// After the program's end
//===----------------------------------------------------------------------===//

/// A folder for the time of a test.
struct Scratch {
  SmallString<128> Path;
  Scratch() { EXPECT_FALSE(sys::fs::createUniqueDirectory("effort", Path)); }
  ~Scratch() { sys::fs::remove_directories(Path); }

  unsigned files(StringRef Suffix) const {
    unsigned Count = 0;
    std::error_code EC;
    for (sys::fs::directory_iterator I(Path, EC), End; I != End && !EC;
         I.increment(EC))
      Count += StringRef(I->path()).ends_with(Suffix);
    return Count;
  }
};

/// Compiles what was left in \p Folder, whoever is at it.
void finishLater(const Scratch &Folder) {
  ASSERT_EQ(
      std::system(
          (RECONVERGE_COMPILE_KERNEL " finish " + Folder.Path).str().c_str()),
      0);
}

TEST(Effort, WhatHasRunIsCompiledLater) {
  const Scratch Folder;
  MachineOptions O = compiling(Effort::Auto);
  O.CacheDir = std::string(Folder.Path);
  const std::string Text = longKernel(20);
  uint32_t Out = 0;
  auto CompiledWell = [&] {
    auto On = cantFail(Machine::create(O));
    TestProgram P(Text, *On);
    P.run(shape(1, 1), &Out);
    On->leave(P.program());
    On->leave(P.program()); // nothing more
    return cantFail(P.program().kernel("k"))->compiledWell();
  };
  EXPECT_FALSE(CompiledWell());
  finishLater(Folder);
  EXPECT_FALSE(CompiledWell()); // nothing was left
  O.Later = true;
  EXPECT_FALSE(CompiledWell());
  finishLater(Folder);
  EXPECT_EQ(Folder.files(".job"), 0u);
  EXPECT_TRUE(CompiledWell());
}

/// A folder with a program that notes its process and becomes compile-kernel.
struct Noted {
  SmallString<128> Folder;
  std::string Program, Note;

  Noted() {
    EXPECT_FALSE(sys::fs::createUniqueDirectory("compiler", Folder));
    Program = (Folder + "/program").str();
    Note = (Folder + "/note").str();
    std::ofstream(Program) << "#!/bin/sh\necho $$ > " << Note << "\nexec "
                           << RECONVERGE_COMPILE_KERNEL << " \"$@\"\n";
    EXPECT_FALSE(sys::fs::setPermissions(Program, sys::fs::all_all));
  }
  ~Noted() { sys::fs::remove_directories(Folder); }

  /// Waits until it runs.
  pid_t pid() const {
    for (pid_t Pid = 0;; std::this_thread::sleep_for(1ms))
      if (std::ifstream(Note) >> Pid)
        return Pid;
  }
};

std::shared_ptr<const std::string> bitcodeOf(Module &M) {
  const auto Bitcode = numberedBitcode(M);
  return std::make_shared<std::string>(Bitcode.begin(), Bitcode.end());
}

/// Takes minutes to compile.
CompilerProcess::Job longJob() {
  LLVMContext C;
  return {bitcodeOf(*parseKernel(C, longKernel(2000))), "k", EmitOptions(),
          Tier::Fused, [](std::unique_ptr<MemoryBuffer>) {}};
}

bool endsSoon(pid_t Pid) {
  for (int Tries = 0; Tries < 30000; ++Tries, std::this_thread::sleep_for(1ms))
    if (kill(Pid, 0) && errno == ESRCH)
      return true;
  return false;
}

TEST(CompilerProcess, JobsAreDoneInOrder) {
  CompilerProcess Compiler(RECONVERGE_COMPILE_KERNEL, "");
  LLVMContext C;
  auto Bitcode = bitcodeOf(*randomKernel(C, 3, Small));
  std::string Done;
  for (char Name : {'a', 'b', 'c'})
    Compiler.add({Bitcode, Name == 'b' ? "none of that name" : "k",
                  EmitOptions(), Tier::Fused,
                  [&Done, Name](std::unique_ptr<MemoryBuffer> O) {
                    if (O->getBuffer().starts_with("\x7f"
                                                   "ELF"))
                      Done += Name;
                  }});
  Compiler.wait();
  EXPECT_EQ(Done, "ac");
}

/// Whether \p Folder has the good code of kernel k, or a file beside it.
bool hasCode(const Scratch &Folder, StringRef Bitcode, StringRef Suffix = "") {
  MachineOptions O;
  O.CacheDir = std::string(Folder.Path);
  auto Into = cantFail(Compiler::create(O, Effort::Well, {}));
  return sys::fs::exists(
      Into->cachePath(bitcodeHash(Bitcode), "k", {}, Tier::Fused) + Suffix);
}

/// A damaged list, one of something that is no bitcode, and kernels that are not
/// there or not to be read do not keep others from being compiled.
TEST(LeftWork, WhatCannotBeCompiledIsLeftOut) {
  const Scratch Folder;
  LLVMContext C;
  const auto Bitcode = bitcodeOf(*randomKernel(C, 3, Small));
  const std::string How = describe(EmitOptions(), Tier::Fused);
  std::ofstream((Folder.Path + "/llvmcache-0.job").str()) << "?";
  EXPECT_TRUE(leaveWork(Folder.Path, "", "0", "none", {{"k", How}}));
  EXPECT_TRUE(leaveWork(Folder.Path, "sse", bitcodeHash(*Bitcode), *Bitcode,
                        {{"k", How}}));
  EXPECT_TRUE(leaveWork(Folder.Path, "", bitcodeHash(*Bitcode), *Bitcode,
                        {{"none of that name", How}, {"k", "?"}, {"k", How}}));
  EXPECT_EQ(Folder.files(".job"), 4u);
  finishLeftWork(Folder.Path);
  EXPECT_EQ(Folder.files(".job"), 0u);
  EXPECT_TRUE(hasCode(Folder, *Bitcode));
}

/// Bitcode that cannot be compiled is not compiled each time.
TEST(LeftWork, WhatFailsIsNotTriedAgain) {
  const Scratch Folder;
  LLVMContext C;
  const auto Bitcode = bitcodeOf(*parseKernel(C, R"(
    declare void @reconverge.unheard.of()
    define ptx_kernel void @k() {
      call void @reconverge.unheard.of()
      ret void
    })"));
  const std::string How = describe(EmitOptions(), Tier::Fused);
  for (unsigned Time = 0; Time < 2; ++Time) {
    EXPECT_TRUE(leaveWork(Folder.Path, "", bitcodeHash(*Bitcode), *Bitcode,
                          {{"k", How}}));
    finishLeftWork(Folder.Path);
    EXPECT_FALSE(hasCode(Folder, *Bitcode));
    EXPECT_TRUE(hasCode(Folder, *Bitcode, ".none"));
  }
}

/// Who comes while another one works does not begin, unless it cannot wait.
TEST(LeftWork, IsDoneByOne) {
  const Scratch Folder;
  const int Lock = open((Folder.Path + "/llvmcache-lock").str().c_str(),
                        O_RDWR | O_CREAT, 0666);
  ASSERT_EQ(flock(Lock, LOCK_EX), 0);
  EXPECT_TRUE(leaveWork(Folder.Path, "", "0", "none", {}));
  compileLeftWork(Folder.Path);
  EXPECT_EQ(Folder.files(".job"), 1u);
  finishLeftWork(Folder.Path);
  EXPECT_EQ(Folder.files(".job"), 0u);
  EXPECT_TRUE(leaveWork(Folder.Path, "", "0", "none", {}));
  close(Lock);
  compileLeftWork(Folder.Path);
  EXPECT_EQ(Folder.files(".job"), 0u);
}

/// Code of another build may not fit, and the user may mend that.
TEST(CompilerProcess, OfAnotherBuildIsSaid) {
  const Scratch Folder;
  const std::string Program = (Folder.Path + "/program").str();
  std::ofstream(Program) << "#!/bin/sh\nexec " << RECONVERGE_COMPILE_KERNEL
                         << " \"$1\" \"$2\" \"$3\" 0123456789abcdef\n";
  ASSERT_FALSE(sys::fs::setPermissions(Program, sys::fs::all_all));
  std::string Said;
  CompilerProcess Compiler(Program, "", [&](StringRef What) { Said += What; });
  LLVMContext C;
  Compiler.add({bitcodeOf(*randomKernel(C, 3, Small)), "k", EmitOptions(),
                Tier::Fused, [&](std::unique_ptr<MemoryBuffer>) {
                  ADD_FAILURE() << "its code was taken";
                }});
  Compiler.wait();
  EXPECT_EQ(Said, Program + " is of another build than the warp VM: kernels "
                            "stay as slow as they begin. Install both from one "
                            "build.");
}

TEST(CompilerProcess, EndsWithItsObject) {
  Noted Program;
  pid_t Pid;
  {
    CompilerProcess Compiler(Program.Program, "");
    Compiler.add(longJob());
    Compiler.poll();
    Pid = Program.pid();
    EXPECT_EQ(kill(Pid, 0), 0);
  }
  EXPECT_TRUE(endsSoon(Pid));
}

TEST(CompilerProcess, EndsWithAProgramThatASignalEnds) {
  Noted Program;
  const pid_t Child = fork();
  if (!Child) {
    CompilerProcess Compiler(Program.Program, "");
    Compiler.add(longJob());
    Compiler.poll();
    Program.pid();
    raise(SIGKILL);
  }
  const pid_t Pid = Program.pid();
  waitpid(Child, nullptr, 0);
  EXPECT_TRUE(endsSoon(Pid));
}

std::atomic<unsigned> Signals{0};

/// Neither a signal nor a child that wait() would find, nor one that it would
/// wait for.
TEST(CompilerProcess, IsNotNoticed) {
  auto Before = std::signal(SIGCHLD, [](int) { ++Signals; });
  Noted Program;
  {
    CompilerProcess Compiler(Program.Program, "");
    Compiler.add(longJob());
    Compiler.poll();
    Program.pid();
    EXPECT_EQ(waitpid(-1, nullptr, 0), -1);
    EXPECT_EQ(errno, ECHILD);
  }
  EXPECT_EQ(Signals, 0u);
  std::signal(SIGCHLD, Before);
}

TEST(CompilerProcess, ByHandItSaysWhatItIs) {
  EXPECT_EQ(WEXITSTATUS(std::system(RECONVERGE_COMPILE_KERNEL " 2>/dev/null")),
            2);
}

} // namespace
} // namespace reconverge::warpvm
