//===- remedies/regroup/Options.h - Parameters of regrouping ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REMEDIES_REGROUP_OPTIONS_H
#define RECONVERGE_REMEDIES_REGROUP_OPTIONS_H

#include "core/PathNet.h"
#include "core/PathTree.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace reconverge::remedies {

/// What data lie in the order, too: what is accessed by the thread's number alone
/// (Records.h), or arrays of rows (Rows.h).
enum class RecordLayout { Off, Loads, All, Rows };

/// What a feature of a thread (common/Features.h) adds to the estimate of what
/// the thread will take.
struct EstimateTerm {
  enum Kind { Base, Thread, Load } Of = Base;
  uint32_t Access = 0; ///< number (!rc.access) of the load
  float Weight = 0;    ///< for each unit; of Base, as it is
};

struct RegroupOptions {
  /// Numbers (!rc.branch) of the branches whose ways make the class of an item,
  /// the most important first; none: those that are found.
  llvm::SmallVector<uint32_t, 4> Branches;
  /// Bits of a key that say where in its class's memory an item gathers, or how
  /// long it is estimated to take; 0: the class is all of the key.
  uint32_t Locality = 0;
  /// Number (!rc.access) of the load that gathers; none: the one that is found.
  std::optional<uint32_t> Gather;
  /// In place of a gather: by an estimate, the longest first; none: there is
  /// none.
  llvm::SmallVector<EstimateTerm, 4> Estimate;
  /// In place of branches that are found: the leaves are the class, below those
  /// of branches that are named; empty: there is none.
  PathTree Tree;
  /// The same by a net, whose kernel it is that is regrouped; null: none.
  std::shared_ptr<const PathNet> Net;
  /// That is computed by tensor cores (core/TensorNet.h).
  bool OnTensorCores = false;
  /// Threads that a launch has at least; others take the kernel as it was.
  uint32_t Least = 4096;

  /// Threads stay within windows of 4096 neighbours.
  bool Window = false;

  /// The order serves later launches, as long as a probe finds it good.
  bool Reuse = false;

  /// A launch makes the order of the next one beside its own work.
  bool Next = false;

  RecordLayout Layout = RecordLayout::Off;

  /// Only what the source asks for.
  bool Marked = false;

  /// A mistake to make on purpose, so that tests can show that they would
  /// notice: the second half of the order is left out.
  bool PlantedBug = false;
};

/// Reads "branch=3;locality=12;gather=7" over \p Options; the error names the
/// word that is wrong.
llvm::Expected<RegroupOptions> parseRegroupOptions(llvm::StringRef Text,
                                                   RegroupOptions Options = {});

} // namespace reconverge::remedies

#endif
