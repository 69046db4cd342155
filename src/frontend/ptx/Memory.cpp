//===- frontend/ptx/Memory.cpp - Loads, stores, address spaces ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   weak access                  load, store
//   .volatile, .mmio, .cv        volatile load, store
//   weak, in an asm volatile     volatile as well: the compiler may neither
//                                drop nor merge nor hoist it
//   .relaxed/.acquire/.release   atomic load, store of that order, and the sync
//                                scope "ptx.<scope>"
//   .nc                          load with !invariant.load
//   .shared::cluster             a function of ours
//   vectors                      one access of a vector; if atomic, of an
//                                integer of all its bits, since CUB relies on
//                                the GPU making such an access whole
//   cache operators, evictions   dropped: hints
//   prefetch                     llvm.prefetch
//
// An asm that clobbers memory orders the compiler's other accesses around it.
// A weak access in such an asm gets signal fences (sync scope "singlethread")
// on both sides, which say that and emit nothing.
//
//===----------------------------------------------------------------------===//

#include "analysis/PtxFunctions.h"
#include "analysis/device/AddressSpace.h"
#include "frontend/ptx/Access.h"
#include "frontend/ptx/Table.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

using analysis::ConstantSpace, analysis::GenericSpace, analysis::GlobalSpace,
    analysis::LocalSpace, analysis::SharedSpace;

