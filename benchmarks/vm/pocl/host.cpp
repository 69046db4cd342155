//===- benchmarks/vm/pocl/host.cpp - The same kernels under PoCL ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For scale: three of the examples in OpenCL C, run by PoCL, which compiles a
// work-group to loops over its work-items (and so cannot see divergence).
//
//   host <folder of the .cl files> bitonic|mandelbrot|nqueens [name=value...]
//
// Arguments and the line "checksum:" are those of the example. The kernel runs
// once to be compiled, its buffers are set anew, and the second run is timed.
//
//===----------------------------------------------------------------------===//
#define CL_TARGET_OPENCL_VERSION 120
#include "../scalar/stopwatch.h"
#include "common/checksum.h"
#include "common/options.h"
#include "common/random.h"

#include <CL/cl.h>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

static void check(cl_int Status, const char *What) {
  if (Status == CL_SUCCESS)
    return;
  std::fprintf(stderr, "pocl: %s: error %d\n", What, Status);
  std::exit(1);
}

/// One device, one queue, one kernel.
class Runner {
public:
  Runner(const std::string &Folder, const std::string &File,
         const char *KernelName) {
    cl_platform_id Platform;
    check(clGetPlatformIDs(1, &Platform, nullptr), "no OpenCL platform");
    check(clGetDeviceIDs(Platform, CL_DEVICE_TYPE_CPU, 1, &Device, nullptr),
          "no CPU device");
    cl_int Status;
    Context = clCreateContext(nullptr, 1, &Device, nullptr, nullptr, &Status);
    check(Status, "clCreateContext");
    Queue = clCreateCommandQueue(Context, Device, 0, &Status);
    check(Status, "clCreateCommandQueue");

    std::ifstream In(Folder + "/" + File);
    const std::string Text((std::istreambuf_iterator<char>(In)), {});
    const char *Source = Text.c_str();
    cl_program Program =
        clCreateProgramWithSource(Context, 1, &Source, nullptr, &Status);
    check(Status, "clCreateProgramWithSource");
    check(clBuildProgram(Program, 1, &Device, "", nullptr, nullptr),
          "clBuildProgram");
    Kernel = clCreateKernel(Program, KernelName, &Status);
    check(Status, "clCreateKernel");
  }

  template <typename T> cl_mem buffer(const std::vector<T> &Values) {
    cl_int Status;
    cl_mem Buffer = clCreateBuffer(Context, CL_MEM_READ_WRITE,
                                   Values.size() * sizeof(T), nullptr, &Status);
    check(Status, "clCreateBuffer");
    write(Buffer, Values);
    return Buffer;
  }

