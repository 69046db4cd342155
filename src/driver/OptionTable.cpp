//===- driver/OptionTable.cpp - The options of all subcommands ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

void printHelp(Subcommand Which, raw_ostream &OS) {
  const char *Usage = "reconverge report <divergence.json>";
  const char *Title = "Print the table of an earlier profile";
  if (Which == Subcommand::Profile) {
    Usage = "reconverge profile [options] <files> [-- <program arguments>]\n\n"
            "<files>: CUDA and C++ sources, objects and libraries; or one "
            "program built by\nreconverge cc. Other options go to clang";
    Title = "Run a CUDA program and say what each divergent branch costs";
  } else if (Which == Subcommand::Predict) {
    Usage = "reconverge predict [options] <files> [-- <program arguments>]\n\n"
            "<files>: CUDA and C++ sources, objects and libraries; or one "
            "program built by\nreconverge cc. Other options go to clang";
    Title = "Run a CUDA program and say what remedies should gain, without "
            "building one";
  } else if (Which == Subcommand::Optimize) {
    Usage =
        "reconverge optimize [options] <files> -o <program> "
        "[-- <program arguments>]\n\n<files>: CUDA and C++ sources, objects "
        "and libraries. Other options go to clang";
    Title = "Try remedies on a CUDA program's own launches and build it with "
            "those that pay";
  } else if (Which == Subcommand::Quality) {
    Usage = "reconverge quality --quality=<how> <reference> <result>";
    Title = "Measure how good an output still is beside its reference";
  } else if (Which == Subcommand::Train) {
    Usage = "reconverge train <rows> -o <net.json>\n\n<rows>: as reconverge "
            "profile --paths writes them";
    Title = "Train a net that foretells how long threads take";
  } else if (Which == Subcommand::Test) {
    Usage =
        "reconverge test [options] -- <command> ...\n\n<command>: a program "
        "built by reconverge cc, or whatever runs such programs: ctest, "
        "make check, pytest";
    Title =
        "Run CUDA tests on the CPU and say what is wrong with their kernels";
  } else if (Which == Subcommand::Cc) {
    Usage = "reconverge cc [options] <files>\n\nOptions not listed here go to "
            "clang. reconverge-clang++ is the same command under\na name that "
            "build systems know what to do with";
    Title = "Compile and link CUDA programs that can be profiled";
  }
  optionTable().printHelp(OS, Usage, Title, /*ShowHidden=*/false,
                          /*ShowAllAliases=*/false, visibilityOf(Which));
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

} // namespace reconverge::driver
