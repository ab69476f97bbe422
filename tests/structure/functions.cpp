#include "tests/structure/functions.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace rondo::structure {
namespace {

// What has been read of a declaration: tokens, where a group in brackets is only its opening bracket.
struct Part {
  const Token* token = nullptr;
  std::string_view inside;  // of a group in (): its text
  bool is(std::string_view text) const { return token->text == text; }
  bool is_word() const { return token->kind == Token::Kind::Word; }
};
using Head = std::vector<Part>;

constexpr std::array<std::string_view, 7> kNoFunctions = {"alignas",  "decltype",      "noexcept", "requires",
                                                          "explicit", "__attribute__", "sizeof"};
constexpr std::array<std::string_view, 4> kTypes = {"class", "struct", "union", "enum"};

template <class Range>
bool contains(const Range& range, std::string_view text) {
  return std::ranges::find(range, text) != std::ranges::end(range);
}

// Which part of the head is the group of parameters: the first () behind a name, unless a list of template
// arguments goes on behind it. -1 where there is none.
std::ptrdiff_t parameters_of(const Head& head) {
  for (std::size_t i = 1; i < head.size(); ++i) {
    if (!head[i].is("(")) continue;
    const bool named =
        head[i - 1].is(">") || (head[i - 1].is_word() && !contains(kNoFunctions, head[i - 1].token->text));
    const bool in_arguments = i + 1 < head.size() && (head[i + 1].is(">") || head[i + 1].is(","));
    if (named && !in_arguments) return static_cast<std::ptrdiff_t>(i);
  }
  return -1;
}

enum class Brace { Namespace, Class, Enum, Function, Initialiser };

// What a brace opens that comes behind the head.
Brace kind_of_brace(const Head& head) {
  const auto has = [&](std::string_view text) {
    return std::ranges::any_of(head, [&](const Part& part) { return part.is(text); });
  };
  if (head.empty()) return Brace::Initialiser;
  if (has("namespace") || (head.front().is("extern") && head.back().token->kind == Token::Kind::Literal))
    return Brace::Namespace;
  if (head.back().is("requires")) return Brace::Initialiser;
  if (head.back().is("(") && head.size() > 1 && head[head.size() - 2].is("requires"))
    return Brace::Initialiser;
  for (std::size_t i = 0; i + 1 < head.size(); ++i)  // of a variable
    if (head[i].is("=")) return head[i + 1].is("[") ? Brace::Function : Brace::Initialiser;
  if (head.back().is("=")) return Brace::Initialiser;
  const std::ptrdiff_t parameters = parameters_of(head);
  if (parameters < 0) {
    if (has("enum")) return Brace::Enum;
    return std::ranges::any_of(head, [](const Part& part) { return contains(kTypes, part.token->text); })
               ? Brace::Class
               : Brace::Initialiser;
  }
  // In a constructor's list of initialisers a brace behind a name initialises a member.
  const bool list =
      std::any_of(head.begin() + parameters, head.end(), [](const Part& part) { return part.is(":"); });
  return list && (head.back().is_word() || head.back().is(">")) ? Brace::Initialiser : Brace::Function;
}

std::string name_of(const Head& head) {
  std::ptrdiff_t end = parameters_of(head);
  for (std::size_t i = 1; end < 0 && i < head.size(); ++i)
    if (head[i].is("=")) end = static_cast<std::ptrdiff_t>(i);
  std::ptrdiff_t first = end;
  for (bool name_next = true; first > 0; --first) {
    const Part& before = head[static_cast<std::size_t>(first - 1)];
    const bool joins = before.is("::") || before.is("~");
    if (!joins && !(name_next && before.is_word())) break;
    name_next = joins;
  }
  std::string name;
  for (std::ptrdiff_t i = first; i < end; ++i) name += head[static_cast<std::size_t>(i)].token->text;
  if (name.starts_with("TEST") || name == "TYPED_TEST")
    name += "(" + std::string(head[static_cast<std::size_t>(end)].inside) + ")";
  return name;
}

class Finder {
 public:
  explicit Finder(std::string_view source) : tokens_(tokens(source)) {}

