//===- VmSupportedTest.cpp - docs/supported.md is what the code does ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the document from the code itself, so that the two cannot drift apart:
//
//   runtime calls   the backend's table against the names that the toolkit's
//                   own libcudart exports
//   driver calls    the same of CUDA's driver, against the toolkit's stub for it
//   intrinsics      a kernel around each one that LLVM has, given to the
//                   emitter: it takes it or refuses it
//   refusals        the texts in the sources of src/runtime/vm
//
// and compares. With RECONVERGE_UPDATE_DOCS set, the file is written instead.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Backend.h"
#include "runtime/vm/Driver.h"
#include "runtime/vm/Errors.h"
#include "warpvm/emit/Compile.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <map>
#include <set>

using namespace llvm;
using namespace reconverge;

namespace {

using Names = std::set<std::string>;

void printNames(raw_ostream &OS, const Names &All) {
  bool First = true;
  for (const std::string &Name : All) {
    OS << (First ? "" : ", ") << '`' << Name << '`';
    First = false;
  }
  OS << "\n\n";
}

//===----------------------------------------------------------------------===//
// Runtime calls
//===----------------------------------------------------------------------===//

/// Without the suffix of its form for per-thread default streams.
std::string plainName(StringRef Name) {
  if (!Name.consume_back("_ptsz"))
    (void)Name.consume_back("_ptds");
  return Name.str();
}

/// What a library of the toolkit's exports that begins so.
Names toolkitCalls(StringRef Library, StringRef Part) {
  Names All;
  auto Buffer = MemoryBuffer::getFile(Library);
  if (!Buffer) {
    ADD_FAILURE() << "cannot read " << Library.str();
    return All;
  }
  auto File = object::ObjectFile::createObjectFile(**Buffer);
  if (!File) {
    ADD_FAILURE() << toString(File.takeError());
    return All;
  }
  const auto &Elf = cast<object::ELFObjectFileBase>(**File);
  for (const object::ELFSymbolRef &S : Elf.getDynamicSymbolIterators()) {
    Expected<StringRef> Name = S.getName();
    Expected<uint32_t> Flags = S.getFlags();
    if (!Name || !Flags) {
      consumeError(Name.takeError());
      consumeError(Flags.takeError());
      continue;
    }
    if (!(*Flags & object::SymbolRef::SF_Undefined) && S.getBinding() &&
        Name->contains(Part))
      All.insert(plainName(*Name));
  }
  return All;
}

void printCalls(raw_ostream &OS) {
  const Names Toolkit = toolkitCalls(CUDART, "cuda");
  Names Ours, Others = Toolkit;
  for (const reconverge_backend_symbol &S : runtime::backendTable()) {
    const std::string Name = plainName(S.name);
    Ours.insert(Name);
    Others.erase(Name);
    EXPECT_TRUE(Toolkit.count(Name)) << Name << " is not in the toolkit";
  }
  auto Mine = [](const Names &All, bool Compiler) {
    Names Some;
    for (const std::string &Name : All)
      if (StringRef(Name).starts_with("__") == Compiler)
        Some.insert(Name);
    return Some;
  };
  OS << "## Runtime calls\n\nAgainst the " << Toolkit.size()
     << " functions of CUDA " << CUDART_VERSION / 1000 << '.'
     << CUDART_VERSION % 1000 / 10
     << "'s libcudart. Forms for per-thread default streams (`_ptsz`, `_ptds`) "
        "are there where their plain ones are.\n\n";
  OS << "**Supported** (" << Mine(Ours, false).size() << "):\n\n";
  printNames(OS, Mine(Ours, false));
  OS << "What compilers emit calls to:\n\n";
  printNames(OS, Mine(Ours, true));
  OS << "**Answered by `cudaErrorNotSupported`**, and named once on stderr ("
     << Others.size() << "):\n\n";
  printNames(OS, Others);
}

/// Those of CUDA's driver, of which what is lacking is too long a list.
void printDriverCalls(raw_ostream &OS) {
  const Names Toolkit = toolkitCalls(CUDA_DRIVER_STUB, "cu");
  Names Ours = {"cuInit", "cuDriverGetVersion", "cuGetProcAddress",
                "cuGetProcAddress_v2"};
  for (const reconverge_backend_symbol &S : runtime::driverTable())
    Ours.insert(plainName(S.name));
  for (const std::string &Name : Ours)
    EXPECT_TRUE(Toolkit.count(Name)) << Name << " is not in the toolkit";
  OS << "## Calls of CUDA's driver\n\nAgainst the " << Toolkit.size()
     << " functions of the toolkit's stub for libcuda, the forms of earlier "
        "versions (`_v2`, ...) counted each. All others return "
        "`CUDA_ERROR_NOT_SUPPORTED` and are named once on stderr; "
        "`cuGetExportTable`, which NVIDIA's own libraries call, says that "
        "there "
        "is no device. Kernels are those of the program: "
        "`cudaGetFuncBySymbol` gives their handles.\n\n";
  OS << "**Supported** (" << Ours.size() << "):\n\n";
  printNames(OS, Ours);
}

/// What calls that are supported refuse of their possible uses, from the
/// sources' own texts.
void printRefusals(raw_ostream &OS) {
  const Regex Direct("unsupported\\(\"([^\"]+)\"\\)"),
      Launch("unsupportedLaunch\\([A-Za-z]+, \"([^\"]+)\"\\)");
  Names Found;
  std::error_code EC;
  for (sys::fs::directory_iterator I(VM_SOURCES, EC), End; I != End && !EC;
       I.increment(EC)) {
    if (sys::path::extension(I->path()) != ".cpp")
      continue;
    auto Buffer = MemoryBuffer::getFile(I->path());
    if (!Buffer)
      continue;
    for (StringRef Rest = (*Buffer)->getBuffer(); !Rest.empty();) {
      auto [Line, After] = Rest.split(';');
      Rest = After;
      SmallVector<StringRef> Groups;
      if (Direct.match(Line, &Groups))
        Found.insert(Groups[1].str());
      else if (Launch.match(Line, &Groups))
        Found.insert(("a " + Groups[1] + " launch").str());
    }
  }
  EXPECT_FALSE(EC) << VM_SOURCES << ": " << EC.message();
  OS << "Uses that are refused by name, with the same error:\n\n";
  for (const std::string &Use : Found)
    OS << "- " << Use << '\n';
  OS << '\n';
}

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

class Emitter {
public:
  Emitter() {
    InitializeNativeTarget();
    auto Builder = cantFail(orc::JITTargetMachineBuilder::detectHost());
    Target = cantFail(Builder.createTargetMachine());
  }

