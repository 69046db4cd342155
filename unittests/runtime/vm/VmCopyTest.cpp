//===- VmCopyTest.cpp - Copying and setting memory ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Codes are those that an H200 with CUDA 13.0 (driver 580) gave for the same
// calls.
//
//===----------------------------------------------------------------------===//

#include "runtime/vm/Api.h"

#include "gtest/gtest.h"

#include <cstring>
#include <numeric>

using namespace reconverge::runtime;

namespace {

class Copy : public testing::Test {
protected:
  void SetUp() override {
    void *P;
    ASSERT_EQ(api::cudaMalloc(&P, 1000), cudaSuccess);
    Device = static_cast<char *>(P);
    std::iota(Host, Host + sizeof(Host), 0);
  }
  void TearDown() override {
    EXPECT_EQ(api::cudaFree(Device), cudaSuccess);
    api::cudaGetLastError();
  }
  char *Device = nullptr;
  char Host[4096], Back[4096] = {};
};

TEST_F(Copy, ThereAndBack) {
  ASSERT_EQ(api::cudaMemcpy(Device, Host, 1000, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy(Device + 10, Device, 500, cudaMemcpyDeviceToDevice),
            cudaSuccess);
  ASSERT_EQ(api::cudaMemcpyAsync(Back, Device, 1000, cudaMemcpyDeviceToHost,
                                 cudaStreamPerThread),
            cudaSuccess);
  EXPECT_EQ(std::memcmp(Back, Host, 10), 0);
  EXPECT_EQ(std::memcmp(Back + 10, Host, 500), 0);
  EXPECT_EQ(std::memcmp(Back + 510, Host + 510, 490), 0);
  ASSERT_EQ(api::cudaMemset(Device + 990, 0x5a, 10), cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy(Back, Device + 989, 11, cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(Back[0], Host[989]);
  for (int I = 1; I <= 10; ++I)
    EXPECT_EQ(Back[I], 0x5a);
}

TEST_F(Copy, RangesAreExact) {
  auto To = [&](size_t Offset, size_t Count) {
    return api::cudaMemcpy(Device + Offset, Host, Count,
                           cudaMemcpyHostToDevice);
  };
  EXPECT_EQ(To(0, 1000), cudaSuccess);
  EXPECT_EQ(To(0, 1001), cudaErrorInvalidValue);
  EXPECT_EQ(To(0, 1024), cudaErrorInvalidValue);
  EXPECT_EQ(To(999, 1), cudaSuccess);
  EXPECT_EQ(To(1000, 1), cudaErrorInvalidValue);
  EXPECT_EQ(To(2000, 1000), cudaErrorInvalidValue);
  EXPECT_EQ(To(0, SIZE_MAX), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpy(Back, Device, 4000, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset(Device, 0, 4 << 20), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset(Device + 990, 0, 20), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset(Host, 0, 10), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset(nullptr, 0, 10), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset(nullptr, 0, 0), cudaSuccess);
}

TEST_F(Copy, DirectionsAreHeldAgainstAddresses) {
  const auto To = cudaMemcpyHostToDevice, From = cudaMemcpyDeviceToHost,
             On = cudaMemcpyDeviceToDevice, Off = cudaMemcpyHostToHost;
  auto Do = [](void *D, const void *S, cudaMemcpyKind Kind) {
    return api::cudaMemcpy(D, S, 10, Kind);
  };
  EXPECT_EQ(Do(Device, Host, From), cudaErrorInvalidValue);
  EXPECT_EQ(Do(Back, Host, From), cudaErrorInvalidValue);
  EXPECT_EQ(Do(Back, Host, To), cudaErrorInvalidValue);
  EXPECT_EQ(Do(Back, Device, To), cudaErrorInvalidValue);
  EXPECT_EQ(Do(Back, Host, On), cudaErrorInvalidValue);
  EXPECT_EQ(Do(Device, Device + 100, To), cudaSuccess);
  EXPECT_EQ(Do(Device, Device + 100, From), cudaSuccess);
  EXPECT_EQ(Do(Device, Device + 100, Off), cudaSuccess);
  EXPECT_EQ(Do(Back, Device, Off), cudaSuccess);
  EXPECT_EQ(Do(Back, Host, Off), cudaSuccess);
  EXPECT_EQ(Do(Back, Device, cudaMemcpyKind(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(Do(Back, nullptr, From), cudaErrorInvalidValue);
  EXPECT_EQ(Do(nullptr, Host, To), cudaErrorInvalidValue);
  EXPECT_EQ(Do(nullptr, nullptr, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpy(nullptr, nullptr, 0, To), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpyPeer(Device, 0, Device + 50, 0, 10), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpyPeer(Device, 1, Device + 50, 0, 10),
            cudaErrorInvalidDevice);
}

TEST_F(Copy, FreedMemoryIsNoEnd) {
  void *P;
  ASSERT_EQ(api::cudaMalloc(&P, 100), cudaSuccess);
  ASSERT_EQ(api::cudaFree(P), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpy(P, Host, 10, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemcpy(Back, P, 10, cudaMemcpyDefault),
            cudaErrorInvalidValue);
}

TEST_F(Copy, Rows) {
  const auto To = cudaMemcpyHostToDevice;
  ASSERT_EQ(api::cudaMemset(Device, 0, 1000), cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy2D(Device, 100, Host, 64, 10, 10, To), cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy(Back, Device, 1000, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int Row = 0; Row < 10; ++Row)
    for (int X = 0; X < 100; ++X)
      ASSERT_EQ(Back[Row * 100 + X], X < 10 ? Host[Row * 64 + X] : 0);
  ASSERT_EQ(api::cudaMemset2D(Device + 50, 100, 9, 3, 2), cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy2D(Back, 4, Device + 49, 100, 4, 2,
                              cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(std::memcmp(Back, "\0\11\11\11\0\11\11\11", 8), 0);

  EXPECT_EQ(api::cudaMemcpy2D(Device, 10, Host, 10, 11, 2, To),
            cudaErrorInvalidPitchValue);
  EXPECT_EQ(api::cudaMemcpy2D(Device, 100, Host, 100, 0, 10, To), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpy2D(Device, size_t(1) << 40, Host, 100, 10, 10, To),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset2D(Device, 10, 0, 11, 2), cudaErrorInvalidValue);
  // The last row counts by its width: 900 + 100 fits, 900 + 101 does not.
  EXPECT_EQ(api::cudaMemset2D(Device + 1, 100, 0, 99, 10), cudaSuccess);
  EXPECT_EQ(api::cudaMemset2D(Device + 1, 100, 0, 100, 10),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset2D(Device, 100, 0, 1, SIZE_MAX / 2),
            cudaErrorInvalidValue);
}

TEST_F(Copy, Planes) {
  // A box of 3 x 2 x 2 bytes from (1, 1, 1) of planes of 8 x 4.
  cudaMemcpy3DParms P = {};
  P.srcPtr = cudaPitchedPtr{Host, 8, 8, 4};
  P.srcPos = cudaPos{1, 1, 1};
  P.dstPtr = cudaPitchedPtr{Device, 3, 3, 2};
  P.extent = cudaExtent{3, 2, 2};
  P.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(api::cudaMemcpy3D(&P), cudaSuccess);
  ASSERT_EQ(api::cudaMemcpy(Back, Device, 12, cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int Z = 0; Z < 2; ++Z)
    for (int Y = 0; Y < 2; ++Y)
      for (int X = 0; X < 3; ++X)
        EXPECT_EQ(Back[(Z * 2 + Y) * 3 + X],
                  Host[(Z + 1) * 32 + (Y + 1) * 8 + X + 1]);
  EXPECT_EQ(api::cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  P.srcPos = cudaPos{0, 0, 0};
  P.extent = cudaExtent{4, 2, 1};
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaErrorInvalidPitchValue);
  P.extent = cudaExtent{3, 3, 1};
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaErrorInvalidValue);
  P.extent = cudaExtent{3, 2, 0};
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaSuccess);
  P.extent = cudaExtent{3, 2, 1};
  P.srcPtr.ptr = nullptr;
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaErrorInvalidValue);

  const cudaPitchedPtr Box = {Device, 10, 10, 3};
  EXPECT_EQ(api::cudaMemset3D(Box, 1, cudaExtent{10, 3, 1}), cudaSuccess);
  EXPECT_EQ(api::cudaMemset3D(Box, 1, cudaExtent{11, 3, 1}),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaMemset3D(Box, 1, cudaExtent{10, 4, 2}),
            cudaErrorInvalidValue);
}

/// Extents and places in arrays count elements, everywhere else bytes.
TEST_F(Copy, ArraysCountElements) {
  const cudaChannelFormatDesc Shorts = {16, 0, 0, 0,
                                        cudaChannelFormatKindUnsigned};
  cudaArray_t A = nullptr;
  ASSERT_EQ(api::cudaMallocArray(&A, &Shorts, 3, 2, 0), cudaSuccess);
  const uint16_t In[6] = {1, 2, 3, 4, 5, 6};
  uint16_t Out[6] = {};
  cudaMemcpy3DParms P = {};
  P.srcPtr = {const_cast<uint16_t *>(In), 6, 6, 2};
  P.dstArray = A;
  P.extent = {3, 2, 1};
  P.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaSuccess);
  P.dstPos.x = 1; // the last element of a row would lie outside
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaErrorInvalidValue);
  P = {};
  P.srcArray = A;
  P.srcPos = {1, 1, 0};
  P.dstPtr = {Out, 4, 4, 1};
  P.extent = {2, 1, 1};
  P.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaSuccess);
  EXPECT_EQ(Out[0], 5);
  EXPECT_EQ(Out[1], 6);
  // Bytes that run on from row to row; no half elements.
  EXPECT_EQ(api::cudaMemcpyFromArray(Out, A, 4, 0, 6, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(Out[0], 3);
  EXPECT_EQ(Out[2], 5);
  EXPECT_EQ(api::cudaMemcpyToArray(A, 1, 0, In, 2, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(api::cudaFreeArray(A), cudaSuccess);
  EXPECT_EQ(api::cudaMemcpy3D(&P), cudaErrorInvalidValue);
}

} // namespace
