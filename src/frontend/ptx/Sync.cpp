//===- frontend/ptx/Sync.cpp - Warp collectives, barriers, control --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is the NVVM intrinsic of the same name. elect.sync has none in LLVM 19:
// its leader, which PTX leaves open as long as it is always the same, is the
// lowest lane of the mask, after the lanes of the mask have met.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Numeric.h"
#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

static constexpr Type B32{Type::Bits, 32, 1};

/// The operand's value and predicate destinations; the second may be absent.
static std::pair<const Operand *, const Operand *>
destinations(const Operand &O) {
  if (O.K == Operand::Pair)
    return {&O.Parts[0], &O.Parts[1]};
  return {&O, nullptr};
}

static void emitShfl(Lowering &L) {
  bool Sync = L.take("sync");
  StringRef Mode = L.takeOneOf({"up", "down", "bfly", "idx"});
  Type T = L.type();
  L.arity(5);
  if (!Sync || Mode.empty() || T != B32)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  auto [To, Predicate] = destinations(L.operand(0));
  Value *Args[] = {L.read(4, T), L.read(1, T), L.read(2, T), L.read(3, T)};
  llvm::Type *Result =
      Predicate ? (llvm::Type *)StructType::get(B.getInt32Ty(), B.getInt1Ty())
                : B.getInt32Ty();
  Value *V = nvvm(L, "shfl.sync." + Mode + (Predicate ? ".i32p" : ".i32"), Args,
                  Result);
  if (!Predicate)
    return L.write(*To, T, V);
  L.write(*To, T, B.CreateExtractValue(V, 0));
  L.writePredicate(*Predicate, B.CreateExtractValue(V, 1));
}

static void emitVote(Lowering &L) {
  bool Sync = L.take("sync");
  StringRef Mode = L.takeOneOf({"all", "any", "uni", "ballot"});
  Type T = L.type();
  L.arity(3);
  bool Ballot = Mode == "ballot";
  if (!Sync || Mode.empty() || T != (Ballot ? B32 : Type{Type::Pred, 1, 1}))
    return L.refuse("the form is not supported");
  Value *P = L.readPredicate(1), *Mask = L.read(2, B32);
  L.write(0, T, nvvm(L, "vote." + Mode + ".sync", {Mask, P}, L.llvmType(T)));
}

static void emitMatch(Lowering &L) {
  StringRef Mode = L.takeOneOf({"any", "all"});
  bool Sync = L.take("sync");
  Type T = L.type();
  L.arity(3);
  auto [To, Predicate] = destinations(L.operand(0));
  if (!Sync || Mode.empty() || T.K != Type::Bits ||
      (T.Width != 32 && T.Width != 64) || (Predicate && Mode == "any"))
    return L.refuse("the form is not supported");
  auto &B = L.B;
  Value *A = L.read(1, T), *Mask = L.read(2, B32);
  bool Wide = T.Width == 64;
  if (Mode == "any")
    return L.write(*To, B32,
                   L.call(Wide ? Intrinsic::nvvm_match_any_sync_i64
                               : Intrinsic::nvvm_match_any_sync_i32,
                          {Mask, A}));
  Value *V = L.call(Wide ? Intrinsic::nvvm_match_all_sync_i64p
                         : Intrinsic::nvvm_match_all_sync_i32p,
                    {Mask, A});
  L.write(*To, B32, B.CreateExtractValue(V, 0));
  if (Predicate)
    L.writePredicate(*Predicate, B.CreateExtractValue(V, 1));
}

static void emitActivemask(Lowering &L) {
  Type T = L.type();
  L.arity(1);
  if (T != B32)
    return L.refuse("the type is not supported");
  L.write(0, T, L.call(Intrinsic::nvvm_activemask, {}));
}

static void emitRedux(Lowering &L) {
  bool Sync = L.take("sync");
  StringRef Mode = L.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type T = L.type();
  L.arity(3);
  bool Logic = Mode == "and" || Mode == "or" || Mode == "xor";
  if (!Sync || Mode.empty() || !T.isInt() || T.bits() != 32 || T.Lanes != 1 ||
      Logic != (T.K == Type::Bits))
    return L.refuse("the form is not supported");
  bool Unsigned = T.K == Type::Unsigned && Mode != "add";
  L.write(0, T,
          nvvm(L, Twine("redux.sync.") + (Unsigned ? "u" : "") + Mode,
               {L.read(1, T), L.read(2, B32)}, L.B.getInt32Ty()));
}

