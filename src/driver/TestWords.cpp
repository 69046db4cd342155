//===- driver/TestWords.cpp - From words to a test ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"
#include "driver/OptionTable.h"
#include "driver/Test.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

static constexpr StringLiteral Checks[] = {"bounds", "sync", "init", "races"};

/// The words of \p List, in the order of Checks.
static Expected<std::vector<StringRef>> readChecks(StringRef List) {
  SmallVector<StringRef> Words;
  List.split(Words, ',');
  for (StringRef Word : Words)
    if (!is_contained(Checks, Word) &&
        !(Words.size() == 1 && (Word == "all" || Word == "none")))
      return userError("--check: there is no check '" + Word + "'",
                       "Write some of bounds, sync, init and races with commas "
                       "between them; or all, or none.");
  std::vector<StringRef> Wanted;
  for (StringRef Check : Checks)
    if (List == "all" || is_contained(Words, Check))
      Wanted.push_back(Check);
  return Wanted;
}

static Error readNumber(const InputArgList &Parsed, OptSpecifier Option,
                        std::optional<uint64_t> &Out) {
  const Arg *A = Parsed.getLastArg(Option);
  if (!A)
    return Error::success();
  if (StringRef(A->getValue()).getAsInteger(10, Out.emplace()))
    return userError("'" + Twine(A->getValue()) + "' is no value of --" +
                         A->getOption().getName().rtrim('='),
                     "Write a whole number.");
  return Error::success();
}

/// \p Folder, absolute, as the command's processes run in folders of their own;
/// made if it is not there.
static Expected<std::string> cacheFolder(StringRef Folder) {
  if (Folder.contains(','))
    return userError("--cache: the path " + Folder + " has a comma in it",
                     "Name a folder without.");
  SmallString<128> Path(Folder);
  std::error_code EC = sys::fs::make_absolute(Path);
  if (!EC)
    EC = sys::fs::create_directories(Path);
  if (!EC)
    EC = sys::fs::access(Path, sys::fs::AccessMode::Write);
  if (EC || !sys::fs::is_directory(Path))
    return userError("--cache: " + Folder + " is no folder to write to" +
                         (EC ? ": " + EC.message() : std::string()),
                     "Name one that is, or one that can be made.");
  return std::string(Path);
}

/// What the VM is told: RECONVERGE_VM.
static Error tellVm(const InputArgList &Parsed, ArrayRef<StringRef> Wanted,
                    std::string &Vm) {
  std::vector<std::string> Settings;
  auto Tell = [&](StringRef Key, const Twine &Value) {
    Settings.push_back((Key + "=" + Value).str());
  };
  std::vector<StringRef> OfAccesses;
  for (StringRef Check : Wanted)
    if (Check != "races")
      OfAccesses.push_back(Check);
  Tell("check", OfAccesses.empty() ? "off" : join(OfAccesses, ":"));
  Tell("races", is_contained(Wanted, "races") ? "on" : "off");
  for (auto [Option, Key] :
       {std::pair<OptSpecifier, StringRef>(OPT_shuffle_EQ, "shuffle"),
        {OPT_seed_EQ, "seed"},
        {OPT_threads_EQ, "threads"},
        {OPT_step_limit_EQ, "steps"}}) {
    std::optional<uint64_t> Value;
    if (Error E = readNumber(Parsed, Option, Value))
      return E;
    if (Value)
      Tell(Key, Twine(*Value));
  }
  const StringRef Cache = Parsed.getLastArgValue(OPT_cache_EQ);
  if (!Cache.empty()) {
    Expected<std::string> Folder = cacheFolder(Cache);
    if (!Folder)
      return Folder.takeError();
    Tell("cache", *Folder);
  } else if (Parsed.hasArg(OPT_no_cache)) {
    Tell("cache", "none");
  }
  Vm = join(Settings, ",");
  return Error::success();
}

Expected<TestRequest> parseTestWords(ArrayRef<const char *> Words) {
  TestRequest Request;
  const auto *Dashes =
      find_if(Words, [](const char *Word) { return StringRef(Word) == "--"; });
  if (Dashes != Words.end())
    Request.Command.assign(Dashes + 1, Words.end());
  unsigned MissingIndex = 0, MissingCount = 0;
  InputArgList Parsed = optionTable().ParseArgs(
      Words.take_front(Dashes - Words.begin()), MissingIndex, MissingCount,
      visibilityOf(Subcommand::Test));
  if (Error E = checkMissing(Parsed, MissingIndex, MissingCount))
    return std::move(E);
  const auto Strays = Parsed.filtered(OPT_UNKNOWN, OPT_INPUT);
  const Arg *Stray = Strays.empty() ? nullptr : *Strays.begin();
  if (Stray && StringRef(Stray->getSpelling()).starts_with("-"))
    return unknownOption(Stray->getSpelling(), Subcommand::Test);
  if (Stray || Request.Command.empty())
    return userError(Stray
                         ? "test: " + Twine(Stray->getValue()) + " is no option"
                         : Twine("test: no command"),
                     "The command comes after --, as in reconverge test -- "
                     "ctest --output-on-failure.");
  auto Wanted = readChecks(Parsed.getLastArgValue(OPT_check_EQ, "bounds,sync"));
  if (!Wanted)
    return Wanted.takeError();
  Request.Checks = Wanted->empty() ? "faults" : join(*Wanted, ", ");
  uint64_t Orders = 0; // tellVm() says if it is no number
  if (!Parsed.getLastArgValue(OPT_shuffle_EQ).getAsInteger(10, Orders) &&
      Orders)
    Request.Checks += ", order";
  if (Error E = tellVm(Parsed, *Wanted, Request.Vm))
    return std::move(E);
  Request.JUnit = Parsed.getLastArgValue(OPT_junit_EQ).str();
  Request.Sarif = Parsed.getLastArgValue(OPT_sarif_EQ).str();
  if (!Request.JUnit.empty() && Request.JUnit == Request.Sarif)
    return userError("--junit and --sarif name the same file, " + Request.JUnit,
                     "Name two: they are of two forms.");
  Request.Suppressions = Parsed.getLastArgValue(OPT_suppressions_EQ).str();
  std::optional<uint64_t> Most;
  if (Error E = readNumber(Parsed, OPT_max_findings_EQ, Most))
    return std::move(E);
  Request.MostOfKernel = unsigned(Most.value_or(Request.MostOfKernel));
  return Request;
}

} // namespace reconverge::driver
