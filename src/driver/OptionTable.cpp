//===- driver/OptionTable.cpp - The options of all subcommands ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options.td as LLVM's option library takes it, and what help, manual pages and
// completions show of it by subcommand.
//
//===----------------------------------------------------------------------===//

#include "driver/OptionTable.h"

#include "core/Error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cassert>
#include <tuple>

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

Error unknownOption(StringRef Word, Subcommand Which) {
  const SubcommandInfo &Info = *find_if(
      subcommands(), [&](const SubcommandInfo &I) { return I.Which == Which; });
  std::string Nearest;
  const unsigned Distance =
      optionTable().findNearest(Word, Nearest, visibilityOf(Which));
  std::string Remedy;
  if (Distance <= 2 && !Nearest.empty())
    Remedy = "Did you mean " + Nearest + "? ";
  Remedy += ("reconverge " + Info.Name + " --help lists the options").str();
  // Where words may be a program's.
  if (Info.Usage.contains(" -- "))
    Remedy += "; those of the program come after --";
  return userError("unknown option " + Word, Remedy + ".");
}

static constexpr SubcommandInfo Infos[] = {
    {Subcommand::Profile, "profile",
     "[options] <files> [-- <program arguments>]",
     "Run a CUDA program and report what each divergent branch costs",
     "<files>: CUDA and C++ sources, objects and libraries; or one program "
     "built by reconverge cc. Other options go to clang"},
    {Subcommand::Predict, "predict",
     "[options] <files> [-- <program arguments>]",
     "Run a CUDA program and report what remedies should gain, without "
     "building one",
     "<files>: CUDA and C++ sources, objects and libraries; or one program "
     "built by reconverge cc. Other options go to clang"},
    {Subcommand::Optimize, "optimize",
     "[options] <files> [-o <program>] [-- <program arguments>]",
     "Try remedies on a CUDA program's own launches and build it with those "
     "that pay",
     "<files>: CUDA and C++ sources, objects and libraries; or one program "
     "built by reconverge cc, for decisions alone. Other options go to clang"},
    {Subcommand::Report, "report", "[options] <divergence.json>",
     "Show an earlier profile: as a table, a page, or for other tools", ""},
    {Subcommand::Diff, "diff", "[options] <before.json> <after.json>",
     "Compare two profiles, by kernel and branch", ""},
    {Subcommand::Cache, "cache", "[options] [clean|finish]",
     "Print the size of the folder of compiled kernels, empty it, or compile "
     "kernels that programs have left for later",
     ""},
    {Subcommand::Quality, "quality", "--quality=<how> <reference> <result>",
     "Measure how good an output still is, compared with its reference", ""},
    {Subcommand::Train, "train", "<rows> ... -o <net.json>",
     "Train a net that predicts how long threads take",
     "<rows>: as reconverge profile --paths writes them, of one run or "
     "several"},
    {Subcommand::Rewrite, "rewrite", "[options] <files>",
     "Write remapping or collecting into CUDA sources, as a patch",
     "<files>: CUDA sources. Other options go to clang"},
    {Subcommand::Test, "test", "[options] -- <command> ...",
     "Run CUDA tests on the CPU and report errors of their kernels",
     "<command>: a program built by reconverge cc, or a command that runs "
     "such programs: ctest, make check, pytest"},
    {Subcommand::Cc, "cc", "[options] <files>",
     "Compile and link CUDA programs that can be profiled",
     "Options not listed here go to clang. reconverge-clang++ is the same "
     "command under a name that build systems recognise as a compiler"},
};

ArrayRef<SubcommandInfo> subcommands() { return Infos; }

bool asksForHelp(ArrayRef<const char *> Words) {
  for (StringRef Word : Words) {
    if (Word == "--")
      return false;
    if (Word == "--help" || Word == "-h")
      return true;
  }
  return false;
}

/// What a command is for comes first, what it has from others last.
static constexpr StringLiteral Titles[] = {
    "OPTIONS",  "RUNNING AND COUNTING", "THE REPORT", "TRYING REMEDIES",
    "BUILDING", "REMEDIES, BY HAND",
};

namespace {
struct OtherHelp {
  Subcommand Which;
  OptionId Option;
  const char *Text;             ///< empty: it is not shown
  const char *Values = nullptr; ///< that it takes, with commas; null: as it has
};
} // namespace

