//===- frontend/ptx/Lexer.cpp - Tokens of inline PTX ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text comes from LLVM's side of an asm call: `$0` is an operand, `$$` a
// dollar sign (PTX allows it in names), and clang has already turned `%%` into
// `%`. Operand modifiers (`${0:x}`) and unique labels (`${:uid}`) are refused:
// no CUDA header uses them.
//
// A mnemonic and its modifiers are one word, `ld.relaxed.gpu.L1::no_allocate`;
// so is a dotted special register, `%tid.x`. That is how PTX is written, and
// it keeps numbers apart from modifiers.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Lexer.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

namespace {
class Lexer {
public:
  explicit Lexer(StringRef Text) : Rest(Text) {}

  Expected<std::vector<Token>> run() {
    std::vector<Token> Tokens;
    while (skipSpace()) {
      Token T;
      if (!next(T))
        return createStringError(Reason);
      Tokens.push_back(std::move(T));
    }
    if (!Reason.empty())
      return createStringError(Reason);
    Tokens.push_back({});
    return Tokens;
  }

private:
  bool fail(const Twine &Why) {
    Reason = Why.str();
    return false;
  }

  /// False at the end of the text.
  bool skipSpace() {
    while (true) {
      Rest = Rest.ltrim(" \t\r\n\v\f");
      if (Rest.starts_with("//")) {
        Rest = Rest.drop_until([](char C) { return C == '\n'; });
      } else if (Rest.starts_with("/*")) {
        size_t End = Rest.find("*/", 2);
        if (End == StringRef::npos)
          return fail("a comment has no end");
        Rest = Rest.drop_front(End + 2);
      } else {
        return !Rest.empty();
      }
    }
  }

  static bool startsName(char C) { return isAlpha(C) || C == '_' || C == '%'; }

  bool next(Token &T) {
    char C = Rest.front();
    if (Rest.starts_with("$$") || startsName(C) ||
        (C == '.' && Rest.size() > 1 && isAlpha(Rest[1])))
      return word(T);
    if (C == '$')
      return argument(T);
    if (isDigit(C))
      return number(T);
    if (!StringRef("{}()[],;:|!@+-<>=.").contains(C))
      return fail(
          Twine("character '") +
          (isPrint(C) ? std::string(1, C) : "\\x" + utohexstr(uint8_t(C))) +
          "' is not expected");
    T.K = Token::Punct;
    T.Text = std::string(1, C);
    Rest = Rest.drop_front();
    return true;
  }

  bool word(Token &T) {
    T.K = Token::Word;
    while (!Rest.empty()) {
      char C = Rest.front();
      if (isAlnum(C) || C == '_' || C == '%' ||
          (C == '.' && Rest.size() > 1 &&
           (isAlnum(Rest[1]) || Rest[1] == '_'))) {
        T.Text += C;
        Rest = Rest.drop_front();
      } else if (Rest.starts_with("$$")) {
        T.Text += '$';
        Rest = Rest.drop_front(2);
      } else if (Rest.starts_with("::") && Rest.size() > 2 &&
                 isAlnum(Rest[2]) && StringRef(T.Text).contains('.')) {
        T.Text += "::";
        Rest = Rest.drop_front(2);
      } else {
        break;
      }
    }
    return true;
  }

  bool argument(Token &T) {
    T.K = Token::Argument;
    Rest = Rest.drop_front();
    bool Braced = Rest.consume_front("{");
    unsigned Index;
    if (Rest.consumeInteger(10, Index) || Index > 1000)
      return fail("an operand has no number");
    if (Braced && !Rest.consume_front("}"))
      return fail("operand modifiers are not supported");
    T.Value = Index;
    return true;
  }

  bool number(Token &T) {
    // 0f3F800000 and 0d... are the bits of a float and of a double.
    if (Rest.size() > 1 && Rest[0] == '0' &&
        StringRef("fFdD").contains(Rest[1])) {
      T.K = Token::FloatBits;
      T.Width = toLower(Rest[1]) == 'f' ? 32 : 64;
      Rest = Rest.drop_front(2);
      StringRef Digits = Rest.take_while([](char C) { return isHexDigit(C); });
      if (Digits.size() != T.Width / 4 || Digits.getAsInteger(16, T.Value))
        return fail("a floating-point literal is malformed");
      Rest = Rest.drop_front(Digits.size());
      return endOfNumber();
    }
    StringRef Whole = Rest.take_while([](char C) { return isDigit(C); });
    StringRef After = Rest.drop_front(Whole.size());
    if (After.starts_with(".") || After.starts_with("e") ||
        After.starts_with("E"))
      return decimal(T);
    T.K = Token::Integer;
    unsigned Radix = 10;
    if (Rest.consume_front("0x") || Rest.consume_front("0X"))
      Radix = 16;
    else if (Rest.consume_front("0b") || Rest.consume_front("0B"))
      Radix = 2;
    else if (Whole.size() > 1 && Whole[0] == '0')
      Radix = 8;
    if (Rest.consumeInteger(Radix, T.Value))
      return fail("an integer literal is malformed or too large");
    if (!Rest.consume_front("U"))
      Rest.consume_front("u");
    return endOfNumber();
  }

  bool decimal(Token &T) {
    size_t Size = 0;
    while (Size < Rest.size() && (isDigit(Rest[Size]) || Rest[Size] == '.' ||
                                  toLower(Rest[Size]) == 'e' ||
                                  ((Rest[Size] == '+' || Rest[Size] == '-') &&
                                   toLower(Rest[Size - 1]) == 'e')))
      ++Size;
    APFloat F(APFloat::IEEEdouble());
    auto Status = F.convertFromString(Rest.take_front(Size),
                                      APFloat::rmNearestTiesToEven);
    if (!Status) {
      consumeError(Status.takeError());
      return fail("a floating-point literal is malformed");
    }
    T.K = Token::FloatBits;
    T.Width = 64;
    T.Value = F.bitcastToAPInt().getZExtValue();
    Rest = Rest.drop_front(Size);
    return endOfNumber();
  }

  bool endOfNumber() {
    if (!Rest.empty() &&
        (isAlnum(Rest.front()) || Rest.front() == '_' || Rest.front() == '.'))
      return fail("a number runs into a name");
    return true;
  }

  StringRef Rest;
  std::string Reason;
};
} // namespace

Expected<std::vector<Token>> tokenize(StringRef Text) {
  return Lexer(Text).run();
}

} // namespace reconverge::frontend::ptx
