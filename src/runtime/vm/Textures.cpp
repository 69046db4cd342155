//===- runtime/vm/Textures.cpp - Texture and surface objects --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An object is what warpvm/memory/Images.h says of it, and the descriptions that it
// was made from, which the program may ask for. What cannot be had is refused
// where the object is made, by CUDA's code or by name: kernels then find none.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Arrays.h"
#include "runtime/vm/Errors.h"
#include "runtime/vm/Memory.h"
#include "runtime/vm/Registry.h"

#include <cstring>
#include <map>

using reconverge::warpvm::ImageObject;
using reconverge::warpvm::Images;

namespace reconverge::runtime {

using Guard = std::lock_guard<std::recursive_mutex>;

/// Elements of the longest texture over linear memory.
static constexpr size_t LongestLinear = size_t(1) << 28;

namespace {
struct Object {
  cudaResourceDesc Resource;
  cudaTextureDesc Texture;
};
} // namespace

/// By handle; under deviceLock().
static std::map<uint64_t, Object> &objects() {
  static auto &Live = *new std::map<uint64_t, Object>;
  return Live;
}

//===----------------------------------------------------------------------===//
// From descriptions to images
//===----------------------------------------------------------------------===//

static cudaError_t readArray(cudaArray_const_t Handle, ImageObject &Out) {
  Array *A = arrayOf(Handle);
  if (!A)
    return cudaErrorInvalidResourceHandle;
  readFormat(A->Format, Out);
  const bool Layered = A->Flags & cudaArrayLayered;
  Out.Base = A->Data;
  Out.Pitch = A->pitch();
  Out.PlanePitch = A->planePitch();
  Out.Extent[0] = A->Extent.width;
  Out.Extent[1] = A->rows();
  Out.Extent[2] = Layered ? 1 : A->planes();
  Out.Layers = Layered ? A->planes() : 1;
  return cudaSuccess;
}

/// \p Rows of \p Bytes each in memory of the program's.
static cudaError_t readMemory(void *At, const cudaChannelFormatDesc &Format,
                              size_t Bytes, size_t Pitch, size_t Rows,
                              ImageObject &Out) {
  if (!readFormat(Format, Out))
    return cudaErrorInvalidChannelDescriptor;
  const size_t Element = size_t(Out.Bits) / 8 * Out.Count;
  size_t Whole;
  if (!At || !Rows || Bytes < Element || Pitch < Bytes ||
      uint64_t(At) % Element || Pitch % Element ||
      __builtin_mul_overflow(Pitch, Rows - 1, &Whole) ||
      __builtin_add_overflow(Whole, Bytes, &Whole) ||
      whereIs(At, Whole) != Where::Device)
    return cudaErrorInvalidValue;
  Out.Base = static_cast<uint8_t *>(At);
  Out.Pitch = Pitch;
  Out.Extent[0] = Bytes / Element;
  Out.Extent[1] = Rows;
  return cudaSuccess;
}

static cudaError_t readResource(const cudaResourceDesc &R, ImageObject &Out) {
  switch (R.resType) {
  case cudaResourceTypeArray:
    return readArray(R.res.array.array, Out);
  case cudaResourceTypeLinear: {
    const auto &L = R.res.linear;
    if (cudaError_t Failed =
            readMemory(L.devPtr, L.desc, L.sizeInBytes, L.sizeInBytes, 1, Out))
      return Failed;
    return Out.Extent[0] <= LongestLinear ? cudaSuccess : cudaErrorInvalidValue;
  }
  case cudaResourceTypePitch2D: {
    const auto &P = R.res.pitch2D;
    ImageObject Element;
    if (!readFormat(P.desc, Element))
      return cudaErrorInvalidChannelDescriptor;
    return readMemory(P.devPtr, P.desc,
                      P.width * (size_t(Element.Bits) / 8 * Element.Count),
                      P.pitchInBytes, P.height, Out);
  }
  case cudaResourceTypeMipmappedArray:
    return unsupported("a mipmapped texture");
  default:
    return cudaErrorInvalidValue;
  }
}

static cudaError_t readSampling(const cudaTextureDesc &T, bool InMemory,
                                ImageObject &Out) {
  for (unsigned D = 0; D < 3; ++D) {
    if (T.addressMode[D] < cudaAddressModeWrap ||
        T.addressMode[D] > cudaAddressModeBorder)
      return cudaErrorInvalidValue;
    Out.Mode[D] = ImageObject::AddressMode(T.addressMode[D]);
  }
  if (T.sRGB)
    return unsupported("an sRGB texture");
  const bool Integers = Out.Kind != ImageObject::Float;
  Out.AsFloat = Integers && T.readMode == cudaReadModeNormalizedFloat;
  if (Out.AsFloat && Out.Bits == 32)
    return cudaErrorInvalidNormSetting;
  Out.Linear = T.filterMode == cudaFilterModeLinear && !InMemory;
  if (Out.Linear && Integers && !Out.AsFloat)
    return cudaErrorInvalidFilterSetting;
  Out.Normalized = T.normalizedCoords && !InMemory;
  std::memcpy(Out.BorderColor, T.borderColor, sizeof(Out.BorderColor));
  return cudaSuccess;
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

static uint64_t add(const ImageObject &New, const Object &From) {
  const uint64_t Handle = Images::instance().add(New);
  objects()[Handle] = From;
  return Handle;
}

static cudaError_t destroy(uint64_t Handle, bool Surface) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!Handle)
      return cudaSuccess;
    const ImageObject *I = Images::instance().find(Handle);
    if (!I || I->Surface != Surface)
      return cudaErrorInvalidValue;
    Images::instance().remove(Handle);
    objects().erase(Handle);
    return cudaSuccess;
  });
}

