//===- runtime/vm/Arrays.cpp - CUDA arrays --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU keeps an array in an order of its own; nobody can tell, as only copies
// and textures reach it. Ours are plain rows in device memory, so that trials
// and checks see them like any other allocation.
//
// A copy from or to an array is a cudaMemcpy3D whose extent counts elements
// (Copy.cpp). The calls of CUDA 4 and before count bytes and become such.
//
// Limitation: no cubes, no mipmaps, no sparse arrays.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Arrays.h"

#include "runtime/vm/Api.h"
#include "runtime/vm/Capture.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"

#include <map>
#include <memory>

using reconverge::warpvm::ImageObject;

namespace reconverge::runtime {

using Guard = std::lock_guard<std::recursive_mutex>;

static std::map<cudaArray_const_t, std::unique_ptr<Array>> &arrays() {
  static auto &Live = *new std::map<cudaArray_const_t, std::unique_ptr<Array>>;
  return Live;
}

Array *arrayOf(cudaArray_const_t Handle) {
  auto Found = arrays().find(Handle);
  return Found == arrays().end() ? nullptr : Found->second.get();
}

bool readFormat(const cudaChannelFormatDesc &F, ImageObject &Out) {
  const int Bits[] = {F.x, F.y, F.z, F.w};
  unsigned Count = 0;
  while (Count < 4 && Bits[Count])
    ++Count;
  for (unsigned I = 0; I < 4; ++I)
    if (Bits[I] != (I < Count ? F.x : 0))
      return false;
  if (Count == 0 || Count == 3 || (F.x != 8 && F.x != 16 && F.x != 32))
    return false;
  switch (F.f) {
  case cudaChannelFormatKindSigned:
    Out.Kind = ImageObject::Signed;
    break;
  case cudaChannelFormatKindUnsigned:
    Out.Kind = ImageObject::Unsigned;
    break;
  case cudaChannelFormatKindFloat:
    Out.Kind = ImageObject::Float;
    break;
  default:
    return false;
  }
  Out.Bits = uint8_t(F.x);
  Out.Count = uint8_t(Count);
  return Out.Kind != ImageObject::Float || F.x != 8;
}

//===----------------------------------------------------------------------===//
// Making and asking
//===----------------------------------------------------------------------===//

static cudaError_t create(cudaArray_t *Out, const cudaChannelFormatDesc *Format,
                          cudaExtent E, unsigned Flags) {
  constexpr unsigned Known =
      cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayTextureGather;
  if (!Out || !Format || !E.width)
    return cudaErrorInvalidValue;
  if (Flags & cudaArrayCubemap)
    return unsupported("a cubemap");
  if (Flags & (cudaArraySparse | cudaArrayDeferredMapping))
    return unsupported("a sparse array");
  const bool Layered = Flags & cudaArrayLayered;
  if ((Flags & ~Known) || (Layered && !E.depth) ||
      (!Layered && E.depth && !E.height))
    return cudaErrorInvalidValue;
  ImageObject Element;
  if (!readFormat(*Format, Element))
    return cudaErrorInvalidChannelDescriptor;
  auto New = std::make_unique<Array>();
  *New = {*Format, E, Flags, nullptr, size_t(Element.Bits) / 8 * Element.Count};
  size_t Bytes = New->ElementBytes;
  for (size_t Factor : {E.width, New->rows(), New->planes()})
    if (__builtin_mul_overflow(Bytes, Factor, &Bytes))
      return cudaErrorInvalidValue;
  void *Data = nullptr;
  if (cudaError_t Failed = allocate(&Data, Bytes, warpvm::MemoryKind::Array))
    return Failed;
  New->Data = static_cast<uint8_t *>(Data);
  Guard Lock(deviceLock());
  *Out = reinterpret_cast<cudaArray_t>(New.get());
  arrays()[*Out] = std::move(New);
  return cudaSuccess;
}

cudaError_t api::cudaMallocArray(cudaArray_t *Out,
                                 const cudaChannelFormatDesc *Format,
                                 size_t Width, size_t Height, unsigned Flags) {
  return unsafeCall([&]() -> cudaError_t {
    if (Flags & cudaArrayLayered)
      return cudaErrorInvalidValue;
    return create(Out, Format, {Width, Height, 0}, Flags);
  });
}

cudaError_t api::cudaMalloc3DArray(cudaArray_t *Out,
                                   const cudaChannelFormatDesc *Format,
                                   cudaExtent Extent, unsigned Flags) {
  return unsafeCall([&] { return create(Out, Format, Extent, Flags); });
}

cudaError_t api::cudaFreeArray(cudaArray_t Handle) {
  return unsafeCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!Handle)
      return cudaSuccess;
    Array *A = arrayOf(Handle);
    if (!A)
      return cudaErrorContextIsDestroyed; // what CUDA says of freed ones
    warpvm::DeviceMemory::instance().release(A->Data);
    arrays().erase(Handle);
    return cudaSuccess;
  });
}

