//===- warpvm/run/Library.cpp - What compiled code calls ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of the host that compiled code calls by name (librarySymbols): what
// takes too much code to emit, or keeps a state. A call is for one lane, with
// the warp's context and the lane first, or for all lanes of a mask at once.
//
// printf formats its arguments here, as CUDA packs them, into the thread
// block's own text; the launch prints the blocks' texts in the order of their
// numbers.
//
// A fault leaves compiled code at once: raiseFault() jumps to the guard around
// the region that runs. Nothing on the way has a destructor to run.
//
//===----------------------------------------------------------------------===//

#include "warpvm/run/Library.h"
#include "warpvm/memory/DeviceHeap.h"
#include "warpvm/run/Calls.h"
#include "warpvm/run/Mbarrier.h"
#include "warpvm/run/Notes.h"
#include "warpvm/run/Races.h"
#include "warpvm/run/Request.h"
#include "warpvm/run/Textures.h"
#include "warpvm/run/TileProduct.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace reconverge::warpvm {

FaultGuard *&currentGuard() {
  static thread_local FaultGuard *Guard = nullptr;
  return Guard;
}

std::string placeText(const char *File, uint32_t Line) {
  return Line ? std::string(File) + ":" + std::to_string(Line) : "";
}

void raiseFault(FaultKind Kind, std::string Text, WarpContext *Context,
                Mask Lanes, std::string Place) {
  FaultGuard *Guard = currentGuard();
  assert(Guard && "a fault outside compiled code");
  Guard->Kind = Kind;
  Guard->Text = std::move(Text);
  Guard->Place = std::move(Place);
  Guard->Lanes = Lanes;
  Guard->Context = Context;
  siglongjmp(Guard->Landing, 1);
}

//===----------------------------------------------------------------------===//
// printf
//===----------------------------------------------------------------------===//

namespace {
/// Reads varargs as the front end packs them: each at its natural alignment.
class PackedArgs {
public:
  explicit PackedArgs(const uint8_t *Data) : Data(Data) {}
  template <typename T> T next() {
    Offset = (Offset + sizeof(T) - 1) & ~(sizeof(T) - 1);
    T Value;
    std::memcpy(&Value, Data + Offset, sizeof(T));
    Offset += sizeof(T);
    ++Count;
    return Value;
  }
  int count() const { return Count; }

private:
  const uint8_t *Data;
  size_t Offset = 0;
  int Count = 0;
};
} // namespace

template <typename T>
static void append(std::string &Out, const std::string &Spec, T Value) {
  const int N = std::snprintf(nullptr, 0, Spec.c_str(), Value);
  if (N <= 0)
    return;
  const size_t Old = Out.size();
  Out.resize(Old + N + 1); // snprintf writes a null behind the text
  std::snprintf(Out.data() + Old, N + 1, Spec.c_str(), Value);
  Out.resize(Old + N);
}

