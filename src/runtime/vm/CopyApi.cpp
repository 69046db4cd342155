//===- runtime/vm/CopyApi.cpp - Calls that copy and set memory ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each of CUDA's calls, reduced to one copy or one set (Copy.cpp) and to when it
// is done:
//
//   ...Async, and every set   enqueued in a stream, or added to the graph that
//                             the stream is captured into
//   any other copy            now, in the legacy default stream, which no
//                             capture allows
//
// A device variable is memory at the address that its symbol stands for.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Registry.h"

namespace reconverge::runtime {

//===----------------------------------------------------------------------===//
// When it is done
//===----------------------------------------------------------------------===//

/// A copy in \p Stream.
static cudaError_t copyIn(cudaStream_t Stream, const cudaMemcpy3DParms &P) {
  return deviceCall([&] {
    return enqueue(
        Stream, [&] { return runCopy(P); }, [&] { return CopyWork{P}; },
        [&] { return checkCopy(P); });
  });
}

/// A copy that is over when the call returns.
static cudaError_t copyNow(const cudaMemcpy3DParms &P) {
  return unsafeStreamCall([&] { return runCopy(P); });
}

cudaError_t setIn(cudaStream_t Stream, const SetWork &W) {
  return deviceCall([&] {
    return enqueue(
        Stream, [&] { return runSet(W); }, [&] { return W; },
        [&] { return checkSet(W); });
  });
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

cudaError_t api::cudaMemcpy(void *To, const void *From, size_t Count,
                            cudaMemcpyKind Kind) {
  return copyNow(copyOfBytes(To, From, Count, Kind));
}

cudaError_t api::cudaMemcpyAsync(void *To, const void *From, size_t Count,
                                 cudaMemcpyKind Kind, cudaStream_t Stream) {
  return copyIn(Stream, copyOfBytes(To, From, Count, Kind));
}

cudaError_t api::cudaMemcpyPeer(void *To, int ToDevice, const void *From,
                                int FromDevice, size_t Count) {
  if (ToDevice || FromDevice)
    return recorded(cudaErrorInvalidDevice);
  return copyNow(copyOfBytes(To, From, Count, cudaMemcpyDeviceToDevice));
}

cudaError_t api::cudaMemcpyPeerAsync(void *To, int ToDevice, const void *From,
                                     int FromDevice, size_t Count,
                                     cudaStream_t Stream) {
  if (ToDevice || FromDevice)
    return recorded(cudaErrorInvalidDevice);
  return copyIn(Stream, copyOfBytes(To, From, Count, cudaMemcpyDeviceToDevice));
}

cudaError_t api::cudaMemset(void *To, int Value, size_t Count) {
  return setIn(nullptr, setOfBytes(To, Value, Count));
}

cudaError_t api::cudaMemsetAsync(void *To, int Value, size_t Count,
                                 cudaStream_t Stream) {
  return setIn(Stream, setOfBytes(To, Value, Count));
}

//===----------------------------------------------------------------------===//
// Rows and planes
//===----------------------------------------------------------------------===//

/// Rows of \p Width bytes.
static cudaError_t rows(void *To, size_t ToPitch, const void *From,
                        size_t FromPitch, size_t Width, size_t Rows,
                        cudaMemcpyKind Kind, cudaMemcpy3DParms &Out) {
  if (Width > ToPitch || Width > FromPitch)
    return cudaErrorInvalidPitchValue;
  if (ToPitch > limits::MaxPitch || FromPitch > limits::MaxPitch)
    return cudaErrorInvalidValue;
  Out = {};
  Out.dstPtr = {To, ToPitch, Width, Rows};
  Out.srcPtr = {const_cast<void *>(From), FromPitch, Width, Rows};
  Out.extent = {Width, Rows, 1};
  Out.kind = Kind;
  return cudaSuccess;
}

cudaError_t api::cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                              size_t FromPitch, size_t Width, size_t Height,
                              cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed =
          rows(To, ToPitch, From, FromPitch, Width, Height, Kind, P))
    return deviceCall([&] { return Failed; });
  return copyNow(P);
}

cudaError_t api::cudaMemcpy2DAsync(void *To, size_t ToPitch, const void *From,
                                   size_t FromPitch, size_t Width,
                                   size_t Height, cudaMemcpyKind Kind,
                                   cudaStream_t Stream) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed =
          rows(To, ToPitch, From, FromPitch, Width, Height, Kind, P))
    return deviceCall([&] { return Failed; });
  return copyIn(Stream, P);
}

static cudaError_t setRows(void *To, size_t Pitch, int Value, size_t Width,
                           size_t Rows, cudaStream_t Stream) {
  if (Width > Pitch || Pitch > limits::MaxPitch)
    return deviceCall([] { return cudaErrorInvalidValue; });
  SetWork W = setOfBytes(To, Value, Width);
  W.Pitch = Pitch;
  W.Height = Rows;
  return setIn(Stream, W);
}

cudaError_t api::cudaMemset2D(void *To, size_t Pitch, int Value, size_t Width,
                              size_t Height) {
  return setRows(To, Pitch, Value, Width, Height, nullptr);
}

cudaError_t api::cudaMemset2DAsync(void *To, size_t Pitch, int Value,
                                   size_t Width, size_t Height,
                                   cudaStream_t Stream) {
  return setRows(To, Pitch, Value, Width, Height, Stream);
}

