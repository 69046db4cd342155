//===- driver/OptionTable.cpp - The options of all subcommands ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options.td as LLVM's option library takes it, and what help, manual pages and
// completions show of it by subcommand.
//
//===----------------------------------------------------------------------===//

#include "driver/OptionTable.h"

#include "core/Error.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

#define PREFIX(NAME, VALUE)                                                    \
  static constexpr StringLiteral NAME##_init[] = VALUE;                        \
  static constexpr ArrayRef<StringLiteral> NAME(NAME##_init,                   \
                                                std::size(NAME##_init) - 1);
#include "driver/Options.inc"
#undef PREFIX

static constexpr OptTable::Info InfoTable[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "driver/Options.inc"
#undef OPTION
};

namespace {
class Table : public GenericOptTable {
public:
  Table() : GenericOptTable(InfoTable) {}
};
} // namespace

const OptTable &optionTable() {
  static const Table Options;
  return Options;
}

Visibility visibilityOf(Subcommand Which) {
  switch (Which) {
  case Subcommand::Profile:
    return Visibility(ProfileVis);
  case Subcommand::Predict:
    return Visibility(PredictVis);
  case Subcommand::Optimize:
    return Visibility(OptimizeVis);
  case Subcommand::Cc:
    return Visibility(CcVis);
  case Subcommand::Quality:
    return Visibility(QualityVis);
  case Subcommand::Train:
    return Visibility(TrainVis);
  case Subcommand::Diff:
    return Visibility(DiffVis);
  case Subcommand::Cache:
    return Visibility(CacheVis);
  case Subcommand::Rewrite:
    return Visibility(RewriteVis);
  case Subcommand::Test:
    return Visibility(TestVis);
  case Subcommand::Report:
    break;
  }
  return Visibility(ReportVis);
}

Error checkMissing(const InputArgList &Parsed, unsigned Index, unsigned Count) {
  if (!Count)
    return Error::success();
  return userError(Twine(Parsed.getArgString(Index)) + " lacks its value");
}

static constexpr SubcommandInfo Infos[] = {
    {Subcommand::Profile, "profile",
     "[options] <files> [-- <program arguments>]",
     "Run a CUDA program and say what each divergent branch costs",
     "<files>: CUDA and C++ sources, objects and libraries; or one program "
     "built by\nreconverge cc. Other options go to clang"},
    {Subcommand::Predict, "predict",
     "[options] <files> [-- <program arguments>]",
     "Run a CUDA program and say what remedies should gain, without building "
     "one",
     "<files>: CUDA and C++ sources, objects and libraries; or one program "
     "built by\nreconverge cc. Other options go to clang"},
    {Subcommand::Optimize, "optimize",
     "[options] <files> -o <program> [-- <program arguments>]",
     "Try remedies on a CUDA program's own launches and build it with those "
     "that pay",
     "<files>: CUDA and C++ sources, objects and libraries. Other options go "
     "to clang"},
    {Subcommand::Report, "report", "[options] <divergence.json>",
     "Show an earlier profile: as a table, a page, or for other tools", ""},
    {Subcommand::Diff, "diff", "[options] <before.json> <after.json>",
     "Show two profiles beside each other, by kernel and branch", ""},
    {Subcommand::Cache, "cache", "[options] [clean]",
     "Say how large the folder of compiled kernels is, or empty it", ""},
    {Subcommand::Quality, "quality", "--quality=<how> <reference> <result>",
     "Measure how good an output still is beside its reference", ""},
    {Subcommand::Train, "train", "<rows> -o <net.json>",
     "Train a net that foretells how long threads take",
     "<rows>: as reconverge profile --paths writes them"},
    {Subcommand::Rewrite, "rewrite", "[options] <files>",
     "Write rounds of remap into CUDA sources, for any compiler",
     "<files>: CUDA sources. Other options go to clang"},
    {Subcommand::Test, "test", "[options] -- <command> ...",
     "Run CUDA tests on the CPU and say what is wrong with their kernels",
     "<command>: a program built by reconverge cc, or whatever runs such "
     "programs: ctest,\nmake check, pytest"},
    {Subcommand::Cc, "cc", "[options] <files>",
     "Compile and link CUDA programs that can be profiled",
     "Options not listed here go to clang. reconverge-clang++ is the same "
     "command under\na name that build systems know what to do with"},
};

ArrayRef<SubcommandInfo> subcommands() { return Infos; }

void printHelp(Subcommand Which, raw_ostream &OS) {
  const SubcommandInfo &Info = *find_if(
      Infos, [&](const SubcommandInfo &I) { return I.Which == Which; });
  std::string Usage = ("reconverge " + Info.Name + " " + Info.Usage).str();
  if (!Info.About.empty())
    Usage += "\n\n" + Info.About.str();
  optionTable().printHelp(OS, Usage.c_str(), Info.Title.data(),
                          /*ShowHidden=*/false, /*ShowAllAliases=*/false,
                          visibilityOf(Which));
}

bool asksForHelp(ArrayRef<const char *> Words) {
  for (StringRef Word : Words) {
    if (Word == "--")
      return false;
    if (Word == "--help" || Word == "-h")
      return true;
  }
  return false;
}

std::map<std::string, std::vector<ShownOption>> optionsOf(Subcommand Which) {
  const OptTable &Table = optionTable();
  std::map<std::string, std::vector<ShownOption>> Groups;
  for (unsigned Id = 1; Id <= Table.getNumOptions(); ++Id) {
    const Option O = Table.getOption(Id);
    const char *Help = Table.getOptionHelpText(Id, visibilityOf(Which));
    if (!Help || O.getKind() == Option::GroupClass ||
        O.getKind() == Option::InputClass ||
        O.getKind() == Option::UnknownClass ||
        !O.hasVisibilityFlag(visibilityOf(Which)))
      continue;
    const char *Title = "OPTIONS";
    if (unsigned Group = Table.getOptionGroupID(Id))
      if (const char *Text = Table.getOptionHelpText(Group))
        Title = Text;
    const char *Value = Table.getOptionMetaVar(Id);
    const std::string Spelling = O.getPrefixedName().str();
    Groups[Title].push_back({Spelling, Value ? Value : "", Help,
                             Table.suggestValueCompletions(Spelling, "")});
  }
  return Groups;
}

} // namespace reconverge::driver