std::string formatDevice(const char *Format, const uint8_t *Data, int *Parsed) {
  PackedArgs Args(Data);
  std::string Out;
  for (const char *P = Format; *P;) {
    if (*P != '%') {
      Out += *P++;
      continue;
    }
    if (P[1] == '%') {
      Out += '%';
      P += 2;
      continue;
    }
    std::string Spec = "%";
    bool Long = false;
    for (++P; *P && std::strchr("-+ #0123456789.*hlLqjzt", *P); ++P) {
      if (*P == '*')
        Spec += std::to_string(Args.next<int>());
      else if (std::strchr("lqjztL", *P))
        Long = true;
      else if (*P != 'h')
        Spec += *P;
    }
    char Conversion = *P ? *P++ : '\0';
    switch (Conversion) {
    case 'd':
    case 'i':
      if (Long)
        append(Out, Spec + "lld", Args.next<long long>());
      else
        append(Out, Spec + "d", Args.next<int>());
      break;
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (Long)
        append(Out, Spec + "ll" + Conversion, Args.next<unsigned long long>());
      else
        append(Out, Spec + Conversion, Args.next<unsigned>());
      break;
    case 'c':
      append(Out, Spec + "c", Args.next<int>());
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      append(Out, Spec + Conversion, Args.next<double>());
      break;
    case 'p':
      append(Out, Spec + "p", Args.next<void *>());
      break;
    case 's':
      if (const char *S = Args.next<const char *>())
        append(Out, Spec + "s", S);
      else
        Out += "(null)";
      break;
    default: // unknown: show it as written
      Out += Spec;
      if (Conversion)
        Out += Conversion;
    }
  }
  if (Parsed)
    *Parsed = Args.count();
  return Out;
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

static int32_t devicePrintf(WarpContext *Context, uint64_t Lane,
                            const char *Format, const uint8_t *Args) {
  int Parsed;
  printFromBlock(Context, formatDevice(Format, Args, &Parsed));
  return Parsed; // where C's printf counts characters
}

static void deviceAssert(WarpContext *Context, Mask Lanes, const char *Message,
                         const char *File, uint32_t Line,
                         const char *Function) {
  raiseFault(FaultKind::Assert,
             std::string("assertion `") + Message + "` failed in " + Function,
             Context, Lanes, placeText(File, Line));
}

static void deviceTrap(WarpContext *Context, Mask Lanes,
                       const FaultSite *Site) {
  raiseFault(FaultKind::Trap, "the kernel executed a trap", Context, Lanes,
             placeText(Site->File, Site->Line));
}

static void bulkPass(WarpContext *Context, Mask Lanes, const FaultSite *Site) {
  if (Context->InCluster)
    return;
  raiseFault(FaultKind::IllegalInstruction,
             "a bulk copy from shared to shared memory in a launch without "
             "clusters",
             Context, Lanes, placeText(Site->File, Site->Line));
}

static void stepLimit(WarpContext *Context, Mask Lanes, const FaultSite *Site) {
  raiseFault(FaultKind::StepLimit, "a loop went past the step limit", Context,
             Lanes, placeText(Site->File, Site->Line));
}

/// Tests an access of each lane; \p Lengths is null where all are of the site's
/// size.
static void checkLanes(WarpContext *Context, Mask Lanes,
                       const uint64_t *Addresses, const uint64_t *Lengths,
                       const FaultSite *Site) {
  if (!Lengths && areFine(*Context, *Site, Lanes, Addresses))
    return;
  BadAccess First;
  Mask Bad = 0;
  { // gone before a fault jumps out of here
    const CheckedMemory Memory = memoryOf(Context);
    for (Mask Left = Lanes; Left; Left &= Left - 1) {
      const unsigned Lane = __builtin_ctzll(Left);
      const uint64_t Bytes = Lengths ? Lengths[Lane] : Site->Bytes;
      if (!Bytes)
        continue;
      BadAccess Found =
          checkAccess(Memory, *Site, Lane, Addresses[Lane], Bytes);
      if (Found.Text.empty())
        continue;
      if (!Bad)
        First = std::move(Found);
      Bad |= Mask(1) << Lane;
    }
  }
  if (Bad)
    raiseFault(First.Kind, std::move(First.Text), Context, Bad,
               placeText(Site->File, Site->Line));
}

static void *deviceMalloc(WarpContext *Context, uint64_t, uint64_t Bytes) {
  void *Block = DeviceHeap::instance().allocate(Bytes);
  if (BlockRaces *Races = racesOf(Context))
    Races->forget(Block, Bytes);
  return Block;
}

static void deviceFree(WarpContext *Context, uint64_t Lane, void *Block) {
  if (Block && !DeviceHeap::instance().release(Block))
    raiseFault(FaultKind::IllegalAddress,
               "free() of what malloc() did not give, or of what is freed",
               Context, Mask(1) << Lane);
}

/// Only ever grows: a clock does not go back.
static std::atomic<uint64_t> Skipped{0};

void skipTime(uint64_t Ticks) { Skipped += Ticks; }

static uint64_t cycles() {
  return __builtin_readcyclecounter() + Skipped.load(std::memory_order_relaxed);
}

static uint64_t globalTimer() {
  return uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                      std::chrono::system_clock::now().time_since_epoch())
                      .count()) +
         Skipped.load(std::memory_order_relaxed);
}

/// Lanes that take part in a collective with \p Lane, as bits of its group of
/// 32: groups stand for themselves, also in a warp of 64.
static uint32_t membersOf(unsigned Lane, const uint32_t *Members, Mask Active) {
  return uint32_t(Active >> (Lane & 32)) & Members[Lane];
}

static void matchAny(uint32_t *Out, const uint64_t *Keys,
                     const uint32_t *Members, Mask Active) {
  for (Mask Left = Active; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left), Group = Lane & 32;
    uint32_t Same = 0;
    for (uint32_t M = membersOf(Lane, Members, Active); M; M &= M - 1) {
      const unsigned I = __builtin_ctz(M);
      Same |= uint32_t(Keys[Group + I] == Keys[Lane]) << I;
    }
    Out[Lane] = Same;
  }
}

