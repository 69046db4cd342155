//===- driver/Completion.cpp - Completions for shells ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that a shell completes is in the table of options and here, in
// argumentsOf(): commands, their options, the values of those that take one of a
// few, and the words of commands that take no file. Each shell has a script in
// its own language, in which that is written down; none calls the tool. Where
// nothing is known a shell completes files.
//
//===----------------------------------------------------------------------===//

#include "core/Error.h"
#include "driver/Explain.h"
#include "driver/Manual.h"
#include "driver/OptionTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace reconverge::driver {

namespace {
/// A command and what may follow it.
struct Completed {
  std::string Name, Title;
  std::vector<ShownOption> Options;
  std::vector<std::string> Arguments; ///< all that it takes; empty: files
};
} // namespace

static std::vector<std::string> argumentsOf(StringRef Command) {
  std::vector<std::string> Words;
  if (Command == "cache")
    Words = {"clean", "finish"};
  else if (Command == "completion")
    Words = {"bash", "zsh", "fish"};
  else if (Command == "man")
    for (const SubcommandInfo &Info : subcommands())
      Words.push_back(Info.Name.str());
  else if (Command == "explain")
    // Others would need quotes.
    for (std::string &Word : explained())
      if (all_of(Word, [](char C) { return isAlnum(C) || C == '-'; }))
        Words.push_back(std::move(Word));
  return Words;
}

static std::vector<Completed> commands() {
  std::vector<Completed> All;
  for (const SubcommandInfo &Info : subcommands()) {
    Completed &C = All.emplace_back();
    C.Name = Info.Name.str();
    C.Title = Info.Title.str();
    for (const ShownGroup &Group : optionsOf(Info.Which))
      append_range(C.Options, Group.Options);
    C.Arguments = argumentsOf(Info.Name);
  }
  for (auto [Name, Title] :
       {std::pair("explain", "Say what a word or a code means"),
        {"man", "Print a manual page"},
        {"completion", "Print completions for a shell"}})
    All.push_back({Name, Title, {}, argumentsOf(Name)});
  return All;
}

/// The options that take one of a few values, as "command:--option".
static std::map<std::string, std::vector<std::string>>
valuesOf(ArrayRef<Completed> Commands) {
  std::map<std::string, std::vector<std::string>> Values;
  for (const Completed &C : Commands)
    for (const ShownOption &O : C.Options)
      if (!O.Values.empty())
        Values[C.Name + ":" + StringRef(O.Spelling).rtrim('=').str()] =
            O.Values;
  return Values;
}

/// \p Text between single quotes of a shell, itself without any.
static std::string quoted(StringRef Text) {
  std::string Out;
  for (char C : Text)
    if (C != '\'')
      Out += C == '\n' ? ' ' : C;
  return "'" + Out + "'";
}

//===----------------------------------------------------------------------===//
// The shells
//===----------------------------------------------------------------------===//

static void printBash(ArrayRef<Completed> Commands, raw_ostream &OS) {
  OS << R"(# bash completion of reconverge; reconverge completion bash
_reconverge() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  local option=$prev words= options= value=
  # bash takes = for a word of its own
  if [ "$cur" = '=' ]; then
    cur= value=yes
  elif [ "$prev" = '=' ]; then
    option=${COMP_WORDS[COMP_CWORD-2]} value=yes
  fi
  case ${COMP_WORDS[1]}:$option in
)";
  for (const auto &[Option, Values] : valuesOf(Commands))
    OS << "  " << Option << ") words='" << join(Values, " ")
       << "' value=yes ;;\n";
  OS << R"(  esac
  if [ -n "$value" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    return
  fi
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='--help --version)";
  for (const Completed &C : Commands)
    OS << ' ' << C.Name;
  OS << "'\n  else\n    case ${COMP_WORDS[1]} in\n";
  for (const Completed &C : Commands) {
    OS << "    " << C.Name << ") words='" << join(C.Arguments, " ")
       << "' options='";
    for (const ShownOption &O : C.Options)
      OS << O.Spelling << ' ';
    OS << "' ;;\n";
  }
  OS << R"(    esac
    [[ $cur == -* ]] && words=$options
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace 2>/dev/null
  return 0
}
complete -o default -F _reconverge reconverge
)";
}

static void printZsh(ArrayRef<Completed> Commands, raw_ostream &OS) {
  OS << R"(#compdef reconverge
# zsh completion of reconverge; reconverge completion zsh
_reconverge() {
  local -a commands options arguments
  commands=(
)";
  for (const Completed &C : Commands)
    OS << "    " << quoted(C.Name + ":" + C.Title) << '\n';
  OS << R"(  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local option=${words[CURRENT-1]}
  if [[ ${words[CURRENT]} == -*=* ]]; then
    option=${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case ${words[2]}:$option in
)";
  for (const auto &[Option, Values] : valuesOf(Commands))
    OS << "  " << Option << ") compadd -- " << join(Values, " ")
       << "; return ;;\n";
  OS << "  esac\n  case ${words[2]} in\n";
  for (const Completed &C : Commands) {
    OS << "  " << C.Name << ") arguments=(" << join(C.Arguments, " ")
       << ") options=(\n";
    for (const ShownOption &O : C.Options) {
      // A colon ends what is completed.
      std::string Help = O.Help;
      std::replace(Help.begin(), Help.end(), ':', ',');
      OS << "    " << quoted(O.Spelling + ":" + Help) << '\n';
    }
    OS << "  ) ;;\n";
  }
  OS << R"(  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe option options -S ''
  elif (( $#arguments )); then
    compadd -- $arguments
  else
    _files
  fi
}
# Found in fpath, this file is the function when it is first called; it may also
# be sourced.
if [[ ${funcstack[1]} == _reconverge ]]; then
  _reconverge "$@"
else
  compdef _reconverge reconverge
fi
)";
}

static void printFish(ArrayRef<Completed> Commands, raw_ostream &OS) {
  OS << "# fish completion of reconverge; reconverge completion fish\n"
        "complete -c reconverge -n __fish_use_subcommand -f\n";
  for (const Completed &C : Commands)
    OS << "complete -c reconverge -n __fish_use_subcommand -a " << C.Name
       << " -d " << quoted(C.Title) << '\n';
  for (const Completed &C : Commands) {
    const std::string Here =
        "complete -c reconverge -n '__fish_seen_subcommand_from " + C.Name +
        "' ";
    if (!C.Arguments.empty())
      OS << Here << "-f -a " << quoted(join(C.Arguments, " ")) << '\n';
    for (const ShownOption &O : C.Options) {
      StringRef Name = O.Spelling;
      const bool TakesValue = Name.consume_back("=") || !O.Value.empty();
      OS << Here
         << (Name.consume_front("--")        ? "-l "
             : Name.drop_front().size() == 1 ? "-s "
                                             : "-o ")
         << Name.ltrim('-');
      if (!O.Values.empty())
        OS << " -x -a " << quoted(join(O.Values, " "));
      else if (TakesValue)
        OS << " -r";
      OS << " -d " << quoted(O.Help) << '\n';
    }
  }
}

Error printCompletion(StringRef Shell, raw_ostream &OS) {
  if (Shell == "bash")
    printBash(commands(), OS);
  else if (Shell == "zsh")
    printZsh(commands(), OS);
  else if (Shell == "fish")
    printFish(commands(), OS);
  else
    return userError("there are no completions for '" + Shell + "'",
                     "Name bash, zsh or fish.");
  return Error::success();
}

} // namespace reconverge::driver