/// Finds the array, then does \p B with it.
template <typename Body>
static cudaError_t withArray(cudaArray_const_t Handle, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    Array *A = arrayOf(Handle);
    return A ? B(*A) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t api::cudaArrayGetInfo(cudaChannelFormatDesc *Format,
                                  cudaExtent *Extent, unsigned *Flags,
                                  cudaArray_t Handle) {
  return withArray(Handle, [&](Array &A) {
    if (Format)
      *Format = A.Format;
    if (Extent)
      *Extent = A.Extent;
    if (Flags)
      *Flags = A.Flags;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGetChannelDesc(cudaChannelFormatDesc *Format,
                                    cudaArray_const_t Handle) {
  return withArray(Handle, [&](Array &A) -> cudaError_t {
    if (!Format)
      return cudaErrorInvalidValue;
    *Format = A.Format;
    return cudaSuccess;
  });
}

//===----------------------------------------------------------------------===//
// Copies that count bytes
//===----------------------------------------------------------------------===//

namespace {
/// A rectangle of an array, in bytes and rows.
struct Part {
  cudaArray_const_t Of;
  size_t Left, Top;
};
/// The same anywhere else.
struct Rows {
  const void *At;
  size_t Pitch;
};
} // namespace

/// \p Bytes as elements of the array; false if they are no whole ones.
static bool toElements(cudaArray_const_t Handle, size_t Bytes, size_t &Out) {
  Guard Lock(deviceLock());
  Array *A = arrayOf(Handle);
  if (!A || Bytes % A->ElementBytes)
    return false;
  Out = Bytes / A->ElementBytes;
  return true;
}

static cudaError_t fill(const Part &P, size_t Width, cudaArray_t &Handle,
                        cudaPos &Pos, size_t &Elements) {
  Handle = const_cast<cudaArray_t>(P.Of);
  Pos.y = P.Top;
  return toElements(P.Of, P.Left, Pos.x) && toElements(P.Of, Width, Elements)
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

/// A copy of \p Height rows of \p Width bytes each.
static cudaError_t describe(const Part *To, const Part *From, const Rows *Other,
                            size_t Width, size_t Height, cudaMemcpyKind Kind,
                            cudaMemcpy3DParms &Out) {
  Out = {};
  Out.kind = Kind;
  Out.extent = {0, Height, 1};
  if (Other && Width > Other->Pitch)
    return cudaErrorInvalidPitchValue;
  if (To)
    if (cudaError_t Failed =
            fill(*To, Width, Out.dstArray, Out.dstPos, Out.extent.width))
      return Failed;
  if (From)
    if (cudaError_t Failed =
            fill(*From, Width, Out.srcArray, Out.srcPos, Out.extent.width))
      return Failed;
  if (Other)
    (To ? Out.srcPtr : Out.dstPtr) = {const_cast<void *>(Other->At),
                                      Other->Pitch, Width, Height};
  return cudaSuccess;
}

static cudaError_t copy(const Part *To, const Part *From, const Rows *Other,
                        size_t Width, size_t Height, cudaMemcpyKind Kind,
                        const cudaStream_t *Stream) {
  cudaMemcpy3DParms P;
  if (cudaError_t Failed = deviceCall(
          [&] { return describe(To, From, Other, Width, Height, Kind, P); }))
    return Failed;
  return Stream ? api::cudaMemcpy3DAsync(&P, *Stream) : api::cudaMemcpy3D(&P);
}

cudaError_t api::cudaMemcpy2DToArray(cudaArray_t To, size_t Left, size_t Top,
                                     const void *From, size_t Pitch,
                                     size_t Width, size_t Height,
                                     cudaMemcpyKind Kind) {
  const Part P = {To, Left, Top};
  const Rows R = {From, Pitch};
  return copy(&P, nullptr, &R, Width, Height, Kind, nullptr);
}

cudaError_t api::cudaMemcpy2DToArrayAsync(cudaArray_t To, size_t Left,
                                          size_t Top, const void *From,
                                          size_t Pitch, size_t Width,
                                          size_t Height, cudaMemcpyKind Kind,
                                          cudaStream_t Stream) {
  const Part P = {To, Left, Top};
  const Rows R = {From, Pitch};
  return copy(&P, nullptr, &R, Width, Height, Kind, &Stream);
}

cudaError_t api::cudaMemcpy2DFromArray(void *To, size_t Pitch,
                                       cudaArray_const_t From, size_t Left,
                                       size_t Top, size_t Width, size_t Height,
                                       cudaMemcpyKind Kind) {
  const Part P = {From, Left, Top};
  const Rows R = {To, Pitch};
  return copy(nullptr, &P, &R, Width, Height, Kind, nullptr);
}

cudaError_t api::cudaMemcpy2DFromArrayAsync(void *To, size_t Pitch,
                                            cudaArray_const_t From, size_t Left,
                                            size_t Top, size_t Width,
                                            size_t Height, cudaMemcpyKind Kind,
                                            cudaStream_t Stream) {
  const Part P = {From, Left, Top};
  const Rows R = {To, Pitch};
  return copy(nullptr, &P, &R, Width, Height, Kind, &Stream);
}

cudaError_t api::cudaMemcpy2DArrayToArray(cudaArray_t To, size_t ToLeft,
                                          size_t ToTop, cudaArray_const_t From,
                                          size_t FromLeft, size_t FromTop,
                                          size_t Width, size_t Height,
                                          cudaMemcpyKind Kind) {
  const Part T = {To, ToLeft, ToTop}, F = {From, FromLeft, FromTop};
  return copy(&T, &F, nullptr, Width, Height, Kind, nullptr);
}

/// \p Count bytes that go on in the next row of the array where one ends: the
/// rest of the first row, whole rows, and what is left.
template <typename Copier>
static cudaError_t copyRun(cudaArray_const_t Handle, size_t Left, size_t Top,
                           size_t Count, Copier &&Copy) {
  size_t Row = 0;
  if (cudaError_t Failed = withArray(Handle, [&](Array &A) {
        Row = A.pitch();
        return Left < Row ? cudaSuccess : cudaErrorInvalidValue;
      }))
    return Failed;
  for (size_t Done = 0; Done < Count;) {
    const size_t Rest = Count - Done;
    const size_t Width = std::min(Rest, Row - Left);
    const size_t Height = Width == Row ? Rest / Row : 1;
    if (cudaError_t Failed = Copy(Part{Handle, Left, Top}, Done, Width, Height))
      return Failed;
    Done += Width * Height;
    Top += Height;
    Left = 0;
  }
  return cudaSuccess;
}

static cudaError_t toArray(cudaArray_t To, size_t Left, size_t Top,
                           const void *From, size_t Count, cudaMemcpyKind Kind,
                           const cudaStream_t *Stream) {
  return copyRun(To, Left, Top, Count,
                 [&](Part P, size_t Offset, size_t Width, size_t Height) {
                   const Rows R = {static_cast<const char *>(From) + Offset,
                                   Width};
                   return copy(&P, nullptr, &R, Width, Height, Kind, Stream);
                 });
}

static cudaError_t fromArray(void *To, cudaArray_const_t From, size_t Left,
                             size_t Top, size_t Count, cudaMemcpyKind Kind,
                             const cudaStream_t *Stream) {
  return copyRun(From, Left, Top, Count,
                 [&](Part P, size_t Offset, size_t Width, size_t Height) {
                   const Rows R = {static_cast<const char *>(To) + Offset,
                                   Width};
                   return copy(nullptr, &P, &R, Width, Height, Kind, Stream);
                 });
}

cudaError_t api::cudaMemcpyToArray(cudaArray_t To, size_t Left, size_t Top,
                                   const void *From, size_t Count,
                                   cudaMemcpyKind Kind) {
  return toArray(To, Left, Top, From, Count, Kind, nullptr);
}

cudaError_t api::cudaMemcpyToArrayAsync(cudaArray_t To, size_t Left, size_t Top,
                                        const void *From, size_t Count,
                                        cudaMemcpyKind Kind,
                                        cudaStream_t Stream) {
  return toArray(To, Left, Top, From, Count, Kind, &Stream);
}

cudaError_t api::cudaMemcpyFromArray(void *To, cudaArray_const_t From,
                                     size_t Left, size_t Top, size_t Count,
                                     cudaMemcpyKind Kind) {
  return fromArray(To, From, Left, Top, Count, Kind, nullptr);
}

cudaError_t api::cudaMemcpyFromArrayAsync(void *To, cudaArray_const_t From,
                                          size_t Left, size_t Top, size_t Count,
                                          cudaMemcpyKind Kind,
                                          cudaStream_t Stream) {
  return fromArray(To, From, Left, Top, Count, Kind, &Stream);
}

} // namespace reconverge::runtime
