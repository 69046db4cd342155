//===- frontend/ptx/Async.cpp - Asynchronous copies and their barriers ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async and mbarrier as sm_80 has them are NVVM's intrinsics. What sm_90
// added (arrival by more than one, waiting by parity, try_wait, transactions,
// bulk copies) has none in LLVM 19 and becomes functions of our own
// (analysis/PtxFunctions.h). Within a block scopes and orders are dropped:
// arrive releases to and a wait acquires from the block, and relaxed is less.
//
// What names a cluster, as scope or as space, is a variant of such a function:
// the same to a block that is alone, whose `shared::cluster` is its own memory,
// and on a GPU the instruction as it was written. Bulk copies from shared to
// shared memory alone need a launch of clusters, as do st.async and red.async. Those
// with a multicast or a mask, and those of tensors, are refused.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Access.h"
#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr Type B64{Type::Bits, 64, 1}, U32{Type::Unsigned, 32, 1};
static constexpr Type Predicate{Type::Pred, 1, 1};

/// Uses up ".shared" or ".shared::cta".
static bool takeShared(Lowering &L) {
  return !L.takeOneOf({"shared", "shared::cta"}).empty();
}

namespace {
/// Where a barrier is, and for whom.
struct Place {
  bool Shared = false;  ///< in the block's own memory
  bool Cluster = false; ///< its scope
  bool Remote = false;  ///< .shared::cluster
  bool ofBlock() const { return Shared && !Cluster; }
};
} // namespace

/// The instruction's name, its order no less than \p Least: relaxed forms came
/// with PTX 8.6, which LLVM 19 does not write.
static std::string ordered(Lowering &L, StringRef Least) {
  std::string Text = L.modifiers();
  const size_t At = Text.find("relaxed");
  if (At != std::string::npos)
    Text.replace(At, StringRef("relaxed").size(), Least);
  return "mbarrier." + Text;
}

/// A wait of a scope beyond the block.
static Value *callClusterWait(Lowering &L, StringRef Name,
                              ArrayRef<Value *> Args, StringRef State) {
  return callPtx(L, Name, L.B.getInt1Ty(), Args,
                 "{ .reg .pred %rc_p; " + ordered(L, "acquire") +
                     " %rc_p, [$1], $2; selp.b32 $0, 1, 0, %rc_p; }",
                 "=r,r," + State.str() + ",~{memory}");
}

