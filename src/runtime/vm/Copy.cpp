//===- runtime/vm/Copy.cpp - Copying and setting memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every copy is what cudaMemcpy3D takes, one row and one plane of it if need
// be, and every set likewise: so streams and graphs know one kind of each. Both
// ends become Boxes: rows of bytes at a pitch, planes of rows. It is checked
// whole before the first byte moves:
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
#include "runtime/vm/Arrays.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"

#include <algorithm>
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

static Box box(const void *At, size_t Pitch = 0, size_t PlanePitch = 0) {
  return {static_cast<char *>(const_cast<void *>(At)), Pitch, PlanePitch};
}

//===----------------------------------------------------------------------===//
// One copy, one set
//===----------------------------------------------------------------------===//

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
  const bool OneRow = !Pos.y && !Pos.z && E.height == 1 && E.depth == 1;
  if (Right > P.pitch && !OneRow)
    return cudaErrorInvalidPitchValue;
  // One plane needs no height: a whole one is needed to find the next.
  if ((P.pitch > limits::MaxPitch && !OneRow) ||
      (Bottom > P.ysize && P.ysize) || (!P.ysize && Pos.z + E.depth > 1))
    return cudaErrorInvalidValue;
  Out = box(P.ptr, P.pitch, PlanePitch);
  if (Out.At)
    Out.At += Planes + Skipped + Pos.x;
  return cudaSuccess;
}

/// The box of \p E at \p Pos, which counts elements, of an array.
static cudaError_t boxOf(const Array &A, const cudaPos &Pos,
                         const cudaExtent &E, Box &Out) {
  auto Fits = [](size_t At, size_t Size, size_t Whole) {
    return At <= Whole && Size <= Whole - At;
  };
  if (!Fits(Pos.x, E.width / A.ElementBytes, A.Extent.width) ||
      !Fits(Pos.y, E.height, A.rows()) || !Fits(Pos.z, E.depth, A.planes()))
    return cudaErrorInvalidValue;
  Out = box(A.Data + Pos.z * A.planePitch() + Pos.y * A.pitch() +
                Pos.x * A.ElementBytes,
            A.pitch(), A.planePitch());
  return cudaSuccess;
}

/// One end, checked: an array or, if there is none, memory.
static cudaError_t findEnd(cudaArray_const_t Handle, const cudaPitchedPtr &P,
                           const cudaPos &Pos, const cudaExtent &E,
                           bool MustBeDevice, Box &Out) {
  if (Handle && P.ptr)
    return cudaErrorInvalidValue;
  if (cudaError_t Failed =
          Handle ? boxOf(*arrayOf(Handle), Pos, E, Out) : boxOf(P, Pos, E, Out))
    return Failed;
  return checkEnd(Out, {E.width, E.height, E.depth}, MustBeDevice);
}

/// Both ends of \p P.
static cudaError_t findEnds(const cudaMemcpy3DParms &P, Box &To, Box &From,
                            Extent &E) {
  std::lock_guard<std::recursive_mutex> Lock(deviceLock());
  if (!isKind(P.kind))
    return cudaErrorInvalidMemcpyDirection;
  cudaExtent Size = P.extent;
  size_t ElementBytes = 1;
  for (cudaArray_const_t Handle : {P.srcArray, P.dstArray})
    if (Handle) {
      const Array *A = arrayOf(Handle);
      if (!A || (ElementBytes != 1 && ElementBytes != A->ElementBytes))
        return cudaErrorInvalidValue;
      ElementBytes = A->ElementBytes;
    }
  if (__builtin_mul_overflow(Size.width, ElementBytes, &Size.width))
    return cudaErrorInvalidValue;
  E = {Size.width, Size.height, Size.depth};
  if (E.empty())
    return cudaSuccess;
  const bool ToDevice =
      P.kind == cudaMemcpyHostToDevice || P.kind == cudaMemcpyDeviceToDevice;
  const bool FromDevice =
      P.kind == cudaMemcpyDeviceToHost || P.kind == cudaMemcpyDeviceToDevice;
  if (cudaError_t Failed =
          findEnd(P.dstArray, P.dstPtr, P.dstPos, Size, ToDevice, To))
    return Failed;
  return findEnd(P.srcArray, P.srcPtr, P.srcPos, Size, FromDevice, From);
}

