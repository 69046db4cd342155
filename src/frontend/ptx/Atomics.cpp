//===- frontend/ptx/Atomics.cpp - atom, red, fences -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red become atomicrmw and cmpxchg, with the order and with the sync
// scope "ptx.<scope>"; without them PTX means relaxed and .gpu. libcu++ writes
// the operation before the order, the manual after it: both are taken. Those in
// .shared::cluster are the same with a scope of their own, "ptx.<scope>" and that,
// because the address may be another block's.
//
// fence.sc and fence.acq_rel become LLVM fences of their scopes. membar, which
// is fence.sc on every GPU that we compile for, stays NVVM's intrinsic, as
// __threadfence does.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Access.h"
#include "frontend/ptx/Table.h"

#include "analysis/PtxFunctions.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

AtomicRMWInst::BinOp atomicOperation(StringRef Name, Type T) {
  bool Word = T.isInt() && T.Lanes == 1 && (T.Width == 32 || T.Width == 64);
  bool Ordered = Word && T.K != Type::Bits;
  if (Name == "add")
    return T.isFloat() ? AtomicRMWInst::FAdd
           : Ordered   ? AtomicRMWInst::Add
                       : AtomicRMWInst::BAD_BINOP;
  if (Name == "inc" || Name == "dec")
    return T != Type{Type::Unsigned, 32, 1} ? AtomicRMWInst::BAD_BINOP
           : Name == "inc"                  ? AtomicRMWInst::UIncWrap
                                            : AtomicRMWInst::UDecWrap;
  if (Name == "min" || Name == "max") {
    bool Min = Name == "min";
    if (!Ordered)
      return AtomicRMWInst::BAD_BINOP;
    return T.isSigned() ? (Min ? AtomicRMWInst::Min : AtomicRMWInst::Max)
                        : (Min ? AtomicRMWInst::UMin : AtomicRMWInst::UMax);
  }
  if (Name == "exch" && T == Type{Type::Bits, 128, 1})
    return AtomicRMWInst::Xchg;
  if (!Word)
    return AtomicRMWInst::BAD_BINOP;
  return Name == "exch"  ? AtomicRMWInst::Xchg
         : Name == "and" ? AtomicRMWInst::And
         : Name == "or"  ? AtomicRMWInst::Or
                         : AtomicRMWInst::Xor;
}

/// {atom,red}{.order}{.scope}.global.add.{v2,v4}.f32 {d,} [p], {a, ...}
static void emitVectorAtomic(Lowering &L, bool Returns, size_t Count) {
  auto &B = L.B;
  constexpr Type Single{Type::Float, 32, 1};
  const bool Add = L.take("add");
  const Access A = takeAccess(L);
  const size_t At = Returns ? 1 : 0;
  L.arity(At + 2 + A.CacheHint);
  const Operand &From = L.operand(At + 1), &To = L.operand(0);
  auto Fits = [&](const Operand &O) {
    return O.K == Operand::Vector && O.Parts.size() == Count;
  };
  if (!Add || A.Space != 1 || L.type() != Single || !Fits(From) ||
      (Returns && !Fits(To)))
    return L.refuse("the form is not supported");
  SmallVector<Value *, 5> Args{L.pointer(L.operand(At), 1)};
  for (const Operand &O : From.Parts)
    Args.push_back(L.read(O, Single));
  const auto Whole = SmallVector<llvm::Type *, 4>(Count, B.getFloatTy());
  std::string Text = L.modifiers(), List[2], Constraints;
  if (const size_t Hint = Text.find(".L2::cache_hint"); Hint != Text.npos)
    Text.erase(Hint, StringRef(".L2::cache_hint").size());
  const size_t First = Returns ? Count : 0; // the address's number
  for (size_t N = 0; N != Count; ++N) {
    List[0] += (N ? ", $" : "$") + std::to_string(N);
    List[1] += (N ? ", $" : "$") + std::to_string(First + 1 + N);
    Constraints += Returns ? "=f," : "";
  }
  Constraints += "l";
  for (size_t N = 0; N != Count; ++N)
    Constraints += ",f";
  Value *Old =
      callPtx(L, Returns ? analysis::VectorAtomic : analysis::VectorReduction,
              Returns ? (llvm::Type *)StructType::get(B.getContext(), Whole)
                      : B.getVoidTy(),
              Args,
              L.opcode() + "." + Text + " " +
                  (Returns ? "{" + List[0] + "}, " : std::string()) + "[$" +
                  Twine(First) + "], {" + List[1] + "};",
              Constraints + ",~{memory}");
  for (size_t N = 0; Returns && N != Count; ++N)
    L.write(To.Parts[N], Single, B.CreateExtractValue(Old, N));
}

