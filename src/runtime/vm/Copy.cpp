//===- runtime/vm/Copy.cpp - Copying and setting memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every copy and set, of one row or of many, is a Box: rows of bytes at a
// pitch, planes of rows. It is checked whole before the first byte moves:
//
// 1. An end that lies in an allocation must lie in it with all its bytes.
// 2. An end that lies in none is the host's, of which nothing is known; the
//    direction must then say "host" for it, or cudaMemcpyDefault.
//
// As on a GPU, a direction that says "host" of a device pointer is let pass:
// the address tells what it is.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"
#include "runtime/vm/Streams.h"

#include <cstring>

namespace reconverge::runtime {

namespace {
struct Box {
  char *At;          ///< the first byte
  size_t Pitch;      ///< bytes from a row to the next
  size_t PlanePitch; ///< bytes from a plane to the next
};

struct Extent {
  size_t Width, Rows, Planes; ///< bytes, rows of a plane, planes
  bool empty() const { return !Width || !Rows || !Planes; }
};
} // namespace

/// Bytes from the first of \p B to past its last; false if they do not fit an
/// address.
static bool span(const Box &B, const Extent &E, size_t &Bytes) {
  size_t Planes, Rows;
  return !__builtin_mul_overflow(B.PlanePitch, E.Planes - 1, &Planes) &&
         !__builtin_mul_overflow(B.Pitch, E.Rows - 1, &Rows) &&
         !__builtin_add_overflow(Planes, Rows, &Bytes) &&
         !__builtin_add_overflow(Bytes, E.Width, &Bytes) &&
         Bytes <= UINT64_MAX - uint64_t(B.At);
}

/// Whether one end of a copy may take part in it; \p MustBeDevice by the
/// direction.
static cudaError_t checkEnd(const Box &B, const Extent &E, bool MustBeDevice) {
  size_t Bytes;
  if (!B.At || !span(B, E, Bytes))
    return cudaErrorInvalidValue;
  switch (whereIs(B.At, Bytes)) {
  case Where::Device:
    return cudaSuccess;
  case Where::Host:
    return MustBeDevice ? cudaErrorInvalidValue : cudaSuccess;
  case Where::OutOfRange:
    break;
  }
  return cudaErrorInvalidValue;
}

static bool isKind(cudaMemcpyKind Kind) {
  return Kind >= cudaMemcpyHostToHost && Kind <= cudaMemcpyDefault;
}

static cudaError_t copy(const Box &To, const Box &From, const Extent &E,
                        cudaMemcpyKind Kind) {
  if (!isKind(Kind))
    return cudaErrorInvalidMemcpyDirection;
  if (E.empty())
    return cudaSuccess;
  const bool ToDevice =
      Kind == cudaMemcpyHostToDevice || Kind == cudaMemcpyDeviceToDevice;
  const bool FromDevice =
      Kind == cudaMemcpyDeviceToHost || Kind == cudaMemcpyDeviceToDevice;
  if (cudaError_t Failed = checkEnd(To, E, ToDevice))
    return Failed;
  if (cudaError_t Failed = checkEnd(From, E, FromDevice))
    return Failed;
  for (size_t Plane = 0; Plane < E.Planes; ++Plane)
    for (size_t Row = 0; Row < E.Rows; ++Row)
      std::memmove(To.At + Plane * To.PlanePitch + Row * To.Pitch,
                   From.At + Plane * From.PlanePitch + Row * From.Pitch,
                   E.Width);
  return cudaSuccess;
}

static cudaError_t set(const Box &To, int Value, const Extent &E) {
  if (E.empty())
    return cudaSuccess;
  if (cudaError_t Failed = checkEnd(To, E, true))
    return Failed;
  for (size_t Plane = 0; Plane < E.Planes; ++Plane)
    for (size_t Row = 0; Row < E.Rows; ++Row)
      std::memset(To.At + Plane * To.PlanePitch + Row * To.Pitch, Value,
                  E.Width);
  return cudaSuccess;
}

static Box box(const void *At, size_t Pitch = 0, size_t PlanePitch = 0) {
  return {static_cast<char *>(const_cast<void *>(At)), Pitch, PlanePitch};
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

static cudaError_t copyBytes(void *To, const void *From, size_t Count,
                             cudaMemcpyKind Kind, cudaStream_t Stream) {
  return streamCall(
      Stream, [&] { return copy(box(To), box(From), {Count, 1, 1}, Kind); });
}

cudaError_t api::cudaMemcpy(void *To, const void *From, size_t Count,
                            cudaMemcpyKind Kind) {
  return copyBytes(To, From, Count, Kind, nullptr);
}

cudaError_t api::cudaMemcpyAsync(void *To, const void *From, size_t Count,
                                 cudaMemcpyKind Kind, cudaStream_t Stream) {
  return copyBytes(To, From, Count, Kind, Stream);
}

static cudaError_t copyPeer(void *To, int ToDevice, const void *From,
                            int FromDevice, size_t Count, cudaStream_t Stream) {
  if (ToDevice || FromDevice)
    return recorded(cudaErrorInvalidDevice);
  return copyBytes(To, From, Count, cudaMemcpyDeviceToDevice, Stream);
}

cudaError_t api::cudaMemcpyPeer(void *To, int ToDevice, const void *From,
                                int FromDevice, size_t Count) {
  return copyPeer(To, ToDevice, From, FromDevice, Count, nullptr);
}

cudaError_t api::cudaMemcpyPeerAsync(void *To, int ToDevice, const void *From,
                                     int FromDevice, size_t Count,
                                     cudaStream_t Stream) {
  return copyPeer(To, ToDevice, From, FromDevice, Count, Stream);
}

static cudaError_t setBytes(void *To, int Value, size_t Count,
                            cudaStream_t Stream) {
  return streamCall(Stream, [&] { return set(box(To), Value, {Count, 1, 1}); });
}

cudaError_t api::cudaMemset(void *To, int Value, size_t Count) {
  return setBytes(To, Value, Count, nullptr);
}

cudaError_t api::cudaMemsetAsync(void *To, int Value, size_t Count,
                                 cudaStream_t Stream) {
  return setBytes(To, Value, Count, Stream);
}

//===----------------------------------------------------------------------===//
// Rows and planes
//===----------------------------------------------------------------------===//

static cudaError_t copyRows(void *To, size_t ToPitch, const void *From,
                            size_t FromPitch, size_t Width, size_t Rows,
                            cudaMemcpyKind Kind, cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    if (Width > ToPitch || Width > FromPitch)
      return cudaErrorInvalidPitchValue;
    if (ToPitch > limits::MaxPitch || FromPitch > limits::MaxPitch)
      return cudaErrorInvalidValue;
    return copy(box(To, ToPitch), box(From, FromPitch), {Width, Rows, 1}, Kind);
  });
}

