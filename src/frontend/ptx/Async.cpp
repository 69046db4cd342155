//===- frontend/ptx/Async.cpp - Asynchronous copies and their barriers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async and mbarrier as sm_80 has them are NVVM's intrinsics. What sm_90
// added (arrival by more than one, waiting by parity, try_wait, transactions,
// bulk copies) has none in LLVM 19 and becomes functions of our own
// (analysis/PtxFunctions.h). Scopes and orders are dropped: arrive releases to
// and a wait acquires from the block, which is what all of libcu++ asks for,
// and relaxed is less.
//
// Bulk copies from global to shared memory are taken: those are what
// cuda::memcpy_async makes. `shared::cluster` is the block's own memory where
// there is no cluster, and launches with clusters are refused.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr Type B64{Type::Bits, 64, 1}, U32{Type::Unsigned, 32, 1};
static constexpr Type Predicate{Type::Pred, 1, 1};

static Value *callOwn(Lowering &L, StringRef Name, llvm::Type *Result,
                      ArrayRef<Value *> Args) {
  SmallVector<llvm::Type *, 4> Types;
  for (Value *V : Args)
    Types.push_back(V->getType());
  return L.B.CreateCall(
      ownFunction(*L.B.GetInsertBlock()->getModule(), Name, Result, Types),
      Args);
}

/// Uses up ".shared" or ".shared::cta"; the only space in which we take
/// barriers.
static bool takeShared(Lowering &L) {
  return !L.takeOneOf({"shared", "shared::cta"}).empty();
}

static void emitWait(Lowering &L, bool Try) {
  auto &B = L.B;
  const bool Parity = L.take("parity");
  // An upper bound of the time to wait may follow.
  if (!(L.count() == 3 || (Try && L.count() == 4)))
    return L.refuse("the number of operands is wrong");
  Value *P = L.pointer(L.operand(1), 3), *Done;
  if (Parity)
    Done = callOwn(
        L, Try ? analysis::BarrierTryParity : analysis::BarrierTestParity,
        B.getInt1Ty(), {P, L.read(2, U32)});
  else if (Try)
    Done = callOwn(L, analysis::BarrierTryWait, B.getInt1Ty(),
                   {P, L.read(2, B64)});
  else
    Done =
        L.call(Intrinsic::nvvm_mbarrier_test_wait_shared, {P, L.read(2, B64)});
  L.write(0, Predicate, Done);
}

static void emitArrive(Lowering &L, bool Drop) {
  auto &B = L.B;
  const bool Part = L.take("noComplete"), Expect = L.take("expect_tx");
  const bool Counted = L.count() == 3;
  if (!(Counted || L.count() == 2) || ((Part || Expect) && !Counted) ||
      (Expect && (Drop || Part)))
    return L.refuse("the form is not supported");
  Value *P = L.pointer(L.operand(1), 3);
  Value *N = Counted ? L.read(2, U32) : nullptr;
  Value *State;
  if (Part)
    State = L.call(Drop ? Intrinsic::nvvm_mbarrier_arrive_drop_noComplete_shared
                        : Intrinsic::nvvm_mbarrier_arrive_noComplete_shared,
                   {P, N});
  else if (Counted)
    State = callOwn(L,
                    Expect ? analysis::BarrierArriveExpect
                    : Drop ? analysis::BarrierArriveDrop
                           : analysis::BarrierArrive,
                    B.getInt64Ty(), {P, N});
  else
    State = L.call(Drop ? Intrinsic::nvvm_mbarrier_arrive_drop_shared
                        : Intrinsic::nvvm_mbarrier_arrive_shared,
                   {P});
  L.write(0, B64, State);
}

static void emitMbarrier(Lowering &L) {
  StringRef What =
      L.takeOneOf({"init", "inval", "arrive", "arrive_drop", "test_wait",
                   "try_wait", "pending_count", "expect_tx"});
  L.takeOneOf({"release", "acquire", "relaxed"});
  L.take("cta");
  const bool Shared = takeShared(L);
  if (Type T = L.type(); T != B64)
    return L.refuse("the type is not supported");
  if (What == "pending_count") {
    L.arity(2);
    return L.write(
        0, U32,
        L.call(Intrinsic::nvvm_mbarrier_pending_count, {L.read(1, B64)}));
  }
  if (What.empty() || !Shared)
    return L.refuse("the form is not supported");
  if (What == "init") {
    L.arity(2);
    L.call(Intrinsic::nvvm_mbarrier_init_shared,
           {L.pointer(L.operand(0), 3), L.read(1, U32)});
  } else if (What == "inval") {
    L.arity(1);
    L.call(Intrinsic::nvvm_mbarrier_inval_shared, {L.pointer(L.operand(0), 3)});
  } else if (What == "expect_tx") {
    L.arity(2);
    callOwn(L, analysis::BarrierExpect, L.B.getVoidTy(),
            {L.pointer(L.operand(0), 3), L.read(1, U32)});
  } else if (What.ends_with("wait")) {
    emitWait(L, What == "try_wait");
  } else {
    emitArrive(L, What == "arrive_drop");
  }
}

