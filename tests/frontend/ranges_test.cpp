// Ranges and first values of declarations: what they mean, and that they are part of the cell.
#include "compiler/step/ranges.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/frontend/frontend.h"
#include "compiler/step/forms.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/serialise.h"
#include "compiler/step/verify.h"
#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

// `declared`: of the input, and of the state.
step::Cell sum_with(const std::string& input, const std::string& state) {
  return parse_one("cell sum(D) {\n  const top = 4\n  input x[D]" + input + "\n  state h[D]" + state +
                   "\n  next h = h + x * top\n  output h\n}\n");
}

step::Interval range_of_input(const std::string& text) {
  const step::Cell cell = sum_with(text, "");
  return step::range_of(cell, cell.tensors[0]).value();
}

TEST(Ranges, RoundBracketsLeaveOutWhatSquareOnesTakeIn) {
  const step::Interval open = range_of_input(" in (0, 1)"), half = range_of_input(" in [-1e3, +2.5)");
  EXPECT_FALSE(open.contains(0));
  EXPECT_TRUE(open.contains(0.5));
  EXPECT_FALSE(open.contains(1));
  EXPECT_TRUE(half.contains(-1000));
  EXPECT_FALSE(half.contains(2.5));
  EXPECT_FALSE(open.contains(std::nan("")));
  EXPECT_EQ(range_of_input(" in [2, 2]").text(), "[2, 2]");
  EXPECT_FALSE(range_of_input(" in (-inf, inf)").bounded());
}

TEST(Ranges, OfAConstantFollowIt) {
  const step::Cell cell = sum_with(" in (-top, top]", " in (-top, top] = top");
  EXPECT_EQ(step::range_of(cell, cell.tensors[0])->text(), "(-4, 4]");
  EXPECT_EQ(step::range_of(cell, cell.tensors[0], {{"top", 0.5}})->text(), "(-0.5, 0.5]");
  EXPECT_FALSE(step::check_ranges(cell, {{"top", -1}})) << "the range is empty then";
}

TEST(Ranges, AreAsWritten) {
  const step::Cell cell = sum_with(" in (0, inf)", " in [-top, 1e30) = -2");
  EXPECT_EQ(step::declared_text(cell, cell.tensors[0]), " in (0, inf)");
  EXPECT_EQ(step::declared_text(cell, cell.tensors[1]), " in [-top, 1e+30) = -2");
  EXPECT_NE(step::print(cell).find("state h[D] in [-top, 1e+30) = -2"), std::string::npos);
  EXPECT_NE(print_ast("cell c(D) {\n  state h[D] in (0, 2] = k\n}\n", "c.cell").find("h[D] in (0, 2] = k"),
            std::string::npos);
}

// Kernels of one may be wrong for the other: each part of a declaration changes the key.
TEST(Ranges, BelongToTheCell) {
  const std::string plain = step::canonical_hash(sum_with("", ""));
  EXPECT_EQ(step::canonical_hash(sum_with("", " = 0")), plain) << "that is what a state begins with anyway";
  std::vector<std::string> seen = {plain};
  for (const auto& [input, state] : {std::pair<std::string, std::string>{" in (0, 1)", ""},
                                     {" in (0, 2)", ""},
                                     {" in [0, 1)", ""},
                                     {" in (0, 1]", ""},
                                     {" in (0, top)", ""},
                                     {"", " in (-1, 1)"},
                                     {"", " = 1"},
                                     {"", " = -top"},
                                     {"", " = top"}}) {
    const step::Cell cell = sum_with(input, state);
    EXPECT_TRUE(step::verify(cell).empty());
    const std::string hash = step::canonical_hash(cell);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), hash), 0) << input << state;
    seen.push_back(hash);
    ByteWriter writer;
    step::write_cell(writer, cell);
    ByteReader reader(writer.bytes());
    EXPECT_EQ(step::canonical_hash(step::read_cell(reader)), hash) << input << state;
    EXPECT_TRUE(reader.done());
  }
}

TEST(Ranges, AreNoWordsElsewhere) {
  const step::Cell cell = parse_one(
      "cell c(D) {\n  input in[D]\n  const inf = 2\n  state h[D]\n  next h = h + in * inf\n  output h\n}\n");
  EXPECT_EQ(cell.tensors[0].name, "in");
}

std::vector<double> last_of(const step::Cell& cell, step::ForwardArguments<double> arguments) {
  arguments.inputs["x"] = {1, 2};
  return step::run_forward(cell, {1, 2, 1, 1}, arguments).value().last_states.at("h");
}

TEST(FirstValues, CountWhereTheCallerGivesNone) {
  const step::Cell cell = sum_with("", " = -top");
  EXPECT_EQ(last_of(cell, {}), std::vector<double>{-4 + 12});
  EXPECT_EQ(last_of(cell, {{}, {}, {}, {{"top", 1}}}), std::vector<double>{-1 + 3});
  EXPECT_EQ(last_of(cell, {{}, {}, {{"h", {0}}}, {}}), std::vector<double>{12}) << "zero is given";
}

TEST(FirstValues, GradientsReadThem) {
  const step::Cell cell =
      parse_one("cell p(D) {\n  input x[D]\n  state h[D] = 3\n  next h = h * x\n  output h\n}\n");
  step::ForwardArguments<double> arguments;
  arguments.inputs["x"] = {2};
  const auto gradients = step::run_backward(cell, {1, 1, 1, 1}, arguments, {{{"h", {1}}}, {}}).value();
  EXPECT_EQ(gradients.inputs.at("x"), std::vector<double>{3});
}

TEST(FirstValues, AResetGoesBackToThem) {
  for (const char* first : {"5", "top", "-top"}) {
    const step::Cell cell =
        step::with_forms(sum_with("", std::string(" = ") + first), {.resets = true}).value();
    step::ForwardArguments<double> arguments;
    arguments.flags["resets"] = {0, 1};
    const double begin = first == std::string("5") ? 5 : first == std::string("top") ? 4 : -4;
    EXPECT_EQ(last_of(cell, arguments), std::vector<double>{begin + 8});
  }
}

}  // namespace
}  // namespace rondo::frontend::testing