cudaError_t checkCopy(const cudaMemcpy3DParms &P) {
  Box To, From;
  Extent E;
  return findEnds(P, To, From, E);
}

cudaError_t runCopy(const cudaMemcpy3DParms &P) {
  Box To, From;
  Extent E;
  if (cudaError_t Failed = findEnds(P, To, From, E))
    return Failed;
  for (size_t Plane = 0; Plane < E.Planes; ++Plane)
    for (size_t Row = 0; Row < E.Rows; ++Row)
      std::memmove(To.At + Plane * To.PlanePitch + Row * To.Pitch,
                   From.At + Plane * From.PlanePitch + Row * From.Pitch,
                   E.Width);
  return cudaSuccess;
}

/// The memory that \p W sets, checked.
static cudaError_t findEnd(const SetWork &W, Box &To, Extent &E) {
  const unsigned Size = W.ElementSize;
  if ((Size != 1 && Size != 2 && Size != 4) || uint64_t(W.At) % Size ||
      __builtin_mul_overflow(W.Width, Size, &E.Width))
    return cudaErrorInvalidValue;
  E.Rows = W.Height;
  E.Planes = W.Depth;
  if (E.empty())
    return cudaSuccess;
  if (E.Rows * E.Planes > 1 &&
      (E.Width > W.Pitch || W.Pitch > limits::MaxPitch || W.Pitch % Size))
    return cudaErrorInvalidValue;
  To = box(W.At, W.Pitch, W.PlanePitch);
  return checkEnd(To, E, true);
}

cudaError_t checkSet(const SetWork &W) {
  Box To;
  Extent E;
  return findEnd(W, To, E);
}

cudaError_t runSet(const SetWork &W) {
  Box To;
  Extent E;
  if (cudaError_t Failed = findEnd(W, To, E))
    return Failed;
  for (size_t Plane = 0; Plane < E.Planes; ++Plane)
    for (size_t Row = 0; Row < E.Rows; ++Row) {
      char *At = To.At + Plane * To.PlanePitch + Row * To.Pitch;
      if (W.ElementSize == 4)
        std::fill_n(reinterpret_cast<uint32_t *>(At), W.Width, W.Value);
      else if (W.ElementSize == 2)
        std::fill_n(reinterpret_cast<uint16_t *>(At), W.Width, W.Value);
      else
        std::memset(At, int(W.Value), W.Width);
    }
  return cudaSuccess;
}

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

static cudaError_t setIn(cudaStream_t Stream, const SetWork &W) {
  return deviceCall([&] {
    return enqueue(
        Stream, [&] { return runSet(W); }, [&] { return W; },
        [&] { return checkSet(W); });
  });
}

//===----------------------------------------------------------------------===//
// One row
//===----------------------------------------------------------------------===//

cudaMemcpy3DParms copyOfBytes(void *To, const void *From, size_t Count,
                              cudaMemcpyKind Kind) {
  cudaMemcpy3DParms P = {};
  P.dstPtr = {To, Count, Count, 1};
  P.srcPtr = {const_cast<void *>(From), Count, Count, 1};
  P.extent = {Count, 1, 1};
  P.kind = Kind;
  return P;
}

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

static SetWork setOfBytes(void *To, int Value, size_t Count) {
  SetWork W;
  W.At = To;
  W.Value = unsigned(Value) & 0xff;
  W.Width = Count;
  return W;
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
  SetWork W = setOfBytes(P.ptr, Value, Size.width);
  W.Height = Size.height;
  W.Depth = Size.depth;
  if (W.Width && W.Height && W.Depth) {
    Box To;
    if (boxOf(P, cudaPos{0, 0, 0}, Size, To))
      return deviceCall([] { return cudaErrorInvalidValue; });
    W.Pitch = To.Pitch;
    W.PlanePitch = To.PlanePitch;
  }
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