static void emitElect(Lowering &L) {
  bool Sync = L.take("sync");
  L.arity(2);
  auto [To, Predicate] = destinations(L.operand(0));
  if (!Sync || !Predicate)
    return L.refuse("the form is not supported");
  auto &B = L.B;
  Value *Mask = L.read(1, B32);
  L.call(Intrinsic::nvvm_bar_warp_sync, {Mask});
  Value *Leader = B.CreateBinaryIntrinsic(Intrinsic::cttz, Mask, B.getFalse());
  Value *Lane = L.call(Intrinsic::nvvm_read_ptx_sreg_laneid, {});
  L.write(*To, B32, Leader);
  L.writePredicate(*Predicate, B.CreateICmpEQ(Lane, Leader));
}

/// barrier.cluster.arrive{.release,.relaxed}{.aligned}, .wait{.acquire}{.aligned}
static void emitClusterBarrier(Lowering &L) {
  const bool Arrives = L.take("arrive"), Waits = L.take("wait");
  const StringRef Order =
      L.takeOneOf(Arrives ? ArrayRef<StringRef>{"release", "relaxed"}
                          : ArrayRef<StringRef>{"acquire"});
  const bool Aligned = L.take("aligned");
  L.arity(0);
  if (Arrives == Waits)
    return L.refuse("the form is not supported");
  L.call(Order == "relaxed"
             ? Aligned ? Intrinsic::nvvm_barrier_cluster_arrive_relaxed_aligned
                       : Intrinsic::nvvm_barrier_cluster_arrive_relaxed
         : Arrives ? Aligned ? Intrinsic::nvvm_barrier_cluster_arrive_aligned
                             : Intrinsic::nvvm_barrier_cluster_arrive
         : Aligned ? Intrinsic::nvvm_barrier_cluster_wait_aligned
                   : Intrinsic::nvvm_barrier_cluster_wait,
         {});
}

/// bar{.cta}.sync a{, b}, bar{.cta}.arrive a, b, bar.warp.sync m,
/// bar.red.op d, 0, p; barrier.sync and .arrive.
static void emitBarrier(Lowering &L) {
  auto &B = L.B;
  if (L.opcode() == "bar" && L.take("warp")) {
    if (!L.take("sync"))
      L.refuse("the form is not supported");
    L.arity(1);
    L.call(Intrinsic::nvvm_bar_warp_sync, {L.read(0, B32)});
    return;
  }
  if (L.opcode() == "barrier" && L.take("cluster"))
    return emitClusterBarrier(L);
  L.take("cta");
  bool Aligned = L.opcode() == "bar";
  if (L.take("red")) {
    StringRef Mode = L.takeOneOf({"popc", "and", "or"});
    Type T = L.type();
    L.arity(3);
    bool Count = Mode == "popc";
    Operand P = L.operand(2);
    if (!Aligned || Mode.empty() || L.literal(1) != 0 ||
        T != (Count ? Type{Type::Unsigned, 32, 1} : Type{Type::Pred, 1, 1}))
      return L.refuse("the form is not supported");
    Value *V = L.call(Count           ? Intrinsic::nvvm_barrier0_popc
                      : Mode == "and" ? Intrinsic::nvvm_barrier0_and
                                      : Intrinsic::nvvm_barrier0_or,
                      {B.CreateZExt(L.readPredicate(2), B.getInt32Ty())});
    return L.write(0, T, Count ? V : B.CreateIsNotNull(V));
  }
  if (L.take("arrive")) {
    L.take("aligned");
    L.arity(2);
    B.CreateCall(ownFunction(*B.GetInsertBlock()->getModule(),
                             analysis::NamedBarrierArrive, B.getVoidTy(),
                             {B.getInt32Ty(), B.getInt32Ty()}),
                 {L.read(0, B32), L.read(1, B32)});
    return;
  }
  bool Sync = L.take("sync");
  Aligned |= L.take("aligned");
  if (!Sync || L.count() < 1 || L.count() > 2)
    return L.refuse("the form is not supported");
  bool Counted = L.count() == 2;
  if (Aligned && !Counted && L.literal(0) == 0) {
    L.call(Intrinsic::nvvm_barrier0, {});
    return;
  }
  Value *Id = L.read(0, B32);
  if (Counted)
    L.call(Aligned ? Intrinsic::nvvm_barrier : Intrinsic::nvvm_barrier_sync_cnt,
           {Id, L.read(1, B32)});
  else
    L.call(Aligned ? Intrinsic::nvvm_bar_sync : Intrinsic::nvvm_barrier_sync,
           {Id});
}

/// Programmatic dependent launch: waiting for the grids before makes what they
/// wrote visible, which is an acquire; letting later ones start promises
/// nothing. Both have sync scopes of their own, so that they can be told.
static void emitGridDependency(Lowering &L) {
  StringRef What = L.takeOneOf({"wait", "launch_dependents"});
  L.arity(0);
  if (What.empty())
    return L.refuse("the action is missing");
  SyncScope::ID Scope = L.B.getContext().getOrInsertSyncScopeID(
      ("ptx.griddepcontrol." + What).str());
  L.B.CreateFence(What == "wait" ? AtomicOrdering::Acquire
                                 : AtomicOrdering::Release,
                  Scope);
}

