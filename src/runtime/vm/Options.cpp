//===- runtime/vm/Options.cpp - What the environment asks for -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RECONVERGE_VM="key=value,key=value":
//
//   threads=N               CPU threads; 0, the default: one a core
//   tier=fused|blocks       how kernels are compiled
//   policy=frontier|ipdom   where warps reconverge
//     |herd-branch|herd-data|herd-both  as frontier, and warps are herded
//   threshold=N             of 32 lanes, those too few for a herded branch
//   block=32|64|128         bytes that lanes of a herded load share
//   branches=N:N, loads=N:N what alone is herded
//   trust=on|off            that is safe, whatever the analysis says
//   warp=32|64              lanes of a warp
//   compile=auto|well|fast  fast at first, and well what runs long; or one
//   later=on|off            as the program ends, have another process compile
//                           well what has run, for the next run
//   isa=native|avx2         vector instructions that the code may use
//   seed=N                  order of blocks, warps and lanes; 0: as they come
//   steps=N                 rounds of loops a warp may go; 0: no limit
//   check=on|off            on: bounds and sync
//     |bounds:sync:init     test every access of kernels; tell of barriers and
//                           masks that threads do not agree on; and of reads of
//                           what nobody wrote
//   races=on|off            look for races in each launch, and say them
//   guard=on|off            an access past an allocation is a fault even where
//                           a GPU's mapping would let it pass
//   counters=on|off         count even without a profile, or not at all
//   accesses=on|off         count requests to memory; on with a profile
//   vectors=on|off          sample per-thread block vectors for a profile
//   features=on|off         with those, what foretells them; off
//   orders=DIR           a profile makes orders of threads (OrderMaker.h)
//   shuffle=N               a profile tries each launch in N other orders
//   snapshots=N[K|M|G]      bytes of memory that this may take
//   clock=wall|model        what device events tell: the CPU's time, or the model's
//                           of a GPU, the same in every run
//   cache=DIR               compiled kernels are kept there; none: nowhere
//   cachebytes=N[K|M|G]     that they may take; 0: as many as there are
//   memory=N[K|M|G]         bytes of device memory
//   multiprocessors=N       that the device says it has
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Options.h"

#include "core/Error.h"
#include "runtime/profile/Settings.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace reconverge::runtime {

static Error badValue(StringRef Key, StringRef Value, const Twine &Wanted) {
  return userError("RECONVERGE_VM: " + Key + " is '" + Value + "'",
                   Key + " wants " + Wanted + ".");
}

/// \p Value as a decimal number of at most \p Most.
static Error number(StringRef Key, StringRef Value, uint64_t Most,
                    uint64_t &Out) {
  if (Value.getAsInteger(10, Out) || Out > Most)
    return badValue(Key, Value, "a whole number from 0 to " + Twine(Most));
  return Error::success();
}

static Error size(StringRef Key, StringRef Value, uint64_t &Out) {
  StringRef Digits = Value;
  unsigned Shift = 0;
  if (Digits.consume_back("K"))
    Shift = 10;
  else if (Digits.consume_back("M"))
    Shift = 20;
  else if (Digits.consume_back("G"))
    Shift = 30;
  if (Digits.getAsInteger(10, Out) || Out == 0 || Out > (UINT64_MAX >> Shift) ||
      (Out << Shift) > (uint64_t(1) << 46))
    return badValue(Key, Value,
                    "a number of bytes, with K, M or G behind it if you like");
  Out <<= Shift;
  return Error::success();
}

std::string policyName(const BackendOptions &O) {
  if (O.Herd.any())
    return !O.Herd.Loads      ? "herd-branch"
           : !O.Herd.Branches ? "herd-data"
                              : "herd-both";
  return O.Machine.Policy == warpvm::PolicyKind::Frontier ? "frontier"
                                                          : "ipdom";
}

static Error policy(StringRef Value, BackendOptions &O) {
  static constexpr StringLiteral Known[] = {"frontier", "ipdom", "herd-branch",
                                            "herd-data", "herd-both"};
  if (!is_contained(Known, Value))
    return badValue("policy", Value,
                    "frontier, ipdom, herd-branch, herd-data or herd-both");
  O.Machine.Policy = Value == "ipdom" ? warpvm::PolicyKind::PostDominator
                                      : warpvm::PolicyKind::Frontier;
  O.Herd.Branches = Value == "herd-branch" || Value == "herd-both";
  O.Herd.Loads = Value == "herd-data" || Value == "herd-both";
  return Error::success();
}

static bool isOfHerding(StringRef Key) {
  static constexpr StringLiteral Known[] = {"threshold", "block", "branches",
                                            "loads", "trust"};
  return is_contained(Known, Key);
}

