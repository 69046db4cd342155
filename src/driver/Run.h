//===- driver/Run.h - The program, made ready and run -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_RUN_H
#define RECONVERGE_DRIVER_RUN_H

#include "analysis/Costs.h"
#include "driver/CommandLine.h"
#include "frontend/Installation.h"
#include "frontend/Subprocess.h"
#include "frontend/TempDir.h"

#include <functional>

namespace reconverge::driver {

class Progress;
class Sandbox;

/// What one run is for, and what it may cost.
struct RunMode {
  std::string Profile; ///< file for what it counts; empty: nothing is counted
  std::string Trials;  ///< plan of trials (core/Trials.h); empty: none
  std::string Buffers; ///< list of those to leave (core/OutputBuffers.h)
  /// File to which a program whose launches count adds shares
  /// (core/DroppedShares.h); empty: none.
  std::string Dropped;
  /// Files in place of our own standard streams; empty: ours.
  std::string Input, Output, Errors;
  /// In which it runs; null: the working folder itself.
  const Sandbox *Box = nullptr;
  /// File for a copy of what it reads from standard input; empty: none.
  std::string InputCopy;
  /// Called now and then while it runs; null: never.
  std::function<void()> Meanwhile;
  double TimeLimit = 0; ///< seconds until it is killed; 0: none
  /// In place of the request's; null: those.
  const std::vector<std::string> *Arguments = nullptr;
  std::string Device; ///< in place of the request's; empty: that one
  /// A signal that would end us kills the program.
  bool IsExpendable = false;
};

/// The program of a request: built once if it is given as sources, run as often
/// as is asked.
class Session {
public:
  static llvm::Expected<Session> create(const RunRequest &Request,
                                        Progress &Now);

  llvm::Expected<frontend::ProcessResult> run(const RunMode &Mode) const;

  /// Another program in place of the session's, with the same words.
  llvm::Expected<frontend::ProcessResult> run(const RunMode &Mode,
                                              llvm::StringRef Other) const;

  /// The path of a file that goes with the session.
  std::string file(const llvm::Twine &Name) const { return Temp.file(Name); }
  const frontend::TempDir &folder() const { return Temp; }
  const frontend::Installation &installation() const { return Tree; }
  /// As --machine has it; none: the runtime chooses, by the GPU.
  const std::optional<analysis::MachineModel> &machine() const {
    return Machine;
  }
  /// The file that runs.
  const std::string &program() const { return Program; }
  /// Whether the request names a program and no sources.
  static bool isProgram(const BuildRequest &Request);
  /// The file of the program \p Name: itself if there is one, or as a shell
  /// finds it in PATH; empty if there is none.
  static std::string findProgram(llvm::StringRef Name);

private:
  Session(const RunRequest &Request, frontend::Installation Tree,
          frontend::TempDir Temp)
      : Request(&Request), Tree(std::move(Tree)), Temp(std::move(Temp)) {}

  const RunRequest *Request;
  frontend::Installation Tree;
  frontend::TempDir Temp;
  std::string Program;     ///< the path to execute
  std::string MachineFile; ///< machines/*.json; empty: the runtime chooses
  std::optional<analysis::MachineModel> Machine; ///< in it
};

/// "NAME=value" with \p Ours added to what the user has set, which stays unless
/// an option says otherwise.
std::string overEnvironment(const char *Name, const std::string &Ours);

/// LD_LIBRARY_PATH with our runtime first. A program of ours finds the shim by
/// its run path; one that another linker has linked with -lcudart finds it here,
/// before the toolkit's. Where there is no CUDA driver, ours comes last.
std::string runtimeFirst(const frontend::Installation &Tree);

/// What to do about a program that is not linked over our runtime.
std::string howToBuild(const frontend::Installation &Tree);

/// How a program ended, for a message: "returned 3", "was ended by signal 9".
std::string endOf(const frontend::ProcessResult &Result);
/// A line for optimize's user, if a run that ended so may have been well.
std::string exitCodeHint(const frontend::ProcessResult &Result);

} // namespace reconverge::driver

#endif