Access takeAccess(Lowering &L) {
  Access A;
  StringRef Space = L.takeOneOf(
      {"global", "shared", "shared::cta", "shared::cluster", "const", "local"});
  A.Cluster = Space == "shared::cluster";
  A.Space = Space == "global"             ? 1
            : Space.starts_with("shared") ? 3
            : Space == "const"            ? 4
            : Space == "local"            ? 5
                                          : 0;
  bool Mmio = L.take("mmio");
  StringRef Order = L.takeOneOf(
      {"weak", "volatile", "relaxed", "acquire", "release", "acq_rel"});
  A.Scope = L.takeOneOf({"cta", "cluster", "gpu", "sys"});
  A.Volatile = Mmio || Order == "volatile";
  A.Order = Order == "relaxed"   ? AtomicOrdering::Monotonic
            : Order == "acquire" ? AtomicOrdering::Acquire
            : Order == "release" ? AtomicOrdering::Release
            : Order == "acq_rel" ? AtomicOrdering::AcquireRelease
                                 : AtomicOrdering::NotAtomic;
  if (Mmio && (Order != "relaxed" || A.Scope != "sys"))
    L.refuse(".mmio needs .relaxed.sys");
  StringRef Cache = L.takeOneOf({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  if (Cache == "cv")
    A.Volatile = true;
  if (!Cache.empty() && A.Order != AtomicOrdering::NotAtomic)
    L.refuse("a cache operator needs a weak access");
  A.ReadOnly = L.take("nc");
  if (A.ReadOnly && (A.Space != 1 || A.Volatile || !A.Scope.empty()))
    L.refuse(".nc needs a weak access to global memory");
  L.takeOneOf({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
               "L1::evict_last", "L1::no_allocate"});
  L.takeOneOf({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
  L.takeOneOf({"L2::64B", "L2::128B", "L2::256B"});
  A.CacheHint = L.take("L2::cache_hint");
  return A;
}

SyncScope::ID scopeId(Lowering &L, const Twine &Scope) {
  if (Scope.isTriviallyEmpty() || Scope.str().empty())
    return SyncScope::System;
  return L.B.getContext().getOrInsertSyncScopeID(("ptx." + Scope).str());
}

namespace {
/// What ld and st have in common.
struct Transfer {
  Access How;
  Type Element;
  unsigned Count = 1;
  llvm::Type *Memory; ///< of the access
  Align Alignment;
};
} // namespace

static Transfer takeTransfer(Lowering &L) {
  Transfer T;
  T.How = takeAccess(L);
  StringRef Vector = L.takeOneOf({"v2", "v4"});
  T.Count = Vector.empty() ? 1 : Vector == "v2" ? 2 : 4;
  T.Element = L.type();
  L.arity(T.How.CacheHint ? 3 : 2);
  unsigned Bits = T.Element.bits() * T.Count;
  bool Atomic = T.How.Order != AtomicOrdering::NotAtomic;
  if (T.Element.K == Type::Pred || T.Element.Lanes != 1 || Bits > 128) {
    L.refuse("the type is not supported");
    T.Element = {Type::Bits, 32, 1};
    Bits = 32 * T.Count;
  }
  if (Atomic != !T.How.Scope.empty())
    L.refuse("a scope and an order need each other");
  llvm::Type *Lane = L.llvmType(T.Element);
  T.Memory = Atomic         ? L.B.getIntNTy(Bits)
             : T.Count == 1 ? Lane
                            : FixedVectorType::get(Lane, T.Count);
  T.Alignment = Align(Bits / 8);
  return T;
}

/// Orders the compiler around a weak access of an asm that clobbers memory.
static void signalFence(Lowering &L, const Transfer &T) {
  if (T.How.Order == AtomicOrdering::NotAtomic && L.clobbersMemory())
    L.B.CreateFence(AtomicOrdering::SequentiallyConsistent,
                    SyncScope::SingleThread);
}

/// One word of the shared memory of the cluster's blocks; \p Stored is null for
/// a load.
static Value *transferInCluster(Lowering &L, const Transfer &T, Value *P,
                                Value *Stored) {
  const bool IsFloat = T.Element.K == Type::Float;
  const unsigned Bits = T.Element.bits();
  if (T.Count != 1 || Bits < 16 || Bits > 64 || T.How.CacheHint ||
      T.How.ReadOnly) {
    L.refuse("the form is not supported");
    return PoisonValue::get(T.Memory);
  }
  const std::string Register = Bits == 16   ? "h"
                               : Bits == 32 ? IsFloat ? "f" : "r"
                               : IsFloat    ? "d"
                                            : "l";
  const std::string Text = L.opcode().str() + "." + L.modifiers();
  if (Stored)
    return callPtx(L, analysis::ClusterStore, L.B.getVoidTy(), {P, Stored},
                   Text + " [$0], $1;", "r," + Register + ",~{memory}");
  return callPtx(L, analysis::ClusterLoad, L.llvmType(T.Element), {P},
                 Text + " $0, [$1];", "=" + Register + ",r,~{memory}");
}

static void emitLoad(Lowering &L) {
  auto &B = L.B;
  Transfer T = takeTransfer(L);
  AtomicOrdering Order = T.How.Order;
  bool Atomic = Order != AtomicOrdering::NotAtomic;
  const Operand &To = L.operand(0);
  bool IsVector = To.K == Operand::Vector;
  if (Order == AtomicOrdering::Release ||
      Order == AtomicOrdering::AcquireRelease ||
      (T.Count == 1 ? IsVector : !IsVector || To.Parts.size() != T.Count))
    return L.refuse("the operands or the order do not fit");
  Value *P = L.pointer(L.operand(1), T.How.Space);
  if (T.How.Cluster)
    return L.write(To, T.Element, transferInCluster(L, T, P, nullptr),
                   T.Element.isInt());
  bool Volatile =
      T.How.Volatile || (L.isVolatile() && !Atomic && !T.How.ReadOnly);
  signalFence(L, T);
  LoadInst *V = B.CreateAlignedLoad(T.Memory, P, T.Alignment, Volatile);
  if (Atomic)
    V->setAtomic(Order, scopeId(L, T.How.Scope));
  if (T.How.ReadOnly)
    V->setMetadata(LLVMContext::MD_invariant_load,
                   MDNode::get(B.getContext(), {}));
  signalFence(L, T);
  bool Wider = T.Element.isInt();
  if (T.Count == 1)
    return L.write(To, T.Element, B.CreateBitCast(V, L.llvmType(T.Element)),
                   Wider);
  Value *Lanes =
      B.CreateBitCast(V, FixedVectorType::get(L.llvmType(T.Element), T.Count));
  for (uint64_t N = 0; N != T.Count; ++N)
    L.write(To.Parts[N], T.Element, B.CreateExtractElement(Lanes, N), Wider);
}

static void emitStore(Lowering &L) {
  if (L.take("async"))
    return emitAsyncStore(L);
  auto &B = L.B;
  Transfer T = takeTransfer(L);
  AtomicOrdering Order = T.How.Order;
  bool Atomic = Order != AtomicOrdering::NotAtomic;
  const Operand &From = L.operand(1);
  bool IsVector = From.K == Operand::Vector;
  if (Order == AtomicOrdering::Acquire ||
      Order == AtomicOrdering::AcquireRelease || T.How.ReadOnly ||
      T.How.Space == 4 ||
      (T.Count == 1 ? IsVector : !IsVector || From.Parts.size() != T.Count))
    return L.refuse("the operands or the order do not fit");
  Value *P = L.pointer(L.operand(0), T.How.Space);
  bool Wider = T.Element.isInt();
  Value *V;
  if (T.Count == 1) {
    V = L.read(From, T.Element, Wider);
  } else {
    V = PoisonValue::get(FixedVectorType::get(L.llvmType(T.Element), T.Count));
    for (uint64_t N = 0; N != T.Count; ++N)
      V = B.CreateInsertElement(V, L.read(From.Parts[N], T.Element, Wider), N);
  }
  if (T.How.Cluster)
    return (void)transferInCluster(L, T, P, V);
  bool Volatile = T.How.Volatile || (L.isVolatile() && !Atomic);
  signalFence(L, T);
  StoreInst *S = B.CreateAlignedStore(B.CreateBitCast(V, T.Memory), P,
                                      T.Alignment, Volatile);
  if (Atomic)
    S->setAtomic(Order, scopeId(L, T.How.Scope));
  signalFence(L, T);
}

static void emitPrefetch(Lowering &L) {
  StringRef Space = L.takeOneOf({"global", "local"});
  StringRef Level =
      L.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  L.arity(1);
  if (Level.empty())
    return L.refuse("the cache level is missing");
  auto &B = L.B;
  Value *P = L.pointer(L.operand(0), Space == "global"  ? GlobalSpace
                                     : Space == "local" ? LocalSpace
                                                        : GenericSpace);
  // Read, with the locality of L1 or of L2, data cache.
  L.call(Intrinsic::prefetch,
         {P, B.getInt32(0), B.getInt32(Level == "L1" ? 3 : 2), B.getInt32(1)},
         {P->getType()});
}

/// What only advises the caches: createpolicy gives a policy, any; discard and
/// applypriority name an address.
static void emitCacheAdvice(Lowering &L) {
  if (L.opcode() != "createpolicy") {
    L.takeAll();
    L.pointer(L.operand(0), 0);
    return;
  }
  const StringRef Kind = L.takeOneOf({"fractional", "range", "cvt"});
  if (Kind.empty() || !StringRef(L.modifiers()).ends_with("b64"))
    return L.refuse("the form is not supported");
  L.takeAll();
  L.write(0, {Type::Bits, 64, 1}, L.B.getInt64(0));
}

static unsigned takeSpace(Lowering &L) {
  StringRef Space =
      L.takeOneOf({"global", "shared", "shared::cta", "const", "local"});
  if (Space.empty())
    L.refuse("the address space is missing or not supported");
  return Space == "global"  ? GlobalSpace
         : Space == "const" ? ConstantSpace
         : Space == "local" ? LocalSpace
                            : SharedSpace;
}

static void emitCvta(Lowering &L) {
  bool To = L.take("to");
  unsigned Space = takeSpace(L);
  Type T = L.type();
  L.arity(2);
  if (!L.requireInt(T, {64}))
    return;
  Value *P = L.pointerIn(L.operand(1), To ? 0 : Space);
  P = L.B.CreateAddrSpaceCast(P, L.B.getPtrTy(To ? Space : 0));
  L.write(0, T, P);
}

static void emitMapa(Lowering &L) {
  const bool Shared = L.take("shared::cluster");
  const Type T = L.type();
  L.arity(3);
  if (T.K != Type::Unsigned || T.bits() != (Shared ? 32 : 64))
    return L.refuse("the type is not supported");
  const Type U32{Type::Unsigned, 32, 1};
  Value *Rank = L.read(2, U32);
  if (!Shared) {
    Value *P =
        L.call(Intrinsic::nvvm_mapa, {L.pointerIn(L.operand(1), 0), Rank});
    return L.write(0, T, L.B.CreatePtrToInt(P, L.B.getInt64Ty()));
  }
  L.write(0, T,
          callPtx(L, analysis::ClusterAddress, L.B.getInt32Ty(),
                  {L.pointerIn(L.operand(1), SharedSpace), Rank},
                  "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r"));
}

static void emitIsspacep(Lowering &L) {
  if (L.take("shared::cluster")) {
    L.arity(2);
    return L.writePredicate(L.operand(0),
                            L.call(Intrinsic::nvvm_isspacep_shared_cluster,
                                   {L.pointerIn(L.operand(1), 0)}));
  }
  unsigned Space = takeSpace(L);
  L.arity(2);
  Intrinsic::ID ID = Space == GlobalSpace     ? Intrinsic::nvvm_isspacep_global
                     : Space == SharedSpace   ? Intrinsic::nvvm_isspacep_shared
                     : Space == ConstantSpace ? Intrinsic::nvvm_isspacep_const
                                              : Intrinsic::nvvm_isspacep_local;
  L.writePredicate(L.operand(0), L.call(ID, {L.pointerIn(L.operand(1), 0)}));
}

ArrayRef<Row> memoryRows() {
  static const Row Rows[] = {
      {"ld", AnyClass, true, emitLoad,
       "{.weak,.volatile,.relaxed.scope,.acquire.scope,.mmio.relaxed.sys}"
       "{.global,.shared,.shared::cluster,.const,.local}{.ca,.cg,.cs,.lu,.cv,."
       "nc}{.L1::...}{.L2:"
       ":...}"
       "{.v2,.v4}.{b8-b128,u,s,f}",
       "load; atomic load, `syncscope(\"ptx.*\")`; `!invariant.load`; a "
       "function of ours"},
      {"st", AnyClass, true, emitStore,
       "{.weak,.volatile,.relaxed.scope,.release.scope,.mmio.relaxed.sys}"
       "{.global,.shared,.shared::cluster,.local}{.wb,.cg,.cs,.wt}{.L1::...}{."
       "L2::...}"
       "{.v2,.v4}.{b8-b128,u,s,f}; "
       ".async{.weak}{.shared::cluster}.mbarrier::complete_tx::bytes"
       "{.v2,.v4}.{b,u,s,f}{32,64}",
       "store; atomic store, `syncscope(\"ptx.*\")`; a function of ours"},
      {"ldu", AnyClass, true, emitLoad, ".global{.v2,.v4}.type", "load"},
      {"prefetch", AnyClass, true, emitPrefetch,
       "{.global,.local}.{L1,L2,L2::evict_last,L2::evict_normal}",
       "`llvm.prefetch`"},
      {"prefetchu", AnyClass, true, emitPrefetch, ".L1", "`llvm.prefetch`"},
      {"createpolicy", AnyClass, false, emitCacheAdvice,
       ".{fractional,range,cvt}....b64", "zero: policies are hints"},
      {"discard", AnyClass, true, emitCacheAdvice, "{.global}.L2", "nothing"},
      {"applypriority", AnyClass, true, emitCacheAdvice,
       "{.global}.L2::evict_normal", "nothing"},
      {"cvta", AnyClass, false, emitCvta,
       "{.to}.{global,shared,const,local}.u64", "addrspacecast"},
      {"mapa", AnyClass, false, emitMapa, ".u64, .shared::cluster.u32",
       "`llvm.nvvm.mapa`; a function of ours"},
      {"isspacep", AnyClass, false, emitIsspacep,
       ".{global,shared,shared::cluster,const,local}",
       "`llvm.nvvm.isspacep.*`"},
  };
  return Rows;
}

} // namespace reconverge::frontend::ptx