static Error herding(StringRef Key, StringRef Value, HerdSettings &O) {
  uint64_t N = 0;
  if (Key == "threshold") {
    if (Error E = number(Key, Value, 31, N))
      return E;
    O.Threshold = unsigned(N);
    return Error::success();
  }
  if (Key == "block") {
    if (Value != "32" && Value != "64" && Value != "128")
      return badValue(Key, Value, "32, 64 or 128");
    cantFail(number(Key, Value, 128, N));
    O.BlockBytes = unsigned(N);
    return Error::success();
  }
  if (Key == "trust") {
    if (Value != "on" && Value != "off")
      return badValue(Key, Value, "on or off");
    O.Trust = Value == "on";
    return Error::success();
  }
  auto &Named = Key == "branches" ? O.NamedBranches : O.NamedLoads;
  Named.emplace();
  SmallVector<StringRef> Parts;
  Value.split(Parts, ':');
  for (StringRef Part : Parts) {
    if (Part.getAsInteger(10, N) || N > UINT32_MAX)
      return badValue(Key, Value,
                      "numbers from divergence.json with colons between them");
    Named->push_back(uint32_t(N));
  }
  return Error::success();
}

static Error checks(StringRef Value, warpvm::MachineOptions &O) {
  O.Check = O.Sync = O.Init = false;
  if (Value == "off" || Value == "0")
    return Error::success();
  for (StringRef Word : split(Value, ':')) {
    const bool Both = Value == "on" || Value == "1";
    if (!Both && Word != "bounds" && Word != "sync" && Word != "init")
      return badValue("check", Value,
                      "on, off, or some of bounds, sync and init with colons "
                      "between them");
    O.Check |= Both || Word == "bounds";
    O.Sync |= Both || Word == "sync";
    O.Init |= Word == "init";
  }
  return Error::success();
}

/// What \p Key turns on or off; null if it is for something else.
static bool *flagOf(StringRef Key, BackendOptions &O) {
  return StringSwitch<bool *>(Key)
      .Case("races", &O.Races)
      .Case("counters", &O.Machine.Counters)
      .Case("later", &O.Machine.Later)
      .Case("vectors", &O.Vectors)
      .Case("features", &O.Features)
      .Default(nullptr);
}

static Error apply(StringRef Key, StringRef Value, BackendOptions &O) {
  uint64_t N = 0;
  if (Key == "threads") {
    if (Error E = number(Key, Value, 4096, N))
      return E;
    O.Machine.Threads = unsigned(N);
  } else if (Key == "tier") {
    if (Value != "fused" && Value != "blocks")
      return badValue(Key, Value, "fused or blocks");
    O.Machine.Code =
        Value == "fused" ? warpvm::Tier::Fused : warpvm::Tier::Blocks;
  } else if (Key == "policy") {
    return policy(Value, O);
  } else if (isOfHerding(Key)) {
    return herding(Key, Value, O.Herd);
  } else if (Key == "warp") {
    if (Value != "32" && Value != "64")
      return badValue(Key, Value, "32 or 64");
    O.Machine.WarpSize = Value == "32" ? 32 : 64;
  } else if (Key == "compile") {
    if (Value != "auto" && Value != "well" && Value != "fast")
      return badValue(Key, Value, "auto, well or fast");
    O.Machine.Compile = Value == "auto"   ? warpvm::Effort::Auto
                        : Value == "well" ? warpvm::Effort::Well
                                          : warpvm::Effort::Fast;
  } else if (Key == "isa") {
    if (Value != "native" && Value != "avx2")
      return badValue(Key, Value, "native or avx2");
    O.Machine.Isa = Value == "native" ? "" : Value.str();
  } else if (Key == "seed") {
    if (Error E = number(Key, Value, UINT64_MAX, O.Machine.Seed))
      return E;
  } else if (Key == "steps") {
    if (Error E = number(Key, Value, UINT64_MAX, O.Machine.StepLimit))
      return E;
  } else if (Key == "check") {
    return checks(Value, O.Machine);
  } else if (Key == "guard") {
    if (Value != "on" && Value != "off")
      return badValue(Key, Value, "on or off");
    O.Machine.Tolerant = Value == "off";
  } else if (Key == "accesses") {
    if (Value != "on" && Value != "off")
      return badValue(Key, Value, "on or off");
    O.Accesses = Value == "on";
  } else if (bool *Flag = flagOf(Key, O)) {
    if (Value != "on" && Value != "off")
      return badValue(Key, Value, "on or off");
    *Flag = Value == "on";
  } else if (Key == "orders") {
    O.Orders = Value.str();
  } else if (Key == "shuffle") {
    if (Error E = number(Key, Value, 1000, N))
      return E;
    O.Shuffle.Orders = uint32_t(N);
  } else if (Key == "snapshots") {
    if (Error E = size(Key, Value, O.Shuffle.Budget))
      return E;
  } else if (Key == "clock") {
    if (Value != "wall" && Value != "model")
      return badValue(Key, Value, "wall or model");
    O.ModelClock = Value == "model";
  } else if (Key == "cache") {
    O.Machine.CacheDir = Value == "none" ? "" : Value.str();
    O.HasCache = true;
  } else if (Key == "cachebytes") {
    if (Value == "0")
      O.CacheBytes = 0;
    else if (Error E = size(Key, Value, O.CacheBytes))
      return E;
  } else if (Key == "memory") {
    if (Error E = size(Key, Value, O.Memory))
      return E;
  } else if (Key == "multiprocessors") {
    if (Value.getAsInteger(10, N) || !N || N > limits::Multiprocessors)
      return badValue(Key, Value,
                      "a whole number from 1 to " +
                          Twine(limits::Multiprocessors));
    O.Multiprocessors = unsigned(N);
  } else {
    return userError("RECONVERGE_VM: there is no key '" + Key + "'",
                     "The keys are threads, tier, policy, threshold, block, "
                     "branches, loads, trust, warp, compile, later, isa, "
                     "seed, steps, check, races, guard, counters, accesses, "
                     "vectors, features, orders, shuffle, snapshots, clock, "
                     "cache, cachebytes, memory and multiprocessors.");
  }
  return Error::success();
}

