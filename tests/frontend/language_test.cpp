// What the language means: precedence, line ends, broadcasting, rows, consts, functions. Values by the
// reference executor.
#include <gtest/gtest.h>

#include <cmath>

#include "compiler/scalar/philox.h"
#include "compiler/step/reference/executor.h"
#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

// The prefix form of an expression.
std::string tree(const std::string& expression) {
  const std::string text = "cell c(D) {\n v = " + expression + "\n}\n";
  const std::string ast = print_ast(text, "c");
  const std::size_t begin = ast.find("v = ");
  return begin == std::string::npos ? "error" : ast.substr(begin + 4, ast.size() - begin - 5);
}

TEST(Precedence, FollowsArithmetic) {
  EXPECT_EQ(tree("a + b * c - d"), "(- (+ a (* b c)) d)");
  EXPECT_EQ(tree("a / b / c"), "(/ (/ a b) c)");
  EXPECT_EQ(tree("-a * b"), "(* (- a) b)");
  EXPECT_EQ(tree("- -a"), "(- (- a))");
  EXPECT_EQ(tree("(a + b) * c"), "(* (+ a b) c)");
}

TEST(Precedence, ProductsWithMatricesBindTightest) {
  EXPECT_EQ(tree("2 * R @ h + x"), "(+ (* 2 (@ R h)) x)");
  EXPECT_EQ(tree("R @ h * x"), "(* (@ R h) x)");
  EXPECT_EQ(tree("-R @ h"), "(- (@ R h))");
  EXPECT_EQ(tree("R @ -h"), "(@ R (- h))");
  EXPECT_EQ(tree("R @ S @ h"), "(@ R (@ S h))");
  EXPECT_EQ(tree("R[1] @ h[0]"), "(@ (row R 1) (row h 0))");
}

TEST(Precedence, LogicAndComparison) {
  EXPECT_EQ(tree("a < b + 1 and not c == d or e"), "(or (and (< a (+ b 1)) (not (== c d))) e)");
  EXPECT_EQ(tree("a or b and c"), "(or a (and b c))");
  EXPECT_EQ(tree("not not a"), "(not (not a))");
  EXPECT_EQ(tree("(a < b) == (c < d)"), "(== (< a b) (< c d))");
}

TEST(Expressions, CallsRowsAndNumbers) {
  EXPECT_EQ(tree("select(a < 0, f(), [b, next c])"), "(select (< a 0) (f) (rows b (next c)))");
  EXPECT_EQ(tree("(a + b)[1, 2][0]"), "(row (row (+ a b) 1 2) 0)");
  EXPECT_EQ(tree("1 + .5 + 2. + 1e-6 + 1E3 + 0.25e+2"), "(+ (+ (+ (+ (+ 1 0.5) 2) 1e-06) 1000) 25)");
}

TEST(Lines, ContinueAfterOperatorsAndInBrackets) {
  EXPECT_EQ(tree("a +\n\n  b"), "(+ a b)");
  EXPECT_EQ(tree("\n a"), "a");
  EXPECT_EQ(tree("f(a,  # first\n b\n)"), "(f a b)");
  EXPECT_EQ(tree("(a\n + b)"), "(+ a b)");
  EXPECT_EQ(tree("a and\n b or\n c"), "(or (and a b) c)");
}

// Runs one step of a cell with D channels; h0 and x count up from 1 (h) and 10 (x).
std::vector<double> outputs(const std::string& body, std::int64_t dim = 2,
                            std::map<std::string, double> constants = {}, const std::string& before = "") {
  const step::Cell cell = parse_one(before + "cell c(D) {\n" + body + "\n}\n");
  EXPECT_EQ(step::verify(cell), std::vector<std::string>());
  const step::Sizes sizes{1, 1, 1, dim};
  step::ForwardArguments<double> arguments;
  arguments.constants = std::move(constants);
  for (const step::Tensor& tensor : cell.tensors) {
    if (tensor.kind == step::TensorKind::Output) continue;
    std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, sizes)));
    double value = tensor.kind == step::TensorKind::State   ? 1
                   : tensor.kind == step::TensorKind::Input ? 10
                                                            : 2;
    for (double& element : values) element = value++;
    auto& group = tensor.kind == step::TensorKind::State   ? arguments.initial_states
                  : tensor.kind == step::TensorKind::Input ? arguments.inputs
                                                           : arguments.params;
    group[tensor.name] = std::move(values);
  }
  const auto result = step::run_forward(cell, sizes, arguments);
  if (!result) throw std::runtime_error(result.error().message);
  std::vector<double> all;
  for (const auto& [name, values] : result->outputs) all.insert(all.end(), values.begin(), values.end());
  return all;
}

