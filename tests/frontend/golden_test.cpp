// Syntax tree and StepIR of a few cells against tests/golden/frontend. RONDO_UPDATE_GOLDEN=1 rewrites the
// files.
#include <gtest/gtest.h>

#include "tests/frontend/support.h"

namespace rondo::frontend::testing {
namespace {

void compare(const std::string& name, const std::string& text) {
  const std::filesystem::path path = source_dir() / "tests/golden/frontend" / name;
  if (const char* update = std::getenv("RONDO_UPDATE_GOLDEN"); update && std::string(update) == "1") {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  EXPECT_EQ(text, read_file(path)) << "if the change is meant: RONDO_UPDATE_GOLDEN=1";
}

class Golden : public ::testing::TestWithParam<const char*> {};

TEST_P(Golden, SyntaxTree) {
  const std::string name = GetParam();
  compare(name + ".ast", print_ast(read_file(source_dir() / "cells" / (name + ".cell")), name));
}

TEST_P(Golden, Step) {
  const std::string name = GetParam();
  compare(name + ".step", step::print(shipped(name)));
}

std::string golden_name_of(const ::testing::TestParamInfo<const char*>& cell) { return cell.param; }
INSTANTIATE_TEST_SUITE_P(Frontend, Golden,
                         ::testing::Values("lstm", "slstm", "gru", "mingru", "rglru", "sru"), golden_name_of);

// Every construct of the language in one file.
TEST(GoldenLanguage, EveryConstruct) {
  const std::string text = R"(
fn mix(a, u, v) = a * u + (1 - a) * v
fn norm(v, tiny) {
  centred = v - mean(v)   # a reduction is one number a head
  centred * rsqrt(mean(square(centred)) + tiny)
}
cell everything(N) {
  input x[2, 2, N], y[N]; param R[2, N, N], s, k[2]
  state h[2, N],
        c[N]
  const eps = 1e-6; const half = eps / 2
  fn raise(v) = v + half * N
  g = R @ norm(c, eps) + x[0] * k
  gate = sigmoid(g[0] +
                 raise(x[1, 0]))
  next c = mix(gate, c, tanh(g[1])) - s * max(h[1])
  next h = [select(not (y < 0 or y >= 1) and c != 0, h[0], -x[1, 1]), clamp(h[1], -1, 1)]
  output c, h, z = max(next c, min(y, 0.5))
}
)";
  compare("everything.ast", print_ast(text, "everything.cell"));
  compare("everything.step", step::print(parse_one(text)));
}

}  // namespace
}  // namespace rondo::frontend::testing
