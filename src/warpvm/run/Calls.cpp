//===- warpvm/run/Calls.cpp - Functions that run inside of others ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Most calls are inlined; what stays (Callees.cpp) is carried out here. A call
// ends its region. The caller's code has left the arguments in its frame; the
// scheduler gives the callee a frame, and a warp of its own to run in, which
// has the lanes of one call and shares the caller's WarpContext:
//
//      kernel's warp    { 0-7 at region 2 } { 8-31 behind region 4's call }
//                                                  |
//      callee's warp                        { 8-15 at region 0 } { ... call }
//                                                                     |
//      ...
//
// To its caller, such a warp is a split that cannot run (EdgeKind::Call) until
// all its lanes are back. So lanes that call together go on together. The
// position of a call in the order of blocks decides when it is its turn, as for
// any other code, and the lanes that reach it have merged before: warp counts
// are those of the same code inlined, up to what a call through a pointer
// sends apart.
//
// A call through a pointer goes to one function at a time, the one with the
// lowest address first; the rest of its lanes wait in the same way.
//
// Nothing of this lies on the host's stack. A callee that can do nothing but
// wait, for a lock or a collective, hands back the lanes that have returned
// already and leaves its place to others: first in its caller, then in the
// caller's caller, and so on. Waiting in a function is like waiting elsewhere.
//
// The stack of a thread is as large as all frames that it is in, local memory
// included. Endless recursion meets StackLimit. CUDA's own limit depends on
// what its compiler keeps in registers and says "illegal address".
//
// Limitation: the lanes that a collective in a function exchanges values with
// are those of the same call. Named lanes that are elsewhere are waited for;
// when nobody in the warp can go on, it runs without them (undefined in CUDA).
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Calls.h"
#include "warpvm/Layout.h"
#include "warpvm/run/Library.h"
#include "warpvm/run/Notes.h"
#include "warpvm/run/Policy.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <new>
#include <sys/mman.h>

