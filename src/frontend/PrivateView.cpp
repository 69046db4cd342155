//===- frontend/PrivateView.cpp - A folder whose changes are lost ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1. A mount namespace of its own; who may not have one gets it with a user
//      namespace, in which every id is what it was.
//   2. A tmpfs at Scratch, which nobody else sees, for what is written.
//   3. An overlay at Folder: Content, and above it what is written.
//   4. Where Keep lies inside Folder, it is mounted back: what the process is
//      to leave there has to arrive.
//
// All mounts go with the namespace, so there is nothing to clean up. Devices,
// network, other folders and open files are what they were.
//
// Limitation: what is written lies in memory. Folder must have no other file
// systems inside, for an overlay would hide them: then it is refused.
//
//===----------------------------------------------------------------------===//

#include "frontend/PrivateView.h"

#include "core/Error.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::frontend {

static bool writeTo(const char *Path, const char *Text) {
  const int File = open(Path, O_WRONLY | O_CLOEXEC);
  if (File < 0)
    return false;
  const ssize_t Bytes = ssize_t(strlen(Text));
  const bool Done = write(File, Text, size_t(Bytes)) == Bytes;
  close(File);
  return Done;
}

/// Maps an id to itself.
static bool mapId(const char *Path, unsigned Id) {
  char Text[64];
  snprintf(Text, sizeof(Text), "%u %u 1", Id, Id);
  return writeTo(Path, Text);
}

/// A mount namespace; \p IsUsers: inside a user namespace.
static const char *enterNamespace(bool &IsUsers) {
  IsUsers = false;
  if (!unshare(CLONE_NEWNS))
    return nullptr;
  const uid_t User = geteuid();
  const gid_t Group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
    return "a namespace";
  IsUsers = true;
  (void)writeTo("/proc/self/setgroups", "deny"); // old kernels lack it
  if (!mapId("/proc/self/uid_map", User) || !mapId("/proc/self/gid_map", Group))
    return "the ids of a namespace";
  return nullptr;
}

const char *PrivateView::enter() const {
  bool IsUsers = false;
  if (const char *Refused = enterNamespace(IsUsers))
    return Refused;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
    return "private mounts";
  const int Kept = open(Keep.c_str(), O_PATH | O_CLOEXEC);
  if (mount("tmpfs", Scratch.c_str(), "tmpfs", 0, "mode=0700"))
    return "a file system in memory";
  char Upper[4096], Work[4096], Options[3 * 4096], Back[64];
  const int Length =
      snprintf(Upper, sizeof(Upper), "%s/upper", Scratch.c_str());
  if (Length < 0 || size_t(Length) >= sizeof(Upper)) {
    errno = ENAMETOOLONG;
    return "an overlay";
  }
  snprintf(Work, sizeof(Work), "%s/work", Scratch.c_str());
  // Its own mode, for the overlay shows that of the upper folder.
  struct stat Like;
  if (stat(Content.c_str(), &Like) || mkdir(Upper, 0700) ||
      chmod(Upper, Like.st_mode & 07777) || mkdir(Work, 0700))
    return "an overlay";
  // The lower folder by a relative name, which needs no escapes.
  snprintf(Options, sizeof(Options), "lowerdir=.,upperdir=%s,workdir=%s%s",
           Upper, Work, IsUsers ? ",userxattr" : "");
  if (chdir(Content.c_str()) ||
      mount("overlay", Folder.c_str(), "overlay", 0, Options))
    return "an overlay";
  snprintf(Back, sizeof(Back), "/proc/self/fd/%d", Kept);
  const bool IsInside = Keep.size() > Folder.size() &&
                        !strncmp(Keep.c_str(), Folder.c_str(), Folder.size()) &&
                        Keep[Folder.size()] == '/';
  if (IsInside && mount(Back, Keep.c_str(), nullptr, MS_BIND | MS_REC, nullptr))
    return "a mount";
  if (Kept >= 0)
    close(Kept);
  return chdir(Folder.c_str()) ? "the folder" : nullptr;
}

/// Whether another file system is mounted inside \p Folder.
static bool hasMounts(const std::string &Folder) {
  auto Table = MemoryBuffer::getFileAsStream("/proc/self/mounts");
  if (!Table)
    return false;
  SmallVector<StringRef> Lines;
  (*Table)->getBuffer().split(Lines, '\n');
  std::string Inside = Folder + "/";
  for (size_t At = 0; (At = Inside.find(' ', At)) != std::string::npos;)
    Inside.replace(At, 1, "\\040"); // as the table has it
  return any_of(Lines, [&](StringRef Line) {
    StringRef At = Line.split(' ').second.split(' ').first;
    return At != "/" && At.starts_with(Inside);
  });
}

Error PrivateView::probe() const {
  if (Folder == "/" || hasMounts(Folder))
    return userError("other file systems are mounted inside " + Folder);
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC))
    return userError("no pipe: " + Twine(strerror(errno)));
  const pid_t Child = fork();
  if (Child == 0) {
    const char *Refused = enter();
    const char *Name = ".reconverge-probe";
    if (!Refused) {
      const int File = open(Name, O_CREAT | O_EXCL | O_WRONLY, 0600);
      if (File < 0 || unlink(Name))
        Refused = "writing to an overlay";
    }
    char Text[256] = "";
    if (Refused)
      snprintf(Text, sizeof(Text), "the system refuses %s: %s", Refused,
               strerror(errno));
    _exit(write(Ends[1], Text, strlen(Text)) < 0);
  }
  close(Ends[1]);
  char Text[256];
  ssize_t Length = 0, Got = 0;
  while ((Got = read(Ends[0], Text + Length, sizeof(Text) - size_t(Length))) >
         0)
    Length += Got;
  close(Ends[0]);
  int Status = 0;
  if (Child < 0 || waitpid(Child, &Status, 0) != Child || Status)
    return userError("no process could be started");
  return Length ? userError(StringRef(Text, size_t(Length))) : Error::success();
}

} // namespace reconverge::frontend
