// REQUIRES: reconverge
// RUN: %reconverge cc -O1 %s -o %t
// RUN: env RECONVERGE_DEVICE=cpu RECONVERGE_VM=compile=fast %t | FileCheck %s
// RUN: env RECONVERGE_DEVICE=cpu \
// RUN:   RECONVERGE_VM=compile=fast,tier=blocks,warp=64,check=on %t | FileCheck %s

// Texture and surface objects over arrays and memory, against the formulas of
// the CUDA C++ Programming Guide and an H100's weights. Elements are small
// integers, so that sums of weights of 1/256 are exact, whatever the order of
// additions.

#include "Inputs/check.h"
#include <cmath>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

static void expectError(const char *What, cudaError_t Got, cudaError_t Want) {
  expect(What, Want, Got, Want);
  cudaGetLastError();
}

static cudaResourceDesc overArray(cudaArray_t A) {
  cudaResourceDesc R = {};
  R.resType = cudaResourceTypeArray;
  R.res.array.array = A;
  return R;
}

template <typename T> static cudaResourceDesc overMemory(T *P, size_t Count) {
  cudaResourceDesc R = {};
  R.resType = cudaResourceTypeLinear;
  R.res.linear.devPtr = P;
  R.res.linear.desc = cudaCreateChannelDesc<T>();
  R.res.linear.sizeInBytes = Count * sizeof(T);
  return R;
}

static cudaTextureDesc sampling(cudaTextureAddressMode Mode,
                                cudaTextureFilterMode Filter,
                                bool Normalized = false) {
  cudaTextureDesc T = {};
  for (auto &M : T.addressMode)
    M = Mode;
  T.filterMode = Filter;
  T.readMode = cudaReadModeElementType;
  T.normalizedCoords = Normalized;
  return T;
}

static cudaTextureObject_t texture(const cudaResourceDesc &R,
                                   const cudaTextureDesc &T) {
  cudaTextureObject_t Object;
  CALL(cudaCreateTextureObject(&Object, &R, &T, nullptr));
  return Object;
}

static cudaArray_t array(const cudaChannelFormatDesc &F, size_t W, size_t H = 0,
                         size_t D = 0, unsigned Flags = 0) {
  cudaArray_t A;
  CALL(cudaMalloc3DArray(&A, &F, make_cudaExtent(W, H, D), Flags));
  return A;
}

/// All of an array's elements from the host's.
static void fill(cudaArray_t A, const void *From, size_t Bytes, size_t W,
                 size_t H = 1, size_t D = 1) {
  cudaMemcpy3DParms P = {};
  P.srcPtr = make_cudaPitchedPtr(const_cast<void *>(From), W * Bytes, W, H);
  P.dstArray = A;
  P.extent = make_cudaExtent(W, H, D);
  P.kind = cudaMemcpyHostToDevice;
  CALL(cudaMemcpy3D(&P));
}

//===----------------------------------------------------------------------===//
// What a fetch should give
//===----------------------------------------------------------------------===//

static int indexOf(int I, int N, cudaTextureAddressMode Mode, bool Normalized) {
  if (Normalized && Mode == cudaAddressModeWrap)
    return ((I % N) + N) % N;
  if (Normalized && Mode == cudaAddressModeMirror) {
    I = ((I % (2 * N)) + 2 * N) % (2 * N);
    return I < N ? I : 2 * N - 1 - I;
  }
  if (Mode == cudaAddressModeBorder)
    return I < 0 || I >= N ? -1 : I;
  return I < 0 ? 0 : I >= N ? N - 1 : I;
}

struct Reference {
  const float *Data;
  int Extent[3];
  cudaTextureAddressMode Mode;
  bool Linear, Normalized;
  float Border;

