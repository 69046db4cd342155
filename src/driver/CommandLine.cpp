//===- driver/CommandLine.cpp - From words to requests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table (Options.td) for all subcommands; BuildOptions.cpp reads the options
// for building, which `profile` and `cc` share, this file those of running,
// ReportWords.cpp those of reporting. `profile` gives unknown options with one dash to clang, as `cc`
// does; an unknown option with two dashes is more likely a slip in one of ours
// and is answered with the nearest name.
//
// What follows `--` belongs to the profiled program and is never looked at.
//
//===----------------------------------------------------------------------===//

#include "driver/CommandLine.h"

#include "core/Error.h"
#include "core/File.h"
#include "driver/OptionTable.h"
#include "driver/Run.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

//===----------------------------------------------------------------------===//
// Profiling
//===----------------------------------------------------------------------===//

static Error checkWord(const Arg &A, ArrayRef<StringRef> Allowed) {
  if (is_contained(Allowed, StringRef(A.getValue())))
    return Error::success();
  return userError("'" + Twine(A.getValue()) + "' is no value of --" +
                       A.getOption().getName().rtrim('='),
                   "Write " + join(Allowed, " or ") + ".");
}

static Error checkNumber(const Arg &A) {
  uint64_t Value = 0;
  if (!StringRef(A.getValue()).getAsInteger(10, Value))
    return Error::success();
  return userError("'" + Twine(A.getValue()) + "' is no value of --" +
                       A.getOption().getName().rtrim('='),
                   "Write a whole number.");
}

static Error readExitCode(const Arg &A, int &Code) {
  if (!StringRef(A.getValue()).getAsInteger(10, Code) && Code >= 0 &&
      Code <= 255)
    return Error::success();
  return userError("'" + Twine(A.getValue()) + "' is no exit code",
                   "Write a number from 0 to 255.");
}

static StringRef nameOf(Subcommand Which) {
  switch (Which) {
  case Subcommand::Optimize:
    return "optimize";
  case Subcommand::Predict:
    return "predict";
  default:
    return "profile";
  }
}

/// Passes "key=value" to the VM.
using TellVm = function_ref<void(StringRef Key, StringRef Value)>;
/// Reads an option that one of `profile` and `optimize` has alone; false if \p A
/// is none.
using OptionReader = function_ref<bool(const Arg &A, Error &E, TellVm Tell)>;

/// The same of an option that both have.
static bool readRunOption(const Arg &A, Error &E, TellVm Tell,
                          RunRequest &Request, std::string &Cache) {
  switch (A.getOption().getID()) {
  case OPT_device_EQ:
    E = checkWord(A, {"auto", "cpu", "gpu"});
    Request.Device = A.getValue();
    return true;
  case OPT_machine_EQ:
    Request.Machine = A.getValue();
    return true;
  case OPT_threads_EQ:
    E = checkNumber(A);
    Tell("threads", A.getValue());
    return true;
  case OPT_tier_EQ:
    E = checkWord(A, {"fused", "blocks"});
    Tell("tier", A.getValue());
    return true;
  case OPT_policy_EQ:
    E = checkWord(
        A, {"frontier", "ipdom", "herd-branch", "herd-data", "herd-both"});
    Tell("policy", A.getValue());
    return true;
  case OPT_seed_EQ:
    E = checkNumber(A);
    Tell("seed", A.getValue());
    return true;
  case OPT_step_limit_EQ:
    E = checkNumber(A);
    Tell("steps", A.getValue());
    return true;
  case OPT_cache_EQ:
    Cache = A.getValue();
    if (StringRef(Cache).contains(','))
      E = userError("--cache: the path " + Cache + " has a comma in it",
                    "Name a folder without.");
    return true;
  case OPT_no_cache:
    Cache.clear();
    return true;
  case OPT_q:
    Request.Quiet = true;
    return true;
  case OPT_v:
    Request.Verbose = true;
    return true;
  default:
    return false;
  }
}

