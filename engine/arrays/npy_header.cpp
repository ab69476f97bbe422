#include "engine/arrays/npy_header.h"

#include <algorithm>

namespace rondo::engine {
namespace {

constexpr std::size_t kMostAxes = 32;  // NumPy's own limit until 2.0
constexpr std::int64_t kMostExtent = std::int64_t{1} << 62;

class HeaderReader {
 public:
  explicit HeaderReader(std::string_view text) : rest_(text) {}

  std::optional<NpyHeader> read() {
    if (!take('{')) return std::nullopt;
    while (!take('}')) {
      if (!entry()) return std::nullopt;
      if (take(',')) continue;
      if (!take('}')) return std::nullopt;
      break;
    }
    skip_blanks();
    if (!rest_.empty() || !has_descr_ || !has_order_ || !has_shape_) return std::nullopt;
    return header_;
  }

 private:
  void skip_blanks() {
    const std::size_t end = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(std::min(end, rest_.size()));
  }

  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool take_word(std::string_view word) {
    skip_blanks();
    if (rest_.substr(0, word.size()) != word) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::optional<std::string> quoted() {
    skip_blanks();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) return std::nullopt;
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string text(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    if (text.find('\\') != std::string::npos) return std::nullopt;
    return text;
  }

  bool entry() {
    const std::optional<std::string> key = quoted();
    if (!key || !take(':')) return false;
    if (*key == "descr") return first(has_descr_) && descr();
    if (*key == "fortran_order") return first(has_order_) && order();
    return *key == "shape" && first(has_shape_) && shape();
  }

  static bool first(bool& seen) {
    if (seen) return false;
    return seen = true;
  }

  bool descr() {
    skip_blanks();
    if (!rest_.empty() && rest_.front() == '[') return structured();
    const std::optional<std::string> text = quoted();
    if (text) header_.descr = *text;
    return text.has_value();
  }

  // A record type: kept as its text, for the message that it is not supported.
  bool structured() {
    const std::size_t end = rest_.find(']');
    if (end == std::string_view::npos) return false;
    header_.descr = std::string(rest_.substr(0, end + 1));
    rest_.remove_prefix(end + 1);
    return true;
  }

  bool order() {
    header_.fortran_order = take_word("True");
    return header_.fortran_order || take_word("False");
  }

  bool shape() {
    if (!take('(')) return false;
    while (!take(')')) {
      const std::optional<std::int64_t> extent = number();
      if (!extent || header_.shape.size() == kMostAxes) return false;
      header_.shape.push_back(*extent);
      if (take(',')) continue;
      return take(')');
    }
    return true;
  }

  std::optional<std::int64_t> number() {
    skip_blanks();
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      if (value > kMostExtent / 10) return std::nullopt;
      value = 10 * value + (rest_[digits] - '0');
    }
    rest_.remove_prefix(digits);
    if (!rest_.empty() && rest_.front() == 'L') rest_.remove_prefix(1);  // Python 2 wrote longs so
    if (digits == 0) return std::nullopt;
    return value;
  }

  std::string_view rest_;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

std::optional<NpyHeader> parse_npy_header(std::string_view text) { return HeaderReader(text).read(); }

}  // namespace rondo::engine
