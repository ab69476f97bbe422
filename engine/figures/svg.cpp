#include "engine/figures/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace rondo::figures {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct Character {
  std::size_t bytes = 1;
  bool allowed = false;  // valid UTF-8 of a character that XML has
};

// The character that begins at `at` (RFC 3629, section 4; XML 1.0, production 2).
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(at);
  if (first < 0x80) return {1, (first >= 0x20 && first != 0x7F) || first == '\n' || first == '\t'};
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 && first < 0xF0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + length > text.size()) return {};
  unsigned code = first & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return {};
    code = code << 6U | (byte(at + i) & 0x3FU);
  }
  const unsigned least = length == 4   ? 0x10000
                         : length == 3 ? 0x800
                                       : 0xA0;  // below 0xA0: control characters
  if (code < least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || (code & 0xFFFEU) == 0xFFFE)
    return {length == 2 ? std::size_t{2} : std::size_t{1}, false};
  return {length, true};
}

const char* anchor_name(Anchor anchor) {
  return anchor == Anchor::Middle ? "middle" : anchor == Anchor::End ? "end" : "start";
}

std::string class_of(const std::string& kind) {
  return kind.empty() ? "" : fmt::format(" class=\"{}\"", escaped(kind));
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (!character.allowed)
      result += kReplacement;
    else if (const char c = text[at]; c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\'')
      result += "&#39;";
    else
      result += text.substr(at, character.bytes);
    at += character.bytes;
  }
  return result;
}

std::string shortened(const std::string& text, std::size_t most) {
  std::size_t characters = 0, kept = 0;  // bytes of all characters but the last that fits
  for (std::size_t at = 0; at < text.size(); at += character_at(text, at).bytes) {
    if (++characters == most) kept = at;
    if (characters > most) return text.substr(0, kept) + "…";
  }
  return text;
}

double text_width(std::string_view text, double font_size) {
  // Of DejaVu Sans, which is wider than the fonts of most systems.
  static const std::map<std::string_view, double> groups = {
      {"ijlI'|", 0.3}, {" .,:;ft[]()/-!", 0.39}, {"mMW@%", 0.95}, {"w=+<>~&", 0.84}, {"×−÷≤≥", 0.84}};
  double ems = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view character = text.substr(at, character_at(text, at).bytes);
    double width = character[0] >= 'A' && character[0] <= 'Z' ? 0.74 : 0.635;
    for (const auto& [members, of_group] : groups)
      if (members.find(character) != std::string_view::npos) width = of_group;
    ems += width;
    at += character.size();
  }
  return ems * font_size;
}

std::string fitting(const std::string& text, double width) {
  std::string result = text;
  for (std::size_t most = text.size(); most > 1 && text_width(result) > width; --most)
    result = shortened(text, most);
  return result;
}

double middle_within(double at, const std::string& text, double width) {
  const double half = text_width(text) / 2 + 1;
  return std::max(half, std::min(at, width - half));
}

std::string number(double value) {
  if (!std::isfinite(value)) return "0";
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

void Svg::element(const std::string& open, const std::string& name, const std::string& title) {
  parts_ +=
      title.empty() ? open + "/>\n" : fmt::format("{}><title>{}</title></{}>\n", open, escaped(title), name);
}

void Svg::line(Point from, Point to, const std::string& kind) {
  element(fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}", number(from.first),
                      number(from.second), number(to.first), number(to.second), class_of(kind)),
          "line", "");
}

void Svg::lines(const std::vector<Point>& points, const std::string& kind) {
  std::string letters;
  for (const auto& [x, y] : points)
    letters += fmt::format("{}{} {}", letters.empty() ? "M" : "L", number(x), number(y));
  if (!letters.empty()) path(letters, kind);
}

void Svg::path(const std::string& letters, const std::string& kind) {
  element(fmt::format("<path d=\"{}\"{}", escaped(letters), class_of(kind)), "path", "");
}

void Svg::box(Point corner, double width, double height, const std::string& kind, const std::string& title,
              double radius) {
  const std::string round = radius > 0 ? fmt::format(" rx=\"{}\"", number(radius)) : "";
  element(fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}{}", number(corner.first),
                      number(corner.second), number(std::max(width, 0.0)), number(std::max(height, 0.0)),
                      round, class_of(kind)),
          "rect", title);
}

void Svg::mark(Shape shape, Point at, const std::string& kind, const std::string& title, double radius) {
  const auto [x, y] = at;
  const double r = radius;
  if (shape == Shape::Circle)
    return element(fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}", number(x), number(y), number(r),
                               class_of(kind)),
                   "circle", title);
  std::vector<Point> corners;
  if (shape == Shape::Square) corners = {{x - r, y - r}, {x + r, y - r}, {x + r, y + r}, {x - r, y + r}};
  if (shape == Shape::Triangle)
    corners = {{x, y - 1.2 * r}, {x + 1.15 * r, y + 0.9 * r}, {x - 1.15 * r, y + 0.9 * r}};
  if (shape == Shape::Diamond)
    corners = {{x, y - 1.3 * r}, {x + 1.3 * r, y}, {x, y + 1.3 * r}, {x - 1.3 * r, y}};
  std::string letters =
      fmt::format("M{} {}L{} {}M{} {}L{} {}", number(x - r), number(y - r), number(x + r), number(y + r),
                  number(x - r), number(y + r), number(x + r), number(y - r));
  if (!corners.empty()) {
    letters.clear();
    for (const auto& [cx, cy] : corners)
      letters += fmt::format("{}{} {}", letters.empty() ? "M" : "L", number(cx), number(cy));
    letters += "Z";
  }
  element(fmt::format("<path d=\"{}\"{}", letters, class_of(kind)), "path", title);
}

void Svg::text(Point at, const std::string& content, Anchor anchor, const std::string& kind) {
  const std::string side =
      anchor == Anchor::Start ? "" : fmt::format(" text-anchor=\"{}\"", anchor_name(anchor));
  parts_ += fmt::format("<text x=\"{}\" y=\"{}\"{}{}>{}</text>\n", number(at.first), number(at.second), side,
                        class_of(kind), escaped(content));
}

std::string Svg::finish(const std::string& id, const std::string& title, const std::string& about,
                        const OwnStyle& style) const {
  const std::string key = escaped(id);
  const std::string rules =
      style.rules.empty() ? "" : fmt::format("<style>\n{}</style>\n", escaped(style.rules));
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\"{6} "
      "role=\"img\" "
      "aria-labelledby=\"{2}-t {2}-d\">\n<title id=\"{2}-t\">{3}</title>\n<desc "
      "id=\"{2}-d\">{4}</desc>\n{7}{5}</svg>\n",
      number(width_), number(height_), key, escaped(title), escaped(about), parts_, class_of(style.kind),
      rules);
}

}  // namespace rondo::figures
