//===- __clang_cuda_runtime_wrapper.h - clang's, with redux mended --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang includes its header of this name before any line of a CUDA source. In
// clang 19 its __reduce_*_sync(mask, value) hand their arguments on in this
// order, but the builtins, like the instruction redux.sync, take the value
// first: the members would be given by the value, and the mask added up. While
// clang's header is read, and only then, the builtins change their order.
//
// A macro's own name in its replacement is not replaced again ([cpp.rescan]).
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_OVERLAY_CUDA_RUNTIME_WRAPPER_H
#define RECONVERGE_OVERLAY_CUDA_RUNTIME_WRAPPER_H

#if __clang_major__ == 19
#define __nvvm_redux_sync_add(mask, value) __nvvm_redux_sync_add(value, mask)
#define __nvvm_redux_sync_umin(mask, value) __nvvm_redux_sync_umin(value, mask)
#define __nvvm_redux_sync_umax(mask, value) __nvvm_redux_sync_umax(value, mask)
#define __nvvm_redux_sync_min(mask, value) __nvvm_redux_sync_min(value, mask)
#define __nvvm_redux_sync_max(mask, value) __nvvm_redux_sync_max(value, mask)
#define __nvvm_redux_sync_and(mask, value) __nvvm_redux_sync_and(value, mask)
#define __nvvm_redux_sync_or(mask, value) __nvvm_redux_sync_or(value, mask)
#define __nvvm_redux_sync_xor(mask, value) __nvvm_redux_sync_xor(value, mask)
#endif

#include_next <__clang_cuda_runtime_wrapper.h>

#undef __nvvm_redux_sync_add
#undef __nvvm_redux_sync_umin
#undef __nvvm_redux_sync_umax
#undef __nvvm_redux_sync_min
#undef __nvvm_redux_sync_max
#undef __nvvm_redux_sync_and
#undef __nvvm_redux_sync_or
#undef __nvvm_redux_sync_xor

#endif
