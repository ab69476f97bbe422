// Draws in StepIR and in the reference: a function of seed, name, batch row, step, head and channel.
#include <gtest/gtest.h>

#include "compiler/scalar/philox.h"
#include "compiler/step/derive.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "compiler/support/index.h"
#include "tests/step/cell_builder.h"

namespace rondo::step::testing {
namespace {

constexpr Sizes kSizes{5, 41, 3, 33};

// The draw itself goes out, and comes back as the gradient of w.
Cell drawn() {
  CellBuilder b("drawn");
  const TensorId w = b.input("w"), seed = b.tensor(TensorKind::Param, "seed", Tail::Scalar), h = b.state("h");
  const Value u = b.uniform("drop", b.read(seed)), v = b.uniform("keep", b.read(seed));
  b.next(h, 0, select(u > b.number(0.5), b.read(h), b.read(w)));
  b.publish("u", u);
  b.publish("y", b.read(w) * v);
  return b.cell();
}

ForwardArguments<double> arguments() {
  ForwardArguments<double> result;
  result.inputs["w"].assign(at(kSizes.batch * kSizes.time * kSizes.heads * kSizes.dim), 1);
  result.params["seed"] = {1, 2, -3.5};
  return result;
}

// Calls body(element, draw of `name`) for every element of a tensor [B, T, H, D].
template <class Body>
void each_draw(const char* name, Body body) {
  const std::vector<double> seeds = arguments().params.at("seed");
  std::size_t element = 0;
  for (std::uint32_t row = 0; row < kSizes.batch; ++row)
    for (std::uint32_t step = 0; step < kSizes.time; ++step)
      for (std::uint32_t head = 0; head < kSizes.heads; ++head)
        for (std::uint32_t channel = 0; channel < kSizes.dim; ++channel)
          body(element++,
               static_cast<double>(scalar::philox_uniform(
                   static_cast<float>(seeds[head]), scalar::philox_stream(name), row, step, head, channel)));
}

TEST(Draw, TheReferenceDrawsEveryPlaceForwardAndBackward) {
  const Cell cell = drawn();
  ASSERT_EQ(verify(cell), std::vector<std::string>());
  for (const int threads : {1, 3}) {
    RunOptions<double> options;
    options.threads = threads;
    const auto forward = run_forward(cell, kSizes, arguments(), options);
    ASSERT_TRUE(forward) << forward.error().message;
    each_draw("drop", [&](std::size_t i, double u) { ASSERT_EQ(forward->outputs.at("u")[i], u) << i; });
    each_draw("keep", [&](std::size_t i, double v) { ASSERT_EQ(forward->outputs.at("y")[i], v) << i; });
    LossGradients<double> loss;
    loss.outputs["y"].assign(forward->outputs.at("y").size(), 1);
    const auto backward = run_backward(cell, kSizes, arguments(), loss, options);
    ASSERT_TRUE(backward) << backward.error().message;
    each_draw("keep", [&](std::size_t i, double v) { ASSERT_EQ(backward->inputs.at("w")[i], v) << i; });
    EXPECT_EQ(backward->params.at("seed"), std::vector<double>(3, 0.0));
  }
}

TEST(Draw, SinglePrecisionDrawsTheSame) {
  ForwardArguments<float> single;
  single.inputs["w"].assign(arguments().inputs.at("w").size(), 1);
  single.params["seed"] = {1, 2, -3.5};
  const auto forward = run_forward(drawn(), kSizes, single);
  ASSERT_TRUE(forward) << forward.error().message;
  each_draw("drop", [&](std::size_t i, double u) {
    ASSERT_EQ(static_cast<double>(forward->outputs.at("u")[i]), u) << i;
  });
}

TEST(Draw, IsNoFunctionOfTheState) {
  const Structure structure = analyze(drawn());
  EXPECT_TRUE(structure.affine);
  EXPECT_FALSE(structure.has_reduction);
  EXPECT_EQ(drawn().seed(), drawn().find("seed"));
  EXPECT_EQ(mingru().seed(), std::nullopt);
}

// Equal names are one node; the backward step reads the forward step's.
TEST(Draw, IsSharedByName) {
  CellBuilder b("twice");
  const TensorId x = b.input("x"), seed = b.tensor(TensorKind::Param, "seed", Tail::Scalar), h = b.state("h");
  const Value one = b.uniform("drop", b.read(seed)), same = b.uniform("drop", b.read(seed));
  b.next(h, 0, one * b.read(h) + same * b.read(x) + b.uniform("keep", b.read(seed)));
  b.publish("y", b.read(h));
  const auto draws = [](const Graph& graph) {
    return std::count_if(graph.nodes.begin(), graph.nodes.end(),
                         [](const Node& node) { return node.kind == NodeKind::Uniform; });
  };
  const Cell cell = simplify(b.cell());
  EXPECT_EQ(draws(cell.graph), 2);
  EXPECT_EQ(draws(backward_step(cell).graph), 2);
  EXPECT_NE(print(cell).find("uniform drop by %"), std::string::npos) << print(cell);
}

TEST(Draw, ItsNameIsPartOfTheCell) {
  Cell other = drawn();
  for (Node& node : other.graph.nodes)
    if (node.draw == "drop") node.draw = "drip";
  EXPECT_NE(canonical_hash(other), canonical_hash(drawn()));
}

TEST(Draw, TheVerifierWantsANameAndASeed) {
  const auto defects = [](auto plant) {
    Cell cell = drawn();
    for (Node& node : cell.graph.nodes)
      if (node.kind == NodeKind::Uniform) {
        plant(cell, node);
        break;
      }
    std::string all;
    for (const std::string& defect : verify(cell)) all += defect + "\n";
    return all;
  };
  EXPECT_NE(defects([](Cell&, Node& node) { node.draw.clear(); }).find("without a name"), std::string::npos);
  EXPECT_NE(defects([](Cell&, Node& node) { node.operands.clear(); }).find("needs 1"), std::string::npos);
  EXPECT_NE(defects([](Cell& cell, Node&) {
              cell.tensors[at(*cell.find("seed"))].kind = TensorKind::Input;
            }).find("no parameter of one value a head"),
            std::string::npos);
}

}  // namespace
}  // namespace rondo::step::testing
