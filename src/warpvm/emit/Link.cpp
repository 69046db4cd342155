//===- warpvm/emit/Link.cpp - From an object file to code in memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of many small kernels is mostly linked, if all is in the cache. LLVM
// has two linkers for a process. JITLink builds a graph of an object file and asks
// the system for pages of each kind, which takes a third of a millisecond a kernel.
// RuntimeDyld copies sections and writes addresses into them, which is all that our
// code needs: it is position-independent, of the small model, and throws nothing. It
// takes its time for each address, so there are few (WriteObject.cpp).
//
// Its sections lie side by side in chunks of this process, so that code reaches its
// constants, and whole pages of them become executable by one call of the system.
// Chunks are large pages, if the system has some: to get one takes a fifth of the
// time of as much in small ones, and they are a third of what linking takes.
// Neighbours with the same rights are one mapping to the kernel.
//
// Limitation: a section that code writes to is refused. The emitter makes none.
// Unwinders do not see through this code.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Link.h"

#include "core/Error.h"

#include "llvm/ExecutionEngine/JITSymbol.h"
#include "llvm/ExecutionEngine/RuntimeDyld.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>

using namespace llvm;

namespace reconverge::warpvm {

static constexpr uint64_t Page = 4096, ChunkBytes = 2 << 20;

namespace {
/// The pages of one object file.
class Pages : public RuntimeDyld::MemoryManager {
public:
  explicit Pages(function_ref<Expected<uint8_t *>(uint64_t)> Allocate)
      : Allocate(Allocate) {}

  bool needsToReserveAllocationSpace() override { return true; }
  void reserveAllocationSpace(uintptr_t Code, Align CodeAlign, uintptr_t Read,
                              Align ReadAlign, uintptr_t Write,
                              Align WriteAlign) override {
    const uint64_t Bytes =
        alignTo(alignTo(Code + ReadAlign.value(), ReadAlign) +
                    alignTo(Read + WriteAlign.value(), WriteAlign) + Write + 1,
                Page);
    auto At = Allocate(Bytes);
    if (At) {
      Begin = Free = *At;
    } else { // RuntimeDyld cannot be told to stop here
      Problem = joinErrors(std::move(Problem), At.takeError());
      Unused.resize(Bytes);
      Free = Unused.data();
    }
    End = Free + Bytes;
  }
  uint8_t *allocateCodeSection(uintptr_t Bytes, unsigned Alignment, unsigned,
                               StringRef) override {
    return take(Bytes, Alignment);
  }
  uint8_t *allocateDataSection(uintptr_t Bytes, unsigned Alignment, unsigned,
                               StringRef Name, bool IsReadOnly) override {
    // Those two hold addresses, which are written before code runs.
    if (!IsReadOnly && Name != ".got" && !Name.starts_with(".data.rel.ro"))
      Problem =
          joinErrors(std::move(Problem),
                     internalError("compiled code has a section " + Name));
    return take(Bytes, Alignment);
  }
  bool finalizeMemory(std::string *) override { return false; }
  void registerEHFrames(uint8_t *, uint64_t, size_t) override {}
  void deregisterEHFrames() override {}

  Error problem() { return std::move(Problem); }
  /// They can be executed from here on, and not written.
  Error finish() {
    if (Begin && mprotect(Begin, End - Begin, PROT_READ | PROT_EXEC))
      return userError("code that was compiled must not run here: " +
                           Twine(std::strerror(errno)),
                       "Allow memory to become executable.");
    return Error::success();
  }

private:
  uint8_t *take(uint64_t Bytes, unsigned Alignment) {
    auto *At = reinterpret_cast<uint8_t *>(
        alignTo(uintptr_t(Free), std::max(1u, Alignment)));
    assert(At + Bytes <= End && "sections are what was reserved");
    Free = At + Bytes;
    return At;
  }

  function_ref<Expected<uint8_t *>(uint64_t)> Allocate;
  uint8_t *Begin = nullptr, *Free = nullptr, *End = nullptr;
  std::vector<uint8_t> Unused; ///< for want of pages
  Error Problem = Error::success();
};

/// What an object file lacks.
class Outside : public JITSymbolResolver {
public:
  explicit Outside(function_ref<Expected<void *>(StringRef)> Find)
      : Find(Find) {}
  void lookup(const LookupSet &Names, OnResolvedFunction Tell) override {
    LookupResult All;
    for (StringRef Name : Names) {
      auto At = Find(Name);
      if (At && !*At)
        At = internalError("compiled code asks for '" + Name +
                           "', which there is none of");
      if (!At) {
        Problem = joinErrors(std::move(Problem), At.takeError());
        // RuntimeDyld would keep the text alone.
        return Tell(createStringError("a name that there is none of"));
      }
      All[Name] = {uint64_t(*At), JITSymbolFlags::Exported};
    }
    Tell(std::move(All));
  }
  /// Of names that others might define too.
  Expected<LookupSet> getResponsibilitySet(const LookupSet &Names) override {
    return Names;
  }
  Error problem() { return std::move(Problem); }

private:
  function_ref<Expected<void *>(StringRef)> Find;
  Error Problem = Error::success();
};
} // namespace

Linker::~Linker() {
  for (auto [Begin, Bytes] : Chunks)
    munmap(Begin, Bytes);
}

/// Whole pages of this process that can be written.
Expected<uint8_t *> Linker::allocate(uint64_t Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (uint64_t(End - Free) < Bytes) {
    const uint64_t Size = alignTo(Bytes, ChunkBytes) + ChunkBytes;
    void *New = mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (New == MAP_FAILED)
      return userError("there is no memory for compiled code: " +
                           Twine(std::strerror(errno)),
                       "Free some, or raise the limit on it.");
    Chunks.push_back({static_cast<uint8_t *>(New), Size});
    Free = reinterpret_cast<uint8_t *>(alignTo(uintptr_t(New), ChunkBytes));
    End = Free + alignTo(Bytes, ChunkBytes);
    (void)madvise(Free, End - Free, MADV_HUGEPAGE); // an advice
  }
  return std::exchange(Free, Free + Bytes);
}

Error Linker::link(MemoryBufferRef Object,
                   function_ref<Expected<void *>(StringRef)> Find,
                   function_ref<void(StringRef, void *)> Define) {
  auto Read = object::ObjectFile::createObjectFile(Object);
  if (!Read)
    return Read.takeError();
  const auto Allocate = [this](uint64_t Bytes) { return allocate(Bytes); };
  Pages Memory(Allocate);
  Outside Others(Find);
  RuntimeDyld Dyld(Memory, Others);
  const auto Loaded = Dyld.loadObject(**Read);
  if (Loaded)
    Dyld.resolveRelocations();
  if (Error E = joinErrors(Memory.problem(), Others.problem()))
    return E;
  if (Dyld.hasError())
    return internalError(Dyld.getErrorString());
  if (Error E = Memory.finish())
    return E;
  for (const auto &[Name, Symbol] : Dyld.getSymbolTable())
    if (Symbol.getFlags().isExported())
      Define(Name, reinterpret_cast<void *>(Symbol.getAddress()));
  return Error::success();
}

} // namespace reconverge::warpvm
