//===- examples/common/options.h - name=value arguments ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every example runs without arguments and takes any of its sizes as
// name=value:
//
//   Options Args(argc, argv);
//   int Width = Args.integer("width", 640, 1, 16384);
//   Args.done();                    // names anything left over, exits with 2
//
//===----------------------------------------------------------------------===//
#ifndef RECONVERGE_EXAMPLES_OPTIONS_H
#define RECONVERGE_EXAMPLES_OPTIONS_H

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

class Options {
public:
  Options(int argc, char **argv)
      : Program(argv[0]), Given(argv + 1, argv + argc) {}

  /// The value given as \p Name=..., or \p Default. Exits with 2 if it is not a
  /// whole number from \p Least to \p Most.
  long integer(const std::string &Name, long Default, long Least, long Most) {
    Usage += " [" + Name + "=" + std::to_string(Default) + "]";
    long Value = Default;
    for (size_t I = 0; I < Given.size();) {
      if (Given[I].compare(0, Name.size() + 1, Name + "=") != 0) {
        ++I;
        continue;
      }
      const char *Text = Given[I].c_str() + Name.size() + 1;
      char *End = nullptr;
      Value = std::strtol(Text, &End, 10);
      if (End == Text || *End || Value < Least || Value > Most) {
        std::fprintf(stderr, "%s: %s: give a whole number from %ld to %ld\n",
                     Program, Given[I].c_str(), Least, Most);
        std::exit(2);
      }
      Given.erase(Given.begin() + I);
    }
    return Value;
  }

  /// The text given as \p Name=..., or "".
  std::string text(const std::string &Name) {
    Usage += " [" + Name + "=...]";
    std::string Value;
    for (size_t I = 0; I < Given.size();) {
      if (Given[I].compare(0, Name.size() + 1, Name + "=") != 0) {
        ++I;
        continue;
      }
      Value = Given[I].substr(Name.size() + 1);
      Given.erase(Given.begin() + I);
    }
    return Value;
  }

  /// Call after the last of these: whatever is left is a mistake.
  void done() const {
    if (Given.empty())
      return;
    std::fprintf(stderr, "%s: unknown argument '%s'\nusage: %s%s\n", Program,
                 Given[0].c_str(), Program, Usage.c_str());
    std::exit(2);
  }

private:
  const char *Program;
  std::vector<std::string> Given;
  std::string Usage;
};

#endif
