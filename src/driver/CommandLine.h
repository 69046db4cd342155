//===- driver/CommandLine.h - From words to requests ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_COMMANDLINE_H
#define RECONVERGE_DRIVER_COMMANDLINE_H

#include "core/Decision.h"
#include "core/Quality.h"
#include "driver/FailIf.h"
#include "frontend/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::driver {

/// What to build from what.
struct BuildRequest {
  enum class Product {
    Program,
    Objects,
    DeviceLink,   ///< -dlink: an object that completes device code
    Assembly,     ///< -S: of host code, the container in it
    Preprocessed, ///< -E
    Syntax,       ///< -fsyntax-only
    Dependencies, ///< -M
    DeviceBitcode,
    Ptx
  };

  frontend::CompileOptions Compile;
  frontend::LinkOptions Link;
  std::vector<std::string> Inputs; ///< sources, objects and archives, in order
  std::vector<frontend::InputKind> Kinds; ///< of each input
  Product Make = Product::Program;
  bool Clean = false;              ///< remove what would be made, make nothing
  std::string Output;              ///< empty: the product's usual name
  std::string OutputFolder;        ///< of outputs with usual names
  std::string CudaPath;            ///< empty: to be found
  std::vector<Candidate> Remedies; ///< --meld and the like, in their order
  std::string Decisions; ///< file of decisions to build by; empty: none
  /// Launches that the source asks to have changed stay as they are.
  bool LeaveLaunches = false;
  llvm::raw_ostream *Diagnostics = nullptr; ///< where remarks go, if anywhere
  /// Told of each source before it is compiled; null: nobody is.
  std::function<void(llvm::StringRef Source)> OnSource;
  std::string Keep; ///< folder for intermediate files; empty: none kept

  /// As they were named; Compile.Arch is the newest that can be built.
  std::vector<unsigned> Architectures;
  bool DeviceOnly = false; ///< --cuda-device-only
  bool Bitcode = false;    ///< -emit-llvm
  enum : unsigned { CompilesOpenMp = 1, LinksOpenMp = 2 };
  unsigned OpenMp = 0; ///< -fopenmp, an OpenMP runtime by its name, or both
  frontend::InputKind Language = frontend::InputKind::Other; ///< of the last -x
};

/// Makes \p Request build for \p Runtime; NVIDIA's needs code for a GPU.
void useRuntime(BuildRequest &Request, frontend::CudaRuntime Runtime);

/// How to run a program.
struct RunRequest {
  BuildRequest Build; ///< a single input that is a program is run as it is
  std::vector<std::string> Arguments; ///< of the program
  std::string Device = "auto";
  std::string Machine;      ///< a name or a file; empty: the GPU's, or h200
  std::string Vm;           ///< "key=value,..." as the VM backend reads it
  std::string Gpu;          ///< the same for what counts on a GPU
  int ExitCode = 0;         ///< of the program, when all is well
  bool MachineCode = false; ///< kernels are priced by it
  bool Quiet = false;       ///< nothing is said that was not asked for
  bool Verbose = false;     ///< each step is said, in a log as well
};

struct ProfileRequest : RunRequest {
  std::string Output = "divergence.json";
  std::string Paths;     ///< file for rows of threads; empty: none
  bool Schedule = false; ///< of thread blocks is to be shown
  bool Raw = false;      ///< the report keeps block vectors and the trace
  std::vector<FailCondition> FailIf;
};

struct PredictRequest : RunRequest {
  bool Groupings = false; ///< are to be forecast, too
  std::string Orders;     ///< folder for orders by them; empty: none
  bool Estimate = false;  ///< what threads take is to be fitted
  /// Arguments of the run on which that is tried; none: there is no such run.
  std::optional<std::vector<std::string>> Test;
};

