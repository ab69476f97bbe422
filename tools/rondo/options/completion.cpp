#include "tools/rondo/options/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "compiler/pipeline/passes.h"
#include "compiler/schedule/strategies.h"
#include "compiler/target/profile.h"
#include "engine/request/cell_library.h"
#include "tools/rondo/options/topics.h"

namespace rondo::tools {
namespace {

using Words = std::vector<std::string>;

Words shipped_cells() {
  Words names;
  for (const engine::EmbeddedCell& cell : engine::embedded_cells()) names.push_back(cell.name);
  return names;
}

Words targets() {
  Words names = {"auto", "cpu", "all", "x86-64-v2", "x86-64-v3", "x86-64-v4", "x86-64-v4-amx", "aarch64"};
  for (const target::Profile& profile : target::shipped_profiles()) {
    names.push_back(profile.key);
    if (std::ranges::find(names, profile.arch()) == names.end()) names.push_back(profile.arch());
  }
  return names;
}

// Options with few values. Lists with commas are completed behind the last one.
const std::map<std::string, Words>& values() {
  static const std::map<std::string, Words> all = [] {
    Words stages, strategies = {"reference"}, passes = {"all"};
    for (const pipeline::StageInfo& stage : pipeline::kStages) stages.emplace_back(stage.text);
    for (const pipeline::PassInfo& pass : pipeline::kPasses) passes.emplace_back(pass.text);
    for (const schedule::Strategy* strategy : schedule::strategies()) strategies.push_back(strategy->name());
    return std::map<std::string, Words>{
        {"--dtype", {"bf16", "fp16", "fp32", "fp64"}},
        {"--math", {"fast", "accurate", "tf32"}},
        {"--pass", {"fw", "fws", "bw"}},
        {"--save", {"states", "products", "auto", "every="}},
        {"--forms", {"resets", "reset_states", "lengths", "reversed", "directions", "tangents"}},
        {"--backend", {"auto", "nvrtc", "llvm"}},
        {"--arch", targets()},
        {"--ptx", {"sm_80", "sm_90", "none"}},
        {"--stage", stages},
        {"--print-after", passes},
        {"--strategy", strategies}};
  }();
  return all;
}

struct Value {
  std::string option;
  bool takes = false;  // a value
  bool folder = false;
  std::string what;
};

// A command with all that may follow it.
struct Place {
  std::string path;  // "rondo package build"
  std::string what;
  Words commands;  // below it
  Words command_texts;
  std::vector<Value> options;
  Words words;        // of its first argument: cells, shells
  bool files = true;  // whether its arguments are files too
};

// One line without what a shell would expand.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') break;
    if (c != '\'' && c != '"' && c != '`' && c != '$' && c != '\\' && c != '[' && c != ']' && c != ':')
      result += c;
  }
  return result;
}

Place place_of(CLI::App& app, const std::string& path) {
  Place place{path, plain(app.get_description()), {}, {}, {}, {}, true};
  for (const CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) {
    place.commands.push_back(sub->get_name());
    place.command_texts.push_back(plain(sub->get_description()));
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      const std::string& name = option->get_single_name();
      if (name == "cell" || name == "cells") place.words = shipped_cells();
      if (name == "shell") place.words = {"bash", "zsh", "fish"};
      if (name == "shell" || name == "argument") place.files = name == "argument";
      continue;
    }
    if (option->get_group().empty()) continue;  // an earlier name
    for (const std::string& name : option->get_snames())
      place.options.push_back({"-" + name, option->get_expected_max() > 0,
                               option->get_type_name() == "FOLDER", plain(option->get_description())});
    for (const std::string& name : option->get_lnames())
      place.options.push_back({"--" + name, option->get_expected_max() > 0,
                               option->get_type_name() == "FOLDER", plain(option->get_description())});
  }
  if (path == "rondo help") {
    place.words = topics();
    place.files = false;
  }
  return place;
}

void collect(CLI::App& app, const std::string& path, std::vector<Place>& places) {
  places.push_back(place_of(app, path));
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    collect(*sub, path + " " + sub->get_name(), places);
}

Words option_names(const Place& place) {
  Words names;
  for (const Value& option : place.options) names.push_back(option.option);
  return names;
}

// The part that bash and zsh share: functions of a path that print words.
std::string tables(const std::vector<Place>& places) {
  std::string paths, words, options, takes;
  for (const Place& place : places) {
    Words first = place.commands;
    first.insert(first.end(), place.words.begin(), place.words.end());
    if (place.path != "rondo") paths += fmt::format("{}'{}'", paths.empty() ? "" : "|", place.path);
    words += fmt::format("    '{}') echo '{}' ;;\n", place.path, fmt::join(first, " "));
    options += fmt::format("    '{}') echo '{}' ;;\n", place.path, fmt::join(option_names(place), " "));
    Words valued;
    for (const Value& option : place.options)
      if (option.takes) valued.push_back(option.option);
    if (!valued.empty())
      takes += fmt::format("    {}) ;;\n", fmt::format("'{} {}'", place.path,
                                                       fmt::join(valued, fmt::format("'|'{} ", place.path))));
  }
  std::string choices;
  for (const auto& [option, all] : values())
    choices += fmt::format("    {}) echo '{}' ;;\n", option, fmt::join(all, " "));
  return fmt::format(
      "_rondo_is_command() {{ case $1 in {}) ;; *) return 1 ;; esac; }}\n"
      "_rondo_words() {{\n  case $1 in\n{}  esac\n}}\n"
      "_rondo_options() {{\n  case $1 in\n{}  esac\n}}\n"
      "_rondo_takes_value() {{\n  case $1 in\n{}    *) return 1 ;;\n  esac\n}}\n"
      "_rondo_values() {{\n  case $1 in\n{}  esac\n}}\n",
      paths, words, options, takes, choices);
}

