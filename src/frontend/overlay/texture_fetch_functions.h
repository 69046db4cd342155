//===- texture_fetch_functions.h - A header that CUDA 13 dropped ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang 19's CUDA wrapper includes a header of this name, which held the
// texture references that CUDA 12 removed. An empty one is all it needs. It is
// put on the include path only where the toolkit has none.
//
//===----------------------------------------------------------------------===//
