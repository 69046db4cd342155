//===- frontend/Installation.h - Where our own files lie --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   <prefix>/bin/reconverge
//   <prefix>/lib/reconverge/{libcudart.so,libReconvergeVM.so}
//   <prefix>/share/reconverge/{machines,overlay,page.html}
//
// Everything is found from the running executable, so that a build folder, an
// installed tree and an unpacked archive all work wherever they are put.
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_FRONTEND_INSTALLATION_H
#define RECONVERGE_FRONTEND_INSTALLATION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace reconverge::frontend {

struct Installation {
  std::string Prefix;

  std::string binDir() const;
  std::string runtimeDir() const; ///< the shim and its backends
  std::string shimPath() const;   ///< what programs are linked against
  std::string driverDir() const; ///< of a libcuda.so.1, where there is no other
  std::string launchPath() const;  ///< the archive of launches by recipes
  std::string overlayDir() const;  ///< headers that mend a toolkit
  std::string machineDir() const;  ///< machine files
  std::string pagePath() const;    ///< template of the report's page
  std::string includeDir() const;  ///< the device library
  std::string passesPath() const;  ///< our passes, for clang
  std::string pragmasPath() const; ///< what else of ours is in clang
};

/// The tree that the running executable belongs to: the parent of the folder
/// that holds it.
llvm::Expected<Installation> findInstallation();

/// The file of machine \p NameOrPath: a path if it names a file, otherwise
/// `<name>.json` in the machine folder. The error lists the names there are.
llvm::Expected<std::string> findMachineFile(const Installation &Tree,
                                            llvm::StringRef NameOrPath);

/// The file in \p Folder of the GPU that its driver calls \p Gpu; empty: there
/// is none.
std::string machineFileOf(llvm::StringRef Folder, llvm::StringRef Gpu);

} // namespace reconverge::frontend

#endif