static void emitWait(Lowering &L, bool Try, Place Where) {
  auto &B = L.B;
  const bool Parity = L.take("parity");
  if (!Where.Shared)
    return L.refuse("the form is not supported");
  // An upper bound of the time to wait may follow.
  if (!(L.count() == 3 || (Try && L.count() == 4)))
    return L.refuse("the number of operands is wrong");
  Value *P = L.pointer(L.operand(1), 3), *Done;
  if (Where.Cluster)
    Done = callClusterWait(
        L,
        Parity ? Try ? analysis::BarrierTryParity : analysis::BarrierTestParity
        : Try  ? analysis::BarrierTryWait
               : analysis::BarrierTestWait,
        {P, L.read(2, Parity ? U32 : B64)}, Parity ? "r" : "l");
  else if (Parity)
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

/// Arrivals that a cluster sees, or at another block's barrier, which give no
/// state.
static void emitClusterArrive(Lowering &L, bool Drop, bool Expect,
                              bool Remote) {
  auto &B = L.B;
  Value *P = L.pointer(L.operand(1), 3);
  Value *N = L.count() == 3 ? L.read(2, U32) : B.getInt32(1);
  if (Remote && L.operand(0).K != Operand::Sink)
    return L.refuse("another block's barrier gives no state");
  const StringRef Name = Expect ? analysis::BarrierArriveExpect
                         : Drop ? analysis::BarrierArriveDrop
                                : analysis::BarrierArrive;
  const std::string Text = ordered(L, "release");
  if (Remote)
    return (void)callPtx(L, Name, B.getVoidTy(), {P, N}, Text + " _, [$0], $1;",
                         "r,r,~{memory}");
  L.write(0, B64,
          callPtx(L, Name, B.getInt64Ty(), {P, N}, Text + " $0, [$1], $2;",
                  "=l,r,r,~{memory}"));
}

static void emitArrive(Lowering &L, bool Drop, Place Where) {
  auto &B = L.B;
  const bool Part = L.take("noComplete"), Expect = L.take("expect_tx");
  const bool Counted = L.count() == 3;
  if (!(Counted || L.count() == 2) || ((Part || Expect) && !Counted) ||
      (Expect && (Drop || Part)))
    return L.refuse("the form is not supported");
  if (!Where.ofBlock())
    return Part ? L.refuse("the form is not supported")
                : emitClusterArrive(L, Drop, Expect, Where.Remote);
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
                   "try_wait", "pending_count", "expect_tx", "complete_tx"});
  L.takeOneOf({"release", "acquire", "relaxed"});
  Place Where;
  Where.Cluster = L.takeOneOf({"cta", "cluster"}) == "cluster";
  Where.Shared = takeShared(L);
  Where.Remote = !Where.Shared && L.take("shared::cluster");
  if (Type T = L.type(); T != B64)
    return L.refuse("the type is not supported");
  if (What == "pending_count") {
    L.arity(2);
    return L.write(
        0, U32,
        L.call(Intrinsic::nvvm_mbarrier_pending_count, {L.read(1, B64)}));
  }
  if (What.empty() || !(Where.Shared || Where.Remote))
    return L.refuse("the form is not supported");
  if (What == "init" && Where.ofBlock()) {
    L.arity(2);
    L.call(Intrinsic::nvvm_mbarrier_init_shared,
           {L.pointer(L.operand(0), 3), L.read(1, U32)});
  } else if (What == "inval" && Where.ofBlock()) {
    L.arity(1);
    L.call(Intrinsic::nvvm_mbarrier_inval_shared, {L.pointer(L.operand(0), 3)});
  } else if (What.ends_with("_tx")) {
    L.arity(2);
    Value *Args[] = {L.pointer(L.operand(0), 3), L.read(1, U32)};
    const bool Expect = What == "expect_tx";
    if (Expect && Where.ofBlock())
      callOwn(L, analysis::BarrierExpect, L.B.getVoidTy(), Args);
    else
      callPtx(L, Expect ? analysis::BarrierExpect : analysis::BarrierComplete,
              L.B.getVoidTy(), Args, "mbarrier." + L.modifiers() + " [$0], $1;",
              "r,r,~{memory}");
  } else if (What.ends_with("wait")) {
    emitWait(L, What == "try_wait", Where);
  } else if (What.starts_with("arrive")) {
    emitArrive(L, What == "arrive_drop", Where);
  } else {
    L.refuse("the form is not supported");
  }
}

//===----------------------------------------------------------------------===//
// Words that tell a barrier
//===----------------------------------------------------------------------===//

/// \p Values, of type \p T, to operand 0, and the barrier is operand 2.
static void sendWords(Lowering &L, StringRef Name, Type T,
                      ArrayRef<Value *> Values) {
  SmallVector<Value *, 6> Args{L.pointer(L.operand(0), 3),
                               L.pointer(L.operand(2), 3)};
  std::string Constraints = "r,r", Words;
  for (Value *V : Values) {
    Words += (Words.empty() ? "$" : ", $") + std::to_string(Args.size());
    Constraints += T.isFloat()      ? T.bits() == 32 ? ",f" : ",d"
                   : T.bits() == 32 ? ",r"
                                    : ",l";
    Args.push_back(V);
  }
  if (Values.size() > 1)
    Words = "{" + Words + "}";
  callPtx(L, Name, L.B.getVoidTy(), Args,
          L.opcode() + "." + L.modifiers() + " [$0], " + Words + ", [$1];",
          Constraints + ",~{memory}");
}

