//===- driver/OutputBuffers.cpp - Device memory as an output --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer has no name of its own, so it is named by who knows it: the kernel
// and the argument that points there. Which kernel, and whether that argument
// is a pointer, the program's device code tells before it runs; which buffer,
// the run (runtime/outputs).
//
//===----------------------------------------------------------------------===//

#include "driver/OutputBuffers.h"

#include "analysis/Names.h"
#include "analysis/device/Annotations.h"
#include "core/Error.h"
#include "core/File.h"
#include "core/OutputBuffers.h"
#include "driver/ProgramModules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FileSystem.h"

#include <map>
#include <set>

using namespace llvm;

namespace reconverge::driver {

/// Of each argument of a kernel, whether it is a pointer.
using Pointers = std::vector<bool>;

/// The kernels in the file \p Program, by their mangled names.
static Expected<std::map<std::string, Pointers>> kernelsOf(StringRef Program) {
  auto Modules = modulesOf(Program);
  if (!Modules)
    return Modules.takeError();
  std::map<std::string, Pointers> Found;
  for (const auto &Code : *Modules) {
    LLVMContext Context;
    auto M = parseBitcodeFile({Code.second, "device code"}, Context);
    if (!M)
      return M.takeError();
    for (const Function &F : **M) {
      if (F.isDeclaration() || !analysis::isKernel(F))
        continue;
      Pointers &Arguments = Found[F.getName().str()];
      Arguments.clear();
      for (const Argument &A : F.args())
        Arguments.push_back(A.getType()->isPointerTy() && !A.hasByValAttr());
    }
  }
  return Found;
}

/// Whether a user who says \p Asked may mean the kernel that is displayed as
/// \p Display: its name may lack what it lies in, and the template's arguments.
static bool mayMean(StringRef Asked, StringRef Display) {
  auto EndsSo = [&](StringRef Name) {
    return Name == Asked || Name.ends_with(("::" + Asked).str());
  };
  return EndsSo(Display) ||
         EndsSo(Display.take_until([](char C) { return C == '<'; }));
}

/// "a, b and 3 more".
static std::string listOf(const std::set<std::string> &Names) {
  constexpr size_t Most = 8;
  std::vector<std::string> Some(
      Names.begin(), std::next(Names.begin(), std::min(Most, Names.size())));
  return join(Some, ", ") +
         (Names.size() > Most
              ? " and " + std::to_string(Names.size() - Most) + " more"
              : "");
}

/// The kernel that \p How means.
static Expected<std::string>
kernelOf(const QualityRequest &How,
         const std::map<std::string, Pointers> &Kernels) {
  const std::string Said = "--quality: out=" + How.Output + ": ";
  std::set<std::string> All, Meant;
  std::string Name;
  for (const auto &[Mangled, Arguments] : Kernels) {
    const std::string Display = analysis::displayName(Mangled);
    All.insert(Display);
    if (mayMean(How.Kernel, Display)) {
      Meant.insert(Display);
      Name = Mangled;
    }
  }
  if (Meant.empty())
    return userError(Said + "the program has no kernel " + How.Kernel,
                     All.empty() ? Twine("It has none at all.")
                                 : "Its kernels are " + listOf(All) + ".");
  if (Meant.size() > 1)
    return userError(Said + std::to_string(Meant.size()) +
                         " kernels have that name",
                     "Name one as it is here: " + listOf(Meant) + ".");
  const Pointers &Arguments = Kernels.at(Name);
  if (How.Argument > Arguments.size())
    return userError(Said + "the kernel has " + Twine(Arguments.size()) +
                         (Arguments.size() == 1 ? " argument" : " arguments"),
                     "They are counted from 1.");
  if (!Arguments[How.Argument - 1])
    return userError(Said + "that argument is no pointer",
                     "Name one that points to the output; arguments are "
                     "counted from 1.");
  return Name;
}

Expected<OutputBuffers> OutputBuffers::find(ArrayRef<QualityRequest> Asked,
                                            StringRef Program,
                                            const frontend::TempDir &Folder) {
  OutputBuffers Found;
  if (none_of(Asked, [](const QualityRequest &How) { return How.isBuffer(); }))
    return Found;
  auto Kernels = kernelsOf(Program);
  if (!Kernels)
    return Kernels.takeError();
  Found.List = Folder.file("buffers.txt");
  for (const QualityRequest &How : Asked) {
    if (!How.isBuffer())
      continue;
    auto Kernel = kernelOf(How, *Kernels);
    if (!Kernel)
      return Kernel.takeError();
    Found.All.push_back(
        {How.Output, *Kernel, How.Argument,
         Folder.file("buffer-" + Twine(Found.All.size() + 1) + ".bin")});
  }
  return Found;
}

Error OutputBuffers::ask(RunMode &Mode) const {
  if (empty())
    return Error::success();
  Mode.Buffers = List;
  for (const Buffer &B : All)
    for (const std::string &Old : {B.File, B.File + WhyNoOutput})
      (void)sys::fs::remove(Old); // what is not there need not be removed
  return writeFileAtomically(List, [&](raw_ostream &OS) {
    for (const Buffer &B : All)
      OS << B.Kernel << ' ' << B.Argument << ' ' << B.File << '\n';
  });
}

Expected<std::string> OutputBuffers::read(const QualityRequest &How) const {
  const Buffer &B = *find_if(
      All, [&](const Buffer &Other) { return Other.Output == How.Output; });
  if (sys::fs::exists(B.File)) {
    auto Content = readFile(B.File);
    if (!Content)
      return Content.takeError();
    return (*Content)->getBuffer().str();
  }
  auto Why = readFile(B.File + WhyNoOutput);
  if (Why)
    return userError("out=" + How.Output + ": " +
                         (*Why)->getBuffer().trim().str(),
                     "Name an argument that points to memory of the device.");
  consumeError(Why.takeError());
  return userError("out=" + How.Output +
                       ": the program does not end as one "
                       "that leaves its buffers",
                   "Have it return from main, or call exit.");
}

} // namespace reconverge::driver