static void emitNanosleep(Lowering &L) {
  Type T = L.type();
  L.arity(1);
  if (T != Type{Type::Unsigned, 32, 1})
    return L.refuse("the type is not supported");
  L.call(Intrinsic::nvvm_nanosleep, {L.read(0, T)});
}

/// setmaxnreg.{inc,dec}.sync.aligned.u32 n: registers for a warp group.
static void emitRegisters(Lowering &L) {
  const StringRef How = L.takeOneOf({"inc", "dec"});
  const bool Aligned = L.take("sync") && L.take("aligned");
  const Type T = L.type();
  L.arity(1);
  const std::optional<uint64_t> Count = L.literal(0);
  if (How.empty() || !Aligned || T != Type{Type::Unsigned, 32, 1} || !Count)
    return L.refuse("the form is not supported");
  L.call(How == "inc" ? Intrinsic::nvvm_setmaxnreg_inc_sync_aligned_u32
                      : Intrinsic::nvvm_setmaxnreg_dec_sync_aligned_u32,
         {L.B.getInt32(*Count)});
}

static void emitControl(Lowering &L) {
  L.arity(0);
  Intrinsic::ID ID = Intrinsic::nvvm_exit;
  if (L.opcode() == "trap")
    ID = Intrinsic::trap;
  else if (L.opcode() == "brkpt")
    ID = Intrinsic::debugtrap;
  L.call(ID, {});
}

/// pmevent a: an immediate, and stays one.
static void emitPmevent(Lowering &L) {
  L.arity(1);
  std::optional<uint64_t> Event = L.literal(0);
  if (!Event || *Event > 15)
    return L.refuse("the event is no number from 0 to 15");
  auto &B = L.B;
  B.CreateCall(ownFunction(*B.GetInsertBlock()->getModule(),
                           analysis::PerformanceEvent, B.getVoidTy(),
                           {B.getInt32Ty()}),
               {B.getInt32(*Event)});
}

ArrayRef<Row> syncRows() {
  static const Row Rows[] = {
      {"shfl", AnyClass, true, emitShfl, ".sync.{up,down,bfly,idx}.b32 d{|p}",
       "`llvm.nvvm.shfl.sync.*.i32{p}`"},
      {"vote", AnyClass, true, emitVote,
       ".sync.{all,any,uni}.pred, .ballot.b32", "`llvm.nvvm.vote.*.sync`"},
      {"match", AnyClass, true, emitMatch, ".{any,all}.sync.b{32,64} d{|p}",
       "`llvm.nvvm.match.*.sync.*`"},
      {"activemask", AnyClass, true, emitActivemask, ".b32",
       "`llvm.nvvm.activemask`"},
      {"redux", AnyClass, true, emitRedux,
       ".sync.{add,min,max}.{u32,s32}, .{and,or,xor}.b32",
       "`llvm.nvvm.redux.sync.*`"},
      {"elect", AnyClass, true, emitElect, ".sync d|p",
       "`llvm.nvvm.bar.warp.sync`, the mask's lowest lane"},
      {"bar", AnyClass, true, emitBarrier,
       "{.cta}.sync a{, b}, .arrive a, b, .warp.sync, .red.{popc,and,or} with "
       "barrier 0",
       "`llvm.nvvm.barrier0{.popc,.and,.or}`, `bar.sync`, `barrier`, "
       "`bar.warp.sync`; a function of ours"},
      {"barrier", AnyClass, true, emitBarrier,
       "{.cta}.sync{.aligned} a{, b}, .arrive{.aligned} a, b, "
       ".cluster.{arrive{.release,.relaxed},wait{.acquire}}{.aligned}",
       "`llvm.nvvm.barrier.sync{.cnt}`, `barrier0`, `barrier.cluster.*`; a "
       "function of ours"},
      {"griddepcontrol", AnyClass, true, emitGridDependency,
       ".{wait,launch_dependents}",
       "fence `syncscope(\"ptx.griddepcontrol.*\")`; without effect where no "
       "grids overlap"},
      {"nanosleep", AnyClass, true, emitNanosleep, ".u32",
       "`llvm.nvvm.nanosleep`"},
      {"setmaxnreg", AnyClass, true, emitRegisters,
       ".{inc,dec}.sync.aligned.u32", "`llvm.nvvm.setmaxnreg.*`"},
      {"pmevent", AnyClass, true, emitPmevent, "a", "a function of ours"},
      {"trap", AnyClass, true, emitControl, "", "`llvm.trap`"},
      {"brkpt", AnyClass, true, emitControl, "", "`llvm.debugtrap`"},
      {"exit", AnyClass, true, emitControl, "", "`llvm.nvvm.exit`"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