/// {.weak}{.shared::cluster}.mbarrier::complete_tx::bytes{.v2,.v4}.type
///   [to], value, [barrier]
void emitAsyncStore(Lowering &L) {
  L.take("weak");
  L.take("shared::cluster");
  const bool Tells = L.take("mbarrier::complete_tx::bytes");
  const StringRef Vector = L.takeOneOf({"v2", "v4"});
  const size_t Count = Vector.empty() ? 1 : Vector == "v2" ? 2 : 4;
  const Type T = L.type();
  L.arity(3);
  const Operand &From = L.operand(1);
  const bool IsVector = From.K == Operand::Vector;
  if (!Tells || T.Lanes != 1 || (T.bits() != 32 && T.bits() != 64) ||
      T.bits() * Count > 128 ||
      (Count == 1 ? IsVector : !IsVector || From.Parts.size() != Count))
    return L.refuse("the form is not supported");
  SmallVector<Value *, 4> Values;
  for (size_t N = 0; N != Count; ++N)
    Values.push_back(L.read(IsVector ? From.Parts[N] : From, T));
  sendWords(L, analysis::AsyncStore, T, Values);
}

/// .relaxed.cluster{.shared::cluster}.mbarrier::complete_tx::bytes.op.type
///   [to], value, [barrier]
void emitAsyncReduce(Lowering &L) {
  const bool Relaxed = L.take("relaxed") && L.take("cluster");
  L.take("shared::cluster");
  const bool Tells = L.take("mbarrier::complete_tx::bytes");
  const StringRef Operation =
      L.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  const Type T = L.type();
  L.arity(3);
  if (!Relaxed || !Tells)
    return L.refuse("the form is not supported");
  if (Operation.empty() || !T.isInt() ||
      atomicOperation(Operation, T) == AtomicRMWInst::BAD_BINOP)
    return L.refuse("the operation does not exist for the type");
  sendWords(L, analysis::AsyncReduce, T, {L.read(1, T)});
}

//===----------------------------------------------------------------------===//
// Bulk copies
//===----------------------------------------------------------------------===//

/// cp.async.bulk and cp.reduce.async.bulk, after those words:
///   {shared::cluster,shared::cta}.global.mbarrier...  [to], [from], n, [bar]
///   shared::cluster.shared::cta.mbarrier...           [to], [from], n, [bar]
///   global.shared::cta.bulk_group                     [to], [from], n
/// with {.op.type} if it reduces. A cache policy may follow: a hint.
static void emitBulkCopy(Lowering &L, bool Reduce) {
  auto &B = L.B;
  std::string Text = L.modifiers();
  auto Goes = [&](StringRef Spaces) {
    return StringRef(Text).contains(("async.bulk." + Spaces + ".").str());
  };
  const bool In = Goes("shared::cluster.global") || Goes("shared::cta.global");
  const bool Within = Goes("shared::cluster.shared::cta");
  const bool Out = Goes("global.shared::cta");
  for (int Space = 0; Space != 2; ++Space)
    L.takeOneOf({"shared::cluster", "shared::cta", "global"});
  const bool Hint = L.take("L2::cache_hint");
  L.arity((Out ? 3 : 4) + Hint);
  if (!(Out ? L.take("bulk_group") : L.take("mbarrier::complete_tx::bytes")) ||
      !(Out || Within || (In && !Reduce)))
    return L.refuse("the form is not supported");
  SmallVector<Value *, 4> Args{L.pointer(L.operand(0), Out ? 1 : 3),
                               L.pointer(L.operand(1), In ? 1 : 3),
                               L.read(2, U32)};
  if (!Out)
    Args.push_back(L.pointer(L.operand(3), 3));
  if (!Reduce)
    return (void)callOwn(L,
                         In       ? analysis::BulkCopy
                         : Within ? analysis::BulkPass
                                  : analysis::BulkStore,
                         B.getVoidTy(), Args);
  const StringRef Operation =
      L.takeOneOf({"add", "min", "max", "inc", "dec", "and", "or", "xor"});
  const bool NoFlush = L.take("noftz");
  const Type T = L.type();
  if (Operation.empty() || NoFlush != (T.isHalf() && Operation == "add") ||
      atomicOperation(Operation, T) == AtomicRMWInst::BAD_BINOP)
    return L.refuse("the operation does not exist for the type");
  if (Hint)
    Text.erase(Text.find(".L2::cache_hint"),
               StringRef(".L2::cache_hint").size());
  callPtx(L, analysis::BulkReduce, B.getVoidTy(), Args,
          "cp." + Text + " [$0], [$1], $2" + (Out ? ";" : ", [$3];"),
          Out ? "l,r,r,~{memory}" : "r,r,r,r,~{memory}");
}