/// cp.async.bulk.shared::x.global.mbarrier::complete_tx::bytes
static void emitBulkCopy(Lowering &L) {
  const bool Own = !L.takeOneOf({"shared::cluster", "shared::cta"}).empty();
  const bool Global = L.take("global");
  L.arity(4);
  if (!Own || !Global || !L.take("mbarrier::complete_tx::bytes"))
    return L.refuse("the form is not supported");
  callOwn(L, analysis::BulkCopy, L.B.getVoidTy(),
          {L.pointer(L.operand(0), 3), L.pointer(L.operand(1), 1),
           L.read(2, U32), L.pointer(L.operand(3), 3)});
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes read}
static void emitCopy(Lowering &L) {
  const StringRef Cache = L.takeOneOf({"ca", "cg"});
  const bool Shared = takeShared(L), Global = L.take("global");
  L.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  const std::optional<uint64_t> Bytes = L.literal(2);
  if (Cache.empty() || !Shared || !Global || !Bytes ||
      !(L.count() == 3 || L.count() == 4))
    return L.refuse("the form is not supported");
  const std::string Name =
      ("llvm.nvvm.cp.async." + Cache + ".shared.global." + Twine(*Bytes)).str();
  const Intrinsic::ID Id =
      Function::lookupIntrinsicID(Name + (L.count() == 4 ? ".s" : ""));
  if (Id == Intrinsic::not_intrinsic)
    return L.refuse("there is no copy of so many bytes");
  SmallVector<Value *, 3> Args{L.pointer(L.operand(0), 3),
                               L.pointer(L.operand(1), 1)};
  if (L.count() == 4)
    Args.push_back(L.read(3, U32));
  L.call(Id, Args);
}

static void emitCp(Lowering &L) {
  if (!L.take("async"))
    return L.refuse("the form is not supported");
  if (L.take("bulk"))
    return emitBulkCopy(L);
  if (L.take("commit_group")) {
    L.arity(0);
    L.call(Intrinsic::nvvm_cp_async_commit_group, {});
  } else if (L.take("wait_all")) {
    L.arity(0);
    L.call(Intrinsic::nvvm_cp_async_wait_all, {});
  } else if (L.take("wait_group")) {
    L.arity(1);
    const std::optional<uint64_t> N = L.literal(0);
    if (!N)
      return L.refuse("the number of groups is no constant");
    L.call(Intrinsic::nvvm_cp_async_wait_group, {L.B.getInt32(*N)});
  } else if (L.take("mbarrier")) {
    const bool Arrive = L.take("arrive"), Plain = L.take("noinc");
    const bool Shared = takeShared(L);
    L.arity(1);
    if (!Arrive || !Shared || L.type() != B64)
      return L.refuse("the form is not supported");
    L.call(Plain ? Intrinsic::nvvm_cp_async_mbarrier_arrive_noinc_shared
                 : Intrinsic::nvvm_cp_async_mbarrier_arrive_shared,
           {L.pointer(L.operand(0), 3)});
  } else {
    emitCopy(L);
  }
}

ArrayRef<Row> asyncRows() {
  static const Row Rows[] = {
      {"cp", AnyClass, true, emitCp,
       ".async.{ca,cg}.shared.global of 4, 8, 16; .async.commit_group, "
       ".wait_group, .wait_all, .mbarrier.arrive{.noinc}.shared.b64; "
       ".async.bulk.{shared::cta,shared::cluster}.global."
       "mbarrier::complete_tx::bytes",
       "`llvm.nvvm.cp.async.*`; a function of ours"},
      {"mbarrier", AnyClass, true, emitMbarrier,
       ".{init,inval,arrive{.noComplete,.expect_tx},arrive_drop{.noComplete},"
       "expect_tx,test_wait{.parity},try_wait{.parity}}{.order}{.cta}.shared."
       "b64, .pending_count.b64",
       "`llvm.nvvm.mbarrier.*`; functions of ours"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
