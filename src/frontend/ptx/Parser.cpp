//===- frontend/ptx/Parser.cpp - Inline PTX to statements -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   text      := { '{' | '}' | declaration | [guard] instruction }
//   guard     := '@' ['!'] predicate
//   declaration := '.reg' '.type' name ['<' count '>'] { ',' name } ';'
//   instruction := mnemonic [operand { ',' operand }] ';'
//   operand   := single ['|' single]
//   single    := '[' base ['+' offset] ']' | '{' single { ',' single } '}'
//              | ['!'] name | ['-'] literal | $n | '_'
//
// Scopes are resolved here: what comes out names each register by a number, so
// that an inner `p` never meets an outer one. A name that is not declared in
// the text (a global variable, a function, a register of the function around
// the asm) is an error, and so are labels and branches.
//
//===----------------------------------------------------------------------===//

#include "frontend/ptx/Lexer.h"
#include "frontend/ptx/Syntax.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace reconverge::frontend::ptx {

std::optional<Type> parseType(StringRef Name) {
  if (Name == "pred")
    return Type{Type::Pred, 1, 1};
  Type T;
  T.Lanes = Name.consume_back("x2") ? 2 : 1;
  if (Name.consume_front("bf"))
    T.K = Type::BFloat;
  else if (Name.consume_front("f"))
    T.K = Type::Float;
  else if (Name.consume_front("b"))
    T.K = Type::Bits;
  else if (Name.consume_front("u"))
    T.K = Type::Unsigned;
  else if (Name.consume_front("s"))
    T.K = Type::Signed;
  else
    return std::nullopt;
  if (Name.starts_with("0") || Name.getAsInteger(10, T.Width))
    return std::nullopt;
  bool Known = T.K == Type::BFloat ? T.Width == 16
               : T.K == Type::Float
                   ? T.Width == 16 || T.Width == 32 || T.Width == 64
                   : T.Width == 8 || T.Width == 16 || T.Width == 32 ||
                         T.Width == 64 || (T.Width == 128 && T.K == Type::Bits);
  // Of the packed types PTX has u16x2, s16x2, f16x2, bf16x2 (and f32x2, which
  // nothing in the table takes).
  if (T.Lanes == 2 && (T.Width != 16 || T.K == Type::Bits))
    Known = false;
  return Known ? std::optional(T) : std::nullopt;
}

namespace {
class Parser {
public:
  explicit Parser(std::vector<Token> Tokens) : Tokens(std::move(Tokens)) {}

  Expected<Program> run() {
    Scopes.emplace_back();
    while (Reason.empty() && peek().K != Token::End)
      statement();
    if (Reason.empty() && Scopes.size() != 1)
      fail("a '{' is not closed");
    if (!Reason.empty())
      return createStringError(Reason);
    return std::move(Result);
  }

private:
  const Token &peek() const { return Tokens[At]; }
  /// Steps over the token; stays on End.
  const Token &get() {
    const Token &T = Tokens[At];
    if (T.K != Token::End)
      ++At;
    return T;
  }
  bool consume(char C) {
    if (!peek().is(C))
      return false;
    ++At;
    return true;
  }
  void expect(char C) {
    if (!consume(C))
      fail(Twine("'") + Twine(C) + "' is missing");
  }
  /// Keeps the first reason and stops the parse.
  void fail(const Twine &Why) {
    if (Reason.empty())
      Reason = Why.str();
    At = Tokens.size() - 1;
  }

  void statement() {
    if (consume('{')) {
      Scopes.emplace_back();
    } else if (consume('}')) {
      if (Scopes.size() == 1)
        return fail("a '}' closes nothing");
      Scopes.pop_back();
    } else if (consume(';')) {
      // an empty statement
    } else if (peek().K == Token::Word && peek().Text[0] == '.') {
      declaration();
    } else {
      instruction();
    }
  }

  void declaration() {
    std::string Spec = get().Text;
    if (peek().K == Token::Word && peek().Text[0] == '.')
      Spec += get().Text;
    StringRef Rest(Spec);
    if (!Rest.consume_front(".reg."))
      return fail("directive '" + Spec + "' is not supported");
    std::optional<Type> T = parseType(Rest);
    if (!T)
      return fail("register type '" + Rest + "' is not supported");
    do {
      if (peek().K != Token::Word || StringRef(peek().Text).contains('.'))
        return fail("a register has no name");
      std::string Name = get().Text;
      if (consume('<')) {
        uint64_t Count = peek().K == Token::Integer ? get().Value : 0;
        if (Count == 0 || Count > 256)
          return fail("the number of registers is missing or too large");
        expect('>');
        for (uint64_t I = 0; I != Count; ++I)
          declare(Name + utostr(I), *T);
      } else {
        declare(Name, *T);
      }
    } while (consume(','));
    expect(';');
  }

