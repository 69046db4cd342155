//===- runtime/vm/ModelClock.h - Time as a GPU would take it ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_MODELCLOCK_H
#define RECONVERGE_RUNTIME_VM_MODELCLOCK_H

#include "analysis/Costs.h"
#include "core/Counts.h"
#include "core/LaunchShape.h"

#include <map>
#include <string>

namespace reconverge::runtime {

struct DeviceFunction;

/// A clock for device events that goes on by what each launch would take on a
/// GPU (model/Time.h), one after the other whatever their streams. What is no
/// launch takes no time. So it tells the same in every run.
class ModelClock {
public:
  /// \p Costs is of a GPU: it has limits.
  explicit ModelClock(analysis::MachineModel Costs) : Costs(std::move(Costs)) {}
  void add(const DeviceFunction &F, const LaunchShape &Shape,
           const LaunchCounts &Counts);
  double seconds() const { return Seconds; }

private:
  analysis::MachineModel Costs;
  std::map<std::string, KernelInfo> Known; ///< by hash of the code and name
  double Seconds = 0;
};

} // namespace reconverge::runtime

#endif
