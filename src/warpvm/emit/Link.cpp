//===- warpvm/emit/Link.cpp - From an object file to code in memory -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of many small kernels is mostly linked, if all is in the cache.
// LLVM's JITLink builds a graph of any object file of any target, which takes a
// third of a millisecond a kernel. What we link is simpler: position-independent
// code of the small model for x86-64, without exceptions, thread-local variables
// and groups. So sections are copied one behind the other, and addresses are
// written into them:
//
//   pages of a chunk, read-only and executable once they are done
//   | .text | .rodata ... | .data.rel.ro | addresses | stubs |
//
// An address of something outside that code loads or jumps to over more than
// 2 GiB lies in a table behind the sections, and a jump to it goes by a stub.
//
// Code that is written is made executable by one call of the system for each
// object file. Chunks are large, and neighbours with the same rights are one
// mapping to the kernel.
//
// Limitation: a section that code writes to is refused. The emitter makes none.
// Unwinders do not see through this code.
//
//===----------------------------------------------------------------------===//

#include "warpvm/emit/Link.h"

#include "core/Error.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <sys/mman.h>

using namespace llvm;
using namespace llvm::ELF;

namespace reconverge::warpvm {

static constexpr uint64_t Page = 4096, ChunkBytes = 1 << 20;

using File = object::ELFFile<object::ELF64LE>;

namespace {

struct Stub { // jmp *2(%rip); ud2; the address
  uint8_t Jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0x0f, 0x0b};
  uint64_t Address;
};

/// One object file on its way into memory.
class Image {
public:
  Image(const File &Read, ArrayRef<File::Elf_Shdr> Sections)
      : Read(Read), Sections(Sections), Offsets(Sections.size(), Nowhere) {}

  Error open();
  Error resolve(function_ref<Expected<void *>(StringRef)> Find);
  uint64_t bytes() const { return Bytes; }
  Error write(uint8_t *To);
  void define(const uint8_t *At,
              function_ref<void(StringRef, void *)> Define) const;

private:
  static constexpr uint64_t Nowhere = ~uint64_t(0);

  struct Symbol {
    StringRef Name;
    uint64_t Place = Nowhere; ///< offset in the image
    uint64_t Outside = 0;     ///< or address
    uint64_t Slot = Nowhere;  ///< offset of its Stub, whose address is its slot
    bool Global = false;
  };

  Error readSymbols(const File::Elf_Shdr &Table);
  Error forRelocations(
      function_ref<Error(const File::Elf_Rela &, uint64_t At, Symbol &)> Each);
  Error apply(uint8_t *To, const File::Elf_Rela &R, uint64_t At,
              const Symbol &S) const;

  const File &Read;
  ArrayRef<File::Elf_Shdr> Sections;
  SmallVector<uint64_t> Offsets; ///< of sections in the image
  std::vector<Symbol> Symbols;
  uint64_t Bytes = 0;
};

} // namespace

static Error unexpected(const Twine &What) {
  return internalError("an object file of the code generator has " + What);
}

/// Lays out sections and reads symbols.
Error Image::open() {
  for (auto [Section, Offset] : zip(Sections, Offsets)) {
    if (!(Section.sh_flags & SHF_ALLOC) || Section.sh_type == SHT_X86_64_UNWIND)
      continue;
    auto Name = Read.getSectionName(Section);
    if (!Name)
      return Name.takeError();
    if (Name->starts_with(".eh_frame"))
      continue;
    if (Section.sh_flags & (SHF_TLS | SHF_GROUP | SHF_COMPRESSED) ||
        Section.sh_type != SHT_PROGBITS ||
        (Section.sh_flags & SHF_WRITE && !Name->starts_with(".data.rel.ro")))
      return unexpected("a section " + *Name);
    Offset = alignTo(Bytes, std::max<uint64_t>(1, Section.sh_addralign));
    Bytes = Offset + Section.sh_size;
  }
  for (const File::Elf_Shdr &Section : Sections)
    if (Section.sh_type == SHT_SYMTAB)
      return readSymbols(Section);
  return Error::success();
}

Error Image::readSymbols(const File::Elf_Shdr &Table) {
  auto Names = Read.getStringTableForSymtab(Table);
  auto All = Read.symbols(&Table);
  if (!Names || !All)
    return joinErrors(Names.takeError(), All.takeError());
  Symbols.resize(All->size());
  for (auto [S, Into] : zip(*All, Symbols)) {
    auto Name = S.getName(*Names);
    if (!Name)
      return Name.takeError();
    Into.Name = *Name;
    Into.Global = S.getBinding() != STB_LOCAL;
    if (S.st_shndx == SHN_UNDEF)
      continue;
    if (S.st_shndx >= SHN_LORESERVE && S.getType() != STT_FILE)
      return unexpected("a symbol " + *Name + " of no section");
    if (S.st_shndx < Offsets.size() && Offsets[S.st_shndx] != Nowhere)
      Into.Place = Offsets[S.st_shndx] + S.st_value;
  }
  return Error::success();
}

Error Image::forRelocations(
    function_ref<Error(const File::Elf_Rela &, uint64_t, Symbol &)> Each) {
  for (const File::Elf_Shdr &Section : Sections) {
    if (Section.sh_type != SHT_RELA || Section.sh_info >= Offsets.size() ||
        Offsets[Section.sh_info] == Nowhere)
      continue;
    const File::Elf_Shdr &Target = Sections[Section.sh_info];
    auto All = Read.relas(Section);
    if (!All)
      return All.takeError();
    for (const File::Elf_Rela &R : *All) {
      const uint64_t Size = R.getType(false) == R_X86_64_64 ? 8 : 4;
      if (R.r_offset > Target.sh_size || Target.sh_size - R.r_offset < Size ||
          R.getSymbol(false) >= Symbols.size())
        return unexpected("a relocation that leads out of it");
      if (Error E = Each(R, Offsets[Section.sh_info] + R.r_offset,
                         Symbols[R.getSymbol(false)]))
        return E;
    }
  }
  return Error::success();
}