  FunctionsOfFile run() {
    while (at_ < tokens_.size()) {
      scope();
      ++at_;  // past a brace that closes nothing
    }
    return std::move(result_);
  }

 private:
  bool here(std::string_view text) const { return at_ < tokens_.size() && tokens_[at_].text == text; }

  // The declarations up to the brace that closes the scope, or to the end.
  void scope() {
    Head head;
    while (at_ < tokens_.size() && !here("}")) {
      if (here(";")) {
        head.clear();
        ++at_;
      } else if (here(":") && head.size() == 1 &&
                 (head[0].is("public") || head[0].is("private") || head[0].is("protected"))) {
        head.clear();
        ++at_;
      } else if (here("template") && head.empty()) {
        template_list(head);
      } else if (here("(") || here("[")) {
        group(head);
      } else if (here("{")) {
        brace(head);
      } else {
        head.push_back({&tokens_[at_++], {}});
      }
    }
  }

  // Past "template <...>", whose tokens would look like a declaration; its line is where the declaration
  // begins.
  void template_list(Head& head) {
    head.push_back({&tokens_[at_++], {}});
    int depth = 0;
    for (; at_ < tokens_.size() && !here(";") && !here("{"); ++at_) {
      if (here("(")) at_ = closing(at_);
      if (here("<")) ++depth;
      if (here(">") && --depth == 0) {
        ++at_;
        return;
      }
    }
  }

  // The bracket that closes the one at `open`; the last token, with a note in the result, where there is
  // none.
  std::size_t closing(std::size_t open) {
    const std::string_view left = tokens_[open].text;
    const std::string_view right = left == "(" ? ")" : left == "[" ? "]" : "}";
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      if (tokens_[i].text == left) ++depth;
      if (tokens_[i].text == right && --depth == 0) return i;
    }
    if (!result_.unclosed) result_.unclosed = tokens_[open].line;
    return tokens_.size() - 1;
  }

  void group(Head& head) {
    const std::size_t open = at_, close = closing(at_);
    const char* const begin = tokens_[open].text.data() + 1;
    head.push_back({&tokens_[open],
                    std::string_view(begin, static_cast<std::size_t>(tokens_[close].text.data() - begin))});
    at_ = close + 1;
  }

  void brace(Head& head) {
    const Brace kind = kind_of_brace(head);
    const std::size_t open = at_;
    if (kind == Brace::Namespace || kind == Brace::Class) {
      ++at_;
      scope();
      if (at_ == tokens_.size() && !result_.unclosed) result_.unclosed = tokens_[open].line;
    } else {
      at_ = closing(open);
    }
    if (kind == Brace::Function)
      result_.functions.push_back({name_of(head), head.front().token->line, tokens_[at_].line});
    if (kind == Brace::Initialiser)
      head.push_back({&tokens_[open], {}});
    else
      head.clear();
    ++at_;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  FunctionsOfFile result_;
};

}  // namespace

FunctionsOfFile functions_of(std::string_view source) { return Finder(source).run(); }

bool Body::calls(std::string_view function) const {
  for (std::size_t i = 1; i + 1 < tokens.size(); ++i)
    if (tokens[i].text == function && tokens[i + 1].text == "(") return true;
  return false;
}

bool Body::mentions(std::string_view word) const {
  return std::ranges::find(tokens, word, &Token::text) != tokens.end();
}

std::vector<Body> bodies_of(std::string_view source) {
  const std::vector<Token> all = tokens(source);
  std::vector<Body> bodies;
  for (const Function& function : functions_of(source).functions) {
    Body body{function.name, function.first_line, {}};
    std::ranges::copy_if(all, std::back_inserter(body.tokens), [&](const Token& token) {
      return token.line >= function.first_line && token.line <= function.last_line;
    });
    bodies.push_back(std::move(body));
  }
  return bodies;
}

std::string last_name(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

}  // namespace rondo::structure
