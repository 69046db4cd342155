//===- driver/OptionTable.h - The options of all subcommands ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_OPTIONTABLE_H
#define RECONVERGE_DRIVER_OPTIONTABLE_H

#include "driver/CommandLine.h"

#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"

#include <string>
#include <vector>

namespace reconverge::driver {

enum VisibilityBits {
  ProfileVis = 1 << 1,
  CcVis = 1 << 2,
  ReportVis = 1 << 3,
  OptimizeVis = 1 << 4,
  PredictVis = 1 << 5,
  QualityVis = 1 << 6,
  TrainVis = 1 << 7,
  DiffVis = 1 << 8,
  RewriteVis = 1 << 9,
  TestVis = 1 << 10,
  CacheVis = 1 << 11
};

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "driver/Options.inc"
#undef OPTION
};

/// Options.td. Parsed arguments point into it.
const llvm::opt::OptTable &optionTable();

llvm::opt::Visibility visibilityOf(Subcommand Which);

/// What help and manual say of a subcommand beside its options.
struct SubcommandInfo {
  Subcommand Which;
  llvm::StringLiteral Name;
  llvm::StringLiteral Usage; ///< the words after the name
  llvm::StringLiteral Title; ///< what it does
  llvm::StringLiteral About; ///< of its words; may be empty
};
llvm::ArrayRef<SubcommandInfo> subcommands();

/// An option as people read it.
struct ShownOption {
  std::string Spelling; ///< "--device="
  std::string Value;    ///< "<value>", " <value>"; empty: it takes none
  std::string Help;
  std::vector<std::string> Values; ///< all that it takes; empty: anything
};
/// Options and the title under which --help and the manual have them.
struct ShownGroup {
  llvm::StringRef Title;
  std::vector<ShownOption> Options;
};
/// The options of \p Which in the order in which they are shown. One that has
/// no help there is for other compilers' users and is shown nowhere.
std::vector<ShownGroup> optionsOf(Subcommand Which);

/// The error of \p Word, which is none of \p Which's options.
llvm::Error unknownOption(llvm::StringRef Word, Subcommand Which);

/// The error of an option at the end of the words that wants a value.
llvm::Error checkMissing(const llvm::opt::InputArgList &Parsed, unsigned Index,
                         unsigned Count);

/// Adds the condition of --fail-if that \p A has to \p To.
llvm::Error addFailCondition(const llvm::opt::Arg &A,
                             std::vector<FailCondition> &To);

/// What option \p A, one of those for building, asks for. The answer to some
/// hangs on others; settle() must follow the last.
llvm::Error readBuildOption(const llvm::opt::Arg &A,
                            const llvm::opt::ArgList &All,
                            BuildRequest &Request);
llvm::Error settle(BuildRequest &Request);
/// The error of a request for remarks as a file, of all but cc.
llvm::Error refuseRecord(const BuildRequest &Request);

/// The same of an option that nvcc alone has; nothing if \p A is none.
std::optional<llvm::Error> readNvccOption(const llvm::opt::Arg &A,
                                          const llvm::opt::ArgList &All,
                                          BuildRequest &Request);
/// The error of an option that cannot be had, with what to write instead.
llvm::Error refuseOption(const llvm::opt::Arg &A);
/// The value of \p A: true or false.
llvm::Expected<bool> parseBool(const llvm::opt::Arg &A);
/// A list of nvcc's for another tool: commas and, as it writes a shell's
/// command line, blanks go between words.
void splitWords(std::vector<std::string> &To, llvm::StringRef List);

} // namespace reconverge::driver

#endif
