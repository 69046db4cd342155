//===- driver/WholeTime.h - A program against its baselines -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_DRIVER_WHOLETIME_H
#define RECONVERGE_DRIVER_WHOLETIME_H

#include "core/Decision.h"
#include "driver/CommandLine.h"
#include "driver/Run.h"

namespace reconverge::driver {

/// Times the program that \p Final has built by \p Decisions, and beside it the
/// unmodified one, built by us in the same way and by every other compiler;
/// fills in Decisions.Whole. The programs run as \p Mode says, with the words
/// of \p Program. One that fails is a note on \p OS and no error. Where
/// another compiler's is faster than \p Final beyond the noise, it takes its
/// place, and the decisions say so.
llvm::Error timeWhole(const BuildRequest &Final, const Session &Program,
                      const RunMode &Mode, DecisionFile &Decisions,
                      llvm::raw_ostream &OS);

/// Runs each of \p Programs in turn, round by round: at most \p Most rounds,
/// and no more after \p Seconds. Run gives the seconds of one run. Their
/// medians, in the same order, and the rounds.
struct Alternation {
  unsigned Rounds = 0;
  std::vector<double> Medians;
  std::vector<std::vector<double>> Times; ///< of each program, by round
};
llvm::Expected<Alternation>
alternate(llvm::ArrayRef<std::string> Programs, unsigned Most, double Seconds,
          llvm::function_ref<llvm::Expected<double>(const std::string &)> Run);

/// The program, of those from number \p First on, of which every run is faster
/// than any of the first one's, by 1 %, in three rounds or more; of several,
/// the fastest. 0: there is none.
size_t surelyFaster(const Alternation &Times, size_t First);

} // namespace reconverge::driver

#endif
