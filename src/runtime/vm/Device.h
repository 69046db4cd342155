//===- runtime/vm/Device.h - What the VM claims to be -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_RUNTIME_VM_DEVICE_H
#define RECONVERGE_RUNTIME_VM_DEVICE_H

#include <cstdint>

namespace reconverge::runtime {

/// The device's name in cudaDeviceProp and in profiles.
inline constexpr char DeviceName[] = "Reconverge warp VM (CPU)";

/// Limits of an sm_90 device, as an H200 reports them: launches are held to
/// them, so that what runs here runs there.
namespace limits {
inline constexpr int Major = 9, Minor = 0;
inline constexpr unsigned ThreadsPerBlock = 1024;
inline constexpr unsigned BlockX = 1024, BlockY = 1024, BlockZ = 64;
inline constexpr unsigned GridX = 2147483647, GridY = 65535, GridZ = 65535;
/// Blocks of a cluster, and of one where the kernel opts in.
inline constexpr unsigned BlocksPerCluster = 8, BlocksPerClusterOptIn = 16;
inline constexpr unsigned Multiprocessors = 132;
/// Those that a test is told of: grids are often made for as many, and small
/// ones find as much.
inline constexpr unsigned TestedMultiprocessors = 8;
inline constexpr unsigned ThreadsPerMultiprocessor = 2048;
inline constexpr unsigned BlocksPerMultiprocessor = 32;
inline constexpr unsigned RegistersPerMultiprocessor = 65536;
/// Bytes of shared memory: a block's without and with opt-in, all of a
/// multiprocessor's, and what the system takes of each block's.
inline constexpr uint64_t SharedPerBlock = 48 << 10;
inline constexpr uint64_t SharedPerBlockOptIn = 227 << 10;
inline constexpr uint64_t SharedPerMultiprocessor = 228 << 10;
inline constexpr uint64_t SharedReserved = 1 << 10;
/// The VM allocates no registers. This many a thread is the most at which they
/// limit no occupancy: 65536 / 2048.
inline constexpr int RegistersPerThread =
    RegistersPerMultiprocessor / ThreadsPerMultiprocessor;
inline constexpr uint64_t PitchAlignment = 512;   ///< bytes
inline constexpr uint64_t MaxPitch = 2147483647;  ///< bytes
inline constexpr uint64_t ConstantMemory = 65536; ///< bytes
inline constexpr int PriorityLeast = 0, PriorityGreatest = -5;
} // namespace limits

} // namespace reconverge::runtime

#endif
