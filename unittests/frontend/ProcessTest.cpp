//===- unittests/frontend/ProcessTest.cpp - Children and their files ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/File.h"
#include "frontend/InputTee.h"
#include "frontend/Subprocess.h"
#include "frontend/TempDir.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

using namespace llvm;
using namespace reconverge;
using namespace reconverge::frontend;

namespace {

ProcessResult shell(const std::string &Script,
                    std::vector<std::string> Environment = {}) {
  return cantFail(
      runProcess({{"/bin/sh", "-c", Script}, std::move(Environment)}));
}

TEST(Process, ReturnsWhatTheProgramReturns) {
  EXPECT_TRUE(shell("exit 0").ok());
  ProcessResult Result = shell("exit 7");
  EXPECT_FALSE(Result.ok());
  EXPECT_EQ(Result.Exit, 7);
  EXPECT_EQ(Result.status(), 7);
}

TEST(Process, SignalIsToldFromExit) {
  ProcessResult Result = shell("kill -SEGV $$");
  EXPECT_EQ(Result.Signal, SIGSEGV);
  EXPECT_EQ(Result.status(), 128 + SIGSEGV);
}

TEST(Process, EnvironmentIsOverOurs) {
  setenv("RECONVERGE_TEST_VARIABLE", "ours", 1);
  EXPECT_TRUE(shell("test $RECONVERGE_TEST_VARIABLE = ours").ok());
  EXPECT_TRUE(shell("test $RECONVERGE_TEST_VARIABLE = theirs",
                    {"RECONVERGE_TEST_VARIABLE=theirs"})
                  .ok());
  EXPECT_TRUE(shell("test -n \"$PATH\"").ok());
}

TEST(Process, ThreadsLeaveSignalsAsTheyWere) {
  const auto HandlerOf = [] {
    struct sigaction Now;
    sigaction(SIGINT, nullptr, &Now);
    return Now.sa_sigaction;
  };
  const auto Before = HandlerOf();
  // The second begins while the first runs, and ends after it.
  std::thread First([] { EXPECT_TRUE(shell("sleep 0.2").ok()); });
  while (HandlerOf() == Before)
    std::this_thread::yield();
  std::thread Second([] { EXPECT_TRUE(shell("sleep 0.4").ok()); });
  First.join();
  EXPECT_NE(HandlerOf(), Before) << "one still runs";
  Second.join();
  EXPECT_EQ(HandlerOf(), Before);
}

TEST(Process, MissingProgramIsAnError) {
  Expected<ProcessResult> Result = runProcess({{"/no/such/program"}, {}});
  ASSERT_FALSE(bool(Result));
  EXPECT_NE(toString(Result.takeError()).find("cannot run /no/such/program"),
            std::string::npos);
}

TEST(Process, StreamsCanBeFiles) {
  Expected<TempDir> Dir = TempDir::create();
  ASSERT_TRUE(bool(Dir));
  Command C{{"/bin/sh", "-c", "read X; echo out $X; echo bad $X >&2"}, {}};
  C.Input = Dir->file("in");
  C.Output = Dir->file("out");
  C.Errors = Dir->file("err");
  ASSERT_FALSE(errorToBool(
      writeFileAtomically(C.Input, [](raw_ostream &OS) { OS << "word\n"; })));
  EXPECT_TRUE(cantFail(runProcess(C)).ok());
  EXPECT_EQ((*cantFail(readFile(C.Output))).getBuffer(), "out word\n");
  EXPECT_EQ((*cantFail(readFile(C.Errors))).getBuffer(), "bad word\n");
}

TEST(Process, InputIsKeptAsItIsRead) {
  Expected<TempDir> Dir = TempDir::create();
  ASSERT_TRUE(bool(Dir));
  // Without an end: more than is asked for would never be read.
  int Ends[2];
  ASSERT_EQ(pipe2(Ends, O_CLOEXEC), 0);
  std::thread Writer([Out = Ends[1]] {
    signal(SIGPIPE, SIG_IGN);
    while (write(Out, "word\n", 5) == 5)
      ;
    close(Out);
  });
  const int Ours = dup(STDIN_FILENO);
  dup2(Ends[0], STDIN_FILENO);
  close(Ends[0]);
  {
    auto Tee = InputTee::start(Dir->file("copy"));
    ASSERT_TRUE(bool(Tee)) << toString(Tee.takeError());
    Command C{{"/bin/sh", "-c", "read X; read Y; test $X$Y = wordword"}, {}};
    C.InputEnd = (*Tee)->takeChildEnd();
    EXPECT_TRUE(cantFail(runProcess(C)).ok());
  }
  dup2(Ours, STDIN_FILENO); // the writer's reader is gone
  Writer.join();
  const auto Copy = cantFail(readFile(Dir->file("copy")));
  EXPECT_TRUE(Copy->getBuffer().starts_with("word\nword\n"));
  EXPECT_LE(Copy->getBufferSize(), 2u * 4096);
}

TEST(Process, AViewLeavesTheFolderAsItIs) {
  Expected<TempDir> Dir = TempDir::create();
  ASSERT_TRUE(bool(Dir));
  SmallString<128> Root;
  ASSERT_FALSE(sys::fs::real_path(Dir->path(), Root));
  PrivateView View{(Root + "/folder").str(), (Root + "/folder").str(),
                   (Root + "/scratch").str(), (Root + "/folder/keep").str()};
  for (const std::string &Path : {View.Folder, View.Scratch, View.Keep})
    ASSERT_FALSE(sys::fs::create_directory(Path));
  const std::string File = View.Folder + "/file";
  ASSERT_FALSE(errorToBool(
      writeFileAtomically(File, [](raw_ostream &OS) { OS << "as it was"; })));
  if (Error Refused = View.probe())
    GTEST_SKIP() << toString(std::move(Refused));
  // What is written and removed is so for the process, and for it alone; but
  // for what it is to keep.
  Command C{{"/bin/sh", "-c",
             "rm file && echo new >other && test -f other && test ! -f file "
             "&& echo kept >keep/result && echo said"},
            {}};
  C.View = &View;
  C.Output = Root.str().str() + "/out";
  EXPECT_TRUE(cantFail(runProcess(C)).ok());
  EXPECT_EQ(cantFail(readFile(File))->getBuffer(), "as it was");
  EXPECT_FALSE(sys::fs::exists(View.Folder + "/other"));
  EXPECT_EQ(cantFail(readFile(View.Keep + "/result"))->getBuffer(), "kept\n");
  EXPECT_EQ(cantFail(readFile(C.Output))->getBuffer(), "said\n");
  // Other content in its place.
  View.Content = Root.str().str() + "/before";
  ASSERT_FALSE(sys::fs::create_directories(View.Content + "/keep"));
  C.Arguments.back() =
      "test ! -e file && test -f keep/result && test $PWD = " + View.Folder;
  EXPECT_TRUE(cantFail(runProcess(C)).ok());
  // What cannot be run is said as ever.
  C.Arguments = {"/no/such/program"};
  Expected<ProcessResult> Result = runProcess(C);
  ASSERT_FALSE(bool(Result));
  EXPECT_NE(toString(Result.takeError()).find("cannot run /no/such/program"),
            std::string::npos);
}

TEST(Process, AHangingProgramIsKilled) {
  Command C{{"/bin/sh", "-c", "trap '' TERM; exec sleep 100"}, {}};
  C.TimeLimit = 0.1;
  ProcessResult Result = cantFail(runProcess(C));
  EXPECT_TRUE(Result.TimedOut);
  EXPECT_EQ(Result.Signal, SIGKILL);
  C.Arguments.back() = "exit 3"; // one that ends in time is not
  C.TimeLimit = 60;
  Result = cantFail(runProcess(C));
  EXPECT_FALSE(Result.TimedOut);
  EXPECT_EQ(Result.Exit, 3);
}

// Before those in which a signal comes: that is not forgotten, and ends what is
// expendable at once.
TEST(Process, AnExpendableChildEndsWithWhatItHasStarted) {
  SmallString<128> Path;
  ASSERT_FALSE(sys::fs::createTemporaryFile("output", "txt", Path));
  const std::string Output(Path);
  Command C{{"/bin/sh", "-c", "sleep 20 & echo $!; trap '' TERM; wait"}, {}};
  C.Output = Output;
  C.IsExpendable = true;
  C.TimeLimit = 0.3;
  ProcessResult Result = cantFail(runProcess(C));
  EXPECT_TRUE(Result.TimedOut);
  const pid_t Other =
      std::atoi(cantFail(readFile(Output))->getBuffer().str().c_str());
  ASSERT_GT(Other, 0);
  // Nobody may be there to wait for it: then it is there, and dead.
  bool IsAlive = true;
  for (unsigned I = 0; IsAlive && I != 100; ++I, usleep(20'000)) {
    auto Status = MemoryBuffer::getFileAsStream(
        "/proc/" + std::to_string(Other) + "/stat");
    IsAlive = Status && !(*Status)->getBuffer().contains(") Z ");
  }
  EXPECT_FALSE(IsAlive);
  sys::fs::remove(Output);
}

TEST(Process, SignalsArePassedOnAndWeStay) {
  for (int Signal : {SIGTERM, SIGINT}) {
    std::thread Sender([=] {
      // Long enough for the child to be running.
      usleep(300'000);
      kill(getpid(), Signal);
    });
    ProcessResult Result = shell("exec sleep 20");
    Sender.join();
    EXPECT_EQ(Result.Signal, Signal);
    EXPECT_EQ(interruption(), Signal);
  }
}

TEST(Process, InterruptEndsNeitherUsNorAChildThatHandlesIt) {
  std::thread Sender([] {
    usleep(300'000);
    kill(getpid(), SIGINT);
  });
  ProcessResult Result = shell("trap : INT; sleep 1; exit 3");
  Sender.join();
  EXPECT_EQ(Result.Exit, 3);
}

TEST(TempDir, GoesWithAllItHolds) {
  std::string Path;
  {
    TempDir Temp = cantFail(TempDir::create());
    Path = Temp.path();
    ASSERT_FALSE(sys::fs::create_directories(Temp.file("a/b")));
    cantFail(writeFileAtomically(Temp.file("a/b/c"),
                                 [](raw_ostream &OS) { OS << "x"; }));
    TempDir Moved = std::move(Temp);
    EXPECT_TRUE(sys::fs::exists(Moved.file("a/b/c")));
  }
  EXPECT_FALSE(sys::fs::exists(Path));
}

TEST(TempDir, GoesWhenASignalEndsTheProcess) {
  SmallString<128> Note;
  ASSERT_FALSE(sys::fs::createTemporaryFile("reconverge-test", "", Note));
  EXPECT_EXIT(
      {
        removeTempDirsOnSignal();
        TempDir Temp = cantFail(TempDir::create());
        cantFail(writeFileAtomically(
            Note, [&](raw_ostream &OS) { OS << Temp.path(); }));
        raise(SIGTERM);
      },
      testing::KilledBySignal(SIGTERM), "");
  std::string Path = cantFail(readFile(Note))->getBuffer().str();
  ASSERT_FALSE(sys::fs::remove(Note));
  ASSERT_NE(Path, "");
  // `rm` is nobody's child by then.
  for (int Tries = 0; sys::fs::exists(Path) && Tries < 100; ++Tries)
    usleep(20'000);
  EXPECT_FALSE(sys::fs::exists(Path)) << Path;
}

TEST(TempDir, ANamedOneStays) {
  TempDir Outer = cantFail(TempDir::create());
  {
    cantFail(TempDir::create(Outer.file("kept/deep")));
  }
  EXPECT_TRUE(sys::fs::is_directory(Outer.file("kept/deep")));
}

TEST(MoveIntoPlace, ReplacesWholeAndKeepsModes) {
  TempDir Temp = cantFail(TempDir::create());
  auto Write = [&](StringRef Name, StringRef Text) {
    cantFail(writeFileAtomically(Temp.file(Name),
                                 [&](raw_ostream &OS) { OS << Text; }));
  };
  Write("new", "new");
  Write("old", "older and longer");
  ASSERT_FALSE(sys::fs::setPermissions(Temp.file("new"), sys::fs::all_all));
  cantFail(moveIntoPlace(Temp.file("new"), Temp.file("old")));
  EXPECT_EQ(cantFail(readFile(Temp.file("old")))->getBuffer(), "new");
  EXPECT_TRUE(sys::fs::can_execute(Temp.file("old")));
  EXPECT_FALSE(sys::fs::exists(Temp.file("new")));
}

TEST(MoveIntoPlace, DevicesAreWrittenNotReplaced) {
  TempDir Temp = cantFail(TempDir::create());
  cantFail(
      writeFileAtomically(Temp.file("f"), [](raw_ostream &OS) { OS << "x"; }));
  cantFail(moveIntoPlace(Temp.file("f"), "/dev/null"));
  EXPECT_FALSE(sys::fs::is_regular_file("/dev/null"));
}

} // namespace