cudaError_t api::cudaMemcpy2D(void *To, size_t ToPitch, const void *From,
                              size_t FromPitch, size_t Width, size_t Height,
                              cudaMemcpyKind Kind) {
  return copyRows(To, ToPitch, From, FromPitch, Width, Height, Kind, nullptr);
}

cudaError_t api::cudaMemcpy2DAsync(void *To, size_t ToPitch, const void *From,
                                   size_t FromPitch, size_t Width,
                                   size_t Height, cudaMemcpyKind Kind,
                                   cudaStream_t Stream) {
  return copyRows(To, ToPitch, From, FromPitch, Width, Height, Kind, Stream);
}

static cudaError_t setRows(void *To, size_t Pitch, int Value, size_t Width,
                           size_t Rows, cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    if (Width > Pitch || Pitch > limits::MaxPitch)
      return cudaErrorInvalidValue;
    return set(box(To, Pitch), Value, {Width, Rows, 1});
  });
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

/// The box that begins at \p Pos of \p P, if \p E fits its rows and planes.
static cudaError_t boxOf(const cudaPitchedPtr &P, const cudaPos &Pos,
                         const cudaExtent &E, Box &Out) {
  size_t Right, Bottom, PlanePitch, Skipped, Planes;
  if (__builtin_add_overflow(Pos.x, E.width, &Right) ||
      __builtin_add_overflow(Pos.y, E.height, &Bottom) ||
      __builtin_mul_overflow(P.pitch, P.ysize, &PlanePitch) ||
      __builtin_mul_overflow(PlanePitch, Pos.z, &Planes) ||
      __builtin_mul_overflow(P.pitch, Pos.y, &Skipped))
    return cudaErrorInvalidValue;
  if (Right > P.pitch)
    return cudaErrorInvalidPitchValue;
  // One plane needs no height: a whole one is needed to find the next.
  if (P.pitch > limits::MaxPitch || (Bottom > P.ysize && P.ysize) ||
      (!P.ysize && Pos.z + E.depth > 1))
    return cudaErrorInvalidValue;
  Out = box(P.ptr, P.pitch, PlanePitch);
  if (Out.At)
    Out.At += Planes + Skipped + Pos.x;
  return cudaSuccess;
}

