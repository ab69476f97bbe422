// Whatever the bytes: no crash, no exception, errors inside the file, and the same answer twice.
#include <gtest/gtest.h>

#include <random>

#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

void survives(const std::string& text) {
  const Parsed parsed = parse(text, "fuzz.cell");
  EXPECT_TRUE(parsed.ok() || parsed.cells.empty());
  EXPECT_TRUE(!parsed.ok() || !parsed.cells.empty());
  const auto lines = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    EXPECT_GE(diagnostic.span.line, 1);
    EXPECT_LE(diagnostic.span.line, lines);
    EXPECT_GE(diagnostic.span.column, 1);
    EXPECT_FALSE(diagnostic.message.empty());
  }
  for (const step::Cell& cell : parsed.cells) EXPECT_EQ(step::verify(cell), std::vector<std::string>());
  EXPECT_EQ(render_all(parsed, text, "fuzz.cell").empty(), parsed.ok());
  print_ast(text, "fuzz.cell");
}

std::vector<std::string> corpus() {
  std::vector<std::string> texts;
  for (const char* folder : {"cells", "tests/errors"}) {
    for (const auto& path : cell_files(folder)) texts.push_back(read_file(path));
  }
  return texts;
}

// Random edits of a text: bytes, tokens of the language, pieces of itself.
std::string mutate(std::string text, std::mt19937& random) {
  static const std::vector<std::string> tokens = {
      "cell", "fn", "input ", "param ", "state ",  "const ", "output ", "next ", "and",      "or",   "not ",
      "(",    ")",  "[",      "]",      "{",       "}",      ",",       ";",     "\n",       "=",    "==",
      "+",    "-",  "*",      "/",      "@",       "<",      "1",       "0",     "64",       "1e-6", "D",
      "h",    "x",  "max(",   "sum(",   "select(", "#",      "\t",      "\r\n",  "\xCF\x83", "$"};
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (std::size_t edits = 1 + below(4); edits > 0; --edits) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = std::min(text.size() - at, below(12));
    switch (below(6)) {
      case 0: text.erase(at, length); break;
      case 1: text.insert(at, tokens[below(tokens.size())]); break;
      case 2: text.replace(at, length, tokens[below(tokens.size())]); break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(40))); break;
      case 4: text.insert(at, 1, static_cast<char>(below(256))); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

TEST(Fuzz, MutatedCells) {
  const std::vector<std::string> texts = corpus();
  std::mt19937 random(20240607);
  for (int i = 0; i < 6000; ++i) survives(mutate(texts[random() % texts.size()], random));
}

TEST(Fuzz, EveryTruncation) {
  for (const auto& path : cell_files("cells")) {
    const std::string text = read_file(path);
    for (std::size_t length = 0; length < text.size(); ++length) survives(text.substr(0, length));
  }
}

TEST(Fuzz, RandomBytesAndTokens) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(random() % (i % 2 == 0 ? 256 : 128));
    survives(text);
    survives("cell c(D) {\n" + text + "\n}\n");
  }
  for (int i = 0; i < 1000; ++i) survives(mutate(mutate(mutate("cell c(D) {}", random), random), random));
}

TEST(Fuzz, DeepNestingOfEveryKind) {
  for (const char* opening :
       {"(", "[", "-", "not ", "tanh(", "h@", "1+(", "(-", "x[0][", "{", "fn f(a) {", "cell c(D) {"}) {
    for (const int count : {100, 129, 1000, 50000}) {
      std::string text = "cell c(D) { state h[D]\n next h = ";
      for (int i = 0; i < count; ++i) text += opening;
      survives(text);
      survives(text + "h\n output h }\n");
    }
  }
  std::string chain = "cell c(D) { state h[D]\n next h = h";
  for (int i = 0; i < 50000; ++i) chain += " + h";
  survives(chain + "\n output h\n}\n");
}

}  // namespace
}  // namespace rondo::frontend::testing
