//===- ShimTest.cpp - Which backend the shim takes, and what reaches it ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process loads one backend in its life, so each case runs Probe in a process
// of its own, over a fake backend, a fake cudart and a fake driver. PROBE,
// FAKE_BACKEND_PATH, FAKE_CUDA and FAKE_DRIVER_DIR come from CMake.
//
//===----------------------------------------------------------------------===//

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/wait.h>

namespace {

struct ProbeRun {
  int Exit = -1;
  std::string Out; ///< stdout and stderr together
};

/// Runs \p Program with nothing in its environment but \p Environment.
ProbeRun run(const std::string &Program, const std::string &What,
             const std::string &Environment) {
  std::string Command = "env -i " + Environment + " timeout 60 '" + Program +
                        "' " + What + " 2>&1";
  ProbeRun R;
  FILE *Pipe = popen(Command.c_str(), "r");
  if (!Pipe)
    return R;
  char Buffer[256];
  while (size_t Bytes = fread(Buffer, 1, sizeof(Buffer), Pipe))
    R.Out.append(Buffer, Bytes);
  int Status = pclose(Pipe);
  R.Exit = WIFEXITED(Status) ? WEXITSTATUS(Status) : 128 + WTERMSIG(Status);
  return R;
}

ProbeRun probe(const std::string &What, const std::string &Environment) {
  return run(PROBE, What, Environment);
}

/// The probe of the shim of libcuda.
ProbeRun driver(const std::string &Calls, const std::string &Environment) {
  return run(DRIVER_PROBE, Calls, Environment);
}

const std::string Cpu =
    "RECONVERGE_DEVICE=cpu RECONVERGE_BACKEND_PATH='" FAKE_BACKEND_PATH "' ";
const std::string Driver = "LD_LIBRARY_PATH='" FAKE_DRIVER_DIR "' ";
const std::string Gpu =
    Driver + "RECONVERGE_DEVICE=gpu FAKE_GPUS=1 CUDA_PATH='" FAKE_CUDA "' ";
const std::string Auto = Driver + "RECONVERGE_BACKEND_PATH='" FAKE_BACKEND_PATH
                                  "' CUDA_PATH='" FAKE_CUDA "' ";

void expectFailure(const ProbeRun &R, int Exit, const std::string &Message) {
  EXPECT_EQ(R.Exit, Exit) << R.Out;
  EXPECT_TRUE(R.Out.starts_with("reconverge: error: ")) << R.Out;
  EXPECT_NE(R.Out.find(Message), std::string::npos) << R.Out;
  // The message and what to do about it.
  EXPECT_EQ(std::count(R.Out.begin(), R.Out.end(), '\n'), 2) << R.Out;
}

TEST(ShimCall, KeepsEveryArgumentOnTheFirstCallAndAfter) {
  // 1^2 + 2^2 + ... + 17^2
  EXPECT_EQ(probe("arguments", Cpu).Out, "1785\n1785\n");
}

TEST(ShimCall, KeepsAReturnedStructure) {
  EXPECT_EQ(probe("structure", Cpu).Out, "54321\nfake\n");
}

TEST(ShimCall, NamesAMissingFunctionOnce) {
  ProbeRun R = probe("missing", Cpu);
  EXPECT_EQ(R.Exit, 0);
  EXPECT_EQ(R.Out,
            "reconverge: cudaDeviceReset is not supported on the CPU\n"
            "reconverge: cudaDeviceSynchronize is not supported on the CPU\n"
            "801 801 801\n");
}

TEST(ShimCall, LoadsOnceFromManyThreads) {
  for (int I = 0; I != 20; ++I)
    EXPECT_EQ(probe("threads", Cpu).Out,
              "reconverge: cudaDeviceReset is not supported on the CPU\n"
              "11111111\n");
}

TEST(ShimCall, TellsItsVersion) {
  EXPECT_EQ(probe("version", "RECONVERGE_DEVICE=nonsense").Out,
            RECONVERGE_VERSION "\n");
}

TEST(ShimCpu, RefusesABackendThatCannotBeLoaded) {
  expectFailure(probe("driver", "RECONVERGE_DEVICE=cpu "
                                "RECONVERGE_BACKEND_PATH=/nowhere/backend.so"),
                2, "/nowhere/backend.so");
  expectFailure(probe("driver", "RECONVERGE_DEVICE=cpu "
                                "RECONVERGE_BACKEND_PATH=libm.so.6"),
                2, "libm.so.6 is not a backend");
}

TEST(ShimCpu, RefusesABackendThatMisbehaves) {
  EXPECT_EQ(probe("driver", Cpu + "FAKE_BACKEND=null").Exit, 2);
  expectFailure(probe("driver", Cpu + "FAKE_BACKEND=incomplete"), 70,
                "__cudaRegisterFatBinary is not supported on the CPU");
  expectFailure(probe("driver", Cpu + "FAKE_BACKEND=reenter"), 70,
                "called cudaDeviceSynchronize while it was being loaded");
}

TEST(ShimDevice, RefusesAnUnknownName) {
  expectFailure(probe("driver", "RECONVERGE_DEVICE=tpu"), 2,
                "RECONVERGE_DEVICE is \"tpu\"");
}

TEST(ShimDevice, AutoTakesTheGpuOnlyIfThereIsOne) {
  EXPECT_EQ(probe("driver", Auto + "FAKE_GPUS=1").Out, "77\n");
  EXPECT_EQ(probe("driver", Auto + "FAKE_GPUS=2 RECONVERGE_DEVICE=auto").Out,
            "77\n");
  EXPECT_EQ(probe("driver", Auto + "FAKE_GPUS=0").Out, "1\n");
  EXPECT_EQ(probe("driver", Auto).Out, "1\n"); // a driver that does not start
}

TEST(ShimDevice, AutoTakesTheCpuForAProgramWithoutGpuCode) {
  EXPECT_EQ(probe("register-cpu-only", Auto + "FAKE_GPUS=1").Out,
            "cpu registers\nkept\n");
  EXPECT_EQ(probe("register", Auto + "FAKE_GPUS=1").Out,
            "gpu registers 466243b1 1 fat\nkept\n");
}

TEST(ShimDevice, GpuWithoutAGpuIsRefused) {
  expectFailure(probe("driver", Driver + "RECONVERGE_DEVICE=gpu FAKE_GPUS=0"),
                2, "shows no GPU");
}

TEST(ShimDevice, AnOldDriverIsRefusedOrPassedOver) {
  const std::string Old = "FAKE_GPUS=1 FAKE_VERSION=11040 ";
  expectFailure(probe("driver", Gpu + Old), 2, "its driver is for CUDA 11.4");
  EXPECT_EQ(
      probe("arguments", Auto + Old).Out,
      "reconverge: there is a GPU, but its driver is for CUDA 11.4, older "
      "than CUDA " CUDART_MAJOR ", which this Reconverge was built with; "
      "running on the CPU\n1785\n1785\n");
}

TEST(ShimDevice, AnOldGpuIsRefusedOrPassedOver) {
  const std::string Old = "FAKE_GPUS=1 FAKE_ARCH=61 ";
  expectFailure(probe("driver", Gpu + Old), 2, "the GPU is an sm_61");
  EXPECT_EQ(probe("arguments", Auto + Old).Out,
            "reconverge: there is a GPU, but the GPU is an sm_61, older than "
            "sm_75; running on the CPU\n1785\n1785\n");
}

TEST(ShimGpu, HandsOverTheFatBinaryInside) {
  EXPECT_EQ(probe("register", Gpu).Out, "gpu registers 466243b1 1 fat\nkept\n");
}

TEST(ShimGpu, LeavesOthersFatBinariesAlone) {
  EXPECT_EQ(probe("register-plain", Gpu).Out,
            "gpu registers 466243b1 1 \x50\xed\x55\xba pla\nkept\n");
}

TEST(ShimGpu, RefusesContainersItCannotUse) {
  expectFailure(probe("register-cpu-only", Gpu), 2, "no code for a GPU");
  expectFailure(probe("register-short", Gpu), 2, "damaged");
  expectFailure(probe("register-old", Gpu), 2, "another version");
}

TEST(ShimGpu, NamesWhatTheRealLibraryLacks) {
  ProbeRun R = probe("missing", Gpu);
  EXPECT_EQ(R.Exit, 0);
  EXPECT_TRUE(
      R.Out.starts_with("reconverge: cudaDeviceReset is not in " FAKE_CUDA
                        "/lib64/libcudart.so."))
      << R.Out;
}

TEST(ShimGpu, LoadsWhatCountsAndTriesIfAskedTo) {
  const std::string Missing = "RECONVERGE_BACKEND_PATH=/nowhere/gpu.so ";
  EXPECT_EQ(probe("register", Gpu + Missing).Exit, 0);
  for (const char *File : {"RECONVERGE_PROFILE=x", "RECONVERGE_TRIALS=x"})
    expectFailure(probe("register", Gpu + Missing + File), 2,
                  "/nowhere/gpu.so");
}

TEST(ShimOutputs, AreWatchedOnBothDevices) {
  const std::filesystem::path File =
      std::filesystem::path(testing::TempDir()) /
      ("shim-outputs-" + std::to_string(getpid()));
  const std::string List = File.string() + ".txt",
                    Asked = "RECONVERGE_OUTPUTS='" + List + "' ";
  for (const std::string &Device : {Cpu, Gpu}) {
    std::ofstream(List) << "kernel 1 " << File.string() << "\n";
    EXPECT_EQ(probe("register", Device + Asked).Exit, 0);
    std::string Why;
    std::getline(std::ifstream(File.string() + ".why"), Why);
    EXPECT_EQ(Why, "the kernel is never launched");
    expectFailure(probe("register", Device + Asked + "RECONVERGE_TRIALS=x"), 2,
                  "together with a profile or trials");
    std::ofstream(List) << "kernel 0 " << File.string() << "\n";
    expectFailure(probe("register", Device + Asked), 2, "no list of buffers");
    std::filesystem::remove(File.string() + ".why");
    std::filesystem::remove(List);
    expectFailure(probe("register", Device + Asked), 2, "no list of buffers");
  }
}

TEST(ShimGpu, DoesNotTakeAShimForTheRealLibrary) {
  namespace fs = std::filesystem;
  fs::path Folder =
      fs::path(testing::TempDir()) / ("shim-copy-" + std::to_string(getpid()));
  fs::create_directories(Folder / "lib64");
  fs::copy_file(SHIM, Folder / "lib64" / fs::path(SHIM).filename());
  ProbeRun R = probe("runtime", Driver +
                                    "RECONVERGE_DEVICE=gpu FAKE_GPUS=1 "
                                    "CUDA_PATH='" +
                                    Folder.string() + "'");
  fs::remove_all(Folder);
  // Passed over, for the toolkit in its usual place or for none at all; a shim
  // that called itself would run into the time limit.
  if (R.Exit == 0)
    EXPECT_EQ(R.Out, "0 " CUDART_MAJOR "\n");
  else
    expectFailure(R, 2, "no libcudart.so");
}

//===----------------------------------------------------------------------===//
// CUDA's driver
//===----------------------------------------------------------------------===//

TEST(ShimDriver, GoesWhereTheRuntimeGoes) {
  EXPECT_EQ(driver("count init count", Cpu).Out,
            "cpu driver\ncount 0 40\ninit 0\ncount 0 41\n");
  EXPECT_EQ(driver("count", Auto + "FAKE_GPUS=3").Out, "count 0 3\n");
  EXPECT_EQ(driver("count", Auto + "FAKE_GPUS=0").Out,
            "cpu driver\ncount 0 40\n");
  EXPECT_EQ(driver("count", Gpu).Out, "count 0 1\n");
  expectFailure(driver("count", "RECONVERGE_DEVICE=gpu"), 2, "shows no GPU");
}

TEST(ShimDriver, NamesAMissingFunctionOnce) {
  EXPECT_EQ(driver("lacks lacks", Cpu).Out,
            "cpu driver\nreconverge: cuModuleLoad is not supported on the CPU\n"
            "lacks 801\nlacks 801\n");
  EXPECT_EQ(driver("lacks", Gpu).Out,
            "reconverge: cuModuleLoad is not in CUDA's driver, which is older "
            "than the toolkit\nlacks 801\n");
}

TEST(ShimDriver, AnswersNvidiasRuntimeWithoutTheVm) {
  EXPECT_EQ(driver("tables version init tables flags", Cpu).Out,
            "tables 100 1\nversion 0 " CUDART_MAJOR
            "\ninit 0\ntables 100 1\nflags 1\n");
}

TEST(ShimDriver, FindsItsOwnFunctions) {
  EXPECT_EQ(driver("addresses", Cpu).Out, "cuMemAlloc 0 0 there\n"
                                          "cuMemcpyHtoD 0 0 there\n"
                                          "cuMemAllocAsync 500 2 null\n"
                                          "cuNothing 500 1 null\n");
}

// Found by its name, as a program finds it that opens it: it is no driver.
TEST(ShimDriver, IsNoDriverToTheShims) {
  const std::string Found =
      "LD_LIBRARY_PATH='" OUR_DRIVER_DIR
      "' RECONVERGE_BACKEND_PATH='" FAKE_BACKEND_PATH "' ";
  EXPECT_EQ(driver("count", Found).Out, "cpu driver\ncount 0 40\n");
  EXPECT_EQ(probe("driver", Found).Out, "1\n");
}

} // namespace
