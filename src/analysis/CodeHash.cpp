//===- analysis/CodeHash.cpp - By which a decision knows its code ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decision is about code, and has to hold in another folder, on another
// machine, for `./app.cu` in the place of `app.cu`. So the hash is of the
// module's text without what says where the source was:
//
//   1. debug information, with all its paths and lines,
//   2. the module's own names, and who compiled it,
//   3. where inline assembly stood,
//   4. the folders of what __FILE__ has left (assert): a constant string that
//      ends in the name of a source file is that name.
//
// Text, because the order of tables in bitcode (kinds of metadata) is that in
// which a process came to know them.
//
//===----------------------------------------------------------------------===//

#include "analysis/CodeHash.h"

#include "core/ContainerIO.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace reconverge::analysis {

static constexpr StringLiteral SealName = "reconverge.code";

static std::string sealOf(const Module &M) {
  const NamedMDNode *Seal = M.getNamedMetadata(SealName);
  const auto *Text =
      Seal && Seal->getNumOperands() == 1 &&
              Seal->getOperand(0)->getNumOperands() == 1
          ? dyn_cast<MDString>(Seal->getOperand(0)->getOperand(0))
          : nullptr;
  return Text ? Text->getString().str() : "";
}

/// Names, without folders, of the files that code of \p M comes from.
static StringSet<> sourceNames(const Module &M) {
  StringSet<> Names;
  Names.insert(sys::path::filename(M.getSourceFileName()));
  DebugInfoFinder Found;
  Found.processModule(M);
  for (const DISubprogram *S : Found.subprograms())
    Names.insert(sys::path::filename(S->getFilename()));
  return Names;
}

/// Takes the folders from constant strings that end in one of \p Names.
static void dropFolders(Module &M, const StringSet<> &Names) {
  for (GlobalVariable &G : make_early_inc_range(M.globals())) {
    const auto *Data =
        G.isConstant() && G.hasInitializer()
            ? dyn_cast<ConstantDataSequential>(G.getInitializer())
            : nullptr;
    if (!Data || !Data->isCString())
      continue;
    StringRef Text = Data->getAsCString(), Name = sys::path::filename(Text);
    if (Name == Text || !Names.contains(Name))
      continue;
    Constant *Short = ConstantDataArray::getString(M.getContext(), Name);
    auto *New =
        new GlobalVariable(M, Short->getType(), true, G.getLinkage(), Short, "",
                           &G, G.getThreadLocalMode(), G.getAddressSpace());
    New->copyAttributesFrom(&G);
    New->takeName(&G);
    G.replaceAllUsesWith(New);
    G.eraseFromParent();
  }
}

std::string codeHash(const Module &M) {
  if (std::string Seal = sealOf(M); !Seal.empty())
    return Seal;
  const StringSet<> Names = sourceNames(M);
  std::unique_ptr<Module> Bare = CloneModule(M);
  StripDebugInfo(*Bare);
  dropFolders(*Bare, Names);
  Bare->setSourceFileName("");
  Bare->setModuleIdentifier("");
  for (StringRef Name : {"llvm.ident", "llvm.commandline", "llvm.module.flags"})
    if (NamedMDNode *Node = Bare->getNamedMetadata(Name))
      Bare->eraseNamedMetadata(Node);
  for (Function &F : *Bare)
    for (Instruction &I : instructions(F))
      I.setMetadata("srcloc", nullptr);
  std::string Text;
  raw_string_ostream OS(Text);
  Bare->print(OS, nullptr);
  return bitcodeHash(OS.str());
}

void sealCodeHash(Module &M) {
  const std::string Hash = codeHash(M);
  LLVMContext &C = M.getContext();
  NamedMDNode *Seal = M.getOrInsertNamedMetadata(SealName);
  Seal->clearOperands();
  Seal->addOperand(MDNode::get(C, MDString::get(C, Hash)));
}

Expected<std::string> codeHashOf(StringRef Bitcode) {
  LLVMContext Context;
  MemoryBufferRef Buffer(Bitcode, "device code");
  auto M = getLazyBitcodeModule(Buffer, Context);
  if (!M)
    return M.takeError();
  if (Error E = (*M)->materializeMetadata())
    return std::move(E);
  if (std::string Seal = sealOf(**M); !Seal.empty())
    return Seal;
  if (Error E = (*M)->materializeAll())
    return std::move(E);
  return codeHash(**M);
}

} // namespace reconverge::analysis
