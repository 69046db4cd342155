//===- remedies/regroup/Options.cpp - Parameters of regrouping ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "remedies/regroup/Options.h"

#include "core/Error.h"
#include "remedies/common/Parameters.h"
#include "remedies/common/Remedy.h"

#include <cmath>

using namespace llvm;

namespace reconverge::remedies {

/// Of an estimate where nobody says how many: with its class one pass of the sort.
static constexpr uint32_t EstimateBits = 2;

/// "12:0.5", "thread:1e-3" or "base:40".
static bool readTerm(StringRef Text, EstimateTerm &Term) {
  const auto [Of, Weight] = Text.split(':');
  double Value = 0;
  if (Weight.getAsDouble(Value) || !std::isfinite(float(Value)))
    return false;
  Term.Weight = float(Value);
  Term.Of = Of == "base"     ? EstimateTerm::Base
            : Of == "thread" ? EstimateTerm::Thread
                             : EstimateTerm::Load;
  return Term.Of != EstimateTerm::Load || !Of.getAsInteger(10, Term.Access);
}

Expected<RegroupOptions> parseRegroupOptions(StringRef Text,
                                             RegroupOptions Options) {
  std::string NetFile;
  bool SaysReuse = false, SaysNext = false, SaysNet = false;
  Error E = readParameters(
      Text, "regrouping", regroup::Parameters,
      [&](StringRef Key, StringRef Value) {
        uint32_t Number = 0;
        if (Key == "branch") {
          if (Value.getAsInteger(10, Number))
            return false;
          Options.Branches.push_back(Number);
          return true;
        }
        if (Key == "locality")
          return readBetween(Value, 0, 16, Options.Locality);
        if (Key == "reuse") {
          Options.Reuse = SaysReuse = Value == "on";
          return Value == "on" || Value == "off";
        }
        if (Key == "next") {
          Options.Next = SaysNext = Value == "on";
          return Value == "on" || Value == "off";
        }
        if (Key == "window") {
          Options.Window = Value == "on";
          return Value == "on" || Value == "off";
        }
        if (Key == "layout") {
          Options.Layout = Value == "all"     ? RecordLayout::All
                           : Value == "loads" ? RecordLayout::Loads
                           : Value == "rows"  ? RecordLayout::Rows
                                              : RecordLayout::Off;
          return Options.Layout != RecordLayout::Off || Value == "off";
        }
        if (Key == "gather")
          return !Value.getAsInteger(10, Options.Gather.emplace());
        if (Key == "estimate")
          return readTerm(Value, Options.Estimate.emplace_back());
        if (Key == "tree") {
          const auto Tree = parsePathTree(Value);
          Options.Tree = Tree.value_or(PathTree());
          return Tree.has_value();
        }
        if (Key == "order") {
          NetFile = Value.str();
          return !Value.empty();
        }
        if (Key == "net") {
          Options.OnTensorCores = SaysNet = Value == "mma";
          return Value == "mma" || Value == "fma";
        }
        if (Key == "marked")
          return readFlag(Value, Options.Marked);
        return Key == "least" && readBetween(Value, 1, 1u << 31, Options.Least);
      });
  if (E)
    return std::move(E);
  // What is said here goes before what was there.
  Options.Reuse &= SaysReuse || !(SaysNext || SaysNet);
  Options.Next &= SaysNext || !SaysReuse;
  Options.OnTensorCores &= SaysNet || !SaysReuse;
  if (!NetFile.empty()) {
    auto Net = readPathNet(NetFile);
    if (!Net)
      return Net.takeError();
    Options.Net = std::make_shared<PathNet>(std::move(*Net));
  }
  if (Options.OnTensorCores && !Options.Net)
    return userError("regrouping by net=mma without a net",
                     "Name the net's file by order=.");
  // A probe is of some threads of a launch, and not of whole warps.
  if (Options.OnTensorCores && Options.Reuse)
    return userError("regrouping by net=mma with reuse=on",
                     "Leave one out: an order that serves several launches is "
                     "computed seldom.");
  if (Options.Next && Options.Reuse)
    return userError("regrouping by next=on with reuse=on",
                     "An order either serves several launches or is made anew "
                     "for the next: leave one out.");
  if (Options.Net && !Options.Tree.Nodes.empty())
    return userError(
        "regrouping by a tree and by a net",
        "Both say which class a thread is in: leave tree= or order= "
        "out.");
  if (Options.Estimate.empty())
    return Options;
  if (Options.Gather)
    return userError("regrouping by a gather and by an estimate",
                     "Both are the place of a thread within its class: leave "
                     "gather= or estimate= out.");
  if (!Options.Locality)
    Options.Locality = EstimateBits;
  return Options;
}

} // namespace reconverge::remedies