/// Finds what is outside, and makes room for its stubs.
Error Image::resolve(function_ref<Expected<void *>(StringRef)> Find) {
  Bytes = alignTo(Bytes, alignof(Stub));
  return forRelocations(
      [&](const File::Elf_Rela &R, uint64_t At, Symbol &S) -> Error {
        const bool Inside = S.Place != Nowhere;
        if (!Inside && !S.Outside) {
          auto Found = Find(S.Name);
          if (!Found)
            return Found.takeError();
          S.Outside = uint64_t(*Found);
          if (!S.Outside)
            return internalError("compiled code calls '" + S.Name +
                                 "', which there is none of");
        }
        switch (R.getType(false)) {
        case R_X86_64_64:
          return Error::success();
        case R_X86_64_PC32:
          if (Inside)
            return Error::success();
          break;
        case R_X86_64_PLT32:
          if (Inside)
            return Error::success();
          [[fallthrough]];
        case R_X86_64_GOTPCREL:
        case R_X86_64_GOTPCRELX:
        case R_X86_64_REX_GOTPCRELX:
          if (S.Slot == Nowhere) {
            S.Slot = Bytes;
            Bytes += sizeof(Stub);
          }
          return Error::success();
        default:
          break;
        }
        return unexpected("a relocation of type " + Twine(R.getType(false)) +
                          " to " + S.Name);
      });
}

Error Image::apply(uint8_t *To, const File::Elf_Rela &R, uint64_t At,
                   const Symbol &S) const {
  uint64_t Target = S.Place == Nowhere ? S.Outside : uint64_t(To) + S.Place;
  switch (R.getType(false)) {
  case R_X86_64_64:
    support::endian::write64le(To + At, Target + R.r_addend);
    return Error::success();
  case R_X86_64_PLT32:
    if (S.Slot != Nowhere)
      Target = uint64_t(To) + S.Slot;
    break;
  case R_X86_64_GOTPCREL:
  case R_X86_64_GOTPCRELX:
  case R_X86_64_REX_GOTPCRELX:
    Target = uint64_t(To) + S.Slot + offsetof(Stub, Address);
    break;
  default:
    break; // R_X86_64_PC32
  }
  const int64_t Distance = int64_t(Target + R.r_addend - (uint64_t(To) + At));
  if (!isInt<32>(Distance))
    return unexpected("more than 2 GiB");
  support::endian::write32le(To + At, uint32_t(Distance));
  return Error::success();
}

Error Image::write(uint8_t *To) {
  for (auto [Section, Offset] : zip(Sections, Offsets)) {
    if (Offset == Nowhere)
      continue;
    auto From = Read.getSectionContents(Section);
    if (!From)
      return From.takeError();
    std::memcpy(To + Offset, From->data(), From->size());
  }
  for (const Symbol &S : Symbols)
    if (S.Slot != Nowhere) {
      Stub Jump;
      Jump.Address = S.Place == Nowhere ? S.Outside : uint64_t(To) + S.Place;
      std::memcpy(To + S.Slot, &Jump, sizeof(Jump));
    }
  return forRelocations([&](const File::Elf_Rela &R, uint64_t At, Symbol &S) {
    return apply(To, R, At, S);
  });
}

void Image::define(const uint8_t *At,
                   function_ref<void(StringRef, void *)> Define) const {
  for (const Symbol &S : Symbols)
    if (S.Global && S.Place != Nowhere)
      Define(S.Name, const_cast<uint8_t *>(At) + S.Place);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Linker::~Linker() {
  for (auto [Begin, Bytes] : Chunks)
    munmap(Begin, Bytes);
}

/// Whole pages of this process that can be written.
Expected<uint8_t *> Linker::allocate(uint64_t Bytes) {
  std::lock_guard<std::mutex> Guard(Lock);
  if (uint64_t(End - Free) < Bytes) {
    const uint64_t Size = std::max(ChunkBytes, Bytes);
    void *New = mmap(nullptr, Size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (New == MAP_FAILED)
      return userError("there is no memory for compiled code: " +
                           Twine(std::strerror(errno)),
                       "Free some, or raise the limit on it.");
    Chunks.push_back({static_cast<uint8_t *>(New), Size});
    Free = static_cast<uint8_t *>(New);
    End = Free + Size;
  }
  return std::exchange(Free, Free + Bytes);
}

Error Linker::link(MemoryBufferRef Object,
                   function_ref<Expected<void *>(StringRef)> Find,
                   function_ref<void(StringRef, void *)> Define) {
  auto Read = File::create(Object.getBuffer());
  if (!Read)
    return Read.takeError();
  auto Sections = Read->sections();
  if (!Sections)
    return Sections.takeError();
  Image I(*Read, *Sections);
  if (Error E = I.open())
    return E;
  if (Error E = I.resolve(Find))
    return E;
  const uint64_t Bytes = alignTo(std::max<uint64_t>(1, I.bytes()), Page);
  auto At = allocate(Bytes);
  if (!At)
    return At.takeError();
  if (Error E = I.write(*At))
    return E;
  if (mprotect(*At, Bytes, PROT_READ | PROT_EXEC))
    return userError("code that was compiled must not run here: " +
                         Twine(std::strerror(errno)),
                     "Allow memory to become executable.");
  I.define(*At, Define);
  return Error::success();
}

} // namespace reconverge::warpvm
