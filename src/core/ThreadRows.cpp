//===- core/ThreadRows.cpp - Threads, a row each --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file is binary: rows are many, and floats have to come back as they were,
// NaN included. The hash in front finds damage; a reader that runs out of bytes
// all the same reads zeros from there on, and no size that it reads is believed
// beyond what is left.

#include "core/ThreadRows.h"

#include "core/Error.h"
#include "core/File.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace reconverge {

/// The version is in it.
static constexpr StringLiteral RowsMagic = "reconverge-rows/1\n";
static constexpr StringLiteral AnyVersion = "reconverge-rows/";

namespace {
class Writer {
public:
  explicit Writer(std::string &To) : To(To) {}
  template <typename T> void number(T Value) {
    char Bytes[sizeof(T)];
    support::endian::write<T, llvm::endianness::little>(Bytes, Value);
    To.append(Bytes, sizeof(T));
  }
  void text(StringRef Text) {
    number(uint64_t(Text.size()));
    To.append(Text.begin(), Text.end());
  }

private:
  std::string &To;
};

/// After the first fault all that is read is 0 and empty.
class Reader {
public:
  explicit Reader(StringRef From) : From(From) {}
  template <typename T> T number() {
    Failed |= From.size() < sizeof(T);
    if (Failed)
      return 0;
    const T Value =
        support::endian::read<T, llvm::endianness::little>(From.data());
    From = From.drop_front(sizeof(T));
    return Value;
  }
  /// How many things of at least \p Bytes come.
  size_t count(size_t Bytes = 1) {
    const uint64_t N = number<uint64_t>();
    Failed |= N > From.size() / Bytes;
    return Failed ? 0 : size_t(N);
  }
  std::string text() {
    const size_t Size = count();
    std::string Text = From.take_front(Size).str();
    From = From.drop_front(Size);
    return Text;
  }
  bool isAtEnd() const { return !Failed && From.empty(); }

private:
  StringRef From;
  bool Failed = false;
};
} // namespace

static void writeKernel(Writer &W, const KernelRows &K) {
  W.text(K.Kernel);
  W.text(K.Module);
  W.number(uint64_t(K.Loads.size()));
  for (size_t L = 0; L != K.Loads.size(); ++L) {
    W.number(K.Loads[L]);
    W.text(L < K.Places.size() ? K.Places[L] : "");
  }
  W.number(K.OfBlock);
  W.number(uint64_t(K.Rows.size()));
  for (size_t Row = 0; Row != K.Rows.size(); ++Row) {
    W.number(K.Rows.Number[Row]);
    W.number(K.Rows.Took[Row]);
    for (float Value : K.Rows.read(Row))
      W.number(Value);
  }
}

static KernelRows readKernel(Reader &R) {
  KernelRows K;
  K.Kernel = R.text();
  K.Module = R.text();
  const size_t Loads = R.count(sizeof(uint32_t) + sizeof(uint64_t));
  for (size_t L = 0; L != Loads; ++L) {
    K.Loads.push_back(R.number<uint32_t>());
    K.Places.push_back(R.text());
  }
  K.OfBlock = R.number<uint64_t>();
  K.Rows.Loads = Loads;
  const size_t Rows =
      R.count(sizeof(uint64_t) + sizeof(double) + Loads * sizeof(float));
  std::vector<float> Values(Loads);
  for (size_t Row = 0; Row != Rows; ++Row) {
    const auto Number = R.number<uint64_t>();
    const auto Took = R.number<double>();
    for (float &Value : Values)
      Value = R.number<float>();
    K.Rows.add(Values, Number, Took);
  }
  return K;
}

std::string printRows(ArrayRef<KernelRows> Kernels) {
  std::string Body, Whole = RowsMagic.str();
  Writer W(Body), Frame(Whole);
  W.number(uint64_t(Kernels.size()));
  for (const KernelRows &K : Kernels)
    writeKernel(W, K);
  Frame.number(uint64_t(Body.size()));
  Frame.number(uint64_t(xxh3_64bits(Body)));
  return Whole + Body;
}

Error writeRows(ArrayRef<KernelRows> Kernels, StringRef Path) {
  const std::string Bytes = printRows(Kernels);
  return writeOutput(Path, [&](raw_ostream &OS) { OS << Bytes; });
}

Expected<std::vector<KernelRows>> parseRows(StringRef Bytes, StringRef File) {
  constexpr const char *Again = "reconverge profile --paths writes such files.";
  StringRef Body = Bytes;
  if (!Body.consume_front(RowsMagic))
    return userError(File + (Bytes.starts_with(AnyVersion)
                                 ? ": rows of threads in another version, " +
                                       Bytes.substr(0, 40).split('\n').first
                                 : ": no rows of threads"),
                     Again);
  Reader Frame(Body);
  const auto Size = Frame.number<uint64_t>(), Hash = Frame.number<uint64_t>();
  Body = Body.drop_front(std::min<size_t>(Body.size(), 16));
  Reader R(Body);
  std::vector<KernelRows> Kernels;
  bool IsWhole = Body.size() == Size && xxh3_64bits(Body) == Hash;
  if (IsWhole) {
    // A name, a module, loads, threads of a block, rows: eight bytes each.
    const size_t Count = R.count(5 * sizeof(uint64_t));
    for (size_t K = 0; K != Count; ++K) {
      Kernels.push_back(readKernel(R));
      IsWhole &= Kernels.back().OfBlock != 0;
    }
  }
  if (!IsWhole || !R.isAtEnd())
    return userError(File + ": the file is damaged", Again);
  return Kernels;
}

Expected<std::vector<KernelRows>> readRows(StringRef Path) {
  auto File = readFile(Path);
  if (!File)
    return File.takeError();
  return parseRows((*File)->getBuffer(), Path);
}

} // namespace reconverge
