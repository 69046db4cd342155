//===- __reconverge_new.h - new and delete of device code -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc declares them before any line of a source. clang has device versions
// with its <new> alone, which a source need not reach, and none that align.
//
// An aligned block lies in a larger one of malloc's, whose address stands just
// before it.
//
// Every name is reserved: a user's macros are defined before this is read.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_NEW_H
#define RECONVERGE_OVERLAY_NEW_H

#include <new>

#ifdef __cpp_aligned_new

#define RECONVERGE_DEVICE __inline__ __attribute__((device))

RECONVERGE_DEVICE void *operator new(__SIZE_TYPE__ __size,
                                     std::align_val_t __align) {
  const __SIZE_TYPE__ __step = static_cast<__SIZE_TYPE__>(__align);
  const __SIZE_TYPE__ __before = __step + sizeof(void *);
  char *__whole = nullptr;
  if (__size + __before > __size)
    __whole = static_cast<char *>(::malloc(__size + __before));
  if (!__whole)
    return nullptr;
  // The last multiple that leaves room for the address before it.
  char *__block = __whole + __before;
  __block -= reinterpret_cast<__SIZE_TYPE__>(__block) % __step;
  reinterpret_cast<char **>(__block)[-1] = __whole;
  return __block;
}
RECONVERGE_DEVICE void *operator new(__SIZE_TYPE__ __size,
                                     std::align_val_t __align,
                                     const std::nothrow_t &) noexcept {
  return ::operator new(__size, __align);
}
RECONVERGE_DEVICE void *operator new[](__SIZE_TYPE__ __size,
                                       std::align_val_t __align) {
  return ::operator new(__size, __align);
}
RECONVERGE_DEVICE void *operator new[](__SIZE_TYPE__ __size,
                                       std::align_val_t __align,
                                       const std::nothrow_t &) noexcept {
  return ::operator new(__size, __align);
}

RECONVERGE_DEVICE void operator delete(void *__block,
                                       std::align_val_t) noexcept {
  if (__block)
    ::free(static_cast<char **>(__block)[-1]);
}
RECONVERGE_DEVICE void operator delete(void *__block, std::align_val_t __align,
                                       const std::nothrow_t &) noexcept {
  ::operator delete(__block, __align);
}
RECONVERGE_DEVICE void operator delete(void *__block, __SIZE_TYPE__,
                                       std::align_val_t __align) noexcept {
  ::operator delete(__block, __align);
}
RECONVERGE_DEVICE void operator delete[](void *__block,
                                         std::align_val_t __align) noexcept {
  ::operator delete(__block, __align);
}
RECONVERGE_DEVICE void operator delete[](void *__block,
                                         std::align_val_t __align,
                                         const std::nothrow_t &) noexcept {
  ::operator delete(__block, __align);
}
RECONVERGE_DEVICE void operator delete[](void *__block, __SIZE_TYPE__,
                                         std::align_val_t __align) noexcept {
  ::operator delete(__block, __align);
}

#undef RECONVERGE_DEVICE
#endif // __cpp_aligned_new

#endif