  float element(const int *I) const {
    int At[3];
    for (int D = 0; D < 3; ++D) {
      At[D] = indexOf(I[D], Extent[D], Mode, Normalized);
      if (At[D] < 0)
        return Border;
    }
    return Data[(At[2] * Extent[1] + At[1]) * Extent[0] + At[0]];
  }
  float operator()(float X, float Y, float Z, int Dimensions) const {
    const bool ToEdge = Mode == cudaAddressModeClamp ||
                        (!Normalized && Mode != cudaAddressModeBorder);
    const float C[3] = {X, Dimensions > 1 ? Y : 0, Z};
    int I[3] = {0, 0, 0}, A[3] = {0, 0, 0};
    // A row is a plane of height 1 to the GPU, looked at on its upper edge.
    for (int D = 0; D < (Linear && Dimensions == 1 ? 2 : Dimensions); ++D) {
      double U = C[D] * (Normalized ? double(Extent[D]) : 1.0);
      if (Linear) {
        if (ToEdge)
          U = std::fmin(std::fmax(U, 0.5), Extent[D] - 0.5);
        const double Fixed = std::floor((U - 0.5) * 256 + 0.5);
        I[D] = int(std::floor(Fixed / 256));
        A[D] = int(Fixed - I[D] * 256.0);
      } else {
        I[D] = int(std::floor(U));
      }
    }
    // What an H100 makes of the product of fractions.
    const int Both = (A[0] * A[2] + 128) / 256;
    double Sum = 0;
    for (int Corner = 0; Corner < 8; ++Corner) {
      const int B[3] = {Corner & 1, Corner >> 1 & 1, Corner >> 2};
      const int Column = B[0] && B[2] ? Both
                         : B[0]       ? A[0] - Both
                         : B[2]       ? A[2] - Both
                                      : 256 - A[0] - A[2] + Both;
      const int Second = (Column * A[1] + (B[0] ? 128 : 127)) / 256;
      const int Weight = B[1] ? Second : Column - Second;
      const int At[3] = {I[0] + B[0], I[1] + B[1], I[2] + B[2]};
      if (Weight)
        Sum += Weight * element(At);
    }
    return float(Sum / 256);
  }
};

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

template <int Dimensions>
__global__ void sample(cudaTextureObject_t T, const float3 *At, float *Out,
                       int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= N)
    return;
  const float3 P = At[I];
  if (Dimensions == 1)
    Out[I] = tex1D<float>(T, P.x);
  else if (Dimensions == 2)
    Out[I] = tex2D<float>(T, P.x, P.y);
  else
    Out[I] = tex3D<float>(T, P.x, P.y, P.z);
}

template <int Dimensions>
static void checkSamples(const char *What, cudaArray_t A, Reference R) {
  std::vector<float3> Host;
  // On, between and beside elements, some at places that 1/256 does not divide.
  // Scaled by powers of two only, where normalised.
  for (int I = 0; I < 400; ++I) {
    float C[3];
    for (int D = 0; D < 3; ++D) {
      const float Range = float(R.Extent[D]) + 6;
      float U = float(next()) / (1 << 24) * Range - 3;
      U = std::floor(U * 16) / 16;
      if (I % 4 >= 2)
        U += (I % 4 == 2 ? 0.3f : 0.7f) / 256;
      C[D] = R.Normalized ? U / R.Extent[D] : U;
    }
    Host.push_back({C[0], C[1], C[2]});
  }
  const int N = int(Host.size());
  float3 *At = managed<float3>(N);
  float *Out = managed<float>(N);
  std::memcpy(At, Host.data(), N * sizeof(float3));
  auto Desc = sampling(R.Mode,
                       R.Linear ? cudaFilterModeLinear : cudaFilterModePoint,
                       R.Normalized);
  Desc.borderColor[0] = R.Border;
  cudaTextureObject_t T = texture(overArray(A), Desc);
  sample<Dimensions><<<(N + 63) / 64, 64>>>(T, At, Out, N);
  finish();
  for (int I = 0; I < N; ++I) {
    const float Want = R(At[I].x, At[I].y, At[I].z, Dimensions);
    if (Out[I] != Want && Wrong < 5)
      std::printf("mode %d linear %d normalised %d at (%g, %g, %g):\n", R.Mode,
                  R.Linear, R.Normalized, At[I].x, At[I].y, At[I].z);
    expect(What, I, Out[I], Want);
  }
  CALL(cudaDestroyTextureObject(T));
  CALL(cudaFree(At));
  CALL(cudaFree(Out));
}