cudaError_t api::cudaMemcpy3D(const cudaMemcpy3DParms *P) {
  return P ? copyNow(*P) : deviceCall([] { return cudaErrorInvalidValue; });
}

cudaError_t api::cudaMemcpy3DAsync(const cudaMemcpy3DParms *P,
                                   cudaStream_t Stream) {
  return P ? copyIn(Stream, *P)
           : deviceCall([] { return cudaErrorInvalidValue; });
}

static cudaError_t setPlanes(const cudaPitchedPtr &P, int Value,
                             const cudaExtent &Size, cudaStream_t Stream) {
  SetWork W;
  if (cudaError_t Failed = setOfPlanes(P, Value, Size, W))
    return deviceCall([&] { return Failed; });
  return setIn(Stream, W);
}

cudaError_t api::cudaMemset3D(cudaPitchedPtr P, int Value, cudaExtent Size) {
  return setPlanes(P, Value, Size, nullptr);
}

cudaError_t api::cudaMemset3DAsync(cudaPitchedPtr P, int Value, cudaExtent Size,
                                   cudaStream_t Stream) {
  return setPlanes(P, Value, Size, Stream);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

/// \p Count bytes of the variable that \p Symbol stands for, from \p Offset.
static cudaError_t partOf(const void *Symbol, size_t Count, size_t Offset,
                          void *&Part) {
  DeviceVariable *V = nullptr;
  if (cudaError_t Failed = findVariable(Symbol, V))
    return Failed;
  if (Offset > V->Size || Count > V->Size - Offset)
    return cudaErrorInvalidValue;
  Part = static_cast<char *>(V->Address) + Offset;
  return cudaSuccess;
}

cudaError_t copyToSymbol(const void *Symbol, const void *From, size_t Count,
                         size_t Offset, cudaMemcpyKind Kind,
                         cudaMemcpy3DParms &Out) {
  if (Kind != cudaMemcpyHostToDevice && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  void *To = nullptr;
  if (cudaError_t Failed = partOf(Symbol, Count, Offset, To))
    return Failed;
  Out = copyOfBytes(To, From, Count, Kind);
  return cudaSuccess;
}

cudaError_t copyFromSymbol(void *To, const void *Symbol, size_t Count,
                           size_t Offset, cudaMemcpyKind Kind,
                           cudaMemcpy3DParms &Out) {
  if (Kind != cudaMemcpyDeviceToHost && Kind != cudaMemcpyDeviceToDevice &&
      Kind != cudaMemcpyDefault)
    return cudaErrorInvalidMemcpyDirection;
  void *From = nullptr;
  if (cudaError_t Failed = partOf(Symbol, Count, Offset, From))
    return Failed;
  Out = copyOfBytes(To, From, Count, Kind);
  return cudaSuccess;
}

/// Ends a call that copies from or to a variable; \p Find says what.
template <typename Finder, typename Copier>
static cudaError_t symbolCall(Finder &&Find, Copier &&Copy) {
  cudaMemcpy3DParms P;
  const cudaError_t Failed = deviceCall([&] { return Find(P); });
  return Failed ? Failed : Copy(P);
}

cudaError_t api::cudaMemcpyToSymbol(const void *Symbol, const void *From,
                                    size_t Count, size_t Offset,
                                    cudaMemcpyKind Kind) {
  return symbolCall(
      [&](auto &P) {
        return copyToSymbol(Symbol, From, Count, Offset, Kind, P);
      },
      copyNow);
}

cudaError_t api::cudaMemcpyToSymbolAsync(const void *Symbol, const void *From,
                                         size_t Count, size_t Offset,
                                         cudaMemcpyKind Kind,
                                         cudaStream_t Stream) {
  return symbolCall(
      [&](auto &P) {
        return copyToSymbol(Symbol, From, Count, Offset, Kind, P);
      },
      [&](auto &P) { return copyIn(Stream, P); });
}

cudaError_t api::cudaMemcpyFromSymbol(void *To, const void *Symbol,
                                      size_t Count, size_t Offset,
                                      cudaMemcpyKind Kind) {
  return symbolCall(
      [&](auto &P) {
        return copyFromSymbol(To, Symbol, Count, Offset, Kind, P);
      },
      copyNow);
}

cudaError_t api::cudaMemcpyFromSymbolAsync(void *To, const void *Symbol,
                                           size_t Count, size_t Offset,
                                           cudaMemcpyKind Kind,
                                           cudaStream_t Stream) {
  return symbolCall(
      [&](auto &P) {
        return copyFromSymbol(To, Symbol, Count, Offset, Kind, P);
      },
      [&](auto &P) { return copyIn(Stream, P); });
}

cudaError_t api::cudaGetSymbolAddress(void **Address, const void *Symbol) {
  return deviceCall([&]() -> cudaError_t {
    if (!Address)
      return cudaErrorInvalidValue;
    return partOf(Symbol, 0, 0, *Address);
  });
}

cudaError_t api::cudaGetSymbolSize(size_t *Size, const void *Symbol) {
  return deviceCall([&]() -> cudaError_t {
    DeviceVariable *V = nullptr;
    if (!Size)
      return cudaErrorInvalidValue;
    if (cudaError_t Failed = findVariable(Symbol, V))
      return Failed;
    *Size = V->Size;
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
