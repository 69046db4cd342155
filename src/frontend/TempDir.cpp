//===- frontend/TempDir.cpp - Files that do not outlive us ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A signal handler may call little; fork and exec are among it, so that is how
// a folder is removed there: by `rm -rf` in a child. The handler finds the
// paths in a fixed table, because it must not allocate. A folder that does not
// fit into the table is left behind when a signal ends us, no more.
//
//===----------------------------------------------------------------------===//

#include "frontend/TempDir.h"

#include "core/Error.h"
#include "core/File.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

using namespace llvm;

namespace reconverge::frontend {

static constexpr int MaxLive = 8;
static char Live[MaxLive][512]; ///< paths; an empty one is free

static int takeSlot(StringRef Path) {
  for (int Slot = 0; Slot < MaxLive; ++Slot)
    if (!Live[Slot][0] && Path.size() < sizeof(Live[Slot])) {
      // The first character last: until then the slot is free.
      std::memcpy(Live[Slot] + 1, Path.data() + 1, Path.size() - 1);
      Live[Slot][Path.size()] = '\0';
      Live[Slot][0] = Path[0];
      return Slot;
    }
  return -1;
}

static void removeLiveAndDie(int Signal) {
  for (char *Path : Live)
    if (*Path && fork() == 0) {
      execl("/bin/rm", "rm", "-rf", Path, nullptr);
      _exit(1);
    }
  // The handler is gone (SA_RESETHAND): this time the signal ends us.
  raise(Signal);
}

void removeTempDirsOnSignal() {
  struct sigaction Action{};
  Action.sa_handler = removeLiveAndDie;
  Action.sa_flags = SA_RESETHAND;
  sigemptyset(&Action.sa_mask);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction Before{};
    sigaction(Signal, nullptr, &Before);
    if (Before.sa_handler == SIG_DFL)
      sigaction(Signal, &Action, nullptr);
  }
}

TempDir::TempDir(std::string Folder, bool Remove)
    : Path(std::move(Folder)), Remove(Remove),
      Slot(Remove ? takeSlot(Path) : -1) {}

Expected<TempDir> TempDir::create(StringRef Keep) {
  if (!Keep.empty()) {
    // Whole: programs are run in other folders.
    SmallString<128> Path(Keep);
    std::error_code EC = sys::fs::make_absolute(Path);
    if (!EC)
      EC = sys::fs::create_directories(Path);
    if (EC)
      return userError("cannot make the folder " + Keep + ": " + EC.message());
    return TempDir(std::string(Path), false);
  }
  SmallString<128> Path;
  if (std::error_code EC = sys::fs::createUniqueDirectory("reconverge", Path))
    return userError("cannot make a temporary folder: " + EC.message(),
                     "Set TMPDIR to a folder that can be written.");
  return TempDir(std::string(Path), true);
}

TempDir::TempDir(TempDir &&Other) noexcept
    : Path(std::move(Other.Path)), Remove(Other.Remove), Slot(Other.Slot) {
  Other.Remove = false;
  Other.Slot = -1;
}

TempDir::~TempDir() {
  if (Remove)
    // Nobody can act on a failure here, and what is left is in /tmp.
    (void)sys::fs::remove_directories(Path);
  if (Slot >= 0)
    Live[Slot][0] = '\0';
}

std::string TempDir::file(const Twine &Name) const {
  SmallString<128> File(Path);
  sys::path::append(File, Name);
  return std::string(File);
}

Error moveIntoPlace(StringRef From, StringRef To) {
  // A device or pipe (-o /dev/null) is written, not replaced.
  bool Special = sys::fs::exists(To) && !sys::fs::is_regular_file(To) &&
                 !sys::fs::is_directory(To);
  if (!Special && !sys::fs::rename(From, To))
    return Error::success();

  Expected<std::unique_ptr<MemoryBuffer>> Whole = readFile(From);
  if (!Whole)
    return Whole.takeError();
  if (Error E = writeFileAtomically(
          To, [&](raw_ostream &OS) { OS << (*Whole)->getBuffer(); }))
    return E;
  sys::fs::file_status Status;
  if (!Special && !sys::fs::status(From, Status))
    if (std::error_code EC = sys::fs::setPermissions(To, Status.permissions()))
      return userError("cannot make " + To + " executable: " + EC.message());
  return Error::success();
}

} // namespace reconverge::frontend