/// The members if all have the same key, or none.
static void matchAll(uint32_t *Out, const uint64_t *Keys,
                     const uint32_t *Members, Mask Active) {
  for (Mask Left = Active; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left), Group = Lane & 32;
    const uint32_t Here = membersOf(Lane, Members, Active);
    bool All = true;
    for (uint32_t M = Here; M; M &= M - 1)
      All &= Keys[Group + __builtin_ctz(M)] == Keys[Lane];
    Out[Lane] = All ? Here : 0;
  }
}

static uint32_t reduce(Reduction Op, uint32_t A, uint32_t B) {
  switch (Op) {
  case Reduction::Add:
    return A + B;
  case Reduction::And:
    return A & B;
  case Reduction::Or:
    return A | B;
  case Reduction::Xor:
    return A ^ B;
  case Reduction::UMin:
    return std::min(A, B);
  case Reduction::UMax:
    return std::max(A, B);
  case Reduction::Min:
    return uint32_t(std::min(int32_t(A), int32_t(B)));
  case Reduction::Max:
    return uint32_t(std::max(int32_t(A), int32_t(B)));
  }
  llvm_unreachable("no such reduction");
}

static void reduceMembers(uint32_t Op, uint32_t *Out, const uint32_t *Values,
                          const uint32_t *Members, Mask Active) {
  for (Mask Left = Active; Left; Left &= Left - 1) {
    const unsigned Lane = __builtin_ctzll(Left), Group = Lane & 32;
    uint32_t M = membersOf(Lane, Members, Active);
    if (!M) // undefined in CUDA: the lane does not name itself
      continue;
    uint32_t Sum = Values[Group + __builtin_ctz(M)];
    for (M &= M - 1; M; M &= M - 1)
      Sum = reduce(Reduction(Op), Sum, Values[Group + __builtin_ctz(M)]);
    Out[Lane] = Sum;
  }
}

/// PTX ISA, fns: the \p Nth set bit of \p Mask from \p Base on, upwards or, if
/// it is negative, downwards; bit \p Base itself if \p Nth is 0; ~0 if there is
/// none.
static uint32_t findNthSet(WarpContext *, uint64_t, uint32_t Mask,
                           uint32_t Base, int32_t Nth) {
  const int Step = Nth < 0 ? -1 : 1;
  uint32_t Left = Nth == 0 ? 1 : std::abs(int64_t(Nth));
  for (int64_t Bit = Base; Bit >= 0 && Bit < 32; Bit += Step) {
    Left -= Mask >> Bit & 1;
    if (Left == 0)
      return uint32_t(Bit);
    if (Nth == 0)
      break;
  }
  return ~0u;
}

/// Runs \p Operation under a rounding mode of the host's floating-point unit.
template <int Mode, typename Op> static auto rounded(Op Operation) {
  int Old = std::fegetround();
  std::fesetround(Mode);
  auto Result = Operation();
  std::fesetround(Old);
  return Result;
}

// The operands pass through volatiles so that nothing is computed before the
// rounding mode is set.
#define ROUNDED(NAME, MODE, T, SUFFIX)                                         \
  static T add_##NAME##_##SUFFIX(T A, T B) {                                   \
    volatile T X = A, Y = B;                                                   \
    return rounded<MODE>([&] {                                                 \
      volatile T R = X + Y;                                                    \
      return T(R);                                                             \
    });                                                                        \
  }                                                                            \
  static T mul_##NAME##_##SUFFIX(T A, T B) {                                   \
    volatile T X = A, Y = B;                                                   \
    return rounded<MODE>([&] {                                                 \
      volatile T R = X * Y;                                                    \
      return T(R);                                                             \
    });                                                                        \
  }                                                                            \
  static T div_##NAME##_##SUFFIX(T A, T B) {                                   \
    volatile T X = A, Y = B;                                                   \
    return rounded<MODE>([&] {                                                 \
      volatile T R = X / Y;                                                    \
      return T(R);                                                             \
    });                                                                        \
  }                                                                            \
  static T rcp_##NAME##_##SUFFIX(T A) { return div_##NAME##_##SUFFIX(1, A); }  \
  static T sqrt_##NAME##_##SUFFIX(T A) {                                       \
    volatile T X = A;                                                          \
    return rounded<MODE>([&] {                                                 \
      volatile T R = std::sqrt(X);                                             \
      return T(R);                                                             \
    });                                                                        \
  }                                                                            \
  static T fma_##NAME##_##SUFFIX(T A, T B, T C) {                              \
    volatile T X = A, Y = B, Z = C;                                            \
    return rounded<MODE>([&] {                                                 \
      volatile T R = std::fma(X, Y, Z);                                        \
      return T(R);                                                             \
    });                                                                        \
  }
