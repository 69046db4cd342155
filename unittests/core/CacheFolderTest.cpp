//===- unittests/core/CacheFolderTest.cpp - What is kept between runs -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "core/CacheFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <chrono>

using namespace llvm;
using namespace reconverge;

namespace {

/// A folder of its own for each test.
class CacheFolder : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("cache", Folder));
  }
  void TearDown() override { (void)sys::fs::remove_directories(Folder); }

  std::string in(StringRef Name) const {
    SmallString<256> Path(Folder);
    sys::path::append(Path, Name);
    return std::string(Path);
  }

  /// A file that was used \p Ago hours ago.
  static void write(StringRef Path, size_t Bytes, int Ago) {
    int File = 0;
    ASSERT_FALSE(sys::fs::openFileForWrite(Path, File));
    raw_fd_ostream OS(File, /*shouldClose=*/true);
    OS << std::string(Bytes, 'x');
    OS.flush();
    ASSERT_FALSE(sys::fs::setLastAccessAndModificationTime(
        File, std::chrono::system_clock::now() - std::chrono::hours(Ago)));
  }

  SmallString<128> Folder;
};

TEST_F(CacheFolder, WhatWasNotUsedForLongestGoesFirst) {
  const std::string Old = cachePath(Folder, 1), Used = cachePath(Folder, 2),
                    New = cachePath(Folder, 3), Mine = in("mine.o");
  write(Used, 40000, 5);
  write(Old, 40000, 10);
  write(New, 40000, 1);
  write(Mine, 40000, 20);
  boundCacheFolder(Folder, 100000);
  EXPECT_FALSE(sys::fs::exists(Old));
  EXPECT_TRUE(sys::fs::exists(Used));
  EXPECT_TRUE(sys::fs::exists(New));
  EXPECT_TRUE(sys::fs::exists(Mine)) << "it is not ours";
}

TEST_F(CacheFolder, WhatIsReadCountsAsUsed) {
  const std::string Old = cachePath(Folder, 1), New = cachePath(Folder, 2);
  write(Old, 40000, 10);
  write(New, 40000, 1);
  const auto Kept = readCached(Old);
  ASSERT_TRUE(Kept);
  EXPECT_EQ(Kept->getBufferSize(), 40000u);
  boundCacheFolder(Folder, 50000);
  EXPECT_TRUE(sys::fs::exists(Old));
  EXPECT_FALSE(sys::fs::exists(New));
  EXPECT_FALSE(readCached(New));
}

TEST_F(CacheFolder, WhatIsAMonthOldGoesWhateverTheBound) {
  const std::string Old = cachePath(Folder, 1), New = cachePath(Folder, 2);
  write(Old, 10, 31 * 24);
  write(New, 10, 29 * 24);
  boundCacheFolder(Folder, 0);
  EXPECT_FALSE(sys::fs::exists(Old));
  EXPECT_TRUE(sys::fs::exists(New));
}

// Programs start often, and looking takes time.
TEST_F(CacheFolder, NotLookedAtTwiceInAShortTime) {
  boundCacheFolder(Folder, 1000);
  const std::string Large = cachePath(Folder, 1);
  write(Large, 5000, 1);
  boundCacheFolder(Folder, 1000);
  EXPECT_TRUE(sys::fs::exists(Large));
}

TEST(CacheNames, OursAndThoseOfEarlierVersions) {
  EXPECT_TRUE(isCacheName(sys::path::filename(cachePath("x", 0xabc))));
  for (const char *Name :
       {"llvmcache.timestamp", "gpu-00ff.image", "0123456789abcdef.o"})
    EXPECT_TRUE(isCacheName(Name)) << Name;
  for (const char *Name :
       {"gpu-notes.image", "gpu-00ff.txt", "mine.o", "0123456789abcde.o"})
    EXPECT_FALSE(isCacheName(Name)) << Name;
}

} // namespace