  /// Whether a kernel that calls \p Id with \p Types is taken. Nothing if no
  /// such call can be written down.
  std::optional<bool> takes(Intrinsic::ID Id, ArrayRef<Type *> Types,
                            LLVMContext &C);

private:
  bool takes(Function &Callee, std::optional<uint64_t> Constant, Module &M);
  std::unique_ptr<TargetMachine> Target;
};

bool isPlain(const Type *T) {
  return T->isIntegerTy() || T->isFloatingPointTy() || T->isPointerTy() ||
         isa<FixedVectorType>(T);
}

/// A kernel that calls \p Callee with its own parameters, or with \p Constant
/// for each integer. A vector comes as an integer of its bits.
bool Emitter::takes(Function &Callee, std::optional<uint64_t> Constant,
                    Module &M) {
  auto *Called = Callee.getFunctionType();
  LLVMContext &C = M.getContext();
  SmallVector<Type *> Params;
  for (Type *T : Called->params())
    Params.push_back(isa<FixedVectorType>(T)
                         ? IntegerType::get(C, T->getPrimitiveSizeInBits())
                         : T);
  auto *F =
      Function::Create(FunctionType::get(Type::getVoidTy(C), Params, false),
                       GlobalValue::ExternalLinkage, "probe", M);
  F->setCallingConv(CallingConv::PTX_Kernel);
  IRBuilder<> B(BasicBlock::Create(C, "entry", F));
  SmallVector<Value *> Args;
  for (Argument &A : F->args()) {
    Type *T = Called->getParamType(A.getArgNo());
    Value *Given = T == A.getType() ? &A : B.CreateBitCast(&A, T);
    if (T->isIntegerTy() &&
        (Constant ||
         Callee.getArg(A.getArgNo())->hasAttribute(Attribute::ImmArg)))
      Given = ConstantInt::get(A.getType(), Constant.value_or(0));
    Args.push_back(Given);
  }
  B.CreateCall(&Callee, Args);
  B.CreateRetVoid();
  if (verifyFunction(*F))
    return false;
  auto Emitted = warpvm::emitKernel(*F, warpvm::EmitOptions(),
                                    warpvm::Tier::Fused, *Target);
  const bool Taken = bool(Emitted);
  if (!Emitted)
    consumeError(Emitted.takeError());
  return Taken;
}

std::optional<bool> Emitter::takes(Intrinsic::ID Id, ArrayRef<Type *> Types,
                                   LLVMContext &C) {
  auto *T = Intrinsic::getType(C, Id, Types);
  if (T->isVarArg() || !all_of(T->params(), isPlain))
    return std::nullopt;
  Module M("probe", C);
  M.setTargetTriple("nvptx64-nvidia-cuda");
  Function *Callee = Intrinsic::getDeclaration(&M, Id, Types);
  std::string Problem;
  raw_string_ostream OS(Problem);
  if (verifyModule(M, &OS))
    return std::nullopt;
  // A constant may be an alignment, or the number of a barrier.
  return takes(*Callee, 4, M) || takes(*Callee, std::nullopt, M) ||
         takes(*Callee, 0, M);
}

/// By first word: the rest of each name.
using Families = std::map<std::string, Names>;

/// Of a long family, \p Most members at most are worth a name.
void printFamilies(raw_ostream &OS, const Families &All, size_t Most,
                   StringRef Others) {
  OS << "| family | members |\n| --- | --- |\n";
  for (const auto &[Family, Members] : All) {
    OS << "| `" << Family << "` |";
    if (Members.size() > Most)
      OS << ' ' << Members.size() << Others;
    else
      for (const std::string &Member : Members)
        OS << " `" << (Member.empty() ? Family : Member) << '`';
    OS << " |\n";
  }
  OS << '\n';
}

/// The types for which a name stands, to be tried: none, or one or two of the
/// usual ones.
std::vector<SmallVector<Type *, 2>> typesFor(Intrinsic::ID Id, LLVMContext &C) {
  SmallVector<Intrinsic::IITDescriptor> Table;
  Intrinsic::getIntrinsicInfoTableEntries(Id, Table);
  unsigned Open = 0;
  for (const Intrinsic::IITDescriptor &D : Table)
    if (D.Kind == Intrinsic::IITDescriptor::Argument)
      Open = std::max(Open, D.getArgumentNumber() + 1);
  Type *Usual[] = {Type::getInt32Ty(C), Type::getFloatTy(C),
                   PointerType::get(C, 0), PointerType::get(C, 1),
                   PointerType::get(C, 3)};
  std::vector<SmallVector<Type *, 2>> All;
  if (Open == 0)
    All.push_back({});
  for (Type *A : Usual)
    if (Open == 1)
      All.push_back({A});
    else if (Open == 2)
      for (Type *B : Usual)
        All.push_back({A, B});
  return All;
}

void printIntrinsics(raw_ostream &OS) {
  Emitter E;
  Families Supported, Refused;
  for (unsigned N = 1; N != Intrinsic::num_intrinsics; ++N) {
    const auto Id = Intrinsic::ID(N);
    StringRef Name = Intrinsic::getBaseName(Id);
    if (!Name.consume_front("llvm.nvvm."))
      continue;
    LLVMContext C;
    // Of a name for many types, one that is taken is enough; what cannot be
    // written down (over vectors, metadata) is not for kernels.
    bool Taken = false;
    for (ArrayRef<Type *> Types : typesFor(Id, C))
      Taken |= E.takes(Id, Types, C).value_or(false);
    auto [Family, Rest] = Name.split('.');
    (Taken ? Supported : Refused)[Family.str()].insert(Rest.str());
  }
  OS << "## Intrinsics\n\n`llvm.nvvm.*`, as clang makes them of CUDA's "
        "built-in functions and of inline PTX. libdevice (`__nv_*`) is bitcode "
        "and becomes plain arithmetic and these.\n\n**Supported:**\n\n";
  printFamilies(OS, Supported, 50, " forms");
  OS << "**Refused**, by name and place, when a kernel that has them is "
        "launched:\n\n";
  printFamilies(OS, Refused, 16, " more forms");
}

//===----------------------------------------------------------------------===//
// The document
//===----------------------------------------------------------------------===//

std::string document() {
  std::string Text;
  raw_string_ostream OS(Text);
  OS << "# What the warp VM supports\n\nWritten from the code by "
        "`VmSupportedTest` (`RECONVERGE_UPDATE_DOCS=1`), which fails when this "
        "page is out of date. Inline PTX has a page of its own: "
        "[ptx.md](ptx.md). What else is refused, and how: "
        "[warp-vm.md](warp-vm.md). On a GPU, everything is CUDA's own.\n\n";
  printCalls(OS);
  printDriverCalls(OS);
  printRefusals(OS);
  printIntrinsics(OS);
  return StringRef(Text).rtrim().str() + "\n";
}

TEST(Supported, IsWhatTheDocumentSays) {
  const std::string Path = DOCS "/supported.md";
  const std::string Text = document();
  if (std::getenv("RECONVERGE_UPDATE_DOCS")) {
    std::error_code Problem;
    raw_fd_ostream File(Path, Problem);
    ASSERT_FALSE(Problem) << Problem.message();
    File << Text;
    return;
  }
  auto Buffer = MemoryBuffer::getFile(Path);
  ASSERT_TRUE(bool(Buffer)) << Path;
  const std::string Version = "of CUDA " +
                              std::to_string(CUDART_VERSION / 1000) + "." +
                              std::to_string(CUDART_VERSION % 1000 / 10) + "'s";
  if (!(*Buffer)->getBuffer().contains(Version))
    GTEST_SKIP() << "the page was written with another toolkit";
  EXPECT_TRUE((*Buffer)->getBuffer() == Text)
      << "run VmSupportedTest with RECONVERGE_UPDATE_DOCS=1 to write the page "
         "anew";
}

} // namespace