using Numbers = std::vector<double>;

TEST(Meaning, BroadcastsRowsChannelsAndNumbers) {
  EXPECT_EQ(outputs("state h[D]; input x[2, D]; next h = h; output y = x + h"), Numbers({11, 13, 13, 15}));
  // k[2] has one number a row, s one number: both spread over the channels.
  EXPECT_EQ(outputs("state h[D]; param k[2], s; next h = h; output y = k * h + s"), Numbers({4, 6, 5, 8}));
  EXPECT_EQ(outputs("state h[D]; input x[2, 2, D]; param b[2, D]; next h = h; output y = x - b * 10"),
            Numbers({-10, -19, -28, -37, -6, -15, -24, -33}));
}

TEST(Meaning, RowsAreChosenAndStacked) {
  EXPECT_EQ(
      outputs(
          "state h[D]; input x[2, 2, D]; next h = h; output y = 10 * x[1, 0] + x[0][1] + x[0, 0] * x[1, 1]"),
      Numbers({312, 350}));
  EXPECT_EQ(
      outputs("state h[D]; input x[2, 3, D]; next h = h + x[0, 0] + x[0, 1] + x[0, 2]; output y = x[1]"),
      Numbers({16, 17, 18, 19, 20, 21}));
  EXPECT_EQ(outputs("state h[2, D]; next h = [h[1], 10 * h[0]]; output h"), Numbers({3, 4, 10, 20}));
}

TEST(Meaning, MatricesApplyPerRow) {
  // R rows: [[2, 3], [4, 5]] and [[6, 7], [8, 9]], h = (1, 2).
  EXPECT_EQ(outputs("state h[D]; param R[2, D, D]; next h = h; output y = R @ h"), Numbers({8, 14, 20, 26}));
  EXPECT_EQ(outputs("state h[D]; param R[2, D, D]; next h = R[0] @ h; output y = R[1] @ (2 * h)"),
            Numbers({40, 52}));
  EXPECT_EQ(
      outputs("fn twice(W, v) = W @ (W @ v); state h[D]; param R[D, D]; next h = twice(R, h); output h"),
      Numbers({58, 102}));
}

TEST(Meaning, ReductionsAreOneNumberAHead) {
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = h * sum(h)", 3), Numbers({6, 12, 18}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = h - mean(h)", 3), Numbers({-1, 0, 1}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = h - max(h)", 3), Numbers({-2, -1, 0}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = h * D", 3), Numbers({3, 6, 9}));
  EXPECT_EQ(outputs("state h[D]; input x[2, D]; next h = h; output y = h * sum(x)[1] - sum(x)[0]", 2),
            Numbers({4, 29}));
}

TEST(Meaning, SumsGoOverRows) {
  EXPECT_EQ(outputs("state h[D]; input x[3, D]; next h = h; output y = sum(x, rows) + h"), Numbers({37, 41}));
  EXPECT_EQ(outputs("state h[D]; input x[3, D]; next h = h; output y = mean(x, rows) + h"),
            Numbers({13, 15}));
  // x[0] is (10 .. 13), x[1] (14 .. 17), each of two rows.
  EXPECT_EQ(outputs("state h[D]; input x[2, 2, D]; next h = h; output y = sum(x, rows) + h"),
            Numbers({25, 28, 29, 32}));
  EXPECT_EQ(outputs("state h[D]; param k[2]; next h = h; output y = h * sum(k, rows)"), Numbers({5, 10}));
  EXPECT_EQ(outputs("fn f(v) = sum(v, rows); state h[D]; input x[2, D]; next h = h; output y = f(x) + h"),
            Numbers({23, 26}));
  // A value may be called like the word.
  EXPECT_EQ(outputs("state h[D]; input rows[2, D]; next h = h; output y = sum(rows, rows) + h"),
            Numbers({23, 26}));
}

