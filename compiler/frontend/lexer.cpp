#include "compiler/frontend/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "compiler/frontend/builtins.h"
#include "compiler/frontend/foreign.h"

namespace rondo::frontend {
namespace {

constexpr std::size_t kMaxNameLength = 64;

// ASCII only, whatever the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }
// Bytes 10xxxxxx of UTF-8 continue a character: they do not advance the column.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

constexpr std::array<std::pair<std::string_view, TokenKind>, 11> kKeywords = {{
    {"cell", TokenKind::KwCell},
    {"fn", TokenKind::KwFn},
    {"input", TokenKind::KwInput},
    {"param", TokenKind::KwParam},
    {"state", TokenKind::KwState},
    {"const", TokenKind::KwConst},
    {"output", TokenKind::KwOutput},
    {"next", TokenKind::KwNext},
    {"and", TokenKind::KwAnd},
    {"or", TokenKind::KwOr},
    {"not", TokenKind::KwNot},
}};

// Longest first, so that "<=" is not read as "<".
constexpr std::array<std::pair<std::string_view, TokenKind>, 20> kPunctuation = {{
    {"<=", TokenKind::LessEqual}, {">=", TokenKind::GreaterEqual}, {"==", TokenKind::Equal},
    {"!=", TokenKind::NotEqual},  {"<", TokenKind::Less},          {">", TokenKind::Greater},
    {"=", TokenKind::Assign},     {"+", TokenKind::Plus},          {"-", TokenKind::Minus},
    {"*", TokenKind::Star},       {"/", TokenKind::Slash},         {"@", TokenKind::At},
    {"(", TokenKind::LParen},     {")", TokenKind::RParen},        {"[", TokenKind::LBracket},
    {"]", TokenKind::RBracket},   {"{", TokenKind::LBrace},        {"}", TokenKind::RBrace},
    {",", TokenKind::Comma},      {";", TokenKind::Semicolon},
}};

// Operators of other languages, with what to write instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kForeign = {{
    {"**", "there is no power operator: write square(x) or pow(x, n)"},
    {"^", "there is no power operator: write square(x) or pow(x, n)"},
    {"&&", "write 'and'"},
    {"||", "write 'or'"},
    {"!", "write 'not'"},
    {"+=", "values are set once: give the new value a new name"},
    {"-=", "values are set once: give the new value a new name"},
    {"*=", "values are set once: give the new value a new name"},
    {"/=", "values are set once: give the new value a new name"},
    {"//", "a comment begins with '#'"},
    {"/*", "a comment begins with '#'"},
    {"?", "write select(condition, a, b)"},
}};