template <int Dimensions> static void checkModes(const char *What, int W, int H,
                                                 int D) {
  std::vector<float> Data(W * H * D);
  for (float &X : Data)
    X = float(next() % 200) - 50;
  cudaArray_t A = array(cudaCreateChannelDesc<float>(), W,
                        Dimensions > 1 ? H : 0, Dimensions > 2 ? D : 0);
  fill(A, Data.data(), 4, W, H, D);
  for (auto Mode : {cudaAddressModeClamp, cudaAddressModeBorder,
                    cudaAddressModeWrap, cudaAddressModeMirror})
    for (bool Linear : {false, true})
      for (bool Normalized : {false, true})
        checkSamples<Dimensions>(
            What, A,
            {Data.data(), {W, H, D}, Mode, Linear, Normalized,
             Mode == cudaAddressModeBorder ? 24.f : 0.f});
  CALL(cudaFreeArray(A));
}

/// One fetch a thread, of the type \p T, at texel centres.
template <typename T>
__global__ void each(cudaTextureObject_t Object, T *Out, int W) {
  const int X = threadIdx.x, Y = threadIdx.y;
  Out[Y * W + X] = tex2D<T>(Object, X + 0.5f, Y + 0.5f);
}

template <typename T, typename C>
static void checkFormat(const char *What, C T::*First, C T::*Last) {
  constexpr int W = 6, H = 3;
  T Host[W * H];
  for (T &X : Host) {
    std::memset(&X, 0, sizeof(X));
    auto *Bytes = reinterpret_cast<unsigned char *>(&X);
    for (size_t I = 0; I < sizeof(T); ++I) // no NaNs, whatever the type
      Bytes[I] = (unsigned char)(next() & (I % 4 == 3 ? 0x3f : 0xff));
  }
  cudaArray_t A = array(cudaCreateChannelDesc<T>(), W, H);
  CALL(cudaMemcpy2DToArray(A, 0, 0, Host, sizeof(T) * W, sizeof(T) * W, H,
                           cudaMemcpyHostToDevice));
  auto Object = texture(overArray(A),
                        sampling(cudaAddressModeClamp, cudaFilterModePoint));
  T *Out = managed<T>(W * H);
  each<<<1, dim3(W, H)>>>(Object, Out, W);
  finish();
  for (int I = 0; I < W * H; ++I) {
    expect(What, I, Out[I].*First, Host[I].*First);
    expect(What, I, Out[I].*Last, Host[I].*Last);
  }
  CALL(cudaDestroyTextureObject(Object));
  CALL(cudaFreeArray(A));
}

template <typename T>
static void checkNormalizedFloats(const char *What, double Most) {
  constexpr int W = 6;
  T Host[W] = {T(0), T(1), T(77), T(Most), T(Most / 2), T(-1)};
  cudaArray_t A = array(cudaCreateChannelDesc<T>(), W);
  fill(A, Host, sizeof(T), W);
  auto Desc = sampling(cudaAddressModeClamp, cudaFilterModePoint);
  Desc.readMode = cudaReadModeNormalizedFloat;
  auto Object = texture(overArray(A), Desc);
  float3 *At = managed<float3>(W);
  float *Out = managed<float>(W);
  for (int I = 0; I < W; ++I)
    At[I] = {I + 0.5f, 0, 0};
  sample<1><<<1, W>>>(Object, At, Out, W);
  finish();
  for (int I = 0; I < W; ++I)
    expect(What, I, Out[I], float(std::fmax(double(Host[I]) / Most, -1.0)));
  // Blended: 0 and the most are 0 and 1. A GPU may round to the type's steps.
  CALL(cudaDestroyTextureObject(Object));
  Desc.filterMode = cudaFilterModeLinear;
  T Two[2] = {T(0), T(Most)};
  fill(A, Two, sizeof(T), 2);
  Object = texture(overArray(A), Desc);
  At[0] = {0.75f, 0, 0};
  At[1] = {1.25f, 0, 0};
  sample<1><<<1, 2>>>(Object, At, Out, 2);
  finish();
  expect(What, 100, std::fabs(Out[0] - 0.25) <= 0.5 / Most, true);
  expect(What, 101, std::fabs(Out[1] - 0.75) <= 0.5 / Most, true);
  CALL(cudaDestroyTextureObject(Object));
  CALL(cudaFreeArray(A));
}