TEST(Meaning, DotGoesOverRows) {
  // k is (2, 3); S is ((1, 2), (3, 4)).
  EXPECT_EQ(outputs("state S[2, D]; param k[2]; next S = S; output y = dot(k, S)"), Numbers({11, 16}));
  EXPECT_EQ(outputs("state S[2, D]; param k[2]; next S = S; output y = dot(k, k) * S[0]"), Numbers({13, 26}));
  EXPECT_EQ(outputs("state S[2, D]; next S = S; output y = dot(S, S)"), Numbers({10, 20}));
}

TEST(Meaning, MatricesApplyToEachOfManyVectors) {
  // R is ((2, 3), (4, 5)), and T that and ((6, 7), (8, 9)); the vectors are (1, 2) and (3, 4).
  EXPECT_EQ(outputs("state S[2, D]; param R[D, D]; next S = S; output y = R @ S"), Numbers({8, 14, 18, 32}));
  EXPECT_EQ(outputs("state S[2, D]; param T[2, D, D]; next S = S; output y = T @ S"),
            Numbers({8, 14, 18, 32, 20, 26, 46, 60}));
}

// A state s of 1, an input m of 10, both spread over the channels.
TEST(Meaning, InputsAndStatesOfOneValueAHead) {
  EXPECT_EQ(outputs("state s; input m, x[D]; next s = s + m; output y = s * x + m"), Numbers({20, 21}));
  EXPECT_EQ(outputs("state s[2]; input m[2], x[D]; next s = m; output y = (s * x)[1] + m[1]"),
            Numbers({31, 33}));
  EXPECT_EQ(outputs("state s; input x[D]; next s = s + sum(x); output s"), Numbers({22, 22}));
}

// The seed is 2 here, the first number of a parameter.
TEST(Meaning, DrawsHaveANameAndTheParameterSeed) {
  const auto draws = [](const char* name) {
    Numbers numbers;
    for (const std::uint32_t channel : {0u, 1u})
      numbers.push_back(
          static_cast<double>(scalar::philox_uniform(2, scalar::philox_stream(name), 0, 0, 0, channel)));
    return numbers;
  };
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = uniform(drop)"), draws("drop"));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = uniform(keep) + 0 * uniform(drop)"), draws("keep"));
  EXPECT_EQ(outputs("param seed; state h[D]; next h = h; output y = uniform(drop)"), draws("drop"));
  EXPECT_EQ(
      outputs("state h[D]; next h = h; output y = noise(1) - h", 2, {}, "fn noise(v) = v + uniform(drop)\n"),
      (Numbers{draws("drop")[0] + 1 - 1, draws("drop")[1] + 1 - 2}));
  const step::Cell cell = parse_one("cell c(D) { state h[D]; next h = h * uniform(drop); output h }");
  ASSERT_TRUE(cell.seed());
  const step::Tensor& seed = cell.tensors[static_cast<std::size_t>(*cell.seed())];
  EXPECT_EQ(seed.name, "seed");
  EXPECT_EQ(seed.kind, step::TensorKind::Param);
  EXPECT_EQ(seed.tail, step::Tail::Scalar);
}

TEST(Meaning, ComparisonsAndChoices) {
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = select(h >= 2 and not h == 3, h, -h)", 3),
            Numbers({-1, 2, -3}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = clamp(h, 1.5, 2.5)", 3), Numbers({1.5, 2, 2.5}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = max(h, 2) + 10 * min(h, 2)", 3),
            Numbers({12, 22, 23}));
  EXPECT_EQ(outputs("state h[D]; next h = h; output y = (h < 2) + 2 * (h != 3) + 4 * (h <= 1 or h > 2)", 3),
            Numbers({7, 2, 4}));
}

