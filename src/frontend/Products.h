//===- frontend/Products.h - Products and what is added to them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_FRONTEND_PRODUCTS_H
#define RECONVERGE_FRONTEND_PRODUCTS_H

namespace llvm {
class TargetPassConfig;
} // namespace llvm

namespace reconverge::frontend {

/// The code generator then adds each product to what was there before it, where it
/// would add products to each other.
void addToProducts(llvm::TargetPassConfig &Passes);

} // namespace reconverge::frontend

#endif
