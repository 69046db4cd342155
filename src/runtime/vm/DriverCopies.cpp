//===- runtime/vm/DriverCopies.cpp - Copies, as CUDA's driver has them ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies become the runtime's with a direction; sets become the work of streams
// (Work.h), which the runtime has of bytes alone. Copies of rows and planes are
// refused where an end is an array: the driver's are not among what we have.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Driver.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Work.h"

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

CUresult api::cuMemcpy(CUdeviceptr To, CUdeviceptr From, size_t Count) {
  return contextCall([&] {
    return api::cudaMemcpy(pointerTo(To), pointerTo(From), Count,
                           cudaMemcpyDefault);
  });
}

CUresult api::cuMemcpyAsync(CUdeviceptr To, CUdeviceptr From, size_t Count,
                            CUstream Stream) {
  return contextCall([&] {
    return api::cudaMemcpyAsync(pointerTo(To), pointerTo(From), Count,
                                cudaMemcpyDefault, Stream);
  });
}

CUresult api::cuMemcpyHtoD(CUdeviceptr To, const void *From, size_t Count) {
  return contextCall([&] {
    return api::cudaMemcpy(pointerTo(To), From, Count, cudaMemcpyHostToDevice);
  });
}

CUresult api::cuMemcpyHtoDAsync(CUdeviceptr To, const void *From, size_t Count,
                                CUstream Stream) {
  return contextCall([&] {
    return api::cudaMemcpyAsync(pointerTo(To), From, Count,
                                cudaMemcpyHostToDevice, Stream);
  });
}

CUresult api::cuMemcpyDtoH(void *To, CUdeviceptr From, size_t Count) {
  return contextCall([&] {
    return api::cudaMemcpy(To, pointerTo(From), Count, cudaMemcpyDeviceToHost);
  });
}

CUresult api::cuMemcpyDtoHAsync(void *To, CUdeviceptr From, size_t Count,
                                CUstream Stream) {
  return contextCall([&] {
    return api::cudaMemcpyAsync(To, pointerTo(From), Count,
                                cudaMemcpyDeviceToHost, Stream);
  });
}

CUresult api::cuMemcpyDtoD(CUdeviceptr To, CUdeviceptr From, size_t Count) {
  return contextCall([&] {
    return api::cudaMemcpy(pointerTo(To), pointerTo(From), Count,
                           cudaMemcpyDeviceToDevice);
  });
}

CUresult api::cuMemcpyDtoDAsync(CUdeviceptr To, CUdeviceptr From, size_t Count,
                                CUstream Stream) {
  return contextCall([&] {
    return api::cudaMemcpyAsync(pointerTo(To), pointerTo(From), Count,
                                cudaMemcpyDeviceToDevice, Stream);
  });
}

CUresult api::cuMemcpyPeer(CUdeviceptr To, CUcontext, CUdeviceptr From,
                           CUcontext, size_t Count) {
  return api::cuMemcpyDtoD(To, From, Count);
}

CUresult api::cuMemcpyPeerAsync(CUdeviceptr To, CUcontext, CUdeviceptr From,
                                CUcontext, size_t Count, CUstream Stream) {
  return api::cuMemcpyDtoDAsync(To, From, Count, Stream);
}

//===----------------------------------------------------------------------===//
// Rows and planes
//===----------------------------------------------------------------------===//

/// The first byte of one end, and whether the program says that it is the
/// device's (or that the address tells).
static cudaError_t endOf(CUmemorytype Type, const void *Host,
                         CUdeviceptr Device, void *&At, int &IsDevice) {
  enum { No, Yes, AddressTells };
  switch (Type) {
  case CU_MEMORYTYPE_HOST:
    At = const_cast<void *>(Host);
    IsDevice = No;
    return cudaSuccess;
  case CU_MEMORYTYPE_DEVICE:
    At = pointerTo(Device);
    IsDevice = Yes;
    return cudaSuccess;
  case CU_MEMORYTYPE_UNIFIED:
    At = pointerTo(Device);
    IsDevice = AddressTells;
    return cudaSuccess;
  case CU_MEMORYTYPE_ARRAY:
    return unsupported("a driver's copy from or to an array");
  default:
    return cudaErrorInvalidValue;
  }
}

/// \p C as the runtime has it.
static cudaError_t copyOf(const CUDA_MEMCPY3D &C, cudaMemcpy3DParms &Out) {
  static constexpr cudaMemcpyKind Kinds[3][3] = {
      {cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDefault},
      {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault},
      {cudaMemcpyDefault, cudaMemcpyDefault, cudaMemcpyDefault}};
  Out = {};
  int From = 0, To = 0;
  if (cudaError_t Failed =
          endOf(C.srcMemoryType, C.srcHost, C.srcDevice, Out.srcPtr.ptr, From))
    return Failed;
  if (cudaError_t Failed =
          endOf(C.dstMemoryType, C.dstHost, C.dstDevice, Out.dstPtr.ptr, To))
    return Failed;
  Out.kind = Kinds[From][To];
  auto Pitch = [&](size_t Given, size_t X) {
    return Given ? Given : X + C.WidthInBytes;
  };
  Out.srcPtr.pitch = Pitch(C.srcPitch, C.srcXInBytes);
  Out.dstPtr.pitch = Pitch(C.dstPitch, C.dstXInBytes);
  Out.srcPtr.ysize = C.srcHeight;
  Out.dstPtr.ysize = C.dstHeight;
  Out.srcPos = {C.srcXInBytes, C.srcY, C.srcZ};
  Out.dstPos = {C.dstXInBytes, C.dstY, C.dstZ};
  Out.extent = {C.WidthInBytes, C.Height, C.Depth};
  return cudaSuccess;
}