static cudaError_t copyPlanes(const cudaMemcpy3DParms *P, cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    if (!P)
      return cudaErrorInvalidValue;
    if (P->srcArray || P->dstArray)
      return unsupported("a copy from or to a CUDA array");
    const Extent E = {P->extent.width, P->extent.height, P->extent.depth};
    if (E.empty())
      return cudaSuccess;
    Box To, From;
    if (cudaError_t Failed = boxOf(P->dstPtr, P->dstPos, P->extent, To))
      return Failed;
    if (cudaError_t Failed = boxOf(P->srcPtr, P->srcPos, P->extent, From))
      return Failed;
    return copy(To, From, E, P->kind);
  });
}

cudaError_t api::cudaMemcpy3D(const cudaMemcpy3DParms *P) {
  return copyPlanes(P, nullptr);
}

cudaError_t api::cudaMemcpy3DAsync(const cudaMemcpy3DParms *P,
                                   cudaStream_t Stream) {
  return copyPlanes(P, Stream);
}

static cudaError_t setPlanes(const cudaPitchedPtr &P, int Value,
                             const cudaExtent &Size, cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    const Extent E = {Size.width, Size.height, Size.depth};
    if (E.empty())
      return cudaSuccess;
    Box To;
    if (boxOf(P, cudaPos{0, 0, 0}, Size, To))
      return cudaErrorInvalidValue;
    return set(To, Value, E);
  });
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

static cudaError_t toSymbol(const void *Symbol, const void *From, size_t Count,
                            size_t Offset, cudaMemcpyKind Kind,
                            cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    if (Kind != cudaMemcpyHostToDevice && Kind != cudaMemcpyDeviceToDevice &&
        Kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    void *To = nullptr;
    if (cudaError_t Failed = partOf(Symbol, Count, Offset, To))
      return Failed;
    return copy(box(To), box(From), {Count, 1, 1}, Kind);
  });
}

static cudaError_t fromSymbol(void *To, const void *Symbol, size_t Count,
                              size_t Offset, cudaMemcpyKind Kind,
                              cudaStream_t Stream) {
  return streamCall(Stream, [&]() -> cudaError_t {
    if (Kind != cudaMemcpyDeviceToHost && Kind != cudaMemcpyDeviceToDevice &&
        Kind != cudaMemcpyDefault)
      return cudaErrorInvalidMemcpyDirection;
    void *From = nullptr;
    if (cudaError_t Failed = partOf(Symbol, Count, Offset, From))
      return Failed;
    return copy(box(To), box(From), {Count, 1, 1}, Kind);
  });
}

cudaError_t api::cudaMemcpyToSymbol(const void *Symbol, const void *From,
                                    size_t Count, size_t Offset,
                                    cudaMemcpyKind Kind) {
  return toSymbol(Symbol, From, Count, Offset, Kind, nullptr);
}

cudaError_t api::cudaMemcpyToSymbolAsync(const void *Symbol, const void *From,
                                         size_t Count, size_t Offset,
                                         cudaMemcpyKind Kind,
                                         cudaStream_t Stream) {
  return toSymbol(Symbol, From, Count, Offset, Kind, Stream);
}

cudaError_t api::cudaMemcpyFromSymbol(void *To, const void *Symbol,
                                      size_t Count, size_t Offset,
                                      cudaMemcpyKind Kind) {
  return fromSymbol(To, Symbol, Count, Offset, Kind, nullptr);
}

cudaError_t api::cudaMemcpyFromSymbolAsync(void *To, const void *Symbol,
                                           size_t Count, size_t Offset,
                                           cudaMemcpyKind Kind,
                                           cudaStream_t Stream) {
  return fromSymbol(To, Symbol, Count, Offset, Kind, Stream);
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