/// Sources, or one program: then the words after it are the program's.
static Error checkInputs(RunRequest &Request, Subcommand Which,
                         bool HasDashes) {
  if (Error E = refuseRecord(Request.Build))
    return E;
  std::vector<std::string> &Inputs = Request.Build.Inputs;
  if (Inputs.empty())
    return userError(nameOf(Which) + ": no input",
                     "Name one or more .cu files, or a program built by "
                     "reconverge cc.");
  if (Request.Build.Kinds.front() == frontend::InputKind::Other &&
      !Session::findProgram(Inputs.front()).empty()) {
    // As with time and perf.
    Request.Arguments.insert(Request.Arguments.begin(), Inputs.begin() + 1,
                             Inputs.end());
    Inputs.resize(1);
    Request.Build.Kinds.resize(1);
    return Error::success();
  }
  for (const std::string &Input : Inputs)
    if (!sys::fs::exists(Input))
      return userError("no such file: " + Input,
                       !HasDashes && &Input != &Inputs.front()
                           ? "Arguments of the program come after --."
                           : "");
  return Error::success();
}

/// Reads what `profile`, `predict` and `optimize` share; \p ReadOther the rest.
static Error parseRunWords(ArrayRef<const char *> Words, Subcommand Which,
                           RunRequest &Request, OptionReader ReadOther) {
  const auto *Dashes = llvm::find_if(
      Words, [](const char *Word) { return StringRef(Word) == "--"; });
  bool HasDashes = Dashes != Words.end();
  if (HasDashes)
    Request.Arguments.assign(Dashes + 1, Words.end());
  Words = Words.take_front(Dashes - Words.begin());

  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words, MissingIndex, MissingCount, visibilityOf(Which));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return E;

  std::vector<std::string> Vm;
  auto Tell = [&](StringRef Key, StringRef Value) {
    Vm.push_back((Key + "=" + Value).str());
  };
  std::string Cache = defaultCacheFolder();
  for (const Arg *A : Parsed) {
    if (A->getOption().getID() == OPT_UNKNOWN) {
      if (StringRef(A->getSpelling()).starts_with("--"))
        return unknownOption(A->getSpelling(), Which);
      Request.Build.Compile.ClangArguments.push_back(A->getSpelling().str());
      continue;
    }
    // Success, and looked at: an option that cannot fail leaves it so.
    Error E = Error::success();
    (void)bool(E);
    if (!readRunOption(*A, E, Tell, Request, Cache) && !ReadOther(*A, E, Tell))
      E = readBuildOption(*A, Parsed, Request.Build);
    if (E)
      return E;
  }
  if (Error E = settle(Request.Build))
    return E;
  Tell("cache", Cache.empty() ? "none" : Cache);
  if (!Cache.empty())
    Request.Gpu = "cache=" + Cache;
  Request.Vm = join(Vm, ",");
  return checkInputs(Request, Which, HasDashes);
}

Expected<ProfileRequest> parseProfileWords(ArrayRef<const char *> Words) {
  ProfileRequest Request;
  bool Shuffles = false, Races = false;
  auto ReadOther = [&](const Arg &A, Error &E, TellVm Tell) {
    switch (A.getOption().getID()) {
    case OPT_shuffle_EQ:
      E = checkNumber(A);
      Tell("shuffle", A.getValue());
      Shuffles = true;
      return true;
    case OPT_check:
      Tell("check", "on");
      return true;
    case OPT_races:
      Tell("races", "on");
      Races = true;
      return true;
    case OPT_raw:
      Request.Raw = true;
      return true;
    case OPT_schedule:
      Request.Schedule = true;
      return true;
    case OPT_machine_code:
      Request.MachineCode = true;
      return true;
    case OPT_fail_if_EQ:
      E = addFailCondition(A, Request.FailIf);
      return true;
    case OPT_o:
      Request.Output = A.getValue();
      return true;
    case OPT_paths_EQ:
      Request.Paths = A.getValue();
      Tell("features", "on");
      return true;
    default:
      return false;
    }
  };
  if (Error E = parseRunWords(Words, Subcommand::Profile, Request, ReadOther))
    return std::move(E);
  if (Request.Device == "gpu" && Shuffles)
    return userError("--shuffle: a GPU's order cannot be chosen",
                     "Leave --device gpu out: the warp VM tries orders on the "
                     "CPU.");
  if (Races && Request.Device == "gpu")
    return userError("--races: a GPU does not say who accesses what",
                     "Leave --device gpu out: the warp VM looks for races on "
                     "the CPU.");
  if (!Request.Paths.empty() && Request.Device == "gpu")
    return userError("--paths: a GPU does not say what threads load",
                     "Leave --device gpu out: the warp VM runs the program.");
  if (Races || !Request.Paths.empty())
    Request.Device = "cpu";
  return Request;
}