namespace reconverge::warpvm {

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

FunctionAddresses::FunctionAddresses(size_t Count)
    : Bytes(FunctionStep * Count) {
  if (!Count)
    return;
  void *P = mmap(nullptr, Bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (P == MAP_FAILED)
    throw std::bad_alloc();
  Base = static_cast<uint8_t *>(P);
}

FunctionAddresses::~FunctionAddresses() {
  if (Base)
    munmap(Base, Bytes);
}

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

static uint64_t roundUp(uint64_t X) { return (X + 63) / 64 * 64; }

Warp::Warp() : Context(Own), Root(this) {}

/// A place for calls of \p Callee by \p Caller, kept for the next one.
Warp::Warp(Warp &Caller, const KernelPlan &Callee)
    : Context(Caller.Context), Plan(&Callee), Finished(true), Caller(&Caller),
      Root(Caller.Root), StackBytes(Caller.StackBytes + Callee.LocalBytes +
                                    Callee.FrameBytes / Callee.WarpSize) {
  const uint64_t FrameBytes = roundUp(Callee.FrameBytes);
  const uint64_t Bytes =
      FrameBytes + roundUp(uint64_t(Callee.LocalBytes) * Callee.WarpSize);
  Memory = std::make_unique<uint8_t[]>(Bytes + 63); // zeros
  Frame = reinterpret_cast<uint8_t *>(
      roundUp(reinterpret_cast<uintptr_t>(Memory.get())));
  Local = Frame + FrameBytes;
  std::memcpy(Frame, Caller.Frame, threadIdBytes(Callee.WarpSize));
  if (BlockWrites *Writes = writesOf(&Context); Writes && Callee.LocalBytes)
    Writes->addCall(Local, uint64_t(Callee.LocalBytes) * Callee.WarpSize);
}

Warp::~Warp() = default;

/// Place and text of a fault at \p Site, for \p Lanes.
[[noreturn]] static void callFault(Warp &W, const CallSite &Site, Mask Lanes,
                                   FaultKind Kind, std::string Text) {
  raiseFault(Kind, std::move(Text), &W.Context, Lanes,
             placeText(Site.File, Site.Line));
}

Warp &Warp::calls(const KernelPlan &Callee, const CallSite &Site, Mask Lanes) {
  Warp *Free = nullptr;
  for (auto &C : Callees)
    if (C->Finished && C->Plan == &Callee)
      Free = C.get();
  if (!Free) {
    Callees.push_back(std::make_unique<Warp>(*this, Callee));
    Free = Callees.back().get();
  }
  if (Free->StackBytes > StackLimit) {
    unsigned Depth = 1;
    for (const Warp *C = Caller; C; C = C->Caller)
      ++Depth;
    callFault(*this, Site, Lanes, FaultKind::IllegalAddress,
              "stack overflow: the call of " + std::string(Callee.Name) + ", " +
                  std::to_string(Depth) + " calls deep, takes more than " +
                  std::to_string(StackLimit >> 10) + " KiB for a thread");
  }
  Free->Arguments = Frame + Site.Arguments;
  Free->Result = Frame + Site.Result;
  if (this->Free)
    Free->Free = this->Free.another();
  return *Free;
}

static std::string callThrough(uint64_t Pointer) {
  return "a call through the pointer 0x" +
         llvm::utohexstr(Pointer, /*LowerCase=*/true) + ", which is not ";
}

void noFunction(WarpContext *Context, Mask Lanes, const uint64_t *Pointers,
                const FaultSite *Site) {
  const unsigned Lane = __builtin_ctzll(Lanes);
  raiseFault(FaultKind::Trap,
             callThrough(Pointers[Lane]) +
                 "the address of a function of its type with a body",
             Context, Mask(1) << Lane, placeText(Site->File, Site->Line));
}

/// The function that the lowest pointer among \p Lanes names; they become the
/// lanes that name it.
static const KernelPlan &firstTarget(Warp &W, const CallSite &Site,
                                     Mask &Lanes) {
  if (Site.Callee)
    return *Site.Callee;
  auto *Pointers = reinterpret_cast<const uint64_t *>(W.Frame + Site.Target);
  uint64_t Lowest = ~uint64_t(0);
  Mask Same = 0;
  for (Mask Left = Lanes; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left);
    if (Pointers[Lane] < Lowest) {
      Lowest = Pointers[Lane];
      Same = 0;
    }
    if (Pointers[Lane] == Lowest)
      Same |= Mask(1) << Lane;
  }
  Lanes = Same;
  const KernelPlan &Kernel = *W.Root->Plan;
  const uint64_t First = reinterpret_cast<uint64_t>(
      Kernel.NumFunctions ? W.Context.Globals[Kernel.FirstFunction] : nullptr);
  const uint64_t Index = (Lowest - First) / FunctionStep;
  if (Lowest < First || Index >= Kernel.NumFunctions ||
      (Lowest - First) % FunctionStep)
    callFault(W, Site, Lanes, FaultKind::IllegalAddress,
              callThrough(Lowest) + "a function's address");
  const PointedFunction &F = Kernel.Functions[Index];
  if (!F.Plan || F.Type != Site.Type)
    callFault(W, Site, Lanes,
              *F.Refusal ? FaultKind::Trap : FaultKind::IllegalAddress,
              std::string("a call through a pointer to ") + F.Name +
                  (*F.Refusal ? std::string(", which cannot run: ") + F.Refusal
                              : ", which has another type"));
  return *F.Plan;
}

//===----------------------------------------------------------------------===//
// Who runs
//===----------------------------------------------------------------------===//

Mask Warp::lanes() const {
  Mask Lanes = 0;
  for (const Split &S : Splits)
    Lanes |= S.Lanes;
  return Lanes;
}

llvm::SmallVector<Warp *, 4> Warp::withCalls() {
  llvm::SmallVector<Warp *, 4> All{this};
  for (size_t I = 0; I < All.size(); ++I)
    for (const Split &S : All[I]->Splits)
      if (S.Callee)
        All.push_back(S.Callee);
  return All;
}

Mask Warp::atCollectives() const {
  Mask Lanes = 0;
  Root->forEachSplit([&](const Warp &, const Split &S) {
    if (S.Wait == EdgeKind::Sync)
      Lanes |= S.Lanes;
  });
  return Lanes;
}

void Warp::unblock() {
  Blocked = false;
  if (isWhole())
    return;
  for (Warp *W : withCalls())
    W->Blocked = false;
}

void Policy::release(Warp &W, Mask Lanes) {
  W.unblock();
  if (W.isWhole())
    return open(W, Lanes);
  for (Warp *In : W.withCalls())
    open(*In, Lanes);
}

Warp &Policy::begin(Warp &W, Split &S, Mask &Rest) {
  const CallSite &Site = *W.Plan->Regions[S.Region].Call;
  Mask Lanes = S.Lanes;
  Warp &C = W.calls(firstTarget(W, Site, Lanes), Site, Lanes);
  Rest = S.Lanes & ~Lanes;
  S.Lanes = Lanes;
  S.Callee = &C;
  start(C, Lanes);
  return C;
}

/// \p W is to run next, inside of its callers.
static void enter(Warp &W) {
  WarpContext &C = W.Context;
  W.Root->Inside = &W;
  C.Local = W.Local;
  C.Arguments = W.Arguments;
  C.Result = W.Result;
  if (W.Caller && W.Root->Plan->HasEarlyExit)
    C.Exited = C.Valid & ~(W.Root->alive() & ~C.Ended);
}

Status Policy::run(Warp &Root) {
  bool Force = false;
  enter(Root);
  for (Warp *W = &Root;;) {
    const std::optional<Status> S = step(*W, Force);
    if (!S) {
      W = W->Calling;
    } else if (W->Caller) {
      Warp &Callee = *W;
      W = W->Caller;
      returned(*W, Callee, *S);
      Callee.Finished = S == Status::Done;
      Callee.Blocked = S == Status::Waiting;
    } else {
      // Whoever waits at a collective in some call may have been missing lanes
      // that have come since. If not, they can no longer come.
      const bool AtBarrier =
          Root.isWhole() && waitsAtBarrier(Root.Splits.front().Wait);
      if (S != Status::Waiting || Force || AtBarrier || !Root.atCollectives())
        return *S;
      Force = !Root.Ran;
      Root.Ran = false;
      Root.unblock();
    }
    enter(*W);
  }
}

} // namespace reconverge::warpvm
