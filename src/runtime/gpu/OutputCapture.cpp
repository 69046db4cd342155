//===- runtime/gpu/OutputCapture.cpp - What goes to stdout ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "runtime/gpu/OutputCapture.h"

#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace reconverge::gpu {

OutputCapture::OutputCapture() {
  std::fflush(stdout); // what the program wrote before is its own
  File = memfd_create("printed", MFD_CLOEXEC);
  Stdout = File < 0 ? -1 : fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (Stdout >= 0)
    dup2(File, STDOUT_FILENO);
}

OutputCapture::~OutputCapture() {
  take();
  if (File >= 0)
    close(File);
}

std::string OutputCapture::take() {
  if (Stdout < 0)
    return "";
  std::fflush(stdout);
  dup2(Stdout, STDOUT_FILENO);
  close(Stdout);
  Stdout = -1;
  std::string Text(size_t(lseek(File, 0, SEEK_CUR)), 0);
  const ssize_t Read = pread(File, Text.data(), Text.size(), 0);
  Text.resize(Read < 0 ? 0 : size_t(Read));
  return Text;
}

} // namespace reconverge::gpu
