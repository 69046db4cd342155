//===- launch/Switch.h - Which form of a launch is faster -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_LAUNCH_SWITCH_H
#define RECONVERGE_LAUNCH_SWITCH_H

#include <cstdint>

namespace reconverge::launch {

enum class Form : uint8_t { Recipe, Original };

inline Form otherThan(Form F) {
  return F == Form::Recipe ? Form::Original : Form::Recipe;
}

/// Chooses between the two forms for launches of one kernel at about one size,
/// by times that are handed in when they are known, which may be much later:
/// nobody waits for them. Not for two threads at once.
class Switch {
public:
  struct Turn {
    Form Take = Form::Recipe;
    bool Measured = false; ///< arrived() is to be called for it
  };
  /// Of the next launch.
  Turn next();
  /// What next() would say.
  Turn upcoming() const { return Switch(*this).next(); }
  /// The turn \p Took, a measured one, took \p Milliseconds; below zero: that
  /// cannot be known. In any order.
  void arrived(Form Took, double Milliseconds);

  Form kept() const { return Kept; }
  bool isDecided() const { return Decisions; }
  /// The least of the newest round; zero: not known.
  double milliseconds(Form F) const { return Known[unsigned(F)]; }
  uint64_t changes() const { return Changes; }

private:
  void decide();

  Form Kept = Form::Recipe;
  unsigned Begun = 0, Arrived = 0; ///< of this round
  double Least[2] = {}, Known[2] = {};
  uint64_t Pause = 0; ///< launches until the next round
  uint64_t Decisions = 0, Changes = 0, Unchanged = 0;
};

} // namespace reconverge::launch

#endif
