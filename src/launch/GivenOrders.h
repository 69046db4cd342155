//===- launch/GivenOrders.h - Orders that the user gives --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_GIVENORDERS_H
#define RECONVERGE_LAUNCH_GIVENORDERS_H

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace reconverge::launch {

/// Orders of one kernel, read from files (core/OrderFile.h) at the first launch
/// of each number of units on each device, and there until the process ends. Not
/// for two threads at once.
class GivenOrders {
public:
  /// That of \p Units threads or blocks of \p Kernel, on the current \p Device.
  /// If it cannot be had, why is said once, on stderr, and each such launch
  /// leaves cudaErrorInvalidValue behind, as one of a wrong shape does.
  cudaError_t find(const std::string &Kernel, uint64_t Units, int Device,
                   void *&Index);

private:
  std::map<std::pair<int, uint64_t>, void *> All; ///< null: not to be had
};

} // namespace reconverge::launch

#endif
