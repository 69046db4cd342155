//===- rewrite/writer/Cases.cpp - The ways of a switch --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rewrite/writer/Cases.h"

#include "clang/AST/Decl.h"

using namespace clang;

namespace reconverge::rewrite {

std::optional<std::vector<Group>> groupsOf(const SwitchStmt &S,
                                           const ASTContext &C) {
  std::vector<Group> All;
  const auto *Body = dyn_cast<CompoundStmt>(S.getBody());
  if (!Body)
    return std::nullopt;
  for (const Stmt *At : Body->body()) {
    if (!isa<SwitchCase>(At))
      continue;
    Group Here;
    for (const Stmt *Label = At; const auto *Next = dyn_cast<SwitchCase>(Label);
         Label = Next->getSubStmt()) {
      const auto *Case = dyn_cast<CaseStmt>(Next);
      Here.IsDefault |= !Case;
      if (!Case)
        continue;
      Expr::EvalResult Value;
      if (Case->caseStmtIsGNURange() || Case->getLHS()->isValueDependent() ||
          !Case->getLHS()->EvaluateAsInt(Value, C))
        return std::nullopt;
      Here.Values.push_back({Value.Val.getInt().getExtValue(), Case->getLHS()});
    }
    All.push_back(std::move(Here));
  }
  return All;
}

std::string
textOf(ArrayRef<const Group *> Ways, bool InOrder, const std::string &Value,
       const Expr &Asked,
       llvm::function_ref<std::optional<std::string>(const Expr &)> Written) {
  const std::string Last = std::to_string(Ways.size());
  const QualType Type = Asked.IgnoreParenImpCasts()->getType();
  const bool IsEnum = Type->isEnumeralType();
  if (InOrder && !Type->isScopedEnumeralType())
    return (Type->isSignedIntegerType() && !IsEnum ? Value + " >= 0 && " : "") +
           Value + " < " + Last + " ? " + Value + " : " + Last;
  std::string Text;
  for (auto [I, G] : llvm::enumerate(Ways)) {
    std::string Here;
    for (auto [Number, Label] : G->Values) {
      const auto Name = Written(*Label);
      Here += (Here.empty() ? "" : " || ") + Value +
              " == " + (Name ? *Name : std::to_string(Number));
    }
    Text += Here + " ? " + std::to_string(I) + " : ";
  }
  return Text + Last;
}

} // namespace reconverge::rewrite
