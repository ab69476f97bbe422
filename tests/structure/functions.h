// Finds the functions of a C++ source by its tokens, to measure how long they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::structure {

struct Token {
  enum class Kind { Word, Number, Literal, Sign } kind;
  std::string_view text;  // a view of the source
  int line;               // counted from 1
};

// The tokens of a source without comments and preprocessor lines. A string, raw or not, is one token, and so
// is an operator's name ("operator<<").
std::vector<Token> tokens(std::string_view source);

struct Function {
  std::string name;    // as it is written where the body stands: "Persistent::space", "TEST(Suite, Name)"
  int first_line = 0;  // of its declaration, with what comes before the name
  int last_line = 0;   // of the brace that closes the body
  int lines() const { return last_line - first_line + 1; }
};

struct FunctionsOfFile {
  std::vector<Function> functions;  // in order
  std::optional<int> unclosed;      // the line of a bracket that no bracket closes, if there is one
};

// The functions whose bodies stand at the scope of a namespace or a class. A lambda, or a class, inside a
// function counts as a part of it; a lambda that initialises a variable of a namespace is a function itself.
FunctionsOfFile functions_of(std::string_view source);

// A function's name and the tokens of its lines, which are views of the source.
struct Body {
  std::string name;
  int line = 0;
  std::vector<Token> tokens;
  bool calls(std::string_view function) const;
  bool mentions(std::string_view word) const;
};
std::vector<Body> bodies_of(std::string_view source);

// "space" of "Persistent::space".
std::string last_name(const std::string& name);

}  // namespace rondo::structure
