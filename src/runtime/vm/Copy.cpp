//===- runtime/vm/Copy.cpp - Copying and setting memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every copy is what cudaMemcpy3D takes, one row and one plane of it if need
// be, and every set likewise: so streams and graphs know one kind of each
// (CopyApi.cpp has the calls that ask for them). Both ends become Boxes: rows of bytes at a pitch, planes of rows. It is checked
// whole before the first byte moves:
//
// 1. An end that lies in an allocation must lie in it with all its bytes.
// 2. An end that lies in none is the host's, of which nothing is known; the
//    direction must then say "host" for it, or cudaMemcpyDefault.
//
// As on a GPU, a direction that says "host" of a device pointer is let pass:
// the address tells what it is.
//
// Where writes are followed (warpvm/memory/WriteShadow.h), a copy takes along what
// is written; one to the host is looked at as a read is: nobody there could tell.
//
// Bytes move under deviceLock(), so never while a kernel runs or a launch is
// tried: a trial would put back what was there before.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Arrays.h"
#include "runtime/vm/Device.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Findings.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"
#include "runtime/vm/Work.h"
#include "warpvm/memory/DeviceMemory.h"

#include <algorithm>
#include <cstring>

namespace reconverge::runtime {

using Guard = std::lock_guard<std::recursive_mutex>;

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
// Where an end lies
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

/// Both ends of \p P. Under deviceLock().
static cudaError_t findEnds(const cudaMemcpy3DParms &P, Box &To, Box &From,
                            Extent &E) {
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

//===----------------------------------------------------------------------===//
// One copy, one set
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

cudaError_t checkCopy(const cudaMemcpy3DParms &P) {
  Guard Lock(deviceLock());
  Box To, From;
  Extent E;
  return findEnds(P, To, From, E);
}

/// Whether what lies at \p Address is the host's to read without a call.
static bool isHosts(const void *Address) {
  const auto In = warpvm::DeviceMemory::instance().lookup(Address);
  return !In || In->Managed || In->Kind == warpvm::MemoryKind::Host ||
         In->Kind == warpvm::MemoryKind::Registered;
}

/// The host has copied \p Hole of \p Bytes from \p From, \p Unwritten in all.
static void noteUnwritten(const char *From, size_t Bytes, size_t Unwritten,
                          const warpvm::Hole &Hole) {
  Finding F;
  F.Kind = FindingKind::Init;
  F.Text =
      "a copy to the host of " + std::to_string(Bytes) +
      " bytes, of which nobody has written " + std::to_string(Unwritten) +
      ": " +
      (Unwritten == Hole.Bytes ? ""
                               : std::to_string(Hole.Bytes) + " of them ") +
      warpvm::DeviceMemory::instance().describe(uint64_t(From + Hole.Offset));
  if (FindingsLog *Log = FindingsLog::current())
    Log->add(std::move(F));
  else
    sayOnce(F.Text);
}

/// Who reads \p Into later finds there what was written of \p From. True if
/// that was told of: once a copy is enough.
static bool noteCopy(const char *Into, const char *From, size_t Bytes,
                     bool Told) {
  const auto &Memory = warpvm::DeviceMemory::instance();
  warpvm::WriteShadow *Writes = Memory.writes();
  if (!Writes)
    return true;
  const auto In = Memory.lookup(From);
  if (!In || isBornWritten(*In)) {
    Writes->mark(Into, Bytes);
    return Told;
  }
  Writes->copy(Into, From, Bytes);
  const uint8_t *Then = Writes->of(uint64_t(From), Bytes);
  if (Told || !Then || warpvm::allWritten(Then, Bytes) || !isHosts(Into))
    return Told;
  const std::optional<warpvm::Hole> Hole = warpvm::holeIn(Then, Bytes);
  if (Hole)
    noteUnwritten(From, Bytes, std::count(Then, Then + Bytes, 0), *Hole);
  return Hole.has_value();
}

cudaError_t runCopy(const cudaMemcpy3DParms &P) {
  Guard Lock(deviceLock());
  Box To, From;
  Extent E;
  if (cudaError_t Failed = findEnds(P, To, From, E))
    return Failed;
  bool Told = false;
  for (size_t Plane = 0; Plane < E.Planes; ++Plane)
    for (size_t Row = 0; Row < E.Rows; ++Row) {
      char *Into = To.At + Plane * To.PlanePitch + Row * To.Pitch;
      const char *Source = From.At + Plane * From.PlanePitch + Row * From.Pitch;
      std::memmove(Into, Source, E.Width);
      Told = noteCopy(Into, Source, E.Width, Told);
    }
  return cudaSuccess;
}

SetWork setOfBytes(void *To, int Value, size_t Count) {
  SetWork W;
  W.At = To;
  W.Value = unsigned(Value) & 0xff;
  W.Width = Count;
  return W;
}

cudaError_t setOfPlanes(const cudaPitchedPtr &P, int Value,
                        const cudaExtent &Size, SetWork &Out) {
  Out = setOfBytes(P.ptr, Value, Size.width);
  Out.Height = Size.height;
  Out.Depth = Size.depth;
  if (!Out.Width || !Out.Height || !Out.Depth)
    return cudaSuccess;
  Box To;
  if (boxOf(P, cudaPos{0, 0, 0}, Size, To))
    return cudaErrorInvalidValue;
  Out.Pitch = To.Pitch;
  Out.PlanePitch = To.PlanePitch;
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
  Guard Lock(deviceLock());
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
      else if (W.Value)
        std::memset(At, int(W.Value), W.Width);
      else
        warpvm::DeviceMemory::instance().zero(At, W.Width);
      if (warpvm::WriteShadow *Writes =
              warpvm::DeviceMemory::instance().writes())
        Writes->mark(At, E.Width);
    }
  return cudaSuccess;
}

} // namespace reconverge::runtime