Expected<BackendOptions> parseOptions(StringRef Vm, BackendOptions O) {
  if (Error E = forEachSetting(
          "RECONVERGE_VM", Vm, "threads=4,tier=blocks",
          [&](StringRef Key, StringRef Value) { return apply(Key, Value, O); }))
    return std::move(E);
  return O;
}

/// Who votes, and where most lanes are, depends on the order that lanes run in.
static Error checkHerding(const BackendOptions &O) {
  const HerdSettings &Herd = O.Herd;
  const char *With = O.Machine.Seed         ? "seed"
                     : O.Shuffle.Orders     ? "shuffle"
                     : !O.TrialPlan.empty() ? "trials"
                                            : nullptr;
  if (Herd.any() && With)
    return userError("RECONVERGE_VM: a policy that herds together with " +
                         Twine(With),
                     "Other orders have other votes: ask for one of the two.");
  if ((Herd.NamedBranches && !Herd.Branches) ||
      (Herd.NamedLoads && !Herd.Loads))
    return userError(
        Twine("RECONVERGE_VM: ") +
            (Herd.NamedBranches && !Herd.Branches ? "branches" : "loads") +
            " without a policy that herds them",
        "Add policy=herd-branch, herd-data or herd-both.");
  if (Herd.Trust && !Herd.NamedBranches && !Herd.NamedLoads)
    return userError("RECONVERGE_VM: trust without branches or loads",
                     "It is for what is named: add branches= or loads=.");
  return Error::success();
}

Expected<BackendOptions> optionsFromEnvironment() {
  BackendOptions Usual;
  Usual.Findings = environment("RECONVERGE_FINDINGS").str();
  if (!Usual.Findings.empty())
    Usual.Multiprocessors = limits::TestedMultiprocessors;
  Expected<BackendOptions> O =
      parseOptions(environment("RECONVERGE_VM"), std::move(Usual));
  if (!O)
    return O.takeError();
  O->ProfilePath = environment("RECONVERGE_PROFILE").str();
  O->MachineFile = environment("RECONVERGE_MACHINE").str();
  O->TrialPlan = environment("RECONVERGE_TRIALS").str();
  if (O->needsCosts())
    O->Machine.Counters = true;
  O->Machine.Accesses = O->Accesses.value_or(O->needsCosts() || O->ModelClock);
  if (O->Races && !O->TrialPlan.empty())
    return userError("RECONVERGE_VM: races together with trials",
                     "Trials look for races themselves: leave it out.");
  if (Error E = checkHerding(*O))
    return std::move(E);
  O->Machine.Herd = herdingOf(O->Herd);
  if (O->ProfilePath.empty() && O->Findings.empty() && O->Shuffle.Orders)
    return userError("RECONVERGE_VM: shuffle without a profile",
                     "What it finds goes into the profile: set "
                     "RECONVERGE_PROFILE, or use reconverge profile "
                     "--shuffle.");
  return O;
}

} // namespace reconverge::runtime