TEST(Meaning, EveryFunctionOfOneArgument) {
  const std::map<std::string, double> at_one = {{"abs", 1},
                                                {"sign", 1},
                                                {"square", 1},
                                                {"sqrt", 1},
                                                {"rsqrt", 1},
                                                {"exp", std::exp(1)},
                                                {"expm1", std::expm1(1)},
                                                {"log", 0},
                                                {"log1p", std::log(2)},
                                                {"sigmoid", 1 / (1 + std::exp(-1))},
                                                {"tanh", std::tanh(1)},
                                                {"relu", 1},
                                                {"silu", 1 / (1 + std::exp(-1))},
                                                {"gelu", 0.5 * (1 + std::erf(std::sqrt(0.5)))},
                                                {"softplus", std::log1p(std::exp(1))},
                                                {"erf", std::erf(1)},
                                                {"sin", std::sin(1)},
                                                {"cos", std::cos(1)},
                                                {"round", 1},
                                                {"floor", 1},
                                                {"ceil", 1},
                                                {"exp2", 2},
                                                {"log2", 0},
                                                {"atan", std::atan(1)},
                                                {"stop_gradient", 1}};
  for (const auto& [name, value] : at_one) {
    const Numbers got = outputs("state h[D]; next h = h; output y = " + name + "(h)", 1);
    EXPECT_NEAR(got[0], value, 1e-14) << name;
  }
}

// h is 1, 2, 3.
TEST(Meaning, FunctionsOfSeveralArguments) {
  const auto of = [](const std::string& expression) {
    return outputs("state h[D]; next h = h; output y = " + expression, 3);
  };
  EXPECT_EQ(of("max(h, 2, 3 - h)"), Numbers({2, 2, 3}));
  EXPECT_EQ(of("min(h, 2, 3 - h, 1.5)"), Numbers({1, 1, 0}));
  EXPECT_EQ(of("pow(h, 2)"), Numbers({1, 4, 9}));
  EXPECT_EQ(of("atan2(h, h)"), Numbers(3, std::atan(1)));
  EXPECT_EQ(of("with_gradient(h, 2 * h)"), Numbers({1, 2, 3}));
  EXPECT_EQ(of("step()"), Numbers({0, 0, 0}));
}

TEST(Meaning, WholeNumbers) {
  const auto at = [](const std::string& expression, double x) {
    return outputs("state h[D]; const x = 0; next h = h; output y = h * 0 + " + expression, 1, {{"x", x}})[0];
  };
  for (const auto& [x, whole] : {std::pair{0.5, 0.0}, {1.5, 2.0}, {-2.5, -2.0}, {2.4, 2.0}})
    EXPECT_EQ(at("round(x)", x), whole) << x;
  EXPECT_EQ(at("floor(x)", -0.5), -1);
  EXPECT_EQ(at("ceil(x)", -1.5), -1);
  EXPECT_EQ(at("ceil(x)", 0.5), 1);
  // As Python has it: the sign is that of the divisor.
  EXPECT_EQ(at("mod(x, 3)", 7), 1);
  EXPECT_EQ(at("mod(x, 3)", -7), 2);
  EXPECT_EQ(at("mod(x, -3)", 7), -2);
  EXPECT_EQ(at("mod(x, -3)", -7), -1);
  EXPECT_EQ(at("mod(x, 3)", 9), 0);
  EXPECT_EQ(at("mod(x, 3)", -9), 0);
}

TEST(Consts, CanBeOverriddenAndWhatIsMadeOfThemFollows) {
  const std::string body =
      "state h[D]; const a = 2; const b = a * 3 + D; const c = -1/4\n next h = h; output y = h * b + c";
  EXPECT_EQ(outputs(body, 2), Numbers({7.75, 15.75}));
  EXPECT_EQ(outputs(body, 2, {{"a", 10}, {"c", 0}}), Numbers({32, 64}));
  EXPECT_THROW(outputs(body, 2, {{"b", 10}}), std::runtime_error);  // b follows a, it is none of its own
}

TEST(Functions, AreExpandedWithTheirOwnNames) {
  const std::string before =
      "fn mix(a, u, v) = a * u + (1 - a) * v\nfn poly(v) {\n  w = square(v); u = w + v\n  u + 1\n}\n";
  EXPECT_EQ(outputs("state h[D]; w = 2 * h; next h = mix(0.5, w, h); output y = poly(w)", 2, {}, before),
            Numbers({7, 21}));
  // A function of a cell sees its consts and tensors; a parameter hides a tensor of the same name.
  EXPECT_EQ(outputs("state h[D]; const k = 3; param b[D]; fn f(v) = k * v + b; fn g(b) = -b\n next h = h; "
                    "output y = f(h) + g(h)",
                    2),
            Numbers({4, 7}));
}

