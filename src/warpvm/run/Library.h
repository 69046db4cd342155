//===- warpvm/run/Library.h - What compiled code calls ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_WARPVM_RUN_LIBRARY_H
#define RECONVERGE_WARPVM_RUN_LIBRARY_H

#include "warpvm/Layout.h"
#include "warpvm/Machine.h"
#include "warpvm/run/Check.h"

#include <csetjmp>
#include <string>
#include <utility>
#include <vector>

namespace reconverge::warpvm {

/// All functions of the host that compiled code calls: name and address.
std::vector<std::pair<const char *, void *>> librarySymbols();
/// Those of HerdCalls.cpp.
llvm::ArrayRef<std::pair<const char *, void *>> herdSymbols();

/// A CPU thread's guard around compiled code: a fault, the kernel's own or a
/// signal, records itself here and jumps to Landing. Compiled frames hold
/// nothing that needs destruction.
struct FaultGuard {
  sigjmp_buf Landing;
  FaultKind Kind = FaultKind::Trap;
  std::string Text;      ///< what happened, without the place
  std::string Place;     ///< "app.cu:12", if it is known
  Mask Lanes = 0;        ///< whose fault it is; 0: not known
  uint64_t Address = 0;  ///< of an illegal access
  bool Tolerant = false; ///< Machine.h
  bool HasAddress = false;
  WarpContext *Context = nullptr; ///< warp that a library call named
};

/// From now on the kernels' clocks, all of them, are ahead by \p Ticks more.
void skipTime(uint64_t Ticks);

/// The guard of the calling thread while it runs compiled code, or null.
FaultGuard *&currentGuard();

/// Records the fault and leaves compiled code.
[[noreturn]] void raiseFault(FaultKind Kind, std::string Text,
                             WarpContext *Context = nullptr, Mask Lanes = 0,
                             std::string Place = "");

/// "app.cu:12", or "" for no line.
std::string placeText(const char *File, uint32_t Line);

/// Formats as CUDA's device printf does: \p Args points to the packed
/// arguments, each at its natural alignment; \p Parsed receives how many were
/// read.
std::string formatDevice(const char *Format, const uint8_t *Args,
                         int *Parsed = nullptr);

/// Takes what \p Context's block prints.
void printFromBlock(WarpContext *Context, const std::string &Text);

class BlockWrites;
/// Which bytes of its memory the block of \p Context wrote; null: nobody asks.
BlockWrites *writesOf(const WarpContext *Context);
/// The same of the block in its cluster that has \p Address in shared memory.
BlockWrites *writesAt(const WarpContext *Context, uint64_t Address);

class BlockRaces;
/// Who looks for races in the block of \p Context; null: nobody.
BlockRaces *racesOf(const WarpContext *Context);
/// The same of the block in its cluster that has \p Address in shared memory.
BlockRaces *racesAt(const WarpContext *Context, uint64_t Address);
/// The linear index in its block of the thread in \p Lane.
unsigned threadOf(const WarpContext *Context, unsigned Lane);

/// What the warp of \p Context may touch.
CheckedMemory memoryOf(const WarpContext *Context);

/// \p Lanes arrive at barriers (as WarpContext::Barriers has them, by lane)
/// and do not wait.
void arriveAtBarriers(WarpContext *Context, Mask Lanes, const uint32_t *Named);

} // namespace reconverge::warpvm

#endif
