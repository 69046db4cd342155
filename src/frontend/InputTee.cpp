//===- frontend/InputTee.cpp - Standard input, for a child and for later --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   our input --thread--> pipe of one page --> child
//                `------> copy
//
// The thread reads on only when the child has emptied the pipe, so that of an
// input without end no more than a page is read too much.
//
// If our input is a terminal, the child gets one too (a pseudo-terminal): a
// program may ask for a prompt's sake. Ours keeps its line editing and its
// signals; the child's hands lines through, and Ctrl-D as the end of input it
// is. In the background we leave the terminal alone, as the child would.
//
// Limitation: a program that switches its terminal to single keys gets lines.
//
//===----------------------------------------------------------------------===//

#include "frontend/InputTee.h"

#include "core/Error.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <termios.h>
#include <unistd.h>

using namespace llvm;

namespace reconverge::frontend {

static constexpr size_t Page = 4096;

/// A terminal that changes nothing of a line and echoes nothing: the outer one
/// has.
static bool openTerminal(int &Own, int &Child) {
  if (openpty(&Own, &Child, nullptr, nullptr, nullptr))
    return false;
  termios Settings{};
  tcgetattr(Child, &Settings);
  Settings.c_iflag = 0;
  Settings.c_lflag = ICANON;
  tcsetattr(Child, TCSANOW, &Settings);
  fcntl(Own, F_SETFD, FD_CLOEXEC);
  fcntl(Child, F_SETFD, FD_CLOEXEC);
  return true;
}

static bool openPipe(int &Own, int &Child) {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC))
    return false;
  Child = Ends[0];
  Own = Ends[1];
  // Larger ones only make us read ahead.
  (void)fcntl(Own, F_SETPIPE_SZ, int(Page));
  return true;
}

Expected<std::unique_ptr<InputTee>> InputTee::start(const std::string &Copy) {
  std::unique_ptr<InputTee> Tee(new InputTee);
  Tee->Copy =
      open(Copy.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (Tee->Copy < 0)
    return userError("cannot write " + Copy + ": " + strerror(errno));
  Tee->IsTerminal = isatty(STDIN_FILENO);
  if (!(Tee->IsTerminal ? openTerminal(Tee->Own, Tee->Child)
                        : openPipe(Tee->Own, Tee->Child)) ||
      pipe2(Tee->Stop, O_CLOEXEC))
    return userError(Twine("cannot pass on standard input: ") +
                     strerror(errno));
  // Signals are for the main thread; what the child no longer reads is no
  // reason to end.
  sigset_t All, Before;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, &Before);
  Tee->Relay = std::thread([T = Tee.get()] { T->relay(); });
  pthread_sigmask(SIG_SETMASK, &Before, nullptr);
  return std::move(Tee);
}

static bool writeAll(int File, const char *Data, size_t Bytes) {
  while (Bytes) {
    const ssize_t Done = write(File, Data, Bytes);
    if (Done < 0 && errno != EINTR)
      return false;
    Data += std::max<ssize_t>(Done, 0);
    Bytes -= size_t(std::max<ssize_t>(Done, 0));
  }
  return true;
}

/// Whether what is typed is for others.
static bool isInBackground() {
  const pid_t Group = tcgetpgrp(STDIN_FILENO);
  return Group >= 0 && Group != getpgrp();
}

void InputTee::relay() {
  constexpr short Gone = POLLERR | POLLHUP | POLLNVAL;
  constexpr int Soon = 200; // ms
  char Buffer[Page];
  while (true) {
    // First the child has to want something.
    pollfd Out[] = {{Stop[0], POLLIN, 0}, {Own, POLLOUT, 0}};
    if (poll(Out, 2, -1) < 0 && errno != EINTR)
      break;
    if (Out[0].revents || (Out[1].revents & Gone))
      break;
    if (!(Out[1].revents & POLLOUT))
      continue;
    if (IsTerminal && isInBackground()) {
      if (poll(Out, 1, Soon) > 0)
        break;
      continue;
    }
    pollfd In[] = {
        {Stop[0], POLLIN, 0}, {Own, 0, 0}, {STDIN_FILENO, POLLIN, 0}};
    const int Ready = poll(In, 3, IsTerminal ? Soon : -1);
    if ((Ready < 0 && errno != EINTR) || In[0].revents ||
        (In[1].revents & Gone))
      break;
    if (Ready <= 0 || !In[2].revents)
      continue;
    const ssize_t Got = read(STDIN_FILENO, Buffer, sizeof(Buffer));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got <= 0) {
      const char End = 4; // Ctrl-D
      if (Got < 0 || !IsTerminal || !writeAll(Own, &End, 1))
        break;
      continue;
    }
    if (!writeAll(Copy, Buffer, size_t(Got)) ||
        !writeAll(Own, Buffer, size_t(Got)))
      break;
  }
  // The end of input for the child. A terminal's would be a hang-up.
  if (!IsTerminal) {
    close(Own);
    Own = -1;
  }
}

InputTee::~InputTee() {
  if (Relay.joinable()) {
    (void)!write(Stop[1], "", 1);
    Relay.join();
  }
  for (int File : {Child, Own, Stop[0], Stop[1], Copy})
    if (File >= 0)
      close(File);
}

} // namespace reconverge::frontend