template <typename T>
__global__ void fromMemory(cudaTextureObject_t Object, T *Out, int First) {
  Out[threadIdx.x] = tex1Dfetch<T>(Object, First + int(threadIdx.x));
}

static void checkMemory() {
  int *P = managed<int>(64), *Out = managed<int>(70);
  for (int I = 0; I < 64; ++I)
    P[I] = I * I - 1000;
  const auto Desc = sampling(cudaAddressModeClamp, cudaFilterModePoint);
  auto Object = texture(overMemory(P, 64), Desc);
  fromMemory<<<1, 70>>>(Object, Out, -3); // outside there are zeros
  finish();
  for (int I = 0; I < 70; ++I)
    expect("memory", I, Out[I], I < 3 || I >= 67 ? 0 : P[I - 3]);
  CALL(cudaDestroyTextureObject(Object));

  auto *Short = reinterpret_cast<short2 *>(P), *Found = managed<short2>(32);
  Object = texture(overMemory(Short, 64), Desc);
  fromMemory<<<1, 32>>>(Object, Found, 7);
  finish();
  for (int I = 0; I < 32; ++I) {
    expect("pairs", I, Found[I].x, Short[I + 7].x);
    expect("pairs", I, Found[I].y, Short[I + 7].y);
  }
  cudaResourceDesc Asked;
  CALL(cudaGetTextureObjectResourceDesc(&Asked, Object));
  expect("asked", 0, Asked.res.linear.devPtr == P, true);
  CALL(cudaDestroyTextureObject(Object));

  // Rows at a pitch.
  float *Rows;
  size_t Pitch;
  CALL(cudaMallocPitch(&Rows, &Pitch, 5 * 4, 4));
  float Host[20], *Sum = managed<float>(20);
  for (int I = 0; I < 20; ++I)
    Host[I] = float(I * 3);
  CALL(cudaMemcpy2D(Rows, Pitch, Host, 20, 20, 4, cudaMemcpyHostToDevice));
  cudaResourceDesc R = {};
  R.resType = cudaResourceTypePitch2D;
  R.res.pitch2D.devPtr = Rows;
  R.res.pitch2D.desc = cudaCreateChannelDesc<float>();
  R.res.pitch2D.width = 5;
  R.res.pitch2D.height = 4;
  R.res.pitch2D.pitchInBytes = Pitch;
  Object = texture(R, sampling(cudaAddressModeClamp, cudaFilterModePoint));
  each<<<1, dim3(5, 4)>>>(Object, Sum, 5);
  finish();
  for (int I = 0; I < 20; ++I)
    expect("pitch", I, Sum[I], Host[I]);
  CALL(cudaDestroyTextureObject(Object));
}

__global__ void forms(cudaTextureObject_t Flat, cudaTextureObject_t Layers,
                      cudaTextureObject_t Row, float *Out) {
  Out[0] = tex2DLod<float>(Flat, 1.5f, 2.5f, 0.f);
  Out[1] = tex2DGrad<float>(Flat, 1.5f, 2.5f, make_float2(0, 0),
                            make_float2(0, 0));
  Out[2] = tex2DLayered<float>(Layers, 1.5f, 0.5f, 2);
  Out[3] = tex2DLayered<float>(Layers, 1.5f, 0.5f, 9); // to the last one
  Out[4] = tex1DLayered<float>(Row, 2.5f, 1);
  const float4 Around = tex2Dgather<float4>(Flat, 2.f, 2.f, 0);
  Out[5] = Around.x;
  Out[6] = Around.y;
  Out[7] = Around.z;
  Out[8] = Around.w;
}