class Lexer {
 public:
  Lexer(std::string_view text, Diagnostics& diagnostics) : text_(text), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    if (text_.substr(0, 3) == "\xEF\xBB\xBF") at_ = 3;  // the byte order mark some editors write
    while (at_ < text_.size()) next();
    push(TokenKind::End, 0);
    return std::move(tokens_);
  }

 private:
  void next() {
    const char c = text_[at_];
    if (c == '\n') {
      push(TokenKind::Newline, 1);
      ++line_;
      column_ = 1;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      advance(1);
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') advance(1);
    } else if (is_letter(c)) {
      name();
    } else if (is_digit(c) || (c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
      number();
    } else if (!foreign() && !punctuation()) {
      unknown();
    }
  }

  void name() {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    for (const auto& [keyword, kind] : kKeywords) {
      if (word != keyword) continue;
      push(kind, word.size());
      return;
    }
    if (word.size() > kMaxNameLength) {
      return bad(word.size(),
                 fmt::format("this name has {} characters; the limit is {}", word.size(), kMaxNameLength));
    }
    push(TokenKind::Name, word.size());
  }

  // Takes everything that a reader would see as one number ("1.2.3", "0x10", "3abc"), then judges it as a
  // whole.
  void number() {
    std::size_t end = at_;
    bool integer = true;
    while (end < text_.size()) {
      const char c = text_[end];
      const bool exponent_sign = (c == '+' || c == '-') && (text_[end - 1] == 'e' || text_[end - 1] == 'E') &&
                                 text_.substr(at_, 2) != "0x" && end > at_;
      if (!is_digit(c) && !is_letter(c) && c != '.' && !exponent_sign) break;
      integer = integer && is_digit(c);
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    double value = 0;
    const auto [stop, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (stop != word.data() + word.size() || status == std::errc::invalid_argument) {
      return bad(
          word.size(), fmt::format("'{}' is not a number", shorten(word)),
          is_digit(word.front()) && is_letter(word.back())
              ? "write numbers like 8, 0.5 or 1e-6; a product is 2 * h, and extents have a comma, x[4, D]"
              : "write numbers like 8, 0.5 or 1e-6");
    }
    if (status != std::errc()) {
      return bad(word.size(), fmt::format("the number '{}' is out of the range of a double", shorten(word)));
    }
    Token& token = push(TokenKind::Number, word.size());
    token.number = value;
    token.integer = integer;
  }

  bool foreign() {
    for (const auto& [text, help] : kForeign) {
      if (!starts_with(text) || starts_with("!=")) continue;
      bad(text.size(), fmt::format("unknown operator '{}'", text), std::string(help));
      return true;
    }
    return false;
  }

  bool punctuation() {
    for (const auto& [text, kind] : kPunctuation) {
      if (!starts_with(text)) continue;
      push(kind, text.size());
      return true;
    }
    return false;
  }

  // One report for a run of foreign characters.
  void unknown() {
    std::size_t end = at_ + 1;
    if (!is_ascii(text_[at_])) {
      while (end < text_.size() && !is_ascii(text_[end])) ++end;
      return bad(end - at_, "only ASCII characters may stand outside comments",
                 "spell the name or operator in ASCII");
    }
    if (text_[at_] == '.' && end < text_.size() && is_letter(text_[end])) return member();
    while (end < text_.size() && text_[end] == text_[at_]) ++end;
    const char c = text_[at_];
    if (c < ' ' || c == 0x7F) {
      return bad(end - at_, fmt::format("unexpected control character 0x{:02x}", static_cast<unsigned>(c)),
                 c == 0 ? "is this a text file in UTF-8?" : "");
    }
    bad(end - at_, fmt::format("unexpected character '{}'", c), help_for(c));
  }

  // What other languages mean by it, said here.
  const char* help_for(char c) const {
    switch (c) {
      case ':':
        return in_index() ? "an index is one integer, which chooses a row with all its channels: x[0]"
                          : "a statement is 'name = expression', a cell 'cell name(D) { ... }'";
      case '%': return "a remainder is written mod(a, b): it has the sign of b";
      case '&': return "write 'and'";
      case '|': return "write 'or'";
      case '~': return "write 'not'";
      default: return "";
    }
  }

  // Whether the last bracket that is open is a '['.
  bool in_index() const {
    int closed = 0;
    for (auto token = tokens_.rbegin(); token != tokens_.rend() && token->kind != TokenKind::Newline;
         ++token) {
      if (token->kind == TokenKind::RBracket) ++closed;
      if (token->kind == TokenKind::LBracket && closed-- == 0) return true;
    }
    return false;
  }

  // The dots and names that go on here, `.linalg.norm`, as one error: names have no parts.
  void member() {
    std::size_t end = at_, last = at_;
    while (end < text_.size() && text_[end] == '.' && end + 1 < text_.size() && is_letter(text_[end + 1])) {
      last = ++end;
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    }
    const std::string name(text_.substr(last, end - last));
    std::string help =
        find_builtin(name) ? fmt::format("write {}(...) alone", name) : instead_of_function(name);
    if (help.empty())
      help = name == "T" ? "there is no transpose: R @ h sums over the last extent of R; pass it transposed "
                           "for the other"
                         : "names have no parts";
    bad(end - at_, "unexpected character '.'", help);
  }

  bool starts_with(std::string_view prefix) const { return text_.substr(at_, prefix.size()) == prefix; }

  static std::string shorten(std::string_view word) {
    return word.size() <= 40 ? std::string(word) : std::string(word.substr(0, 37)) + "...";
  }

  void advance(std::size_t bytes) {
    for (const std::size_t end = at_ + bytes; at_ < end; ++at_) {
      if (!continues_character(text_[at_])) ++column_;
    }
  }

  Token& push(TokenKind kind, std::size_t bytes) {
    Token token;
    token.kind = kind;
    token.text = text_.substr(at_, bytes);
    token.span = {line_, column_, 1};
    advance(bytes);
    token.span.length = std::max(1, column_ - token.span.column);
    tokens_.push_back(token);
    return tokens_.back();
  }

  void bad(std::size_t bytes, std::string message, std::string help = "") {
    const Token& token = push(TokenKind::Bad, bytes);
    diagnostics_.error(token.span, std::move(message), std::move(help));
  }

  std::string_view text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  int column_ = 1;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text, Diagnostics& diagnostics) {
  return Lexer(text, diagnostics).run();
}

std::string describe(const Token& token) {
  if (token.kind == TokenKind::End) return "the end of the file";
  if (token.kind == TokenKind::Newline) return "the end of the line";
  return fmt::format("{}'{}'", is_keyword(token.kind) ? "the keyword " : "", token.text);
}

}  // namespace rondo::frontend
