//===- driver/LaunchWarnings.cpp - Kernels launched as they are ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that sorts by the toolkit's library has some forty kernels that it
// has not written, with names of several hundred letters. Nobody expects them to
// be changed, so they are one line here. Remarks have the rest.
//
// Whose a kernel is, and which two are instances of one template, the debug
// information says, by the place of its definition.
//
//===----------------------------------------------------------------------===//

#include "driver/LaunchWarnings.h"

#include "analysis/Places.h"

#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Function.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace reconverge::driver {

/// Links and ".." resolved, where there is such a file.
static std::string realPath(StringRef Path) {
  SmallString<256> Real;
  return sys::fs::real_path(Path, Real) ? Path.str() : Real.str().str();
}

LaunchWarnings::LaunchWarnings(StringRef Remedy,
                               ArrayRef<std::string> HeaderFolders)
    : Remedy(Remedy) {
  for (const std::string &Each : HeaderFolders)
    if (!Each.empty())
      Folders.push_back(realPath(Each) + "/");
}

bool LaunchWarnings::isToolkits(const Function &Kernel) const {
  const DISubprogram *Of = Kernel.getSubprogram();
  if (!Of)
    return false;
  const std::string File = realPath(analysis::sourcePath(*Of));
  return any_of(Folders, [&](StringRef Each) {
    return StringRef(File).starts_with(Each);
  });
}

/// "RC311" of "app.cu:3: not collected: it uses shared memory [RC311]".
static StringRef codeOf(StringRef Why) {
  return Why.rsplit('[').second.split(']').first;
}

void LaunchWarnings::add(const Function &Kernel, StringRef Of,
                         std::string Text) {
  const std::string Name = demangle(Kernel.getName());
  const DISubprogram *At = Kernel.getSubprogram();
  const std::string Key =
      (At ? analysis::sourcePath(*At) + ":" + std::to_string(At->getLine()) +
                ":" + At->getName().split('<').first.str()
          : Name) +
      ":" + Of.str();
  const auto Before =
      find_if(Lines, [&](const Line &L) { return L.Key == Key; });
  if (Before != Lines.end())
    ++Before->More;
  else
    Lines.push_back({Key, Name, std::move(Text)});
}

void LaunchWarnings::addAsItIs(const Function &Kernel,
                               ArrayRef<std::string> Why) {
  std::vector<std::string> Codes;
  for (const std::string &Each : Why)
    if (std::string Code = codeOf(Each).str(); !is_contained(Codes, Code))
      Codes.push_back(std::move(Code));
  if (!isToolkits(Kernel))
    return add(Kernel, join(Codes, " "),
               " is launched as it is: " + join(Why, "; "));
  ++OfToolkit;
  for (const std::string &Code : Codes)
    ++ToolkitCodes[Code];
}

void LaunchWarnings::addChanged(const Function &Kernel,
                                ArrayRef<std::string> Notes) {
  add(Kernel, "changed", ": " + join(Notes, "; "));
}

void LaunchWarnings::addTaken(const Function &Kernel) {
  add(Kernel, "taken",
      " is launched without " + Remedy + ": another remedy changes its launch");
}

void LaunchWarnings::print(raw_ostream &OS) const {
  for (const Line &L : Lines) {
    OS << "reconverge: warning: " << L.Kernel;
    if (L.More)
      OS << " (and " << L.More << " more of its instances)";
    OS << L.Text << '\n';
  }
  if (!OfToolkit)
    return;
  OS << "reconverge: warning: " << OfToolkit << " kernel"
     << (OfToolkit == 1
             ? " of the CUDA toolkit's headers is launched as it is ("
             : "s of the CUDA toolkit's headers are launched as "
               "they are (");
  ListSeparator Comma;
  for (const auto &[Code, Kernels] : ToolkitCodes)
    OS << Comma << Code << " in " << Kernels;
  OS << "); -Rpass-missed=reconverge-" << Remedy
     << " says where and why, `reconverge explain <code>` what a code means\n";
}

} // namespace reconverge::driver