static void emitAtomic(Lowering &L) {
  auto &B = L.B;
  bool Returns = L.opcode() == "atom";
  if (!Returns && L.take("async"))
    return emitAsyncReduce(L);
  if (StringRef Vector = L.takeOneOf({"v2", "v4"}); !Vector.empty())
    return emitVectorAtomic(L, Returns, Vector == "v2" ? 2 : 4);
  StringRef Name = L.takeOneOf(
      {"add", "inc", "dec", "min", "max", "and", "or", "xor", "exch", "cas"});
  Access A = takeAccess(L);
  bool NoFlush = L.take("noftz");
  Type T = L.type();
  bool Compares = Name == "cas";
  L.arity((Returns ? 1 : 0) + 2 + Compares + A.CacheHint);
  if (A.Volatile || A.ReadOnly || A.Space > 3 || Name.empty() ||
      (A.Cluster && T.bits() > 64) ||
      (!Returns && (Compares || Name == "exch")) ||
      NoFlush != (T.isHalf() && Name == "add"))
    return L.refuse("the form is not supported");
  if (A.Order == AtomicOrdering::NotAtomic)
    A.Order = AtomicOrdering::Monotonic;
  SyncScope::ID Scope = scopeId(L, (A.Scope.empty() ? "gpu" : A.Scope) +
                                       (A.Cluster ? ClusterSuffix : ""));
  size_t At = Returns ? 1 : 0;
  Align Alignment(std::max(8u, T.bits()) / 8);
  Value *P = L.pointer(L.operand(At), A.Space);
  Value *Old;
  if (Compares) {
    if (!T.isInt() || T.Lanes != 1 ||
        !(T.Width == 32 || T.Width == 64 ||
          ((T.Width == 16 || T.Width == 128) && T.K == Type::Bits)))
      return L.refuse("the type is not supported");
    bool Acquires = A.Order == AtomicOrdering::Acquire ||
                    A.Order == AtomicOrdering::AcquireRelease;
    Value *Both = B.CreateAtomicCmpXchg(
        P, L.read(At + 1, T), L.read(At + 2, T), Alignment, A.Order,
        Acquires ? AtomicOrdering::Acquire : AtomicOrdering::Monotonic, Scope);
    Old = B.CreateExtractValue(Both, 0);
  } else {
    AtomicRMWInst::BinOp Operation = atomicOperation(Name, T);
    if (Operation == AtomicRMWInst::BAD_BINOP)
      return L.refuse("the operation does not exist for the type");
    Old = B.CreateAtomicRMW(Operation, P, L.read(At + 1, T), Alignment, A.Order,
                            Scope);
  }
  if (Returns)
    L.write(0, T, Old);
}

/// Fences between proxies, and for a cluster's barriers: to a CPU they are
/// fences like others, and each has a sync scope of its own, so that it can be
/// told.
static constexpr StringLiteral ProxyFences[] = {
    "proxy.alias",
    "proxy.async",
    "proxy.async.global",
    "proxy.async.shared::cta",
    "proxy.async.shared::cluster",
    "proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster",
    "proxy.async::generic.release.sync_restrict::shared::cta.cluster",
    "acquire.sync_restrict::shared::cluster.cluster",
    "release.sync_restrict::shared::cta.cluster",
    "mbarrier_init.release.cluster",
};

static void emitFence(Lowering &L) {
  if (std::string Whole = L.modifiers(); is_contained(ProxyFences, Whole)) {
    L.takeAll();
    L.arity(0);
    L.B.CreateFence(AtomicOrdering::AcquireRelease,
                    scopeId(L, "fence." + Whole));
    return;
  }
  StringRef Order = L.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  StringRef Scope = L.takeOneOf({"cta", "cluster", "gpu", "sys"});
  L.arity(0);
  if (Scope.empty())
    return L.refuse("the scope is missing");
  // Without an order, a fence is acq_rel.
  L.B.CreateFence(Order == "sc"        ? AtomicOrdering::SequentiallyConsistent
                  : Order == "acquire" ? AtomicOrdering::Acquire
                  : Order == "release" ? AtomicOrdering::Release
                                       : AtomicOrdering::AcquireRelease,
                  scopeId(L, Scope));
}

static void emitMembar(Lowering &L) {
  StringRef Level = L.takeOneOf({"cta", "gl", "sys"});
  L.arity(0);
  if (Level.empty())
    return L.refuse("the level is missing");
  L.call(Level == "cta"  ? Intrinsic::nvvm_membar_cta
         : Level == "gl" ? Intrinsic::nvvm_membar_gl
                         : Intrinsic::nvvm_membar_sys,
         {});
}

ArrayRef<Row> atomicRows() {
  static constexpr StringRef Becomes =
      "atomicrmw, cmpxchg, `syncscope(\"ptx.*\")`";
  static const Row Rows[] = {
      {"atom", AnyClass, true, emitAtomic,
       "{.order}{.scope}{.global,.shared,.shared::cluster}.add.{u32,s32,u64,"
       "s64,f32,f64,"
       "noftz.{f16{x2},bf16{x2}}}, .{min,max}.{u,s}{32,64}, "
       ".{and,or,xor}.b{32,64}, .exch.b{32,64,128}, .cas.b{16,32,64,128}, "
       ".{inc,dec}.u32, .global.add.{v2,v4}.f32",
       Becomes},
      {"red", AnyClass, true, emitAtomic,
       "as atom, without .exch and .cas; .async.relaxed.cluster"
       "{.shared::cluster}.mbarrier::complete_tx::bytes.op.type",
       Becomes},
      {"fence", AnyClass, true, emitFence,
       "{.sc,.acq_rel,.acquire,.release}.{cta,cluster,gpu,sys}, "
       ".proxy.{alias,async{.global,.shared::{cta,cluster}}}, "
       ".mbarrier_init.release.cluster, "
       "{.proxy.async::generic}.{acquire,release}.sync_restrict::...",
       "fence `syncscope(\"ptx.*\")`"},
      {"membar", AnyClass, true, emitMembar, ".{cta,gl,sys}",
       "`llvm.nvvm.membar.*`"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
