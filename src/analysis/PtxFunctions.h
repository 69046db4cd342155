//===- analysis/PtxFunctions.h - PTX that LLVM 19 lacks ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_ANALYSIS_PTXFUNCTIONS_H
#define RECONVERGE_ANALYSIS_PTXFUNCTIONS_H

#include "llvm/ADT/StringRef.h"

/// Functions without a body that the front end calls where PTX has a special
/// register or an instruction, and LLVM 19 neither an instruction nor an
/// intrinsic. Who runs the code gives them their meaning; for a GPU they become
/// inline PTX again (frontend/ptx/Restore.cpp).
///
/// "NAME~MODIFIERS" is a variant of function NAME, for one form of the
/// instruction. Its declaration carries the instruction's text and constraints,
/// as asm has them.
namespace reconverge::analysis {

inline constexpr llvm::StringLiteral PtxTextAttribute = "reconverge.ptx";
inline constexpr llvm::StringLiteral PtxConstraintsAttribute =
    "reconverge.ptx.constraints";

/// The function of which \p Name is a variant, or \p Name itself.
inline llvm::StringRef functionOf(llvm::StringRef Name) {
  return Name.split('~').first;
}

/// i32 (): where the shared memory that cooperative groups keep for themselves
/// begins, an address in shared memory: %reserved_smem_offset_1.
inline constexpr llvm::StringLiteral ReservedSharedOffset =
    "reconverge.reserved_smem_offset_1";
/// Bytes that a block has there, and finds zeroed.
inline constexpr unsigned ReservedSharedBytes = 288;

/// i32 (): bytes of shared memory, dynamic and all.
inline constexpr llvm::StringLiteral DynamicSharedSize =
    "reconverge.dynamic_smem_size";
inline constexpr llvm::StringLiteral TotalSharedSize =
    "reconverge.total_smem_size";

/// void (i32 barrier, i32 threads): bar.arrive.
inline constexpr llvm::StringLiteral NamedBarrierArrive =
    "reconverge.barrier.arrive";

/// void (i32 constant): pmevent.
inline constexpr llvm::StringLiteral PerformanceEvent = "reconverge.pmevent";

/// On a barrier in shared memory, of which LLVM 19 knows what sm_80 can:
/// i64 (ptr addrspace(3), i32): arrive, by so much; arrive_drop likewise.
inline constexpr llvm::StringLiteral BarrierArrive =
    "reconverge.mbarrier.arrive.many";
inline constexpr llvm::StringLiteral BarrierArriveDrop =
    "reconverge.mbarrier.arrive.drop.many";
/// i64 (ptr addrspace(3), i32): expect so many bytes more, then arrive by one.
inline constexpr llvm::StringLiteral BarrierArriveExpect =
    "reconverge.mbarrier.arrive.expect_tx";
/// void (ptr addrspace(3), i32): expect so many bytes more; they have come.
inline constexpr llvm::StringLiteral BarrierExpect =
    "reconverge.mbarrier.expect_tx";
inline constexpr llvm::StringLiteral BarrierComplete =
    "reconverge.mbarrier.complete_tx";
/// i1 (ptr addrspace(3), i64 state).
inline constexpr llvm::StringLiteral BarrierTestWait =
    "reconverge.mbarrier.test_wait";
/// i1 (ptr addrspace(3), i64 state): may wait a while before it says no.
inline constexpr llvm::StringLiteral BarrierTryWait =
    "reconverge.mbarrier.try_wait";
/// i1 (ptr addrspace(3), i32 parity).
inline constexpr llvm::StringLiteral BarrierTestParity =
    "reconverge.mbarrier.test_wait.parity";
inline constexpr llvm::StringLiteral BarrierTryParity =
    "reconverge.mbarrier.try_wait.parity";
/// void (ptr addrspace(3) to, ptr addrspace(1) from, i32 bytes,
/// ptr addrspace(3) barrier): cp.async.bulk into the block's own memory.
inline constexpr llvm::StringLiteral BulkCopy = "reconverge.cp.async.bulk";
/// Likewise to shared memory of the cluster, where `from` is in addrspace(3).
/// In a launch without clusters an H100 does not take it.
inline constexpr llvm::StringLiteral BulkPass =
    "reconverge.cp.async.bulk.shared";
/// void (ptr addrspace(1) to, ptr addrspace(3) from, i32 bytes).
inline constexpr llvm::StringLiteral BulkStore =
    "reconverge.cp.async.bulk.global";
/// void (ptr addrspace(1), i32 bytes): into the L2 cache.
inline constexpr llvm::StringLiteral BulkPrefetch =
    "reconverge.cp.async.bulk.prefetch";
/// As BulkStore or BulkPass, but each element is added to what is there, or the
/// like. Variants: MODIFIERS ends in ".operation.type".
inline constexpr llvm::StringLiteral BulkReduce =
    "reconverge.cp.reduce.async.bulk";

/// void (ptr addrspace(3) to, ptr addrspace(3) barrier, T, ...): stores words in
/// a row in shared memory of the cluster, or adds one to what is there, or the
/// like, and tells the barrier. Variants; of AsyncReduce, MODIFIERS ends in
/// ".operation.type".
inline constexpr llvm::StringLiteral AsyncStore = "reconverge.st.async";
inline constexpr llvm::StringLiteral AsyncReduce = "reconverge.red.async";

/// On shared memory of the cluster's blocks. Variants all:
/// i32 address (ptr addrspace(3), i32 rank): where a byte of this block's is in
/// that of another: mapa.
inline constexpr llvm::StringLiteral ClusterAddress = "reconverge.mapa";
/// T (ptr addrspace(3)), void (ptr addrspace(3), T).
inline constexpr llvm::StringLiteral ClusterLoad =
    "reconverge.ld.shared.cluster";
inline constexpr llvm::StringLiteral ClusterStore =
    "reconverge.st.shared.cluster";

/// Additions to two or four floats in a row, each an atomic of its own: atom,
/// which gives the old ones as a struct, and red, which gives nothing.
/// Variants.
///   {float, ...} (ptr addrspace(1), float, ...), void (the same)
inline constexpr llvm::StringLiteral VectorAtomic = "reconverge.atom";
inline constexpr llvm::StringLiteral VectorReduction = "reconverge.red";

/// cvt from and to what LLVM has no types for, as bits but for floats.
/// Variants all:
///   i16 (float upper, float lower), i16 (i32 halves), i32 halves (i16):
///   pairs of E4M3 or E5M2. i32 (float): TF32
inline constexpr llvm::StringLiteral Conversion = "reconverge.cvt";

/// On fragments of matrices (analysis/Tiles.h), by all lanes of a warp; a
/// register is an i32, or an i64 of a double, and several results are a struct.
/// Variants all:
/// registers (registers of A, B and C...): mma.
inline constexpr llvm::StringLiteral TileProduct = "reconverge.mma";
/// registers (ptr): ldmatrix. void (ptr, registers...): stmatrix.
inline constexpr llvm::StringLiteral TileLoad = "reconverge.ldmatrix";
inline constexpr llvm::StringLiteral TileStore = "reconverge.stmatrix";
/// i32 (i32): movmatrix.
inline constexpr llvm::StringLiteral TileMove = "reconverge.movmatrix";

} // namespace reconverge::analysis

#endif
