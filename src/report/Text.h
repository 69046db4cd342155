//===- report/Text.h - Numbers and columns for people -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef RECONVERGE_REPORT_TEXT_H
#define RECONVERGE_REPORT_TEXT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace reconverge::report {

struct TerminalOptions {
  unsigned Width = 100; ///< columns to fill; below 80 is taken as 80
  bool Color = false;   ///< ANSI escapes; only for a terminal
};

/// \p Text on one line and safe to print: runs of white space become a space,
/// other control characters go, bytes that are no UTF-8 become U+FFFD.
std::string cleanText(llvm::StringRef Text);

/// Columns that clean text takes on a terminal.
unsigned widthOf(llvm::StringRef Text);

/// At most \p Width columns of \p Text, with "..." for what is cut at the end
/// or at the start; never inside a character.
std::string cutEnd(llvm::StringRef Text, unsigned Width);
std::string cutStart(llvm::StringRef Text, unsigned Width);

std::string percent(double Fraction); ///< "41.2%"
std::string count(uint64_t N);        ///< "731", "12.3k", "4.56M"
std::string duration(double Seconds); ///< "1.23 ms"
/// "1 copy", "35 copies", "12.3k warps", "2 launches".
std::string counted(uint64_t N, llvm::StringRef Noun);

/// Gives each path the fewest trailing components that tell it from the others.
class PathNames {
public:
  explicit PathNames(llvm::ArrayRef<std::string> Paths);
  /// Of a path that was given; any other comes back whole.
  std::string shortName(llvm::StringRef Path) const;

private:
  std::map<std::string, std::string, std::less<>> Names;
};

enum class Ink { Plain, Strong, Faint, Warm, Hot };

/// Prints \p Text in ANSI colour if \p Color.
void printInk(llvm::raw_ostream &OS, llvm::StringRef Text, Ink I, bool Color);

/// Breaks \p Text at spaces; lines after the first are indented by \p Indent.
/// Blanks that it begins with stay.
void printWrapped(llvm::raw_ostream &OS, llvm::StringRef Text, unsigned Width,
                  unsigned Indent);

/// Aligned columns, two spaces apart.
class Table {
public:
  struct Cell {
    std::string Text;
    Ink I = Ink::Plain;
    unsigned Hang = 0;
  };
  /// \p Left: text to the left, numbers to the right.
  void column(llvm::StringRef Title, bool Left);
  void row(std::vector<Cell> Cells);
  /// A line under the last row that belongs to it, outside the columns. Where it
  /// is broken it goes on \p Hang columns further in.
  void remark(std::string Text, Ink I = Ink::Faint, unsigned Hang = 0);
  /// Lines are \p Width columns long: the cells of the last column, which is to
  /// the left, and remarks are broken at spaces; a word of a cell that is too
  /// long loses its start.
  void wrapLast(unsigned Width) { LineWidth = Width; }

  unsigned width() const; ///< of the widest row
  void print(llvm::raw_ostream &OS, bool Color) const;
  /// A line with \p Title above the columns that end with number \p Last.
  void printTitleOver(llvm::raw_ostream &OS, llvm::StringRef Title, size_t Last,
                      bool Color) const;

private:
  struct Row {
    std::vector<Cell> Cells;
    std::vector<Cell> Remarks;
  };
  unsigned width(size_t Column) const; ///< of the column's widest cell
  void printRow(llvm::raw_ostream &OS, const std::vector<Cell> &Cells,
                bool Color) const;

  std::vector<Cell> Titles;
  std::vector<bool> IsLeft;
  std::vector<Row> Rows;
  unsigned LineWidth = 0; ///< 0: as long as they come
};

} // namespace reconverge::report

#endif
