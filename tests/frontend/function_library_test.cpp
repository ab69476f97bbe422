// The functions that are written in the language itself: against std::complex, with names that a cell may
// take.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <functional>

#include "compiler/frontend/check_function.h"
#include "compiler/frontend/function_library.h"
#include "compiler/step/reference/executor.h"
#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

using Complex = std::complex<double>;

constexpr std::array<Complex, 6> kPoints = {Complex(1.5, -0.25), Complex(-2, 0.5), Complex(0.3, 2),
                                            Complex(-1, -1),     Complex(0, 1),    Complex(0.125, 0)};

// The output y of a step without states that reads z[2, D] and w[2, D], of which channels have the points.
std::vector<double> values_of(const std::string& expression) {
  const step::Cell cell =
      parse_one("cell c(D) { input z[2, D], w[2, D]; state h[D]; next h = z[0] + z[1] + w[0] + w[1] + h\n" +
                std::string("output y = ") + expression + "}");
  const auto count = static_cast<std::int64_t>(kPoints.size());
  step::ForwardArguments<double> arguments;
  for (const char* name : {"z", "w"})
    for (const bool imaginary : {false, true})
      for (std::size_t at = 0; at < kPoints.size(); ++at) {
        const Complex point = kPoints[name[0] == 'z' ? at : (at + 2) % kPoints.size()];
        arguments.inputs[name].push_back(imaginary ? point.imag() : point.real());
      }
  const auto result = step::run_forward(cell, {1, 1, 1, count}, arguments);
  if (!result) throw std::runtime_error(result.error().message);
  return result->outputs.at("y");
}

void expect_values(const std::string& expression, const std::function<Complex(Complex, Complex)>& exact,
                   bool real = false) {
  const std::vector<double> got = values_of(expression);
  ASSERT_EQ(got.size(), kPoints.size() * (real ? 1 : 2)) << expression;
  for (std::size_t at = 0; at < kPoints.size(); ++at) {
    const Complex wanted = exact(kPoints[at], kPoints[(at + 2) % kPoints.size()]);
    EXPECT_NEAR(got[at], wanted.real(), 1e-14) << expression << " of point " << at;
    if (real) continue;
    EXPECT_NEAR(got[kPoints.size() + at], wanted.imag(), 1e-14) << expression << " of point " << at;
  }
}

TEST(ComplexFunctions, AreThoseOfTheStandard) {
  expect_values("conj(z)", [](Complex z, Complex) { return std::conj(z); });
  expect_values("cmul(z, w)", [](Complex z, Complex w) { return z * w; });
  expect_values("cdiv(z, w)", [](Complex z, Complex w) { return z / w; });
  expect_values("cexp(z)", [](Complex z, Complex) { return std::exp(z); });
  expect_values("cpolar(exp(z[0]), w[1])",
                [](Complex z, Complex w) { return std::polar(std::exp(z.real()), w.imag()); });
  expect_values(
      "cabs2(z)", [](Complex z, Complex) { return std::norm(z); }, true);
  expect_values(
      "cabs(z)", [](Complex z, Complex) { return std::abs(z); }, true);
  expect_values(
      "carg(z)", [](Complex z, Complex) { return std::arg(z); }, true);
}

TEST(ComplexFunctions, TheAbsoluteValueHasNoDerivativeAtZero) {
  const step::Cell cell =
      parse_one("cell c(D) { input z[2, D]; state h[D]; next h = h + cabs(z); output h }");
  step::ForwardArguments<double> arguments;
  arguments.inputs["z"] = {0, 3, 0, -4};  // of two channels: 0 and 3 - 4i
  const auto back = step::run_backward<double>(cell, {1, 1, 1, 2}, arguments, {{}, {{"h", {1, 1}}}});
  ASSERT_TRUE(back.ok()) << back.error().message;
  const std::vector<double>& of_z = back->inputs.at("z");
  EXPECT_EQ(of_z[0], 0);
  EXPECT_EQ(of_z[2], 0);
  EXPECT_DOUBLE_EQ(of_z[1], 0.6);
  EXPECT_DOUBLE_EQ(of_z[3], -0.8);
}

TEST(ComplexFunctions, AreExpandedLikeThoseOfTheCell) {
  const std::string cell = "cell c(D) { input x[2, D]; param a[2, D]; state h[2, D]\n";
  const std::string own = "fn times(z, w) = [z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]]\n";
  const auto text = [&](const std::string& name, const std::string& before) {
    return step::canonical_text(parse_one(before + cell + "next h = " + name + "(a, h) + x; output h }"));
  };
  EXPECT_EQ(text("cmul", ""), text("times", own));
}

TEST(ComplexFunctions, LeaveTheirNamesFree) {
  EXPECT_EQ(
      step::canonical_text(parse_one(
          "fn cmul(a, b) = a * b + 1\ncell c(D) { input x[D]; state h[D]\n next h = cmul(h, x); output h }")),
      step::canonical_text(parse_one("fn plain(a, b) = a * b + 1\ncell c(D) { input x[D]; state h[D]\n next "
                                     "h = plain(h, x); output h }")));
  // A value, a state, a head dimension and a parameter of a function that are called so.
  parse_one("cell c(D) { input conj[D]; state cabs[D]\n carg = conj + cabs; next cabs = carg; output cabs }");
  parse_one(
      "fn f(cexp) = cexp + 1\ncell c(conj) { input x[conj]; state h[conj]\n next h = f(h) + x; output h }");
}

// A function that called another one of the library would call the user's.
TEST(ComplexFunctions, CallNoneOfEachOther) {
  Functions library = library_functions();
  EXPECT_EQ(library.names().size(), 9U);
  for (const std::string& name : library.names()) {
    const FunctionEntry& entry = *library.find(name);
    Functions none;
    Diagnostics diagnostics;
    EXPECT_TRUE(check_function(*entry.function, nullptr, none, diagnostics)) << name;
    EXPECT_FALSE(find_builtin(name)) << name;
  }
}

// What stands in a function of the library has the place of its call, in messages and in emitted text.
TEST(ComplexFunctions, NodesHaveThePlaceOfTheCall) {
  const step::Cell cell =
      parse_one("\n\n\ncell c(D) { input x[2, D]; state h[2, D]\n\n\n\n\n next h = cmul(x, h); output h }");
  int seen = 0;
  for (const step::Node& node : cell.graph.nodes) {
    if (node.operands.empty()) continue;
    EXPECT_EQ(node.span.line, 9);
    ++seen;
  }
  EXPECT_GE(seen, 6);
}

}  // namespace
}  // namespace rondo::frontend::testing
