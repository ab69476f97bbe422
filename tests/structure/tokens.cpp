#include <algorithm>
#include <array>
#include <cctype>

#include "tests/structure/functions.h"

namespace rondo::structure {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// The signs of more than one character that the search for functions must not take for two. ">>" is left as
// two: it closes two lists of template arguments.
constexpr std::array<std::string_view, 18> kLongSigns = {
    "<=>", "...", "::", "->", "==", "!=", "<=", ">=", "&&",
    "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  std::vector<Token> run() {
    while (at_ < source_.size()) step();
    return std::move(tokens_);
  }

 private:
  bool here(std::string_view text) const { return source_.substr(at_).starts_with(text); }

  // Goes on to `end`, and counts the lines on the way.
  void go_to(std::size_t end) {
    end = std::min(end, source_.size());
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void put(Token::Kind kind, std::size_t end) {
    tokens_.push_back({kind, source_.substr(at_, end - at_), line_});
    go_to(end);
    line_begins_ = false;
  }

  void step() {
    const char c = source_[at_];
    if (c == '\n') line_begins_ = true;
    if (std::isspace(static_cast<unsigned char>(c)) != 0) return go_to(at_ + 1);
    if (here("//")) return go_to(end_of_line());
    if (here("/*")) return go_to(after("*/", at_ + 2));
    if (c == '#' && line_begins_) return go_to(end_of_line());
    if (c == '"') return put(Token::Kind::Literal, after_quote('"', at_ + 1));
    if (c == '\'') return put(Token::Kind::Literal, after_quote('\'', at_ + 1));
    if (is_digit(c) || (c == '.' && at_ + 1 < source_.size() && is_digit(source_[at_ + 1])))
      return put(Token::Kind::Number, after_number());
    if (is_word(c)) return word();
    for (const std::string_view sign : kLongSigns)
      if (here(sign)) return put(Token::Kind::Sign, at_ + sign.size());
    put(Token::Kind::Sign, at_ + 1);
  }

  // A word, a raw string with its prefix, or an operator's name.
  void word() {
    std::size_t end = at_;
    while (end < source_.size() && is_word(source_[end])) ++end;
    const std::string_view text = source_.substr(at_, end - at_);
    if (end < source_.size() && source_[end] == '"' && text.ends_with('R')) {
      const std::size_t open = source_.find('(', end);
      const std::string closing = ")" + std::string(source_.substr(end + 1, open - end - 1)) + "\"";
      return put(Token::Kind::Literal, after(closing, open));
    }
    if (text == "operator") {  // up to its parameters
      const std::size_t call = source_.substr(end).starts_with("()") ? 2 : 0;
      end = std::min(source_.find_first_of("(;{", end + call), source_.size());
    }
    put(Token::Kind::Word, end);
  }

  // Behind the next `what` from `from` on; the end of the source where there is none.
  std::size_t after(std::string_view what, std::size_t from) const {
    const std::size_t found = source_.find(what, from);
    return found == std::string_view::npos ? source_.size() : found + what.size();
  }

  std::size_t after_quote(char quote, std::size_t from) const {
    while (from < source_.size() && source_[from] != quote) from += source_[from] == '\\' ? 2 : 1;
    return std::min(from + 1, source_.size());
  }

  // Digits may be parted by ', exponents have a sign.
  std::size_t after_number() const {
    std::size_t end = at_ + 1;
    while (end < source_.size()) {
      const char c = source_[end];
      const bool part = c == '\'' && end + 1 < source_.size() && is_word(source_[end + 1]);
      const bool sign =
          (c == '+' || c == '-') && std::string_view("eEpP").find(source_[end - 1]) != std::string_view::npos;
      if (!is_word(c) && c != '.' && !part && !sign) break;
      ++end;
    }
    return end;
  }

  // Of this line and those that it goes on in by a backslash.
  std::size_t end_of_line() const {
    std::size_t end = source_.find('\n', at_);
    while (end != std::string_view::npos && end > at_ && source_[end - 1] == '\\')
      end = source_.find('\n', end + 1);
    return std::min(end, source_.size());
  }

  std::string_view source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_begins_ = true;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens(std::string_view source) { return Lexer(source).run(); }

}  // namespace rondo::structure