/// Of options that mean something else with one command than with the others.
static constexpr OtherHelp OtherHelps[] = {
    {Subcommand::Profile, OPT_o,
     "File of the report, - for standard output; default divergence.json"},
    {Subcommand::Predict, OPT_o, ""}, // it is refused, in words
    {Subcommand::Train, OPT_o, "File of the net; default net.json"},
    {Subcommand::Rewrite, OPT_o,
     "File for the changed source; default: print what would change"},
    {Subcommand::Report, OPT_o, "Output file; default: standard output"},
    {Subcommand::Diff, OPT_o, "Output file; default: standard output"},
    {Subcommand::Optimize, OPT_decisions_EQ,
     "File for the decisions; default decisions.json"},
    {Subcommand::Rewrite, OPT_decisions_EQ,
     "Write what this file of decisions, written by optimize, keeps"},
    {Subcommand::Report, OPT_decisions_EQ,
     "Show this file of decisions, written by optimize, on the page"},
    {Subcommand::Train, OPT_kernel_EQ, "Use the rows of this kernel"},
    {Subcommand::Rewrite, OPT_kernel_EQ, "Change this kernel, mangled or not"},
    {Subcommand::Optimize, OPT_quality_EQ,
     "Also try remedies that change results within this bound, "
     "comma-separated: out=<file>, metric=<metric>, bound=<number> and "
     "type=<type> if needed: docs/quality.md"},
    {Subcommand::Diff, OPT_format_EQ,
     "text, markdown or json; default: by the ending of -o",
     "text,markdown,json"},
};

static const OtherHelp *otherHelp(unsigned Id, Subcommand Which) {
  for (const OtherHelp &Other : OtherHelps)
    if (Other.Which == Which && Other.Option == OptionId(Id))
      return &Other;
  return nullptr;
}

/// Empty if \p Id is no option of \p Which that is shown.
static StringRef helpOf(unsigned Id, Subcommand Which) {
  if (const OtherHelp *Other = otherHelp(Id, Which))
    return Other->Text;
  const char *Help = optionTable().getOptionHelpText(Id, visibilityOf(Which));
  return Help ? Help : "";
}

/// All that option \p Id takes; empty: anything.
static std::vector<std::string> valuesOf(unsigned Id, StringRef Spelling,
                                         Subcommand Which) {
  const OtherHelp *Other = otherHelp(Id, Which);
  if (!Other || !Other->Values)
    return optionTable().suggestValueCompletions(Spelling, "");
  std::vector<std::string> Values;
  for (StringRef Value : split(Other->Values, ','))
    Values.push_back(Value.str());
  return Values;
}

/// By their letters; `--meld` before `--meld=`.
static auto orderOf(const ShownOption &O) {
  const StringRef Name = StringRef(O.Spelling).trim("-=");
  return std::tuple(Name.lower(), Name, StringRef(O.Spelling));
}

std::vector<ShownGroup> optionsOf(Subcommand Which) {
  const OptTable &Table = optionTable();
  std::vector<ShownGroup> Groups;
  for (StringRef Title : Titles)
    Groups.push_back({Title, {}});
  for (unsigned Id = 1; Id <= Table.getNumOptions(); ++Id) {
    const Option O = Table.getOption(Id);
    const StringRef Help = helpOf(Id, Which);
    if (Help.empty() || O.getKind() == Option::GroupClass ||
        O.getKind() == Option::InputClass ||
        O.getKind() == Option::UnknownClass ||
        !O.hasVisibilityFlag(visibilityOf(Which)))
      continue;
    StringRef Title = Titles[0];
    if (unsigned Group = Table.getOptionGroupID(Id))
      if (const char *Text = Table.getOptionHelpText(Group))
        Title = Text;
    auto Of =
        find_if(Groups, [&](const ShownGroup &G) { return G.Title == Title; });
    assert(Of != Groups.end() && "a title of Options.td that has no place");
    const char *Value = Table.getOptionMetaVar(Id);
    const std::string Spelling = O.getPrefixedName().str();
    const bool IsJoined = O.getKind() == Option::JoinedClass;
    Of->Options.push_back(
        {Spelling,
         (Value && !IsJoined ? " " : "") + std::string(Value ? Value : ""),
         Help.str(), valuesOf(Id, Spelling, Which)});
  }
  erase_if(Groups, [](const ShownGroup &G) { return G.Options.empty(); });
  for (ShownGroup &G : Groups)
    sort(G.Options, [](const ShownOption &A, const ShownOption &B) {
      return orderOf(A) < orderOf(B);
    });
  return Groups;
}

} // namespace reconverge::driver
