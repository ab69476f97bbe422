#include "tools/rondo/color.h"

#include <fmt/format.h>
#include <unistd.h>

#include "compiler/support/environment.h"

namespace rondo::tools {
namespace {

int code_of(Color color) {
  switch (color) {
    case Color::Red: return 31;
    case Color::Yellow: return 33;
    case Color::Cyan: return 36;
  }
  return 0;
}

// The first of a word in a line, painted.
bool paint_word(std::string& line, const std::string& before, const std::string& word, Color color) {
  const std::size_t place = line.find(before + word);
  if (place == std::string::npos) return false;
  line.replace(place + before.size(), word.size(), painted(color, word));
  return true;
}

// "      |     ^~~": a line of carets below a line of the source.
void paint_carets(std::string& line) {
  const std::size_t bar = line.find('|'), caret = line.find('^');
  if (bar == std::string::npos || caret == std::string::npos) return;
  if (line.find_first_not_of(' ') != bar || line.find_first_not_of("^~", caret) != std::string::npos) return;
  if (line.find_first_not_of(' ', bar + 1) != caret) return;
  line = line.substr(0, caret) + painted(Color::Red, line.substr(caret));
}

}  // namespace

bool may_be_colored(int descriptor) {
  if (!environment("NO_COLOR").empty()) return false;
  const std::string force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return ::isatty(descriptor) == 1 && environment("TERM") != "dumb";
}

std::string painted(Color color, const std::string& text) {
  if (!may_be_colored(STDERR_FILENO)) return text;
  return fmt::format("\x1b[1;{}m{}\x1b[0m", code_of(color), text);
}

std::string painted_diagnostics(const std::string& text) {
  if (!may_be_colored(STDERR_FILENO)) return text;
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (!paint_word(line, ": ", "error:", Color::Red) && !paint_word(line, ": ", "remark:", Color::Yellow) &&
        !paint_word(line, " = ", "help:", Color::Cyan))
      paint_carets(line);
    result += line + "\n";
    begin = end + 1;
  }
  return result;
}

}  // namespace rondo::tools