TEST(Functions, WorkForEveryShape) {
  EXPECT_EQ(outputs("fn f(v) = v - mean(v); state h[D]; input x[2, D]; next h = f(h); output y = f(x)", 2),
            Numbers({-0.5, 0.5, -0.5, 0.5}));
}

TEST(Outputs, SeveralWithNames) {
  const step::Cell cell = parse_one(
      "cell c(D) { state h[D], c[D]; g = h + c; next h = g; next c = g * 2; output h, g, y = g + 1 }");
  ASSERT_EQ(cell.outputs.size(), 3u);
  std::vector<std::string> names;
  for (const step::TensorId id : cell.of_kind(step::TensorKind::Output))
    names.push_back(cell.tensors[static_cast<std::size_t>(id)].name);
  EXPECT_EQ(names, (std::vector<std::string>{"h", "g", "y"}));
  EXPECT_EQ(cell.outputs[0].value, cell.outputs[1].value);
}

TEST(Outputs, ANumberIsSpreadOverTheHead) {
  EXPECT_EQ(outputs("state h[D]; next h = sum(h); output h, y = 5", 2), Numbers({3, 3, 5, 5}));
}

TEST(Files, MayHoldSeveralCells) {
  const std::string text =
      "fn f(v) = 2 * v\ncell a(D) { state h[D]; next h = f(h); output h }\n\ncell b(N) { state h[N]; next h "
      "= f(f(h)); output h }\n";
  const Parsed parsed = parse(text, "two.cell");
  ASSERT_TRUE(parsed.ok()) << render_all(parsed, text, "two.cell");
  ASSERT_EQ(parsed.cells.size(), 2u);
  EXPECT_EQ(parsed.cells[1].name, "b");
  EXPECT_EQ(parsed.cells[1].dimension, "N");
}

TEST(Files, LineEndsOfAnySystem) {
  EXPECT_NO_THROW(parse_one("cell c(D) {\r\n  state h[D]\r\n  next h = h\r\n  output h\r\n}"));
  EXPECT_NO_THROW(
      parse_one("\xEF\xBB\xBF"
                "cell c(D) { state h[D]; next h = h; output h }"));
}

TEST(Spans, NodesKnowWhereTheyWereWritten) {
  const step::Cell cell = parse_one("cell c(D) {\n  state h[D]\n  next h = tanh(h) * h\n  output h\n}\n");
  const step::Node& product = cell.graph.at(cell.next[0].value);
  EXPECT_EQ(product.span.line, 3);
  EXPECT_EQ(product.span.column, 20);
  EXPECT_EQ(product.label, "next_h");
}

// No error: the old state may be what was meant.
TEST(Remarks, AnOutputThatReadsTheOldStateBesideTheNewOne) {
  const auto remarks = [](const std::string& body) {
    const std::string text = "cell c(D) {\n  input x[D]\n  state h[D]\n" + body + "}\n";
    const Parsed parsed = parse(text, "c.cell");
    EXPECT_TRUE(parsed.ok()) << render_all(parsed, text, "c.cell");
    return render_remarks(parsed, text, "c.cell");
  };
  EXPECT_EQ(remarks("  next h = tanh(h + x)\n  output y = 2 * h\n"),
            "c.cell:5:10: remark: output 'y' reads 'h' as it was before the step\n"
            "    5 |   output y = 2 * h\n"
            "      |          ^\n"
            "      = help: if its new value is meant, write 'next h'\n");
  EXPECT_EQ(remarks("  next h = tanh(h + x)\n  output y = 2 * next h\n"), "");
  EXPECT_EQ(remarks("  next h = tanh(h + x)\n  output y = next h - h\n"), "") << "both were thought of";
  EXPECT_EQ(remarks("  output y = 2 * h\n  next h = tanh(h + x)\n"), "") << "there is no other yet";
  EXPECT_EQ(remarks("  next h = tanh(h + x)\n  output h\n"), "");
  EXPECT_NE(remarks("  fn f(a) = a * a\n  next h = tanh(h + x)\n  output y = f(h)\n"), "");
}

}  // namespace
}  // namespace rondo::frontend::testing
