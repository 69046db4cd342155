//===- runtime/gpu/Options.cpp - What the environment asks for ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RECONVERGE_GPU="key=value,key=value":
//
//   vectors=on|off       sample per-thread block vectors
//   features=on|off      with those, what foretells them; off
//   counters=on|off      off: launches are timed, and nothing is counted
//   blocks=N|all         so many thread blocks of a launch count, at least
//   memory=on|off|N|all  accesses to memory are counted, in a few of those
//                        thread blocks, in none, in so many or in all
//   registers=N          that a thread of code with probes may use
//   cache=DIR            built images are kept there
//   hang=SECONDS         that a trial may take; if the original takes longer
//                        than a twentieth of it, twenty times what that takes
//   code=native|bitcode  what code is built into; bitcode is for tests
//
//===----------------------------------------------------------------------===//

#include "runtime/gpu/Options.h"

#include "core/Error.h"
#include "runtime/profile/Settings.h"

using namespace llvm;

namespace reconverge::gpu {

/// \p Value as one of two words; true for \p Yes.
static Error choice(StringRef Key, StringRef Value, StringRef Yes, StringRef No,
                    bool &Out) {
  if (Value != Yes && Value != No)
    return userError("RECONVERGE_GPU: " + Key + " is '" + Value + "'",
                     Key + " wants " + Yes + " or " + No + ".");
  Out = Value == Yes;
  return Error::success();
}

static Error apply(StringRef Key, StringRef Value, Options &O) {
  if (Key == "vectors")
    return choice(Key, Value, "on", "off", O.Vectors);
  if (Key == "features")
    return choice(Key, Value, "on", "off", O.Features);
  if (Key == "counters")
    return choice(Key, Value, "on", "off", O.Counters);
  if (Key == "code")
    return choice(Key, Value, "bitcode", "native", O.Bitcode);
  if (Key == "blocks") {
    if (Value == "all")
      O.Blocks = 0;
    else if (Value.getAsInteger(10, O.Blocks) || !O.Blocks)
      return userError("RECONVERGE_GPU: blocks is '" + Value + "'",
                       "blocks wants a number from 1, or all.");
    return Error::success();
  }
  if (Key == "memory") {
    uint64_t Blocks = 0;
    if (Value == "on")
      O.MemoryBlocks.reset();
    else if (Value == "off" || Value == "all")
      O.MemoryBlocks = Value == "off" ? 0 : UINT64_MAX;
    else if (Value.getAsInteger(10, Blocks) || !Blocks)
      return userError("RECONVERGE_GPU: memory is '" + Value + "'",
                       "memory wants on, off, all, or a number from 1.");
    else
      O.MemoryBlocks = Blocks;
    return Error::success();
  }
  if (Key == "registers") {
    if (Value.getAsInteger(10, O.Registers) || O.Registers < 32 ||
        O.Registers > 255)
      return userError("RECONVERGE_GPU: registers is '" + Value + "'",
                       "registers wants a number from 32 to 255.");
    return Error::success();
  }
  if (Key == "hang") {
    if (Value.getAsDouble(O.HangSeconds) || !(O.HangSeconds > 0) ||
        O.HangSeconds > 3600)
      return userError("RECONVERGE_GPU: hang is '" + Value + "'",
                       "hang wants seconds, at most 3600.");
    return Error::success();
  }
  if (Key != "cache")
    return userError(
        "RECONVERGE_GPU: there is no key '" + Key + "'",
        "The keys are vectors, features, counters, blocks, memory, "
        "registers, hang, cache and code.");
  O.CacheDir = Value.str();
  return Error::success();
}

Expected<Options> parseOptions(StringRef Text) {
  Options O;
  if (Error E = runtime::forEachSetting(
          "RECONVERGE_GPU", Text, "vectors=off",
          [&](StringRef Key, StringRef Value) { return apply(Key, Value, O); }))
    return std::move(E);
  return O;
}

Expected<Options> optionsFromEnvironment() {
  Expected<Options> O = parseOptions(runtime::environment("RECONVERGE_GPU"));
  if (!O)
    return O.takeError();
  O->ProfilePath = runtime::environment("RECONVERGE_PROFILE").str();
  O->MachineFile = runtime::environment("RECONVERGE_MACHINE").str();
  O->TrialPlan = runtime::environment("RECONVERGE_TRIALS").str();
  return O;
}

} // namespace reconverge::gpu
