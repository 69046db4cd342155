//===- report/Text.cpp - Numbers and columns for people -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text in a profile comes from source files and mangled names: it may hold
// tabs, escape sequences and any script. It is cleaned once, then measured in
// terminal columns, not bytes.
//
//===----------------------------------------------------------------------===//

#include "report/Text.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cassert>
#include <cmath>

using namespace llvm;

namespace reconverge::report {

static constexpr StringLiteral Ellipsis = "...";

std::string cleanText(StringRef Text) {
  std::string Valid = json::isUTF8(Text) ? Text.str() : json::fixUTF8(Text);
  std::string Clean;
  bool Space = false;
  for (char C : Valid) {
    unsigned char Byte = static_cast<unsigned char>(C);
    if (isSpace(C)) {
      Space = !Clean.empty();
      continue;
    }
    if (Byte < 0x20 || Byte == 0x7f)
      continue;
    if (Space)
      Clean += ' ';
    Space = false;
    Clean += C;
  }
  return Clean;
}

/// Bytes of the character that \p Text starts with.
static size_t firstCharacter(StringRef Text) {
  size_t Bytes = getNumBytesForUTF8(static_cast<UTF8>(Text.front()));
  return std::clamp<size_t>(Bytes, 1, Text.size());
}

unsigned widthOf(StringRef Text) {
  unsigned Width = 0;
  while (!Text.empty()) {
    size_t Bytes = firstCharacter(Text);
    // Unprintable (a direction mark, say): most terminals spend no column.
    Width += std::max(sys::unicode::columnWidthUTF8(Text.take_front(Bytes)), 0);
    Text = Text.drop_front(Bytes);
  }
  return Width;
}

std::string cutEnd(StringRef Text, unsigned Width) {
  if (widthOf(Text) <= Width)
    return Text.str();
  if (Width <= Ellipsis.size())
    return Ellipsis.take_front(Width).str();
  unsigned Left = Width - Ellipsis.size();
  size_t Kept = 0;
  while (Kept < Text.size()) {
    size_t Bytes = firstCharacter(Text.drop_front(Kept));
    unsigned Columns = widthOf(Text.substr(Kept, Bytes));
    if (Columns > Left)
      break;
    Left -= Columns;
    Kept += Bytes;
  }
  return (Text.take_front(Kept).rtrim() + Ellipsis).str();
}

std::string cutStart(StringRef Text, unsigned Width) {
  if (widthOf(Text) <= Width)
    return Text.str();
  if (Width <= Ellipsis.size())
    return Ellipsis.take_front(Width).str();
  while (widthOf(Text) > Width - Ellipsis.size())
    Text = Text.drop_front(firstCharacter(Text));
  return (Ellipsis + Text).str();
}

static std::string formatted(const char *Format, double Value) {
  std::string Text;
  raw_string_ostream(Text) << format(Format, Value);
  return Text;
}

std::string percent(double Fraction) {
  return formatted("%.1f%%", 100 * Fraction);
}

/// Three digits and a unit: 1.23, 12.3, 123.
static std::string threeDigits(double Value) {
  return formatted(Value < 9.995   ? "%.2f"
                   : Value < 99.95 ? "%.1f"
                                   : "%.0f",
                   Value);
}

std::string count(uint64_t N) {
  if (N < 1000)
    return std::to_string(N);
  double Value = double(N);
  const char *Units[] = {"", "k", "M", "G", "T", "P", "E"};
  unsigned Unit = 0;
  while (Value >= 999.5 && Unit + 1 < std::size(Units)) {
    Value /= 1000;
    ++Unit;
  }
  return threeDigits(Value) + Units[Unit];
}

std::string duration(double Seconds) {
  if (Seconds >= 1)
    return threeDigits(Seconds) + " s";
  if (Seconds >= 1e-3)
    return threeDigits(1e3 * Seconds) + " ms";
  return threeDigits(1e6 * Seconds) + " us";
}

std::string counted(uint64_t N, StringRef Noun) {
  std::string Text = count(N) + " ";
  if (N == 1)
    return Text + Noun.str();
  if (Noun.ends_with("ch") || Noun.ends_with("s"))
    return Text + Noun.str() + "es";
  if (Noun.consume_back("y"))
    return Text + Noun.str() + "ies";
  return Text + Noun.str() + "s";
}

PathNames::PathNames(ArrayRef<std::string> Paths) {
  std::map<std::string, unsigned, std::less<>> Components;
  for (const std::string &P : Paths)
    Components[P] = 1;
  auto Tail = [](StringRef Path, unsigned Count) {
    size_t Start = Path.size();
    for (unsigned I = 0; I != Count && Start != StringRef::npos; ++I)
      Start = Start ? Path.rfind('/', Start - 1) : StringRef::npos;
    return Start == StringRef::npos ? Path : Path.drop_front(Start + 1);
  };
  // Lengthen the names that clash until none does; whole paths never clash.
  for (bool Clash = true; Clash;) {
    Clash = false;
    std::map<StringRef, unsigned> Uses;
    for (auto &[Path, Count] : Components)
      ++Uses[Tail(Path, Count)];
    for (auto &[Path, Count] : Components) {
      StringRef Name = Tail(Path, Count);
      if (Uses[Name] > 1 && Name.size() < Path.size()) {
        ++Count;
        Clash = true;
      }
    }
  }
  for (auto &[Path, Count] : Components)
    Names[Path] = Tail(Path, Count).str();
}

std::string PathNames::shortName(StringRef Path) const {
  auto Found = Names.find(Path);
  return Found == Names.end() ? Path.str() : Found->second;
}

void printInk(raw_ostream &OS, StringRef Text, Ink I, bool Color) {
  if (!Color || I == Ink::Plain || Text.empty()) {
    OS << Text;
    return;
  }
  switch (I) {
  case Ink::Plain:
    break;
  case Ink::Strong:
    OS << "\033[1m";
    break;
  case Ink::Faint:
    OS << "\033[2m";
    break;
  case Ink::Warm:
    OS << "\033[33m";
    break;
  case Ink::Hot:
    OS << "\033[1;31m";
    break;
  }
  OS << Text << "\033[0m";
}

/// The lines of \p Text, broken at spaces: \p First columns for the first,
/// \p Others for those after it. Longer words lose their start if \p Cuts.
static std::vector<std::string> linesOf(StringRef Text, unsigned First,
                                        unsigned Others, bool Cuts) {
  const size_t Blanks = Text.size() - Text.ltrim(' ').size();
  std::vector<std::string> Lines = {std::string(Blanks, ' ')};
  bool IsEmpty = true; // the last line, but for its blanks
  while (!(Text = Text.ltrim(' ')).empty()) {
    StringRef Word = Text.take_until([](char C) { return C == ' '; });
    Text = Text.drop_front(Word.size());
    const unsigned Room = Lines.size() == 1 ? First : Others;
    const std::string Fitting =
        Cuts ? cutStart(Word, std::max(Others, 8u)) : Word.str();
    if (!IsEmpty && widthOf(Lines.back()) + 1 + widthOf(Fitting) > Room) {
      Lines.push_back(Fitting);
      continue;
    }
    // Two blanks stay two: they part a place from its condition.
    Lines.back() += (IsEmpty ? "" : " ") + Fitting;
    if (Text.starts_with("  "))
      Lines.back() += " ";
    IsEmpty = false;
  }
  for (std::string &Line : Lines)
    Line.resize(StringRef(Line).rtrim(' ').size());
  return Lines;
}

void printWrapped(raw_ostream &OS, StringRef Text, unsigned Width,
                  unsigned Indent) {
  for (auto [I, Line] : enumerate(linesOf(Text, Width, Width - Indent, false)))
    OS.indent(I ? Indent : 0) << Line << '\n';
}

void Table::column(StringRef Title, bool Left) {
  Titles.push_back({Title.str(), Ink::Strong});
  IsLeft.push_back(Left);
}

void Table::row(std::vector<Cell> Cells) {
  assert(Cells.size() == Titles.size() && "a cell a column");
  Rows.push_back({std::move(Cells), {}});
}

void Table::remark(std::string Text, Ink I, unsigned Hang) {
  Rows.back().Remarks.push_back({std::move(Text), I, Hang});
}

unsigned Table::width(size_t Column) const {
  unsigned Width = widthOf(Titles[Column].Text);
  for (const Row &R : Rows)
    Width = std::max(Width, widthOf(R.Cells[Column].Text));
  return Width;
}

unsigned Table::width() const {
  unsigned Width = 0;
  for (size_t C = 0; C != Titles.size(); ++C)
    Width += width(C) + (C ? 2 : 0);
  return Width;
}

/// \p Text in lines of \p Width columns, the first of which is under way; the
/// others begin \p Indent columns from the left. Words that are too long lose
/// their start if \p Cuts.
static void printLines(raw_ostream &OS, const Table::Cell &Text, unsigned Width,
                       unsigned Indent, bool Cuts, bool Color) {
  const unsigned Room = Width > Indent ? Width - Indent : 1;
  const unsigned Later = Room > Text.Hang ? Room - Text.Hang : 1;
  for (auto [I, Line] : enumerate(linesOf(Text.Text, Room, Later, Cuts))) {
    if (I)
      OS.indent(Indent + Text.Hang);
    printInk(OS, Line, Text.I, Color);
    OS << '\n';
  }
}

void Table::printRow(raw_ostream &OS, const std::vector<Cell> &Cells,
                     bool Color) const {
  unsigned Column = 0;
  for (size_t C = 0; C != Cells.size(); ++C) {
    const bool Last = C + 1 == Cells.size();
    if (Last && LineWidth)
      return printLines(OS, Cells[C], LineWidth, Column, /*Cuts=*/true, Color);
    unsigned Blank = width(C) - widthOf(Cells[C].Text);
    if (!IsLeft[C])
      OS.indent(Blank);
    printInk(OS, Cells[C].Text, Cells[C].I, Color);
    if (!Last)
      OS.indent((IsLeft[C] ? Blank : 0) + 2);
    Column += width(C) + 2;
  }
  OS << '\n';
}

void Table::printTitleOver(raw_ostream &OS, StringRef Title, size_t Last,
                           bool Color) const {
  unsigned End = 0;
  for (size_t C = 0; C <= Last; ++C)
    End += width(C) + (C ? 2 : 0);
  OS.indent(End > widthOf(Title) ? End - widthOf(Title) : 0);
  printInk(OS, Title, Ink::Strong, Color);
  OS << '\n';
}

void Table::print(raw_ostream &OS, bool Color) const {
  static constexpr unsigned Indent = 4;
  printRow(OS, Titles, Color);
  for (const Row &R : Rows) {
    printRow(OS, R.Cells, Color);
    for (const Cell &Remark : R.Remarks) {
      OS.indent(Indent);
      if (LineWidth)
        printLines(OS, Remark, LineWidth, Indent, /*Cuts=*/false, Color);
      else {
        printInk(OS, Remark.Text, Remark.I, Color);
        OS << '\n';
      }
    }
  }
}

} // namespace reconverge::report
