//===- rewrite/writer/Collector.h - block_collect, as edits -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REWRITE_WRITER_COLLECTOR_H
#define RECONVERGE_REWRITE_WRITER_COLLECTOR_H

#include "rewrite/Order.h"
#include "rewrite/writer/Text.h"

namespace reconverge::rewrite {

/// The edits that have a kernel's blocks work on items by path; it stays as it is
/// if there is trouble.
Trouble writeCollector(const clang::FunctionDecl &Kernel, const Order &What,
                       const Directives &Seen, Text &T,
                       std::vector<Edit> &Edits);

} // namespace reconverge::rewrite

#endif