  template <typename T>
  void write(cl_mem Buffer, const std::vector<T> &Values) {
    check(clEnqueueWriteBuffer(Queue, Buffer, CL_TRUE, 0,
                               Values.size() * sizeof(T), Values.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
  }

  template <typename T> void read(cl_mem Buffer, std::vector<T> &Values) {
    check(clEnqueueReadBuffer(Queue, Buffer, CL_TRUE, 0,
                              Values.size() * sizeof(T), Values.data(), 0,
                              nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  template <typename T> void argument(unsigned Index, const T &Value) {
    check(clSetKernelArg(Kernel, Index, sizeof(T), &Value), "clSetKernelArg");
  }
  void localArgument(unsigned Index, size_t Bytes) {
    check(clSetKernelArg(Kernel, Index, Bytes, nullptr), "clSetKernelArg");
  }

  void run(unsigned Dimensions, const size_t *Global, const size_t *Local) {
    check(clEnqueueNDRangeKernel(Queue, Kernel, Dimensions, nullptr, Global,
                                 Local, 0, nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFinish(Queue), "clFinish");
  }

private:
  cl_device_id Device;
  cl_context Context;
  cl_command_queue Queue;
  cl_kernel Kernel;
};

static void finish(uint64_t Sum, const Stopwatch &Watch) {
  std::printf("checksum: %016llx\n", static_cast<unsigned long long>(Sum));
  Watch.print();
}

static void bitonic(const std::string &Folder, Options &Args) {
  const long Count = Args.integer("count", 150003, 1, 1 << 28);
  const long Seed = Args.integer("seed", 1, 0, 1 << 30);
  const long Only = Args.integer("block", 0, 0, 1024);
  Args.done();
  std::vector<unsigned> Keys(Count), Sorted(Count);
  Random Draw(Seed, 0);
  for (unsigned &Key : Keys)
    Key = Draw.bits();
  std::vector<size_t> Sizes = {64, 128, 256, 512};
  if (Only)
    Sizes = {size_t(Only)};

  Runner R(Folder, "bitonic.cl", "bitonicSort");
  cl_mem Buffer = R.buffer(Keys);
  Stopwatch Watch;
  uint64_t Sum = ChecksumSeed;
  for (size_t Threads : Sizes) {
    const size_t Global = (Count + Threads - 1) / Threads * Threads;
    R.argument(0, Buffer);
    R.argument(1, int(Count));
    R.localArgument(2, Threads * sizeof(unsigned));
    R.run(1, &Global, &Threads);
    R.write(Buffer, Keys);
    Watch.start();
    R.run(1, &Global, &Threads);
    Watch.stop();
    R.read(Buffer, Sorted);
    Sum = checksum(Sorted, Sum);
    R.write(Buffer, Keys);
  }
  finish(Sum, Watch);
}

static void mandelbrot(const std::string &Folder, Options &Args) {
  const int Width = int(Args.integer("width", 600, 1, 16384));
  const int Height = int(Args.integer("height", 400, 1, 16384));
  const int Limit = int(Args.integer("limit", 256, 1, 1 << 20));
  const size_t Tile = size_t(Args.integer("tile", 32, 1, 32));
  Args.done();
  std::vector<int> Steps(size_t(Width) * Height);
  Runner R(Folder, "mandelbrot.cl", "mandelbrot");
  R.argument(0, -2.0f);
  R.argument(1, -1.0f);
  R.argument(2, 3.0f / float(Width));
  R.argument(3, Width);
  R.argument(4, Height);
  R.argument(5, Limit);
  cl_mem Buffer = R.buffer(Steps);
  R.argument(6, Buffer);
  const size_t Local[] = {Tile, 256 / Tile};
  const size_t Global[] = {(Width + Local[0] - 1) / Local[0] * Local[0],
                           (Height + Local[1] - 1) / Local[1] * Local[1]};
  Stopwatch Watch;
  R.run(2, Global, Local);
  Watch.start();
  R.run(2, Global, Local);
  Watch.stop();
  R.read(Buffer, Steps);
  finish(checksum(Steps), Watch);
}

static void nqueens(const std::string &Folder, Options &Args) {
  const int N = int(Args.integer("n", 12, 4, 18));
  const int Above = int(Args.integer("above", 4, 1, 6));
  Args.done();
  const unsigned Board = (1u << N) - 1;
  std::vector<unsigned> Starts; // three words each
  std::function<void(unsigned, unsigned, unsigned, int)> Place =
      [&](unsigned C, unsigned L, unsigned R, int Rows) {
        if (Rows == 0) {
          Starts.insert(Starts.end(), {C, L, R});
          return;
        }
        for (unsigned Free = Board & ~(C | L | R); Free; Free &= Free - 1) {
          const unsigned Queen = Free & (0u - Free);
          Place(C | Queen, (L | Queen) << 1, (R | Queen) >> 1, Rows - 1);
        }
      };
  Place(0, 0, 0, Above);
  const int Count = int(Starts.size() / 3);
  std::vector<unsigned> Solutions(Count);
  Runner R(Folder, "nqueens.cl", "countQueens");
  cl_mem In = R.buffer(Starts), Out = R.buffer(Solutions);
  R.argument(0, In);
  R.argument(1, Count);
  R.argument(2, N);
  R.argument(3, N - Above);
  R.argument(4, Out);
  const size_t Local = 96, Global = (Count + Local - 1) / Local * Local;
  Stopwatch Watch;
  R.run(1, &Global, &Local);
  Watch.start();
  R.run(1, &Global, &Local);
  Watch.stop();
  R.read(Out, Solutions);
  finish(checksum(Solutions), Watch);
}

int main(int argc, char **argv) {
  const std::string Case = argc > 2 ? argv[2] : "";
  if (Case != "bitonic" && Case != "mandelbrot" && Case != "nqueens") {
    std::fprintf(stderr,
                 "usage: %s <folder of the .cl files> "
                 "bitonic|mandelbrot|nqueens [name=value...]\n",
                 argv[0]);
    return 2;
  }
  Options Args(argc - 2, argv + 2);
  if (Case == "bitonic")
    bitonic(argv[1], Args);
  else if (Case == "mandelbrot")
    mandelbrot(argv[1], Args);
  else
    nqueens(argv[1], Args);
}
