//===- runtime/vm/Table.cpp - The table of our functions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration only. Names go through a second macro, so that where the
// toolkit's header renames a function (cudaGetDeviceProperties is
// cudaGetDeviceProperties_v2 with CUDA 12) the table has the name that programs
// are linked against.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"
#include "runtime/vm/Backend.h"

namespace reconverge::runtime {

#define RECONVERGE_TEXT_(X) #X
#define RECONVERGE_TEXT(X) RECONVERGE_TEXT_(X)
#define RECONVERGE_ENTRY(Name, Suffix)                                         \
  {RECONVERGE_TEXT(Name) Suffix, reinterpret_cast<void *>(&api::Name)},

static const reconverge_backend_symbol Symbols[] = {
#define RECONVERGE_API(Name) RECONVERGE_ENTRY(Name, "")
#define RECONVERGE_COMPILER_API(Name) RECONVERGE_ENTRY(Name, "")
#define RECONVERGE_API_PTSZ(Name)                                              \
  RECONVERGE_ENTRY(Name, "") RECONVERGE_ENTRY(Name, "_ptsz")
#define RECONVERGE_COMPILER_API_PTSZ(Name)                                     \
  RECONVERGE_ENTRY(Name, "") RECONVERGE_ENTRY(Name, "_ptsz")
#define RECONVERGE_API_PTDS(Name)                                              \
  RECONVERGE_ENTRY(Name, "") RECONVERGE_ENTRY(Name, "_ptds")
#include "runtime/vm/Table.def"
#undef RECONVERGE_API
#undef RECONVERGE_COMPILER_API
};

llvm::ArrayRef<reconverge_backend_symbol> backendTable() { return Symbols; }

} // namespace reconverge::runtime
