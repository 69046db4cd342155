//===- driver/Manual.cpp - Manual pages and completions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both say what --help says, in other forms: the table of options has the words,
// so that none can be left behind. An option that has no help there is for
// other compilers' users and is shown nowhere.
//
//===----------------------------------------------------------------------===//

#include "driver/Manual.h"

#include "core/Error.h"
#include "driver/OptionTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace llvm;
using namespace llvm::opt;

namespace reconverge::driver {

namespace {
/// An option as people read it.
struct Shown {
  std::string Spelling; ///< "--device="
  std::string Value;    ///< "<value>"; empty: it takes none
  std::string Help;
};
} // namespace

/// The options of \p Which by the titles under which --help has them.
static std::map<std::string, std::vector<Shown>> optionsOf(Subcommand Which) {
  const OptTable &Table = optionTable();
  std::map<std::string, std::vector<Shown>> Groups;
  for (unsigned Id = 1; Id <= Table.getNumOptions(); ++Id) {
    const Option O = Table.getOption(Id);
    const char *Help = Table.getOptionHelpText(Id, visibilityOf(Which));
    if (!Help || O.getKind() == Option::GroupClass ||
        O.getKind() == Option::InputClass ||
        O.getKind() == Option::UnknownClass ||
        !O.hasVisibilityFlag(visibilityOf(Which)))
      continue;
    const char *Title = "OPTIONS";
    if (unsigned Group = Table.getOptionGroupID(Id))
      if (const char *Text = Table.getOptionHelpText(Group))
        Title = Text;
    const char *Value = Table.getOptionMetaVar(Id);
    Groups[Title].push_back(
        {O.getPrefixedName().str(), Value ? Value : "", Help});
  }
  return Groups;
}

//===----------------------------------------------------------------------===//
// Manual pages
//===----------------------------------------------------------------------===//

/// \p Text as roff takes it: no requests, and hyphens that can be copied.
static std::string roff(StringRef Text) {
  std::string Out;
  for (char C : Text)
    Out += C == '\\'  ? std::string("\\e")
           : C == '-' ? std::string("\\-")
                      : std::string(1, C);
  return StringRef(Out).starts_with(".") || StringRef(Out).starts_with("'")
             ? "\\&" + Out
             : Out;
}

static void printTop(StringRef Name, StringRef Version, StringRef Title,
                     raw_ostream &OS) {
  OS << ".TH " << Name.upper() << " 1 \"\" \"Reconverge " << Version
     << "\"\n.SH NAME\n"
     << roff(Name) << " \\- " << roff(Title) << '\n';
}

static void printEnd(StringRef Others, raw_ostream &OS) {
  OS << ".SH EXIT STATUS\n"
        "0: it worked. 1: a program or command that was run has failed. 2: the "
        "input or the environment; the message says what to do. 3: a condition "
        "of \\-\\-fail\\-if holds. 70: a fault of Reconverge. "
        "profile returns what the program returned.\n"
        ".SH SEE ALSO\n"
     << Others << '\n';
}

static void printOverview(StringRef Version, raw_ostream &OS) {
  printTop("reconverge", Version,
           "find what warp divergence costs a CUDA program, and mend it", OS);
  OS << ".SH SYNOPSIS\n.B reconverge\n.I command\n[options] ...\n"
        ".SH COMMANDS\n";
  for (const SubcommandInfo &Info : subcommands())
    OS << ".TP\n.B " << Info.Name << "\n" << roff(Info.Title) << ".\n";
  OS << ".TP\n.B explain\nSay what a word of a report, or a code of a message, "
        "means.\n"
        ".TP\n.B man\nPrint the manual page of a command.\n"
        ".TP\n.B completion\nPrint completions for bash, zsh or fish.\n";
  std::string Others;
  for (const SubcommandInfo &Info : subcommands())
    Others += std::string(Others.empty() ? "" : ", ") + "reconverge\\-" +
              Info.Name.str() + "(1)";
  printEnd(Others, OS);
}

Error printManual(StringRef Command, StringRef Version, raw_ostream &OS) {
  if (Command.empty()) {
    printOverview(Version, OS);
    return Error::success();
  }
  if (Command == "--list") {
    for (const SubcommandInfo &Info : subcommands())
      OS << Info.Name << '\n';
    return Error::success();
  }
  std::vector<StringRef> Known;
  for (const SubcommandInfo &Info : subcommands()) {
    Known.push_back(Info.Name);
    if (Info.Name != Command)
      continue;
    printTop(("reconverge-" + Info.Name).str(), Version, Info.Title, OS);
    OS << ".SH SYNOPSIS\n.B reconverge " << Info.Name << "\n"
       << roff(Info.Usage) << '\n';
    if (!Info.About.empty())
      OS << ".SH DESCRIPTION\n" << roff(Info.About) << ".\n";
    for (const auto &[Title, Options] : optionsOf(Info.Which)) {
      OS << ".SH " << Title << '\n';
      for (const Shown &O : Options) {
        OS << ".TP\n.BR \"" << roff(O.Spelling) << "\"";
        if (!O.Value.empty())
          OS << (StringRef(O.Spelling).ends_with("=") ? " \"" : " \" ")
             << roff(O.Value) << "\"";
        OS << '\n' << roff(O.Help) << ".\n";
      }
    }
    printEnd("reconverge(1)", OS);
    return Error::success();
  }
  return userError("there is no manual page of '" + Command + "'",
                   "The commands are " + join(Known, ", ") + ".");
}

//===----------------------------------------------------------------------===//
// Completions
//===----------------------------------------------------------------------===//

/// \p Text between single quotes of a shell, itself without any.
static std::string quoted(StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (C != '\'')
      Out += C == '\n' ? ' ' : C;
  return "'" + Out + "'";
}

static std::vector<Shown> allOptions(Subcommand Which) {
  std::vector<Shown> All;
  for (const auto &[Title, Options] : optionsOf(Which))
    All.insert(All.end(), Options.begin(), Options.end());
  return All;
}

static void printBash(raw_ostream &OS) {
  OS << "# bash completion of reconverge; reconverge completion bash\n"
        "_reconverge() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
        "  # bash takes = for a word of its own\n"
        "  [ \"$cur\" = '=' ] && return\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    words='--help --version explain man completion";
  for (const SubcommandInfo &Info : subcommands())
    OS << ' ' << Info.Name;
  OS << "'\n  else\n    case ${COMP_WORDS[1]} in\n";
  for (const SubcommandInfo &Info : subcommands()) {
    OS << "    " << Info.Name << ") words='";
    for (const Shown &O : allOptions(Info.Which))
      OS << O.Spelling << ' ';
    OS << "' ;;\n";
  }
  OS << "    completion) words='bash zsh fish' ;;\n"
        "    esac\n"
        "    [[ $cur == -* || ${COMP_WORDS[1]} == completion ]] || words=\n"
        "  fi\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null\n"
        "  return 0\n"
        "}\n"
        "complete -o default -F _reconverge reconverge\n";
}

static void printZsh(raw_ostream &OS) {
  OS << "#compdef reconverge\n"
        "# zsh completion of reconverge; reconverge completion zsh\n"
        "_reconverge() {\n"
        "  local -a commands\n"
        "  commands=(\n";
  for (const SubcommandInfo &Info : subcommands())
    OS << "    " << quoted((Info.Name + ":" + Info.Title).str()) << '\n';
  OS << "    'explain:Say what a word or a code means'\n"
        "    'man:Print a manual page'\n"
        "    'completion:Print completions for a shell'\n"
        "  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  local -a options\n"
        "  case ${words[2]} in\n";
  for (const SubcommandInfo &Info : subcommands()) {
    OS << "  " << Info.Name << ") options=(\n";
    for (const Shown &O : allOptions(Info.Which)) {
      // A colon ends what is completed.
      std::string Help = O.Help;
      std::replace(Help.begin(), Help.end(), ':', ',');
      OS << "    " << quoted(O.Spelling + ":" + Help) << '\n';
    }
    OS << "  ) ;;\n";
  }
  OS << "  completion) _values shell bash zsh fish; return ;;\n"
        "  esac\n"
        "  if [[ ${words[CURRENT]} == -* ]]; then\n"
        "    _describe option options -S ''\n"
        "  else\n"
        "    _files\n"
        "  fi\n"
        "}\n"
        "compdef _reconverge reconverge\n";
}

static void printFish(raw_ostream &OS) {
  OS << "# fish completion of reconverge; reconverge completion fish\n";
  for (const SubcommandInfo &Info : subcommands())
    OS << "complete -c reconverge -n __fish_use_subcommand -a " << Info.Name
       << " -d " << quoted(Info.Title) << '\n';
  for (const SubcommandInfo &Info : subcommands())
    for (const Shown &O : allOptions(Info.Which)) {
      StringRef Name = O.Spelling;
      const bool TakesValue = Name.consume_back("=") || !O.Value.empty();
      OS << "complete -c reconverge -n '__fish_seen_subcommand_from "
         << Info.Name << "' "
         << (Name.consume_front("--")        ? "-l "
             : Name.drop_front().size() == 1 ? "-s "
                                             : "-o ")
         << Name.ltrim('-') << (TakesValue ? " -r" : "") << " -d "
         << quoted(O.Help) << '\n';
    }
}

Error printCompletion(StringRef Shell, raw_ostream &OS) {
  if (Shell == "bash")
    printBash(OS);
  else if (Shell == "zsh")
    printZsh(OS);
  else if (Shell == "fish")
    printFish(OS);
  else
    return userError("there are no completions for '" + Shell + "'",
                     "Name bash, zsh or fish.");
  return Error::success();
}

} // namespace reconverge::driver