/// An unsigned number by a signed conversion: what compilers make of it for
/// doubles gives -0 for 0 when it rounds downward.
template <typename T, typename From> static T converted(From X) {
  if constexpr (std::is_same_v<From, uint64_t>)
    if (X >> 63) // rounding without the last bit, which sticks, is the same
      return 2 * T(int64_t(X >> 1 | (X & 1)));
  if constexpr (std::is_integral_v<From>)
    return T(int64_t(X));
  else
    return T(X);
}

#define CONVERTED(OP, NAME, MODE, FROM, T, SUFFIX)                             \
  static T OP##_##NAME##_##SUFFIX(FROM A) {                                    \
    volatile FROM X = A;                                                       \
    return rounded<MODE>([&] {                                                 \
      volatile T R = converted<T, FROM>(X);                                    \
      return T(R);                                                             \
    });                                                                        \
  }
#define CONVERSIONS(NAME, MODE)                                                \
  CONVERTED(ll2f, NAME, MODE, int64_t, float, f32)                             \
  CONVERTED(ull2f, NAME, MODE, uint64_t, float, f32)                           \
  CONVERTED(ll2d, NAME, MODE, int64_t, double, f64)                            \
  CONVERTED(ull2d, NAME, MODE, uint64_t, double, f64)                          \
  CONVERTED(d2f, NAME, MODE, double, float, f32)
CONVERSIONS(rz, FE_TOWARDZERO)
CONVERSIONS(rm, FE_DOWNWARD)
CONVERSIONS(rp, FE_UPWARD)
#undef CONVERSIONS
#undef CONVERTED
ROUNDED(rz, FE_TOWARDZERO, float, f32)
ROUNDED(rm, FE_DOWNWARD, float, f32)
ROUNDED(rp, FE_UPWARD, float, f32)
ROUNDED(rz, FE_TOWARDZERO, double, f64)
ROUNDED(rm, FE_DOWNWARD, double, f64)
ROUNDED(rp, FE_UPWARD, double, f64)
#undef ROUNDED

static llvm::ArrayRef<std::pair<const char *, void *>> ownSymbols() {
#define ENTRY(NAME, FUNCTION) {NAME, reinterpret_cast<void *>(&FUNCTION)}
#define DIRECTED(OP, TYPE)                                                     \
  ENTRY("rcvm_" #OP "_rz_" #TYPE, OP##_rz_##TYPE),                             \
      ENTRY("rcvm_" #OP "_rm_" #TYPE, OP##_rm_##TYPE),                         \
      ENTRY("rcvm_" #OP "_rp_" #TYPE, OP##_rp_##TYPE)
#define ROUNDED(OP) DIRECTED(OP, f32), DIRECTED(OP, f64)
  static const std::pair<const char *, void *> Symbols[] = {
      ENTRY("rcvm_printf", devicePrintf),
      ENTRY("rcvm_malloc", deviceMalloc),
      ENTRY("rcvm_free", deviceFree),
      ENTRY("rcvm_assert", deviceAssert),
      ENTRY("rcvm_trap", deviceTrap),
      ENTRY("rcvm_no_function", noFunction),
      ENTRY("rcvm_bulk_pass", bulkPass),
      ENTRY("rcvm_step_limit", stepLimit),
      ENTRY("rcvm_check", checkLanes),
      ENTRY("rcvm_arrive", arriveAtBarriers),
      ENTRY("rcvm_clock", cycles),
      ENTRY("rcvm_global_timer", globalTimer),
      ENTRY("rcvm_fns", findNthSet),
      ENTRY("rcvm_match_any", matchAny),
      ENTRY("rcvm_match_all", matchAll),
      ENTRY("rcvm_redux", reduceMembers),
      ROUNDED(add),
      ROUNDED(mul),
      ROUNDED(div),
      ROUNDED(rcp),
      ROUNDED(sqrt),
      ROUNDED(fma),
      DIRECTED(ll2f, f32),
      DIRECTED(ull2f, f32),
      DIRECTED(ll2d, f64),
      DIRECTED(ull2d, f64),
      DIRECTED(d2f, f32),
  };
#undef ROUNDED
#undef DIRECTED
#undef ENTRY
  return Symbols;
}

std::vector<std::pair<const char *, void *>> librarySymbols() {
  std::vector<std::pair<const char *, void *>> All;
  for (auto Table :
       {ownSymbols(), mbarrierSymbols(), tileSymbols(), imageSymbols(),
        raceSymbols(), accessSymbols(), herdSymbols(), noteSymbols()})
    All.insert(All.end(), Table.begin(), Table.end());
  return All;
}

} // namespace reconverge::warpvm
