//===- frontend/Products.h - Sums of products -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PRODUCTS_H
#define RECONVERGE_FRONTEND_PRODUCTS_H

namespace llvm {
class Function;
} // namespace llvm

namespace reconverge::frontend {

/// Has sums of products begin with what is added to them.
void beginWithAddends(llvm::Function &F);

} // namespace reconverge::frontend

#endif
