//===- core/Error.cpp - The failures that a user is told of ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/Error.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace reconverge {

char UserError::ID = 0;

void UserError::log(raw_ostream &OS) const {
  OS << Message;
  if (!Remedy.empty())
    OS << "\n  " << Remedy;
}

std::error_code UserError::convertToErrorCode() const {
  return inconvertibleErrorCode();
}

Error userError(const Twine &Message, const Twine &Remedy) {
  return make_error<UserError>(Message.str(), Remedy.str());
}

Error internalError(const Twine &Message) {
  return make_error<UserError>(
      Message.str(), "This is a fault of Reconverge; please report it.",
      ExitCode::Internal);
}

int reportError(Error E, raw_ostream &OS) {
  int Code = 0;
  handleAllErrors(std::move(E), [&](const ErrorInfoBase &Info) {
    OS << "reconverge: error: ";
    Info.log(OS);
    OS << '\n';
    int This = Info.isA<UserError>()
                   ? int(static_cast<const UserError &>(Info).exitCode())
                   : int(ExitCode::Internal);
    Code = std::max(Code, This);
  });
  return Code;
}

} // namespace reconverge