/// Finds the object's descriptions, then does \p B with them.
template <typename Body>
static cudaError_t withObject(uint64_t Handle, bool Surface, Body &&B) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    const ImageObject *I = Images::instance().find(Handle);
    if (!I || I->Surface != Surface)
      return cudaErrorInvalidValue;
    return B(objects()[Handle]);
  });
}

cudaError_t api::cudaCreateTextureObject(cudaTextureObject_t *Out,
                                         const cudaResourceDesc *Resource,
                                         const cudaTextureDesc *Texture,
                                         const cudaResourceViewDesc *View) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!Out || !Resource || !Texture)
      return cudaErrorInvalidValue;
    if (View)
      return unsupported("a texture with a resource view");
    ImageObject New;
    if (cudaError_t Failed = readResource(*Resource, New))
      return Failed;
    if (cudaError_t Failed = readSampling(
            *Texture, Resource->resType == cudaResourceTypeLinear, New))
      return Failed;
    *Out = add(New, {*Resource, *Texture});
    return cudaSuccess;
  });
}

cudaError_t api::cudaDestroyTextureObject(cudaTextureObject_t Handle) {
  return destroy(Handle, false);
}

cudaError_t api::cudaGetTextureObjectResourceDesc(cudaResourceDesc *Out,
                                                  cudaTextureObject_t Handle) {
  return withObject(Handle, false, [&](Object &O) -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = O.Resource;
    return cudaSuccess;
  });
}

cudaError_t api::cudaGetTextureObjectTextureDesc(cudaTextureDesc *Out,
                                                 cudaTextureObject_t Handle) {
  return withObject(Handle, false, [&](Object &O) -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = O.Texture;
    return cudaSuccess;
  });
}

cudaError_t api::cudaCreateSurfaceObject(cudaSurfaceObject_t *Out,
                                         const cudaResourceDesc *Resource) {
  return deviceCall([&]() -> cudaError_t {
    Guard Lock(deviceLock());
    if (!Out || !Resource || Resource->resType != cudaResourceTypeArray)
      return cudaErrorInvalidValue;
    ImageObject New;
    New.Surface = true;
    const cudaArray_t Handle = Resource->res.array.array;
    if (cudaError_t Failed = readArray(Handle, New))
      return Failed;
    if (!(arrayOf(Handle)->Flags & cudaArraySurfaceLoadStore))
      return cudaErrorInvalidValue;
    *Out = add(New, {*Resource, {}});
    return cudaSuccess;
  });
}

cudaError_t api::cudaDestroySurfaceObject(cudaSurfaceObject_t Handle) {
  return destroy(Handle, true);
}

cudaError_t api::cudaGetSurfaceObjectResourceDesc(cudaResourceDesc *Out,
                                                  cudaSurfaceObject_t Handle) {
  return withObject(Handle, true, [&](Object &O) -> cudaError_t {
    if (!Out)
      return cudaErrorInvalidValue;
    *Out = O.Resource;
    return cudaSuccess;
  });
}

cudaError_t api::cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *Out, const cudaChannelFormatDesc *Format, int Device) {
  return deviceCall([&]() -> cudaError_t {
    ImageObject Element;
    if (Device)
      return cudaErrorInvalidDevice;
    if (!Out || !Format || !readFormat(*Format, Element))
      return cudaErrorInvalidValue;
    *Out = LongestLinear;
    return cudaSuccess;
  });
}

} // namespace reconverge::runtime