/// The arguments in \p Text, as a shell would part them.
static std::vector<std::string> wordsIn(StringRef Text) {
  BumpPtrAllocator Space;
  StringSaver Saver(Space);
  SmallVector<const char *> Found;
  cl::TokenizeGNUCommandLine(Text, Saver, Found);
  return {Found.begin(), Found.end()};
}

/// Of predict; only the warp VM shows the vectors of all threads.
static Error readOrders(const Arg &A, PredictRequest &Request, TellVm Tell) {
  SmallString<128> Folder(A.getValue());
  if (std::error_code EC = sys::fs::make_absolute(Folder))
    return userError("--orders=" + Twine(A.getValue()) + ": " + EC.message());
  if (StringRef(Folder).contains(','))
    return userError("--orders=" + Twine(A.getValue()) +
                         ": the folder has a comma in its name",
                     "Name one without.");
  Request.Orders = Folder.str().str();
  Tell("orders", Folder);
  return Error::success();
}

Expected<PredictRequest> parsePredictWords(ArrayRef<const char *> Words) {
  PredictRequest Request;
  Request.Build.LeaveLaunches = true; // forecasts are of kernels as they are
  auto ReadOther = [&](const Arg &A, Error &E, TellVm Tell) {
    if (A.getOption().matches(OPT_groupings))
      return Request.Groupings = true;
    if (A.getOption().matches(OPT_orders_EQ)) {
      E = readOrders(A, Request, Tell);
      return true;
    }
    if (A.getOption().matches(OPT_machine_code))
      return Request.MachineCode = true;
    if (A.getOption().matches(OPT_estimate)) {
      Tell("features", "on");
      return Request.Estimate = true;
    }
    if (A.getOption().matches(OPT_test_EQ)) {
      Request.Test = wordsIn(A.getValue());
      return true;
    }
    if (!A.getOption().matches(OPT_o))
      return false;
    E = userError("predict: -o " + Twine(A.getValue()) +
                      ": predict writes no file",
                  "Leave it out; reconverge profile -o writes the counts.");
    return true;
  };
  if (Error E = parseRunWords(Words, Subcommand::Predict, Request, ReadOther))
    return std::move(E);
  if (!Request.Orders.empty() && Request.Device == "gpu")
    return userError("--orders: a GPU does not say what all threads do",
                     "Leave --device gpu out: the warp VM runs the program.");
  if (Request.Estimate && Request.Device == "gpu")
    return userError("--estimate: a GPU does not say what threads load",
                     "Leave --device gpu out: the warp VM runs the program.");
  if (Request.Test && !Request.Estimate)
    return userError("--test without --estimate",
                     "The second run is for the fit of the first: give both.");
  if (!Request.Orders.empty() || Request.Estimate)
    Request.Device = "cpu";
  return Request;
}

//===----------------------------------------------------------------------===//
// Optimising
//===----------------------------------------------------------------------===//

static Error readQuality(const Arg &A, OptimizeRequest &Request) {
  if (Error E =
          parseQuality(A.getValue()).moveInto(Request.Quality.emplace_back()))
    return E;
  const QualityRequest &How = Request.Quality.back();
  const std::string Said = std::string("--quality=") + A.getValue();
  if (How.Output.empty())
    return userError(Said + ": no output",
                     "Name what the program writes and may change: "
                     "out=<file>, or out=- for its standard output.");
  if (!How.Bound)
    return userError(Said + ": no bound",
                     "Say how much may change, as in bound=1%.");
  return Error::success();
}