static void checkForms() {
  float Host[48], *Out = managed<float>(9);
  for (int I = 0; I < 48; ++I)
    Host[I] = float(I);
  const auto Float = cudaCreateChannelDesc<float>();
  cudaArray_t Flat = array(Float, 4, 4, 0, cudaArrayTextureGather),
              Layers = array(Float, 4, 4, 3, cudaArrayLayered),
              Row = array(Float, 4, 0, 2, cudaArrayLayered);
  fill(Flat, Host, 4, 4, 4);
  fill(Layers, Host, 4, 4, 4, 3);
  fill(Row, Host, 4, 4, 1, 2);
  const auto Desc = sampling(cudaAddressModeClamp, cudaFilterModePoint);
  cudaTextureObject_t T[] = {texture(overArray(Flat), Desc),
                             texture(overArray(Layers), Desc),
                             texture(overArray(Row), Desc)};
  forms<<<1, 1>>>(T[0], T[1], T[2], Out);
  finish();
  const float Want[] = {9, 9, 33, 33, 6, 9, 10, 6, 5};
  for (int I = 0; I < 9; ++I)
    expect("forms", I, Out[I], Want[I]);
  for (auto Object : T)
    CALL(cudaDestroyTextureObject(Object));
}

__global__ void halves(cudaTextureObject_t T, float *Out) {
  Out[threadIdx.x] = tex1D<float>(T, threadIdx.x * 0.5f + 0.5f);
}

