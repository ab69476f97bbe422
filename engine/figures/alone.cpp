#include "engine/figures/alone.h"

#include <map>
#include <sstream>
#include <vector>

#include "compiler/support/embedded_text.h"

namespace rondo::figures {

const std::vector<EmbeddedText>& embedded_figures();

namespace {

constexpr double kWide = 560;
constexpr const char* kClass = "rondo-figure";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Of the style the rules of pictures, each of which is a line that begins with "svg". A colour is a line as
// "  --ink: light-dark(#1c2733, #e4e9ee);".
std::string light_rules() {
  static const std::string kColour = ": light-dark(";
  std::map<std::string, std::string> colours;
  std::string rules = "svg { background: var(--paper); }\n";
  std::istringstream lines(style());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(kColour);
    if (line.starts_with("svg "))
      rules += line + "\n";
    else if (line.starts_with("  --") && colon != std::string::npos) {
      const std::size_t first = colon + kColour.size();
      colours[line.substr(2, colon - 2)] = line.substr(first, line.find(',', first) - first);
    }
  }
  for (const auto& [name, colour] : colours) rules = replaced(rules, "var(" + name + ")", colour);
  return replaced(rules, "svg ", std::string(".") + kClass + " ");
}

}  // namespace

const std::string& style() { return embedded_figures().at(0).text; }

std::string alone(const Figure& figure, const std::string& id) {
  static const std::string kRules = light_rules();
  return figure.draw(kWide).finish(id, figure.title, figure.about, {kClass, kRules});
}

}  // namespace rondo::figures