  void declare(const std::string &Name, Type T) {
    if (!Scopes.back().try_emplace(Name, Result.Registers.size()).second)
      return fail("register '" + Name + "' is declared twice");
    Result.Registers.push_back({Name, T});
  }

  void instruction() {
    Instruction I;
    if (consume('@')) {
      Operand P;
      P.Negated = consume('!');
      if (peek().K == Token::Argument) {
        P.K = Operand::Argument;
        P.Index = get().Value;
      } else {
        named(P);
        if (P.K != Operand::Register)
          return fail("a guard is no predicate");
      }
      I.If = Guard{std::move(P)};
    }
    if (peek().K != Token::Word)
      return fail("an instruction is expected");
    SmallVector<StringRef, 8> Parts;
    std::string Mnemonic = get().Text;
    StringRef(Mnemonic).split(Parts, '.');
    I.Opcode = Parts[0].str();
    for (StringRef Part : drop_begin(Parts))
      I.Modifiers.push_back(Part.str());
    if (peek().is(':'))
      return fail("labels are not supported");
    if (!peek().is(';') && peek().K != Token::End) {
      do
        I.Operands.push_back(operand());
      while (Reason.empty() && consume(','));
    }
    expect(';');
    Result.Code.push_back(std::move(I));
  }

  Operand operand() {
    Operand First = single();
    if (!consume('|'))
      return First;
    Operand Both;
    Both.K = Operand::Pair;
    Both.Parts.push_back(std::move(First));
    Both.Parts.push_back(single());
    return Both;
  }

  Operand single() {
    Operand O;
    if (consume('[')) {
      O.K = Operand::Address;
      O.Parts.push_back(scalar());
      if (consume('+'))
        O.Literal = offset(/*Negative=*/consume('-'));
      else if (consume('-'))
        O.Literal = offset(/*Negative=*/true);
      else if (consume(','))
        O.Parts.push_back(single());
      expect(']');
      return O;
    }
    if (!consume('{'))
      return scalar();
    O.K = Operand::Vector;
    do
      O.Parts.push_back(scalar());
    while (Reason.empty() && consume(','));
    expect('}');
    return O;
  }

  uint64_t offset(bool Negative) {
    if (peek().K != Token::Integer) {
      fail("an address offset is no literal");
      return 0;
    }
    uint64_t Value = get().Value;
    return Negative ? -Value : Value;
  }

  Operand scalar() {
    Operand O;
    O.Negated = consume('!');
    bool Minus = consume('-');
    const Token &T = peek();
    switch (T.K) {
    case Token::Argument:
      O.K = Operand::Argument;
      O.Index = T.Value;
      get();
      break;
    case Token::Integer:
      O.K = Operand::Integer;
      O.Literal = Minus ? -T.Value : T.Value;
      get();
      break;
    case Token::FloatBits:
      O.K = Operand::FloatBits;
      O.Width = T.Width;
      O.Literal = T.Value ^ (Minus ? uint64_t(1) << (T.Width - 1) : 0);
      get();
      break;
    case Token::Word:
      named(O);
      break;
    default:
      fail("an operand is expected");
      return O;
    }
    bool IsLiteral = O.K == Operand::Integer || O.K == Operand::FloatBits;
    if (Minus && !IsLiteral)
      fail("a minus sign is only allowed before a literal");
    if (O.Negated && O.K != Operand::Register && O.K != Operand::Argument)
      fail("'!' is only allowed before a predicate");
    return O;
  }

  void named(Operand &O) {
    if (peek().K != Token::Word)
      return fail("a name is expected");
    std::string Name = get().Text;
    for (auto &Scope : reverse(Scopes))
      if (auto It = Scope.find(Name); It != Scope.end()) {
        O.K = Operand::Register;
        O.Index = It->second;
        return;
      }
    if (Name == "_") {
      O.K = Operand::Sink;
    } else if (Name == "WARP_SZ" || Name[0] == '%') {
      O.K = Operand::Special;
      O.Name = Name[0] == '%' ? Name.substr(1) : Name;
    } else {
      fail("'" + Name + "' is not declared in the asm text");
    }
  }

  std::vector<Token> Tokens;
  size_t At = 0;
  std::vector<StringMap<unsigned>> Scopes;
  Program Result;
  std::string Reason;
};
} // namespace

Expected<Program> parse(StringRef Text) {
  Expected<std::vector<Token>> Tokens = tokenize(Text);
  if (!Tokens)
    return Tokens.takeError();
  return Parser(std::move(*Tokens)).run();
}

} // namespace reconverge::frontend::ptx
