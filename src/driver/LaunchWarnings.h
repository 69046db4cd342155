//===- driver/LaunchWarnings.h - Kernels launched as they are --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_LAUNCHWARNINGS_H
#define RECONVERGE_DRIVER_LAUNCHWARNINGS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <string>
#include <vector>

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::driver {

/// What somebody who asks for a remedy at every kernel hears of those that do
/// not have it: a line for each kernel of the program, with how many more
/// instances of the same template there are, and one line for all kernels of
/// the toolkit's headers.
class LaunchWarnings {
public:
  /// The folders whose headers are the toolkit's; an empty one is none.
  LaunchWarnings(llvm::StringRef Remedy,
                 llvm::ArrayRef<std::string> HeaderFolders);

  /// \p Kernel stays as it is; why, as remarks say it, each with its code.
  void addAsItIs(const llvm::Function &Kernel, llvm::ArrayRef<std::string> Why);
  /// \p Kernel has the remedy, and this besides.
  void addChanged(const llvm::Function &Kernel,
                  llvm::ArrayRef<std::string> Notes);
  /// Another remedy is first.
  void addTaken(const llvm::Function &Kernel);

  void print(llvm::raw_ostream &OS) const;

private:
  struct Line {
    std::string Key, Kernel, Text;
    unsigned More = 0; ///< instances
  };
  /// \p Of: what makes two instances of a template alike, besides their place.
  void add(const llvm::Function &Kernel, llvm::StringRef Of, std::string Text);
  bool isToolkits(const llvm::Function &Kernel) const;

  std::string Remedy;
  llvm::SmallVector<std::string, 2> Folders;
  std::vector<Line> Lines; ///< in the order of the code
  unsigned OfToolkit = 0;
  std::map<std::string, unsigned> ToolkitCodes; ///< to kernels
};

} // namespace reconverge::driver

#endif
