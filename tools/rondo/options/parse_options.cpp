// The command line: parsed, explained, and what is said of a slip in it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "compiler/frontend/diagnostics.h"
#include "compiler/support/version.h"
#include "tools/rondo/options/command_tree.h"
#include "tools/rondo/options/completion.h"
#include "tools/rondo/options/options.h"
#include "tools/rondo/options/topics.h"

namespace rondo::tools {
namespace {

constexpr const char* kExitCodes =
    "exit status: 0 done, 2 bad input, 3 unsupported, 4 something is missing, 5 database, 6 GPU,\n"
    "7 compiler, 8 wrong results, 70 defect of Rondo, 71 memory, 130 cancelled. See docs/command-line.md.";
constexpr const char* kListHint = "`rondo --help` and `rondo COMMAND --help` list what there is";

ParsedOptions mistake(ParsedOptions result, std::string text, std::string hint = kListHint) {
  result.done = true;
  result.status = 2;
  result.text = std::move(text);
  result.hint = std::move(hint);
  return result;
}

ParsedOptions answer(ParsedOptions result, std::string text) {
  result.done = true;
  result.text = std::move(text);
  return result;
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

// An option of the commands that are called whose value is empty, as of a shell's variable that is not set;
// "" for none. To go on as if it were not given would take another file than the one that was meant.
std::string empty_value(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty()) return fmt::format("{} is given nothing: its value is empty", option->get_name());
  for (const CLI::App* sub : app.get_subcommands())
    if (std::string slip = empty_value(*sub); !slip.empty()) return slip;
  return "";
}

std::vector<std::string> subcommands_of(CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

// How far words are commands: "package", "build".
struct Followed {
  CLI::App* app;
  std::size_t words = 0;
  std::string path;  // " package build"
};
Followed follow(CLI::App& app, const std::vector<std::string>& words) {
  Followed at{&app, 0, ""};
  for (; at.words < words.size(); ++at.words) {
    const std::vector<CLI::App*> below =
        at.app->get_subcommands([&](CLI::App* sub) { return sub->get_name() == words[at.words]; });
    if (below.empty()) break;
    at.app = below.front();
    at.path += " " + words[at.words];
  }
  return at;
}

std::string hint_for(const std::string& word, const std::vector<std::string>& known) {
  return frontend::did_you_mean(word, known, kListHint);
}

// What CLI11 would report only as a missing subcommand.
std::optional<ParsedOptions> unknown_command(CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return mistake({}, "no command given");
  const Followed at = follow(app, words);
  const std::vector<std::string> known = subcommands_of(*at.app);
  if (known.empty() || at.words == words.size() || words[at.words].starts_with('-')) return std::nullopt;
  const std::string& word = words[at.words];
  return mistake({}, fmt::format("unknown command '{}'", (at.path + " " + word).substr(1)),
                 hint_for(word, known));
}

// An option that the command does not have, which CLI11 counts among what is left over.
std::optional<ParsedOptions> unknown_option(const CLI::App& app, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--") || std::ranges::find(known, name) != known.end()) continue;
    return mistake({}, fmt::format("unknown option '{}'", name), hint_for(name, known));
  }
  return std::nullopt;
}

// The help of a command by its full name: App::help() tells of the command that was called.
std::string help_of(const CLI::App& app, const std::string& name) {
  return app.get_formatter()->make_help(&app, name, CLI::AppFormatMode::Normal);
}

// `rondo help`, of a command or a topic.
ParsedOptions help(CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty()) return answer({}, help_of(app, "rondo"));
  if (words.size() == 1 && !topic_text(words.front()).empty()) return answer({}, topic_text(words.front()));
  const Followed at = follow(app, words);
  if (at.words == words.size()) return answer({}, help_of(*at.app, "rondo" + at.path));
  std::vector<std::string> known = subcommands_of(*at.app);
  if (at.words == 0) known.insert(known.end(), topics().begin(), topics().end());
  return mistake({}, fmt::format("there is no help for '{}'", fmt::join(words, " ")),
                 hint_for(words[at.words], known));
}

void add_footers(CLI::App& app, const std::string& path) {
  const std::string shown =
      path.empty()
          ? "`rondo help COMMAND` tells of a command, and `rondo help examples` shows what can be typed.\n"
          : examples_of(path);
  app.footer(shown.empty() ? kExitCodes : shown + "\n" + kExitCodes);
  for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; }))
    add_footers(*sub, path.empty() ? sub->get_name() : path + " " + sub->get_name());
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions result;
  CLI::App app("Rondo compiles recurrent cells into tuned GPU kernels.", "rondo");
  app.set_version_flag("--version", std::string("rondo ") + kVersion);
  app.require_subcommand(1);
  add_commands(app, result.options);
  std::vector<std::string> asked;
  app.add_subcommand("help", fmt::format("what a command takes, or a topic: {}", fmt::join(topics(), ", ")))
      ->add_option("words", asked, "the command, or the topic");
  std::string shell;
  app.add_subcommand("completion", "print a script that completes the command in a shell")
      ->add_option("shell", shell, "bash, zsh or fish")
      ->required();
  add_footers(app, "");
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (auto slip = unknown_command(app, words)) return *slip;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, unused;
    if (app.exit(error, out, unused) != 0) {
      if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError))
        if (auto slip = unknown_option(*follow(app, words).app, words)) return *slip;
      return mistake(std::move(result), one_line(error.what()));
    }
    return answer(std::move(result), out.str());
  }
  if (std::string slip = empty_value(app); !slip.empty()) return mistake(std::move(result), std::move(slip));
  if (app.got_subcommand("help")) return help(app, asked);
  if (!app.got_subcommand("completion")) return result;
  std::string script = completion_script(app, shell);
  if (!script.empty()) return answer(std::move(result), std::move(script));
  return mistake(std::move(result), fmt::format("there is no completion for '{}'", shell),
                 "bash, zsh and fish have one");
}

}  // namespace rondo::tools
