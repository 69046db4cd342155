//===- core/ProfileReader.cpp - divergence.json as a Profile --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything downstream indexes with what it finds in a Profile, so nothing is
// believed here: every value is read through a typed function that reports the
// path to it, then each kernel is checked as a whole. The first fault ends the
// reading, so a damaged file gets one message:
//
//   run.json: block has more lanes than its warps at
//   (root).kernels[0].blocks[3]
//     This is not what 'reconverge profile' wrote; profile the program again.
//
// Keys that are not known are ignored ("cost" is one: it is derived).
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "core/File.h"
#include "core/ProfileJson.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace llvm;

namespace reconverge {

namespace {

/// The members of one JSON object, read by name. After the first fault the
/// path's root holds the message and every call returns false.
class Fields {
public:
  Fields(const json::Value &V, json::Path P) : P(P), O(V.getAsObject()) {
    if (!O)
      P.report("expected object");
  }

  explicit operator bool() const { return O != nullptr; }
  json::Path path(StringRef Key) const { return P.field(Key); }

  const json::Value *value(StringRef Key) const {
    const json::Value *V = O ? O->get(Key) : nullptr;
    if (O && !V)
      P.field(Key).report("missing value");
    return V;
  }

  bool text(StringRef Key, std::string &Out) const {
    const json::Value *V = value(Key);
    return V && json::fromJSON(*V, Out, P.field(Key));
  }
  bool flag(StringRef Key, bool &Out) const {
    const json::Value *V = value(Key);
    return V && json::fromJSON(*V, Out, P.field(Key));
  }
  template <typename Unsigned> bool count(StringRef Key, Unsigned &Out) const;
  template <typename Unsigned>
  bool counts(StringRef Key, std::vector<Unsigned> &Out) const;
  bool measure(StringRef Key, double &Out) const;
  /// Calls Read(value, path, element) for each element of an array.
  template <typename T, typename Reader>
  bool list(StringRef Key, std::vector<T> &Out, Reader Read) const;

private:
  json::Path P;
  const json::Object *O;
};

} // namespace

template <typename Unsigned>
static bool readCount(const json::Value &V, json::Path P, Unsigned &Out) {
  static_assert(std::is_unsigned_v<Unsigned>);
  // getAsUINT64 would take 4e0 and refuse -1 in the same words as "x".
  std::optional<uint64_t> N = V.getAsUINT64();
  if (!N) {
    P.report("expected a whole number that is not negative");
    return false;
  }
  if (*N > std::numeric_limits<Unsigned>::max()) {
    P.report("number too large");
    return false;
  }
  Out = static_cast<Unsigned>(*N);
  return true;
}

template <typename Unsigned>
bool Fields::count(StringRef Key, Unsigned &Out) const {
  const json::Value *V = value(Key);
  return V && readCount(*V, P.field(Key), Out);
}

bool Fields::measure(StringRef Key, double &Out) const {
  const json::Value *V = value(Key);
  if (!V)
    return false;
  std::optional<double> N = V->getAsNumber();
  if (!N || std::isnan(*N) || *N < 0) {
    P.field(Key).report("expected a number that is not negative");
    return false;
  }
  if (*N > 1e15) { // sums of products with counts must stay finite
    P.field(Key).report("number too large");
    return false;
  }
  Out = *N;
  return true;
}

template <typename T, typename Reader>
bool Fields::list(StringRef Key, std::vector<T> &Out, Reader Read) const {
  const json::Value *V = value(Key);
  if (!V)
    return false;
  const json::Array *A = V->getAsArray();
  if (!A) {
    P.field(Key).report("expected array");
    return false;
  }
  Out.clear();
  Out.resize(A->size());
  json::Path Whole = P.field(Key); // index() keeps a pointer to it
  for (size_t I = 0; I != A->size(); ++I)
    if (!Read((*A)[I], Whole.index(I), Out[I]))
      return false;
  return true;
}

template <typename Unsigned>
bool Fields::counts(StringRef Key, std::vector<Unsigned> &Out) const {
  return list(Key, Out, readCount<Unsigned>);
}

//===----------------------------------------------------------------------===//
// One function a value
//===----------------------------------------------------------------------===//

static bool readLoc(const json::Value &V, json::Path P, SourceLoc &Loc) {
  Fields F(V, P);
  return F && F.text("file", Loc.File) && F.count("line", Loc.Line) &&
         F.count("column", Loc.Column) && F.text("function", Loc.Function);
}

static bool readTriple(const Fields &F, StringRef Key,
                       std::array<uint32_t, 3> &Out) {
  std::vector<uint32_t> Sizes;
  if (!F.counts(Key, Sizes))
    return false;
  if (Sizes.size() != 3 || is_contained(Sizes, 0u)) {
    F.path(Key).report("expected three sizes of at least 1");
    return false;
  }
  std::copy(Sizes.begin(), Sizes.end(), Out.begin());
  return true;
}

static bool readShape(const json::Value &V, json::Path P, LaunchShape &S) {
  Fields F(V, P);
  return F && readTriple(F, "grid", S.Grid) &&
         readTriple(F, "block", S.Block) &&
         F.count("dynamicShared", S.DynamicShared);
}

namespace {
/// What stands together in the file is two parallel lists in memory.
struct BlockRow {
  BlockInfo Info;
  BlockCounts Counts;
};
struct BranchRow {
  BranchInfo Info;
  BranchCounts Counts;
};
} // namespace

static bool readBlock(const json::Value &V, json::Path P, BlockRow &Row) {
  Fields F(V, P);
  return F && F.count("id", Row.Info.Id) &&
         F.list("where", Row.Info.Where, readLoc) &&
         F.count("instructions", Row.Info.Instructions) &&
         F.measure("issueSlots", Row.Info.IssueSlots) &&
         F.measure("latency", Row.Info.Latency) &&
         F.count("warps", Row.Counts.Warps) &&
         F.count("lanes", Row.Counts.Lanes) &&
         F.count("partialIdle", Row.Counts.PartialIdle) &&
         F.count("exitedIdle", Row.Counts.ExitedIdle);
}

static bool readKind(const Fields &F, BranchKind &Out) {
  std::string Word;
  if (!F.text("kind", Word))
    return false;
  for (BranchKind Kind : {BranchKind::If, BranchKind::IfElse,
                          BranchKind::LoopExit, BranchKind::Switch})
    if (Word == wordOf(Kind)) {
      Out = Kind;
      return true;
    }
  F.path("kind").report("expected if, if-else, loop exit or switch");
  return false;
}

static bool readBranch(const json::Value &V, json::Path P, BranchRow &Row) {
  Fields F(V, P);
  return F && F.count("id", Row.Info.Id) && F.count("block", Row.Info.Block) &&
         readKind(F, Row.Info.Kind) &&
         F.list("where", Row.Info.Where, readLoc) &&
         F.text("condition", Row.Info.Condition) &&
         F.text("reason", Row.Info.Reason) &&
         F.flag("leavesKernel", Row.Info.LeavesKernel) &&
         F.counts("successors", Row.Info.Successors) &&
         F.counts("region", Row.Info.Region) &&
         F.count("warps", Row.Counts.Warps) &&
         F.count("splits", Row.Counts.Splits) &&
         F.counts("lanesTo", Row.Counts.LanesTo);
}

//===----------------------------------------------------------------------===//
// What must hold between values: the fault in words, or empty
//===----------------------------------------------------------------------===//

/// Whether \p Lanes lanes fit into \p Warps warps of \p Size.
static bool fits(uint64_t Lanes, uint64_t Warps, uint32_t Size) {
  return Lanes <= SaturatingMultiply<uint64_t>(Warps, Size);
}

static StringLiteral faultOf(const BlockCounts &C, uint32_t WarpSize) {
  uint64_t All = SaturatingAdd(C.Lanes, C.PartialIdle, C.ExitedIdle);
  if (!fits(C.Lanes, C.Warps, WarpSize))
    return "block has more lanes than its warps";
  if (!fits(All, C.Warps, WarpSize))
    return "block has more lanes and idle lanes than its warps";
  return "";
}

static StringLiteral faultOf(const BranchRow &Row, size_t Blocks,
                             uint32_t WarpSize) {
  const BranchInfo &B = Row.Info;
  if (B.Block >= Blocks)
    return "branch lies in a block that is not listed";
  if (B.Successors.empty())
    return "branch has no successors";
  if (any_of(B.Successors, [&](uint32_t S) { return S >= Blocks; }))
    return "branch leads to a block that is not listed";
  if (any_of(B.Region, [&](uint32_t R) { return R >= Blocks; }))
    return "region has a block that is not listed";
  if (std::ranges::adjacent_find(B.Region, std::greater_equal<>()) !=
      B.Region.end())
    return "region is not in ascending order";
  if (Row.Counts.LanesTo.size() != B.Successors.size())
    return "lanesTo and successors differ in length";
  if (Row.Counts.Splits > Row.Counts.Warps)
    return "branch split more warps than reached it";
  uint64_t Lanes = 0;
  for (uint64_t N : Row.Counts.LanesTo)
    Lanes = SaturatingAdd(Lanes, N);
  if (!fits(Lanes, Row.Counts.Warps, WarpSize))
    return "branch has more lanes than its warps";
  return "";
}

static StringLiteral faultOf(const RegroupedCounts &R, size_t Blocks,
                             uint32_t WarpSize) {
  const std::vector<uint64_t> *Rows[] = {&R.Lanes, &R.Warps, &R.InWarp,
                                         &R.InBlock, &R.InGrid};
  size_t Wanted = R.Launches ? Blocks : R.Lanes.size();
  if (!R.Launches && !R.Lanes.empty() && R.Lanes.size() != Blocks)
    return "list is not parallel to the blocks";
  for (const std::vector<uint64_t> *Row : Rows)
    if (Row->size() != Wanted)
      return "list is not parallel to the blocks";
  for (size_t B = 0; B != R.Lanes.size(); ++B)
    for (const std::vector<uint64_t> *Row : drop_begin(Rows))
      if (!fits(R.Lanes[B], (*Row)[B], WarpSize))
        return "block has more lanes than its warps";
  return "";
}

static bool checkKernel(const KernelProfile &K, const Fields &F) {
  auto Report = [&](StringRef Key, StringLiteral Fault) {
    if (!Fault.empty())
      F.path(Key).report(Fault);
    return Fault.empty();
  };
  if (K.Info.Name.empty())
    return Report("name", "expected the kernel's name");
  if (K.WarpSize != 32 && K.WarpSize != 64)
    return Report("warpSize", "expected 32 or 64");
  if (!fits(K.Threads, K.WarpsRun, K.WarpSize))
    return Report("threads", "more threads than the warps hold");
  if (K.DivergentWarps > K.WarpsRun)
    return Report("divergentWarps", "more divergent warps than warps");
  return Report("regrouped", faultOf(K.Regrouped, K.Blocks.size(), K.WarpSize));
}

static bool readRegrouped(const Fields &Kernel, RegroupedCounts &R) {
  const json::Value *V = Kernel.value("regrouped");
  if (!V)
    return false;
  json::Path Here = Kernel.path("regrouped");
  Fields F(*V, Here);
  return F && F.count("launches", R.Launches) &&
         F.count("threads", R.Threads) && F.counts("lanes", R.Lanes) &&
         F.counts("warps", R.Warps) && F.counts("inWarp", R.InWarp) &&
         F.counts("inBlock", R.InBlock) && F.counts("inGrid", R.InGrid);
}

static bool readKernel(const json::Value &V, json::Path P, KernelProfile &K) {
  Fields F(V, P);
  KernelInfo &Info = K.Info;
  if (!F || !F.text("name", Info.Name) || !F.text("display", Info.Display) ||
      !F.text("module", Info.Module) || !F.list("where", Info.Where, readLoc) ||
      !F.count("warpSize", K.WarpSize) || !F.count("launches", K.Launches) ||
      !F.count("threads", K.Threads) || !F.count("warps", K.WarpsRun) ||
      !F.count("divergentWarps", K.DivergentWarps) ||
      !F.measure("seconds", K.Seconds) ||
      !F.list("shapes", K.Shapes, readShape))
    return false;

  std::vector<BlockRow> Blocks;
  auto Block = [&](const json::Value &V, json::Path P, BlockRow &Row) {
    if (!readBlock(V, P, Row))
      return false;
    StringLiteral Fault = faultOf(Row.Counts, K.WarpSize);
    if (!Fault.empty())
      P.report(Fault);
    return Fault.empty();
  };
  std::vector<BranchRow> Branches;
  auto Branch = [&](const json::Value &V, json::Path P, BranchRow &Row) {
    if (!readBranch(V, P, Row))
      return false;
    StringLiteral Fault = faultOf(Row, Blocks.size(), K.WarpSize);
    if (!Fault.empty())
      P.report(Fault);
    return Fault.empty();
  };
  if (!F.list("blocks", Blocks, Block) ||
      !F.list("branches", Branches, Branch) || !readRegrouped(F, K.Regrouped))
    return false;
  for (BlockRow &Row : Blocks) {
    Info.Blocks.push_back(std::move(Row.Info));
    K.Blocks.push_back(Row.Counts);
  }
  for (BranchRow &Row : Branches) {
    Info.Branches.push_back(std::move(Row.Info));
    K.Branches.push_back(std::move(Row.Counts));
  }
  return checkKernel(K, F);
}

static bool readExitStatus(const Fields &F, int &Out) {
  const json::Value *V = F.value("exitStatus");
  if (!V)
    return false;
  std::optional<int64_t> N = V->getAsInteger();
  if (!N || *N < std::numeric_limits<int>::min() ||
      *N > std::numeric_limits<int>::max()) {
    F.path("exitStatus").report("expected an exit status");
    return false;
  }
  Out = static_cast<int>(*N);
  return true;
}

static bool readRoot(const json::Value &V, json::Path Here, Profile &P) {
  Fields F(V, Here);
  auto String = [](const json::Value &V, json::Path P, std::string &Out) {
    return json::fromJSON(V, Out, P);
  };
  return F && F.text("program", P.Program) &&
         F.list("arguments", P.Arguments, String) &&
         readExitStatus(F, P.ExitStatus) && F.text("backend", P.Backend) &&
         F.text("device", P.Device) && F.text("policy", P.Policy) &&
         F.text("machine", P.Machine) && F.list("notes", P.Notes, String) &&
         F.list("kernels", P.Kernels, readKernel);
}

//===----------------------------------------------------------------------===//
// The file as a whole
//===----------------------------------------------------------------------===//

/// llvm::json::parse recurses once a level: a file of nothing but brackets
/// would end on the stack's guard page. Ours nest eight deep.
static bool nestsTooDeeply(StringRef Text) {
  constexpr unsigned Limit = 64;
  unsigned Depth = 0;
  bool InString = false;
  for (size_t I = 0; I < Text.size(); ++I) {
    char C = Text[I];
    if (InString) {
      if (C == '\\')
        ++I;
      else if (C == '"')
        InString = false;
    } else if (C == '"') {
      InString = true;
    } else if (C == '[' || C == '{') {
      if (++Depth > Limit)
        return true;
    } else if ((C == ']' || C == '}') && Depth) {
      --Depth;
    }
  }
  return false;
}

static constexpr StringLiteral ProfileAgain =
    "This is not what 'reconverge profile' wrote; profile the program again.";

/// llvm::json words a syntax error "[line:column, byte=N]: what"; ours puts
/// file, line and column in front as compilers do.
static Error syntaxError(StringRef File, Error E) {
  std::string Logged = toString(std::move(E));
  auto [Place, What] = StringRef(Logged).split("]: ");
  if (!Place.consume_front("[") || What.empty())
    return userError(File + ": not valid JSON: " + Logged, ProfileAgain);
  return userError(File + ":" + Place.split(',').first +
                       ": not valid JSON: " + What,
                   ProfileAgain);
}

static Error checkSchema(const json::Value &V, StringRef File) {
  const json::Object *O = V.getAsObject();
  std::optional<StringRef> Schema =
      O ? O->getString("schema") : std::optional<StringRef>();
  if (!Schema)
    return userError(File + ": not a divergence profile: it has no \"schema\"",
                     ProfileAgain);
  if (*Schema == ProfileSchema)
    return Error::success();
  std::string Shown;
  raw_string_ostream OS(Shown);
  printEscapedString(Schema->take_front(64), OS);
  return userError(File + ": schema \"" + Shown + "\" is not known",
                   "This version reads \"" + ProfileSchema +
                       "\"; profile the program again, or use the version "
                       "that wrote the file.");
}

Expected<Profile> parseProfile(StringRef Text, StringRef File) {
  if (Text.trim().empty())
    return userError(File + ": the file is empty", ProfileAgain);
  if (nestsTooDeeply(Text))
    return userError(File + ": not a divergence profile: nested too deeply",
                     ProfileAgain);
  Expected<json::Value> V = json::parse(Text);
  if (!V)
    return syntaxError(File, V.takeError());
  if (Error E = checkSchema(*V, File))
    return std::move(E);
  Profile P;
  json::Path::Root Root;
  if (!readRoot(*V, Root, P))
    return userError(File + ": " + toString(Root.getError()), ProfileAgain);
  return P;
}

Expected<Profile> readProfile(StringRef Path) {
  Expected<std::unique_ptr<MemoryBuffer>> Buffer = readFile(Path);
  if (!Buffer)
    return Buffer.takeError();
  return parseProfile((*Buffer)->getBuffer(), Path);
}

} // namespace reconverge
