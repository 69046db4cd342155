//===- report/Speedscope.cpp - Slots as stacks of inlined functions -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two profiles over the same frames, in speedscope's file format:
//
//   wasted slots   each branch's SelfSlots, at the functions through which it
//                  was inlined, the kernel outermost and the condition innermost;
//                  what no branch answers for (partial warps, lanes that had
//                  returned) right below the kernel
//   issue slots    each block's, with its line innermost
//
// A kernel's frames add up to what the model says that it wastes, and takes.
//
//===----------------------------------------------------------------------===//

#include "report/Names.h"
#include "report/Text.h"
#include "report/Writers.h"

#include "core/JsonWriter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <tuple>

using namespace llvm;

namespace reconverge::report {

namespace {
/// Names, each once, in the order in which stacks first have them.
class Frames {
public:
  struct Frame {
    std::string Name, File;
    unsigned Line, Column; // 0: not known
    auto operator<=>(const Frame &) const = default;
  };

  uint64_t number(Frame F) {
    auto [At, New] = Numbers.try_emplace(F, All.size());
    if (New)
      All.push_back(std::move(F));
    return At->second;
  }
  const std::vector<Frame> &all() const { return All; }

private:
  std::vector<Frame> All;
  std::map<Frame, uint64_t> Numbers;
};

struct Samples {
  std::string Name;
  std::vector<std::vector<uint64_t>> Stacks; // outermost first
  std::vector<double> Weights;

  void add(std::vector<uint64_t> Stack, double Weight) {
    if (!(Weight > 0))
      return;
    Stacks.push_back(std::move(Stack));
    Weights.push_back(Weight);
  }
};
} // namespace

static std::string lineOf(const SourceLoc &Loc) {
  return cleanText(sys::path::filename(Loc.File)) + ":" +
         std::to_string(Loc.Line);
}

/// The kernel, and the functions on the way to \p Where.
static std::vector<uint64_t> functionsTo(const SourceChain &Where,
                                         const KernelInfo &Kernel,
                                         uint64_t Number, Frames &F) {
  std::vector<uint64_t> Stack = {Number};
  for (const SourceLoc &Loc : reverse(Where))
    if (Loc.Function != Kernel.Display)
      Stack.push_back(F.number({cleanText(Loc.Function), Loc.File, 0, 0}));
  return Stack;
}

static void addKernel(const KernelProfile &K, const KernelCost &C, Frames &F,
                      Samples &Wasted, Samples &Taken) {
  const std::string Display =
      cleanText(K.Info.Display.empty() ? K.Info.Name : K.Info.Display);
  const bool HasPlace = !K.Info.Where.empty();
  const uint64_t Kernel =
      F.number({kernelName(Display, 100),
                HasPlace ? K.Info.Where.front().File : std::string(),
                HasPlace ? K.Info.Where.front().Line : 0, 0});
  double Rest = C.Slots - C.FullSlots;
  for (auto [Info, Of] : zip_equal(K.Info.Branches, C.Branches)) {
    std::vector<uint64_t> Stack = functionsTo(Info.Where, K.Info, Kernel, F);
    const SourceLoc At = Info.Where.empty() ? SourceLoc() : Info.Where.front();
    std::string Name =
        Info.Where.empty() ? "block " + std::to_string(Info.Block) : lineOf(At);
    if (!Info.Condition.empty())
      Name += " " + cleanText(Info.Condition);
    Stack.push_back(F.number({Name, At.File, At.Line, At.Column}));
    Wasted.add(std::move(Stack), Of.SelfSlots);
    Rest -= Of.SelfSlots;
  }
  // Sums in floating point leave a rest where there is none.
  if (Rest > 1e-9 * C.Slots)
    Wasted.add({Kernel, F.number({"partial warps and lanes that had returned",
                                  "", 0, 0})},
               Rest);
  for (auto [Info, Counts] : zip_equal(K.Info.Blocks, K.Blocks)) {
    std::vector<uint64_t> Stack = functionsTo(Info.Where, K.Info, Kernel, F);
    if (!Info.Where.empty()) {
      const SourceLoc &At = Info.Where.front();
      Stack.push_back(F.number({lineOf(At), At.File, At.Line, 0}));
    }
    Taken.add(std::move(Stack), Info.IssueSlots * double(Counts.Warps));
  }
}

static void writeSamples(JsonWriter &W, const Samples &S) {
  double Sum = 0;
  for (double Weight : S.Weights)
    Sum += Weight;
  W.text("type", "sampled");
  W.text("name", S.Name);
  W.text("unit", "none");
  W.number("startValue", 0);
  W.number("endValue", Sum);
  W.countLists("samples", S.Stacks);
  W.numbers("weights", S.Weights);
}

void printSpeedscope(const Profile &P, const RunCost &Cost, raw_ostream &OS) {
  Frames F;
  Samples Wasted{"wasted issue slots", {}, {}}, Taken{"issue slots", {}, {}};
  for (auto [K, C] : zip_equal(P.Kernels, Cost.Kernels))
    addKernel(K, C, F, Wasted, Taken);
  const std::string Name = cleanText(P.Program);
  JsonWriter W(OS);
  W.root([&] {
    W.text("$schema", "https://www.speedscope.app/file-format-schema.json");
    W.text("exporter", "reconverge");
    W.text("name", Name);
    W.count("activeProfileIndex", 0);
    W.object("shared", [&] {
      W.lines("frames", F.all(), [](JsonWriter &S, const Frames::Frame &Of) {
        S.text("name", Of.Name);
        if (!Of.File.empty())
          S.text("file", Of.File);
        if (Of.Line)
          S.count("line", Of.Line);
        if (Of.Column)
          S.count("col", Of.Column);
      });
    });
    W.objects("profiles", std::array{&Wasted, &Taken},
              [](JsonWriter &S, const Samples *Of) { writeSamples(S, *Of); });
  });
  OS << '\n';
}

} // namespace reconverge::report