/// What to try on a program and where to put the outcome.
struct OptimizeRequest : RunRequest {
  std::string Program; ///< to build; empty: none
  std::string Decisions = "decisions.json";
  std::string Log;  ///< of all trials, to keep; empty: it is thrown away
  std::string Nets; ///< folder for nets to try; empty: none are
  bool AllowReorder = false;
  bool AllowRounding = false; ///< of other compilers' code
  bool TryAll = false;        ///< also what cannot gain by the forecast
  uint64_t Launches = 4;      ///< of each kernel, on which candidates are tried
  /// Outputs that may change, each in its bound; none: results stay.
  std::vector<QualityRequest> Quality;
  /// Whether a bound among these is not 0.
  bool letsChange() const {
    return llvm::any_of(
        Quality, [](const QualityRequest &How) { return How.letsChange(); });
  }
  /// Arguments of further runs: to learn from, and to judge what was learned.
  std::vector<std::vector<std::string>> Train, HeldOut;
  uint64_t TimeLimit = 0; ///< seconds for all trials; 0: none
  bool Whole = true;      ///< time the final program beside the others
  bool Sandboxed = true;  ///< all runs but the first leave no trace
};

/// Of what a report has, what to show.
struct ReportChoice {
  std::optional<size_t> Top; ///< places; 0: all; none: as the form has it
  std::string Kernel;        ///< kernels that match it alone; empty: all
};

enum class ReportFormat {
  Text,
  Markdown,
  Csv,
  Json,
  Speedscope,
  Sarif,
  Remarks,
  Html
};

struct ReportRequest {
  std::string Input;
  std::string Output = "-";
  ReportFormat Format = ReportFormat::Text;
  ReportChoice Choice;
  std::vector<std::string> Annotate; ///< sources to show in place of the table
  std::string Decisions;             ///< file to show on the page; empty: none
  bool Schedule = false;
  std::vector<FailCondition> FailIf;
};

/// Two profiles to show beside each other.
struct DiffRequest {
  std::string Before, After;
  std::string Output = "-";
  ReportFormat Format = ReportFormat::Text; ///< or Markdown, or Json
  ReportChoice Choice;
};

/// Two files to compare.
struct CompareRequest {
  std::string Reference, Result;
  QualityRequest How;
};

/// What to train a net on.
struct TrainRequest {
  /// Rows of runs of one program, or a net that is there already.
  std::vector<std::string> Inputs;
  std::string Output = "net.json";
  std::string Kernel;    ///< mangled or not; empty: the only one
  unsigned Classes = 32; ///< of time, at most
  std::string Other;     ///< rows of another run; empty: none
  std::string Header;    ///< for the net as CUDA; empty: none
};

/// What to do with the folder of compiled kernels.
struct CacheRequest {
  std::string Folder;
  bool Clean = false;  ///< empty it
  bool Finish = false; ///< compile what programs have left to be compiled
};

/// What `reconverge <subcommand> --help` prints.
enum class Subcommand {
  Profile,
  Predict,
  Optimize,
  Cc,
  Report,
  Diff,
  Cache,
  Quality,
  Train,
  Rewrite,
  Test
};
void printHelp(Subcommand Which, llvm::raw_ostream &OS);
/// Whether the words ask for that help.
bool asksForHelp(llvm::ArrayRef<const char *> Words);

/// Each takes the words after the subcommand. The UserError names the word.
llvm::Expected<ProfileRequest>
parseProfileWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<PredictRequest>
parsePredictWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<OptimizeRequest>
parseOptimizeWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<BuildRequest> parseCcWords(llvm::ArrayRef<const char *> Words);

/// Whether words for `cc` are no task but a question to clang, for its version
/// or one of its paths.
bool isQuestion(llvm::ArrayRef<const char *> Words);
llvm::Expected<ReportRequest>
parseReportWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<DiffRequest> parseDiffWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<CacheRequest>
parseCacheWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<TrainRequest>
parseTrainWords(llvm::ArrayRef<const char *> Words);
llvm::Expected<CompareRequest>
parseQualityWords(llvm::ArrayRef<const char *> Words);

} // namespace reconverge::driver

#endif
