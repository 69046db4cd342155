//===- driver/Sandbox.cpp - Runs that leave no trace ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program may count its runs, take its input away, or add to a file. A user
// who has it optimised wants that once.
//
//   first run     on the folder itself, after a copy of it has been made, if it
//                 is small
//   other runs    in a view of the folder (an overlay) over that copy, or over
//                 the folder as the first run has left it; where the system
//                 refuses views, in a copy of the copy; where there is none, on
//                 the folder itself. Runs whose outputs are read have no view:
//                 what they write in one ends with them
//
// Limitation: of other folders, the network and other processes, nothing is
// kept apart.
//
//===----------------------------------------------------------------------===//

#include "driver/Sandbox.h"

#include "core/Error.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using namespace llvm;

namespace reconverge::driver {

namespace fs = std::filesystem;

/// What a folder may hold to be copied.
static constexpr uint64_t MostBytes = uint64_t(256) << 20, MostFiles = 10000;

static std::string realPath(const Twine &Path) {
  SmallString<128> Real;
  return sys::fs::real_path(Path, Real) ? Path.str() : std::string(Real);
}

/// One entry of a folder that is copied to \p To; pipes, sockets and devices
/// are left out.
static std::error_code copyEntry(const fs::directory_entry &Entry,
                                 const fs::path &To, uint64_t &Bytes) {
  std::error_code EC;
  const fs::file_status Status = Entry.symlink_status(EC);
  if (EC)
    return EC;
  switch (Status.type()) {
  case fs::file_type::symlink:
    fs::copy_symlink(Entry.path(), To, EC);
    return EC;
  case fs::file_type::directory:
    fs::create_directory(To, Entry.path(), EC);
    return EC;
  case fs::file_type::regular:
    Bytes += Entry.file_size(EC);
    if (EC || Bytes > MostBytes)
      return EC;
    if (!fs::copy_file(Entry.path(), To, EC) || EC)
      return EC;
    if (const auto Time = Entry.last_write_time(EC); !EC)
      fs::last_write_time(To, Time, EC);
    return EC;
  default:
    return EC;
  }
}

/// Copies the folder \p From to the new \p To, but for what is in the folder
/// \p Except; false if it is too large or something in it cannot be read.
static bool copyFolder(const std::string &From, const std::string &To,
                       const std::string &Except) {
  std::error_code EC;
  uint64_t Bytes = 0, Files = 0;
  fs::create_directory(To, From, EC);
  fs::recursive_directory_iterator At(From, EC), End;
  for (; !EC && At != End; At.increment(EC)) {
    if (At->path() == Except)
      At.disable_recursion_pending(); // the folder alone
    EC = copyEntry(*At, To / At->path().lexically_relative(From), Bytes);
    if (EC || Bytes > MostBytes || ++Files > MostFiles)
      return false;
  }
  return !EC;
}

Sandbox::Sandbox(const frontend::TempDir &Temp, bool Wanted, bool Read)
    : IsWanted(Wanted) {
  if (!Wanted)
    return;
  View.Folder = realPath(".");
  View.Keep = realPath(Temp.path());
  View.Scratch = View.Keep + "/view";
  Copy = View.Keep + "/copy";
  const std::string Before = View.Keep + "/before";
  (void)sys::fs::create_directory(View.Scratch);
  View.Content = View.Folder;
  Error Refused = Read ? userError("its outputs are compared") : View.probe();
  IsAsBefore = copyFolder(View.Folder, Before, View.Keep);
  if (IsAsBefore)
    View.Content = Before;
  else
    (void)sys::fs::remove_directories(Before);
  if (!Refused) {
    Runs = Mode::Viewed;
    return;
  }
  Why = toString(std::move(Refused));
  if (IsAsBefore)
    Runs = Mode::Copied;
  else
    Why += ", and the folder is too large to copy";
}

Error Sandbox::checkRead() const {
  if (Runs == Mode::Copied || !IsWanted)
    return Error::success();
  return userError(View.Folder +
                       " is too large for a copy in which the program "
                       "can leave outputs to compare",
                   "Work in a smaller folder, or allow --no-sandbox to change "
                   "it.");
}

std::string Sandbox::fileOf(StringRef Name) const {
  if (Runs != Mode::Copied || sys::path::is_absolute(Name))
    return Name.str();
  return Copy + "/" + Name.str();
}

Error Sandbox::add(StringRef File) const {
  if (!IsAsBefore)
    return Error::success();
  const std::string Real = realPath(File);
  const fs::path Inside = fs::path(Real).lexically_relative(View.Folder);
  if (Inside.empty() || *Inside.begin() == "..")
    return Error::success();
  const fs::path To = View.Content / Inside;
  std::error_code EC;
  fs::create_directories(To.parent_path(), EC);
  if (!EC)
    fs::copy_file(Real, To, fs::copy_options::overwrite_existing, EC);
  return EC ? userError(File + ": " + EC.message()) : Error::success();
}

std::string Sandbox::words() const {
  switch (Runs) {
  case Mode::Viewed:
    return "the program runs again; what it writes in " + View.Folder +
           " is discarded" +
           (IsAsBefore ? "" : ". It finds there what its first run has left");
  case Mode::Copied:
    return "the program runs again in a copy of " + View.Folder + " (" + Why +
           ")";
  case Mode::InPlace:
    break;
  }
  return "the program runs again and changes files again" +
         (Why.empty() ? "" : " (" + Why + ")");
}

Error Sandbox::arrange(frontend::Command &C) const {
  switch (Runs) {
  case Mode::InPlace:
    break;
  case Mode::Viewed:
    C.View = &View;
    break;
  case Mode::Copied:
    (void)sys::fs::remove_directories(Copy);
    if (!copyFolder(View.Content, Copy, ""))
      return userError("cannot copy " + View.Folder + " to " + Copy,
                       "Free some space, or set TMPDIR to a folder with more.");
    C.Folder = Copy;
    C.Environment.push_back("PWD=" + Copy);
    break;
  }
  return Error::success();
}

} // namespace reconverge::driver