/// Whether what --quality, --train and --held-out say goes together.
static Error checkQuality(const OptimizeRequest &Request) {
  if (Request.Quality.empty())
    return Request.Train.empty() && Request.HeldOut.empty()
               ? Error::success()
               : userError("--train and --held-out without --quality",
                           "They are runs for --quality: say what output may "
                           "change, and how much.");
  if (Request.HeldOut.empty())
    return userError("--quality without --held-out",
                     "What the search has seen cannot judge it: give the "
                     "arguments of a run on another input, as in "
                     "--held-out='other.ppm'.");
  if (Session::isProgram(Request.Build))
    return userError("--quality: " + Request.Build.Inputs.front() +
                         " is a program, of which no other can be built",
                     "Name its sources.");
  for (const std::vector<std::string> &Run : Request.HeldOut)
    if (Run == Request.Arguments || is_contained(Request.Train, Run))
      return userError("--held-out='" + join(Run, " ") +
                           "' is a run that the search learns from",
                       "Name another input.");
  return Error::success();
}

Expected<OptimizeRequest> parseOptimizeWords(ArrayRef<const char *> Words) {
  OptimizeRequest Request;
  auto ReadOther = [&](const Arg &A, Error &E, TellVm) {
    switch (A.getOption().getID()) {
    case OPT_o:
      Request.Program = A.getValue();
      return true;
    case OPT_decisions_EQ:
      Request.Decisions = A.getValue();
      return true;
    case OPT_nets_EQ:
      Request.Nets = A.getValue();
      return true;
    case OPT_log_EQ:
      Request.Log = A.getValue();
      return true;
    case OPT_quality_EQ:
      E = readQuality(A, Request);
      return true;
    case OPT_train_EQ:
      Request.Train.push_back(wordsIn(A.getValue()));
      return true;
    case OPT_held_out_EQ:
      Request.HeldOut.push_back(wordsIn(A.getValue()));
      return true;
    case OPT_allow_reorder:
      Request.AllowReorder = true;
      return true;
    case OPT_allow_rounding:
      Request.AllowRounding = true;
      return true;
    case OPT_try_all:
      Request.TryAll = true;
      return true;
    case OPT_no_whole:
      Request.Whole = false;
      return true;
    case OPT_sandbox:
    case OPT_no_sandbox:
      Request.Sandboxed = A.getOption().matches(OPT_sandbox);
      return true;
    case OPT_time_limit_EQ:
      E = checkNumber(A);
      (void)StringRef(A.getValue()).getAsInteger(10, Request.TimeLimit);
      return true;
    case OPT_launches_EQ:
      E = checkNumber(A);
      (void)StringRef(A.getValue()).getAsInteger(10, Request.Launches);
      return true;
    case OPT_exit_code_EQ:
      E = readExitCode(A, Request.ExitCode);
      return true;
    default:
      return false;
    }
  };
  if (Error E = parseRunWords(Words, Subcommand::Optimize, Request, ReadOther))
    return std::move(E);
  if (!Request.Build.Remedies.empty())
    return userError("optimize: --" + Request.Build.Remedies.front().Remedy +
                         " says what optimize is to find out",
                     "Leave it out; it is tried on every kernel in which warps "
                     "diverge.");
  if (Request.Build.Kinds.front() == frontend::InputKind::Other &&
      Request.Build.Inputs.size() == 1 && !Request.Program.empty())
    return userError("optimize: " + Request.Build.Inputs.front() +
                         " is a program, of which -o cannot build another",
                     "Name its sources; or leave -o out and build with "
                     "reconverge cc --decisions afterwards.");
  if (Error E = checkQuality(Request))
    return std::move(E);
  return Request;
}

} // namespace reconverge::driver