static CUDA_MEMCPY3D planesOf(const CUDA_MEMCPY2D &C) {
  CUDA_MEMCPY3D Out = {};
  Out.srcXInBytes = C.srcXInBytes;
  Out.srcY = C.srcY;
  Out.srcMemoryType = C.srcMemoryType;
  Out.srcHost = C.srcHost;
  Out.srcDevice = C.srcDevice;
  Out.srcPitch = C.srcPitch;
  Out.dstXInBytes = C.dstXInBytes;
  Out.dstY = C.dstY;
  Out.dstMemoryType = C.dstMemoryType;
  Out.dstHost = C.dstHost;
  Out.dstDevice = C.dstDevice;
  Out.dstPitch = C.dstPitch;
  Out.WidthInBytes = C.WidthInBytes;
  Out.Height = C.Height;
  Out.Depth = 1;
  return Out;
}

/// Copies by what \p Copy does.
template <typename Body>
static CUresult copyPlanes(const CUDA_MEMCPY3D *C, Body &&Copy) {
  return contextCall([&]() -> cudaError_t {
    cudaMemcpy3DParms P;
    if (!C)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = copyOf(*C, P))
      return Failed;
    return Copy(P);
  });
}

static CUresult copyRows(const CUDA_MEMCPY2D *C) {
  const CUDA_MEMCPY3D Planes = C ? planesOf(*C) : CUDA_MEMCPY3D();
  return copyPlanes(C ? &Planes : nullptr, [](const cudaMemcpy3DParms &P) {
    return api::cudaMemcpy3D(&P);
  });
}

CUresult api::cuMemcpy2D(const CUDA_MEMCPY2D *C) { return copyRows(C); }

CUresult api::cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *C) {
  return copyRows(C);
}

CUresult api::cuMemcpy2DAsync(const CUDA_MEMCPY2D *C, CUstream Stream) {
  const CUDA_MEMCPY3D Planes = C ? planesOf(*C) : CUDA_MEMCPY3D();
  return api::cuMemcpy3DAsync(C ? &Planes : nullptr, Stream);
}

CUresult api::cuMemcpy3D(const CUDA_MEMCPY3D *C) {
  return copyPlanes(
      C, [](const cudaMemcpy3DParms &P) { return api::cudaMemcpy3D(&P); });
}

CUresult api::cuMemcpy3DAsync(const CUDA_MEMCPY3D *C, CUstream Stream) {
  return copyPlanes(C, [&](const cudaMemcpy3DParms &P) {
    return api::cudaMemcpy3DAsync(&P, Stream);
  });
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

/// Sets \p Rows rows of \p Width elements of \p ElementSize bytes.
static CUresult setRows(CUdeviceptr To, size_t Pitch, unsigned Value,
                        unsigned ElementSize, size_t Width, size_t Rows,
                        CUstream Stream) {
  return contextCall([&]() -> cudaError_t {
    if (To % ElementSize || (Rows > 1 && Pitch < Width * ElementSize))
      return cudaErrorInvalidValue;
    SetWork W;
    W.At = pointerTo(To);
    W.Pitch = Pitch;
    W.Value = Value;
    W.ElementSize = ElementSize;
    W.Width = Width;
    W.Height = Rows;
    return setIn(Stream, W);
  });
}

#define RECONVERGE_SET(Bits, Type)                                             \
  CUresult api::cuMemsetD##Bits##Async(CUdeviceptr To, Type Value,             \
                                       size_t Count, CUstream Stream) {        \
    return setRows(To, 0, Value, Bits / 8, Count, 1, Stream);                  \
  }                                                                            \
  CUresult api::cuMemsetD2D##Bits##Async(CUdeviceptr To, size_t Pitch,         \
                                         Type Value, size_t Width,             \
                                         size_t Rows, CUstream Stream) {       \
    return setRows(To, Pitch, Value, Bits / 8, Width, Rows, Stream);           \
  }
RECONVERGE_SET(8, unsigned char)
RECONVERGE_SET(16, unsigned short)
RECONVERGE_SET(32, unsigned)
#undef RECONVERGE_SET

CUresult api::cuMemsetD8(CUdeviceptr To, unsigned char Value, size_t Count) {
  return api::cuMemsetD8Async(To, Value, Count, nullptr);
}

CUresult api::cuMemsetD16(CUdeviceptr To, unsigned short Value, size_t Count) {
  return api::cuMemsetD16Async(To, Value, Count, nullptr);
}

CUresult api::cuMemsetD32(CUdeviceptr To, unsigned Value, size_t Count) {
  return api::cuMemsetD32Async(To, Value, Count, nullptr);
}

CUresult api::cuMemsetD2D8(CUdeviceptr To, size_t Pitch, unsigned char Value,
                           size_t Width, size_t Rows) {
  return api::cuMemsetD2D8Async(To, Pitch, Value, Width, Rows, nullptr);
}

CUresult api::cuMemsetD2D16(CUdeviceptr To, size_t Pitch, unsigned short Value,
                            size_t Width, size_t Rows) {
  return api::cuMemsetD2D16Async(To, Pitch, Value, Width, Rows, nullptr);
}

CUresult api::cuMemsetD2D32(CUdeviceptr To, size_t Pitch, unsigned Value,
                            size_t Width, size_t Rows) {
  return api::cuMemsetD2D32Async(To, Pitch, Value, Width, Rows, nullptr);
}

} // namespace reconverge::runtime