/// cp.async.bulk, and what waits for those without a barrier.
static void emitBulk(Lowering &L) {
  auto &B = L.B;
  if (L.take("commit_group")) {
    L.arity(0);
    L.call(Intrinsic::nvvm_cp_async_bulk_commit_group, {});
  } else if (L.take("wait_group")) {
    const bool Read = L.take("read");
    L.arity(1);
    const std::optional<uint64_t> N = L.literal(0);
    if (!N)
      return L.refuse("the number of groups is no constant");
    L.call(Read ? Intrinsic::nvvm_cp_async_bulk_wait_group_read
                : Intrinsic::nvvm_cp_async_bulk_wait_group,
           {B.getInt32(*N)});
  } else if (L.take("prefetch")) {
    const bool Global = L.take("L2") && L.take("global");
    L.arity(2 + L.take("L2::cache_hint"));
    if (!Global)
      return L.refuse("the form is not supported");
    callOwn(L, analysis::BulkPrefetch, B.getVoidTy(),
            {L.pointer(L.operand(0), 1), L.read(1, U32)});
  } else {
    emitBulkCopy(L, /*Reduce=*/false);
  }
}

/// cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes read}
static void emitCopy(Lowering &L) {
  const StringRef Cache = L.takeOneOf({"ca", "cg"});
  const bool Shared = takeShared(L), Global = L.take("global");
  L.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  const size_t Count = L.count() - L.take("L2::cache_hint");
  const std::optional<uint64_t> Bytes = L.literal(2);
  if (Cache.empty() || !Shared || !Global || !Bytes ||
      !(Count == 3 || Count == 4))
    return L.refuse("the form is not supported");
  const std::string Name =
      ("llvm.nvvm.cp.async." + Cache + ".shared.global." + Twine(*Bytes)).str();
  const Intrinsic::ID Id =
      Function::lookupIntrinsicID(Name + (Count == 4 ? ".s" : ""));
  if (Id == Intrinsic::not_intrinsic)
    return L.refuse("there is no copy of so many bytes");
  SmallVector<Value *, 3> Args{L.pointer(L.operand(0), 3),
                               L.pointer(L.operand(1), 1)};
  if (Count == 4)
    Args.push_back(L.read(3, U32));
  L.call(Id, Args);
}

static void emitCp(Lowering &L) {
  const bool Reduce = L.take("reduce");
  if (!L.take("async"))
    return L.refuse("the form is not supported");
  const bool Bulk = L.take("bulk");
  if (Reduce)
    return Bulk ? emitBulkCopy(L, /*Reduce=*/true)
                : L.refuse("the form is not supported");
  if (Bulk)
    return emitBulk(L);
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
       "{.reduce}.async.bulk.{shared::cta,shared::cluster}.{global,"
       "shared::cta}.mbarrier::complete_tx::bytes{.op.type}, "
       "{.reduce}.async.bulk.global.shared::cta.bulk_group{.op.type}; "
       ".async.bulk.{commit_group,wait_group{.read},prefetch.L2.global}",
       "`llvm.nvvm.cp.async.*`; functions of ours"},
      {"mbarrier", AnyClass, true, emitMbarrier,
       ".{init,inval,arrive{.noComplete,.expect_tx},arrive_drop{.noComplete},"
       "expect_tx,complete_tx,test_wait{.parity},try_wait{.parity}}{.order}"
       "{.cta,.cluster}.{shared,shared::cta,shared::cluster}.b64, "
       ".pending_count.b64",
       "`llvm.nvvm.mbarrier.*`; functions of ours"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
