//===- core/Error.h - The failures that a user is told of -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_CORE_ERROR_H
#define RECONVERGE_CORE_ERROR_H

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge {

/// What the process returns to its caller (docs/messages.md lists them).
enum class ExitCode : int {
  Success = 0,
  ProgramFailed = 1,  ///< a program that ran and failed
  UserError = 2,      ///< the user's input or environment
  ConditionHolds = 3, ///< one of --fail-if
  Internal = 70,      ///< our own fault
};

/// Bad input or environment: one message that says what, where, and what to do.
/// Libraries return it; only a tool's main prints it.
class UserError : public llvm::ErrorInfo<UserError> {
public:
  static char ID;
  UserError(std::string Message, std::string Remedy,
            ExitCode Code = ExitCode::UserError)
      : Message(std::move(Message)), Remedy(std::move(Remedy)), Code(Code) {}

  void log(llvm::raw_ostream &OS) const override;
  std::error_code convertToErrorCode() const override;
  ExitCode exitCode() const { return Code; }

private:
  std::string Message, Remedy;
  ExitCode Code;
};

/// \p Message says what went wrong and where ("app.cu:12: ..."); \p Remedy, if
/// not empty, is a sentence that says what to do about it.
llvm::Error userError(const llvm::Twine &Message,
                      const llvm::Twine &Remedy = "");

/// A broken expectation of our own that bad input cannot cause: exit code 70.
llvm::Error internalError(const llvm::Twine &Message);

/// Consumes \p E: prints "reconverge: error: ..." for each message to \p OS and
/// returns the exit code (UserError's own; Internal for any other error).
int reportError(llvm::Error E, llvm::raw_ostream &OS);

} // namespace reconverge

#endif
