// Pictures as SVG text, written mark by mark. Colours, fonts and line widths are classes of
// figures.css in this folder, so that a picture follows the page from light to dark (alone.h).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::figures {

// Text for XML and HTML, within elements and within quoted attributes. What XML cannot hold (control
// characters, bytes that are no UTF-8) becomes U+FFFD: names come from files of others.
std::string escaped(std::string_view text);
// The text with at most `most` characters, of which the last is "…" where some are left out.
std::string shortened(const std::string& text, std::size_t most);
// About how wide a text is in pixels; a little more than most fonts take.
double text_width(std::string_view text, double font_size = 11);
// The text, shortened until it is no wider than `width`.
std::string fitting(const std::string& text, double width);
// The middle of a text that is to stand around `at` and within a picture so wide.
double middle_within(double at, const std::string& text, double width);
// A coordinate with two decimals, without trailing zeros.
std::string number(double value);

enum class Shape { Circle, Square, Triangle, Diamond, Cross };
enum class Anchor { Start, Middle, End };

using Point = std::pair<double, double>;

// What a picture that stands alone has beside its marks: a class of its own, and CSS that holds within it.
struct OwnStyle {
  std::string kind, rules;
};

class Svg {
 public:
  Svg(double width, double height) : width_(width), height_(height) {}

  void line(Point from, Point to, const std::string& kind);
  // Straight lines from point to point.
  void lines(const std::vector<Point>& points, const std::string& kind);
  // Any path by SVG's own letters.
  void path(const std::string& letters, const std::string& kind);
  // `title` is what a pointer that rests on the mark shows; "": nothing.
  void box(Point corner, double width, double height, const std::string& kind, const std::string& title = "",
           double radius = 0);
  void mark(Shape shape, Point at, const std::string& kind, const std::string& title = "", double radius = 4);
  void text(Point at, const std::string& content, Anchor anchor = Anchor::Start,
            const std::string& kind = "");

  double width() const { return width_; }
  double height() const { return height_; }
  // The whole picture. `title` names it and `about` tells what it shows, for those who do not see it; `id` is
  // unlike that of every other picture of the page.
  std::string finish(const std::string& id, const std::string& title, const std::string& about,
                     const OwnStyle& style = {}) const;

 private:
  void element(const std::string& open, const std::string& name, const std::string& title);

  double width_, height_;
  std::string parts_;
};

}  // namespace rondo::figures