static void checkHalves() {
  __half Host[4] = {__float2half(1), __float2half(-2.5f), __float2half(1000),
                    __float2half(6e-8f)};
  cudaArray_t A = array(cudaCreateChannelDesc(16, 0, 0, 0,
                                              cudaChannelFormatKindFloat), 4);
  fill(A, Host, 2, 4);
  auto T = texture(overArray(A),
                   sampling(cudaAddressModeClamp, cudaFilterModeLinear));
  float *Out = managed<float>(5);
  halves<<<1, 5>>>(T, Out);
  finish();
  const float Want[] = {1, -0.75f, -2.5f, 498.75f, 1000};
  for (int I = 0; I < 5; ++I)
    expect("halves", I, Out[I], Want[I]);
  CALL(cudaDestroyTextureObject(T));
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

static void checkArrays() {
  unsigned char Host[60], Back[60] = {}, Want[60];
  for (int I = 0; I < 60; ++I)
    Host[I] = (unsigned char)(I + 1);
  const auto Format = cudaCreateChannelDesc<uchar2>();
  cudaArray_t A, B;
  CALL(cudaMallocArray(&A, &Format, 6, 5));
  CALL(cudaMallocArray(&B, &Format, 6, 5));
  cudaChannelFormatDesc F;
  cudaExtent E;
  unsigned Flags = 77;
  CALL(cudaArrayGetInfo(&F, &E, &Flags, A));
  expect("info", 0, F.x * 1000 + F.y * 10 + F.z, 8080);
  expect("info", 1, E.width * 100 + E.height * 10 + E.depth, 650);
  expect("info", 2, Flags, 0);

  CALL(cudaMemcpy2DToArray(A, 0, 0, Host, 12, 12, 5, cudaMemcpyHostToDevice));
  CALL(cudaMemcpy2DToArrayAsync(A, 4, 1, Host, 12, 6, 2,
                                cudaMemcpyHostToDevice, 0));
  CALL(cudaMemcpy2DFromArray(Back, 12, A, 0, 0, 12, 5,
                             cudaMemcpyDeviceToHost));
  std::memcpy(Want, Host, 60);
  for (int Y = 0; Y < 2; ++Y)
    std::memcpy(Want + (Y + 1) * 12 + 4, Host + Y * 12, 6);
  for (int I = 0; I < 60; ++I)
    expect("array", I, Back[I], Want[I]);

  // From array to array, then a box of it by elements.
  CALL(cudaMemcpy2DArrayToArray(B, 0, 0, A, 0, 0, 12, 5));
  cudaMemcpy3DParms P = {};
  P.srcArray = B;
  P.srcPos = make_cudaPos(2, 1, 0);
  P.dstPtr = make_cudaPitchedPtr(Back, 6, 3, 3);
  P.extent = make_cudaExtent(3, 3, 1);
  P.kind = cudaMemcpyDeviceToHost;
  CALL(cudaMemcpy3D(&P));
  for (int Y = 0; Y < 3; ++Y)
    for (int X = 0; X < 6; ++X)
      expect("box", Y * 6 + X, Back[Y * 6 + X], Want[(Y + 1) * 12 + 4 + X]);

  expectError("outside",
              cudaMemcpy2DToArray(A, 2, 0, Host, 12, 12, 5,
                                  cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
  expectError("pitch",
              cudaMemcpy2DToArray(A, 0, 0, Host, 10, 12, 5,
                                  cudaMemcpyHostToDevice),
              cudaErrorInvalidPitchValue);
  CALL(cudaFreeArray(A));
  CALL(cudaFreeArray(B));
}

static void checkMistakes() {
  cudaTextureObject_t T;
  int *P = managed<int>(64);
  auto Ints = array(cudaCreateChannelDesc<int>(), 8, 8);
  auto Linear = sampling(cudaAddressModeClamp, cudaFilterModeLinear);
  auto Norm = sampling(cudaAddressModeClamp, cudaFilterModePoint);
  Norm.readMode = cudaReadModeNormalizedFloat;
  const auto R = overArray(Ints);
  expectError("filter", cudaCreateTextureObject(&T, &R, &Linear, nullptr),
              cudaErrorInvalidFilterSetting);
  expectError("norm", cudaCreateTextureObject(&T, &R, &Norm, nullptr),
              cudaErrorInvalidNormSetting);
  auto M = overMemory(P, 64);
  M.res.linear.desc = cudaCreateChannelDesc(8, 16, 0, 0,
                                            cudaChannelFormatKindSigned);
  const auto Point = sampling(cudaAddressModeClamp, cudaFilterModePoint);
  expectError("format", cudaCreateTextureObject(&T, &M, &Point, nullptr),
              cudaErrorInvalidChannelDescriptor);
  const auto Three = cudaCreateChannelDesc(32, 32, 32, 0,
                                           cudaChannelFormatKindFloat);
  cudaArray_t A;
  expectError("three", cudaMallocArray(&A, &Three, 4, 4),
              cudaErrorInvalidChannelDescriptor);
  cudaSurfaceObject_t S;
  expectError("flag", cudaCreateSurfaceObject(&S, &R), cudaErrorInvalidValue);
  CALL(cudaFreeArray(Ints));
}

//===----------------------------------------------------------------------===//
// Surfaces
//===----------------------------------------------------------------------===//

template <typename T>
__global__ void writeAll(cudaSurfaceObject_t S, const T *In) {
  const int X = threadIdx.x, Y = threadIdx.y;
  surf2Dwrite(In[Y * 8 + X], S, X * int(sizeof(T)), Y);
}

/// Element (x - 2, y - 1), by what happens outside.
template <typename T>
__global__ void readAll(cudaSurfaceObject_t S, T *Zero, T *Edge) {
  const int X = int(threadIdx.x) - 2, Y = int(threadIdx.y) - 1;
  const int I = threadIdx.y * 12 + threadIdx.x;
  surf2Dread(&Zero[I], S, X * int(sizeof(T)), Y, cudaBoundaryModeZero);
  Edge[I] = surf2Dread<T>(S, X * int(sizeof(T)), Y, cudaBoundaryModeClamp);
}

template <typename T> static void checkSurface(const char *What) {
  cudaArray_t A = array(cudaCreateChannelDesc<T>(), 8, 4, 0,
                        cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t S;
  const auto R = overArray(A);
  CALL(cudaCreateSurfaceObject(&S, &R));
  T *In = managed<T>(32), *Zero = managed<T>(72), *Edge = managed<T>(72);
  auto *Bytes = reinterpret_cast<unsigned char *>(In);
  for (size_t I = 0; I < 32 * sizeof(T); ++I)
    Bytes[I] = (unsigned char)next();
  writeAll<<<1, dim3(8, 4)>>>(S, In);
  readAll<<<1, dim3(12, 6)>>>(S, Zero, Edge);
  finish();
  const T None = {};
  for (int Y = 0; Y < 6; ++Y)
    for (int X = 0; X < 12; ++X) {
      const int EX = X < 2 ? 0 : X > 9 ? 7 : X - 2,
                EY = Y < 1 ? 0 : Y > 4 ? 3 : Y - 1;
      const bool Out = X < 2 || X > 9 || Y < 1 || Y > 4;
      const int I = Y * 12 + X;
      expect(What, I,
             std::memcmp(&Zero[I], Out ? &None : &In[EY * 8 + EX], sizeof(T)),
             0);
      expect(What, 100 + I, std::memcmp(&Edge[I], &In[EY * 8 + EX], sizeof(T)),
             0);
    }
  CALL(cudaDestroySurfaceObject(S));
  CALL(cudaFreeArray(A));
}

__global__ void otherSurfaces(cudaSurfaceObject_t Row, cudaSurfaceObject_t Space,
                              cudaSurfaceObject_t Layers) {
  const int I = threadIdx.x;
  surf1Dwrite(short(I * 3), Row, I * 2);
  surf1Dwrite(short(99), Row, 40 + I * 2, cudaBoundaryModeZero); // nowhere
  surf3Dwrite(float(I), Space, (I & 1) * 4, I >> 1 & 1, I >> 2);
  surf2DLayeredwrite(I, Layers, (I & 1) * 4, I >> 1 & 1, I >> 2);
}

static void checkOtherSurfaces() {
  cudaArray_t Row = array(cudaCreateChannelDesc<short>(), 8, 0, 0,
                          cudaArraySurfaceLoadStore),
              Space = array(cudaCreateChannelDesc<float>(), 2, 2, 2,
                            cudaArraySurfaceLoadStore),
              Layers = array(cudaCreateChannelDesc<int>(), 2, 2, 2,
                             cudaArraySurfaceLoadStore | cudaArrayLayered);
  cudaSurfaceObject_t S[3];
  int K = 0;
  for (cudaArray_t A : {Row, Space, Layers}) {
    const auto R = overArray(A);
    CALL(cudaCreateSurfaceObject(&S[K++], &R));
  }
  otherSurfaces<<<1, 8>>>(S[0], S[1], S[2]);
  finish();
  short Shorts[8];
  float Floats[8];
  int Ints[8];
  CALL(cudaMemcpy2DFromArray(Shorts, 16, Row, 0, 0, 16, 1,
                             cudaMemcpyDeviceToHost));
  auto Read = [](cudaArray_t A, void *To) {
    cudaMemcpy3DParms P = {};
    P.srcArray = A;
    P.dstPtr = make_cudaPitchedPtr(To, 8, 2, 2);
    P.extent = make_cudaExtent(2, 2, 2);
    P.kind = cudaMemcpyDeviceToHost;
    CALL(cudaMemcpy3D(&P));
  };
  Read(Space, Floats);
  Read(Layers, Ints);
  for (int I = 0; I < 8; ++I) {
    expect("row", I, Shorts[I], I * 3);
    expect("space", I, Floats[I], I);
    expect("layers", I, Ints[I], I);
  }
}

// CHECK: 0 wrong
int main() {
  checkModes<1>("1d", 8, 1, 1);
  checkModes<2>("2d", 8, 4, 1);
  checkModes<3>("3d", 4, 8, 2);
  checkFormat<uchar4>("uchar4", &uchar4::x, &uchar4::w);
  checkFormat<char2>("char2", &char2::x, &char2::y);
  checkFormat<ushort4>("ushort4", &ushort4::x, &ushort4::w);
  checkFormat<short2>("short2", &short2::x, &short2::y);
  checkFormat<int4>("int4", &int4::x, &int4::w);
  checkFormat<uint2>("uint2", &uint2::x, &uint2::y);
  checkFormat<float4>("float4", &float4::x, &float4::w);
  checkNormalizedFloats<unsigned char>("unsigned char", 255);
  checkNormalizedFloats<signed char>("signed char", 127);
  checkNormalizedFloats<unsigned short>("unsigned short", 65535);
  checkNormalizedFloats<short>("short", 32767);
  checkMemory();
  checkForms();
  checkHalves();
  checkArrays();
  checkMistakes();
  checkSurface<unsigned char>("surface of 1");
  checkSurface<short>("surface of 2");
  checkSurface<uchar4>("surface of 4");
  checkSurface<int2>("surface of 8");
  checkSurface<float4>("surface of 16");
  checkOtherSurfaces();
  return summary();
}