std::string bash_script(const std::vector<Place>& places) {
  return "# Completion of the rondo command for bash, printed by `rondo completion bash`.\n" +
         tables(places) +
         R"sh(_rondo() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path=rondo option= before= i word
  COMPREPLY=()
  # bash takes --dtype=bf16 apart at the equals sign.
  if [[ $current == = ]]; then
    option=$previous current=
  elif [[ $previous == = ]]; then
    option=${COMP_WORDS[COMP_CWORD-2]}
  elif [[ $previous == -* ]]; then
    option=$previous
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    word=${COMP_WORDS[i]}
    _rondo_is_command "$path $word" && path="$path $word"
  done
  if [[ $option == -* ]] && _rondo_takes_value "$path $option"; then
    [[ $current == *,* ]] && before=${current%,*},
    mapfile -t COMPREPLY < <(compgen -P "$before" -W "$(_rondo_values "$option")" -- "${current#"$before"}")
    return  # none: bash offers files
  fi
  [[ -n $option && $option != -* ]] && return  # NAME=FILE
  mapfile -t COMPREPLY < <(compgen -W "$(_rondo_words "$path") $(_rondo_options "$path")" -- "$current")
}
complete -o default -F _rondo rondo
)sh";
}

std::string zsh_script(const std::vector<Place>& places) {
  return "#compdef rondo\n# Completion of the rondo command for zsh, printed by `rondo completion zsh`.\n" +
         tables(places) + R"sh(_rondo() {
  emulate -L zsh
  local current=${words[CURRENT]} previous=${words[CURRENT-1]} place=rondo option= word
  local -a offered
  integer i
  if [[ $current == --*=* ]]; then
    option=${current%%=*}
    compset -P '*='
    current=${current#*=}
  elif [[ $previous == -* ]]; then
    option=$previous
  fi
  for ((i = 2; i < CURRENT; ++i)); do
    word=${words[i]}
    _rondo_is_command "$place $word" && place="$place $word"
  done
  if [[ -n $option ]] && _rondo_takes_value "$place $option"; then
    offered=(${=$(_rondo_values $option)})
    if (( ${#offered} == 0 )); then
      compset -P '*='
      _files
      return
    fi
    compset -P '*,'
    compadd -- $offered
    return
  fi
  offered=(${=$(_rondo_words $place)} ${=$(_rondo_options $place)})
  compadd -- $offered
  [[ $current == -* || $place == rondo ]] || _files
}
if [[ $funcstack[1] == _rondo ]]; then
  _rondo "$@"
else
  compdef _rondo rondo
fi
)sh";
}

// A line for each word, with what it means beside it.
std::string fish_script(const std::vector<Place>& places) {
  std::string text =
      "# Completion of the rondo command for fish, printed by `rondo completion fish`.\n"
      "function __rondo_at\n"
      "  set -l path\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    string match -q -- '-*' $word; and break\n"
      "    contains -- (string join ' ' -- $path $word) $__rondo_commands; or break\n"
      "    set -a path $word\n"
      "  end\n"
      "  test (string join ' ' -- $path) = \"$argv\"\n"
      "end\n";
  Words paths;
  std::string lines;
  for (const Place& place : places) {
    const std::string path = place.path == "rondo" ? "" : place.path.substr(6);
    if (!path.empty()) paths.push_back("'" + path + "'");
    const std::string head = fmt::format("complete -c rondo -n '__rondo_at {}'", path);
    for (std::size_t i = 0; i < place.commands.size(); ++i)
      lines += fmt::format("{} -f -a {} -d '{}'\n", head, place.commands[i], place.command_texts[i]);
    if (!place.words.empty()) lines += fmt::format("{} -a '{}'\n", head, fmt::join(place.words, " "));
    for (const Value& option : place.options) {
      const bool is_long = option.option.starts_with("--");
      const auto known = values().find(option.option);
      lines += fmt::format("{} {} {}{}", head, is_long ? "-l" : "-s", option.option.substr(is_long ? 2 : 1),
                           option.takes ? " -r" : "");
      if (known != values().end()) lines += fmt::format(" -f -a '{}'", fmt::join(known->second, " "));
      lines += fmt::format(" -d '{}'\n", option.what);
    }
  }
  return text + fmt::format("set -g __rondo_commands {}\n", fmt::join(paths, " ")) + lines;
}

}  // namespace

std::string completion_script(CLI::App& app, const std::string& shell) {
  std::vector<Place> places;
  collect(app, "rondo", places);
  if (shell == "bash") return bash_script(places);
  if (shell == "zsh") return zsh_script(places);
  return shell == "fish" ? fish_script(places) : "";
}

}  // namespace rondo::tools
