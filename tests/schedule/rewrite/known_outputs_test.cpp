// Steps whose outputs are known: what is left of them, that it computes the same states, and what kernels
// make of it.
#include "compiler/schedule/rewrite/known_outputs.h"

#include <gtest/gtest.h>

#include "compiler/schedule/analysis/history.h"
#include "compiler/step/forms.h"
#include "compiler/step/verify.h"
#include "tests/schedule/cell_files.h"
#include "tests/schedule/comparison.h"
#include "tests/schedule/text_cells.h"
#include "tests/support/turns.h"

namespace rondo::schedule {
namespace {

step::Cell simple_cell_of(const std::string& name) { return step::simplify(cell_named(name)); }

TEST(KnownOutputs, LeaveTheOtherStates) {
  const step::Cell lstm = simple_cell_of("lstm");
  const std::optional<KnownOutputs> known = with_known_outputs(lstm);
  ASSERT_TRUE(known.has_value());
  EXPECT_EQ(step::verify(known->cell), std::vector<std::string>{});
  const std::vector<TensorId> states = known->cell.of_kind(TensorKind::State);
  ASSERT_EQ(states.size(), 1u);
  EXPECT_EQ(known->cell.tensor(states[0]).name, "c");
  EXPECT_TRUE(known->cell.of_kind(TensorKind::Output).empty());
  const TensorId h = known->cell.find("h").value();
  EXPECT_EQ(known->cell.tensor(h).kind, TensorKind::Input);
  EXPECT_TRUE(known->tensors[static_cast<std::size_t>(h)].before);
  EXPECT_EQ(known->tensors[static_cast<std::size_t>(h)].tensor, lstm.of_kind(TensorKind::Output).at(0));
  // The gate of the output is not needed for c.
  const step::Cell left = step::simplify(known->cell);
  const auto products = std::ranges::count_if(left.graph.nodes, step::is_product);
  EXPECT_EQ(products, 3);
}

// Who gives outputs finds them by name. Of two states that are the same one is known.
TEST(KnownOutputs, HaveTheNamesOfOutputs) {
  const std::string twins =
      "cell c(D) {\n input x[D]\n param R[D, D]\n state h[D], k[D], c[D]\n v = tanh(R @ h + x + k)\n"
      " next h = v\n next k = v\n next c = c * h + k\n output y = v\n}";
  const std::optional<KnownOutputs> known = with_known_outputs(step::simplify(cell_of_text(twins)));
  ASSERT_TRUE(known.has_value());
  std::vector<std::string> inputs, states;
  for (const TensorId id : known->cell.of_kind(TensorKind::Input))
    inputs.push_back(known->cell.tensor(id).name);
  for (const TensorId id : known->cell.of_kind(TensorKind::State))
    states.push_back(known->cell.tensor(id).name);
  EXPECT_EQ(inputs, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(states, (std::vector<std::string>{"k", "c"}));
}

TEST(KnownOutputs, AreNoneWhereNothingIsLeftOrAStepBeforeIsAnother) {
  EXPECT_FALSE(with_known_outputs(simple_cell_of("gru"))) << "all states are outputs";
  step::Forms resets, lengths, directions, reversed;
  resets.resets = lengths.lengths = directions.directions = reversed.reversed = true;
  for (const step::Forms& forms : {resets, lengths, directions})
    EXPECT_FALSE(with_known_outputs(step::simplify(step::with_forms(cell_named("lstm"), forms).value())));
  EXPECT_TRUE(with_known_outputs(step::simplify(step::with_forms(cell_named("lstm"), reversed).value())));
  const std::string one_row =
      "cell c(D) {\n input x[D]\n param R[D, D]\n state s[2, D], c[D]\n next s = [tanh(R @ s[0] + c), x]\n"
      " next c = c * s[1]\n output y = next s[0]\n}";
  EXPECT_FALSE(with_known_outputs(step::simplify(cell_of_text(one_row)))) << "an output has a row of a state";
}

// Histories that are made again are those of the whole cell, in fp64.
TEST(KnownOutputs, GiveTheSameStates) {
  int compared = 0;
  for (const step::Cell& shipped : shipped_cells()) {
    const step::Cell cell = step::simplify(shipped);
    const std::optional<KnownOutputs> known = with_known_outputs(cell);
    if (!known || cell.seed()) continue;
    ++compared;
    const step::Sizes sizes{2, 9, 1, 12};
    std::mt19937 rng(3);
    step::ForwardArguments<double> whole, left;
    for (const step::Tensor& tensor : cell.tensors) {
      const auto values = draw(rng, step::element_count(tensor, sizes), 0.3, Storage::F64);
      if (tensor.kind == TensorKind::Input) left.inputs[tensor.name] = whole.inputs[tensor.name] = values;
      if (tensor.kind == TensorKind::Param) left.params[tensor.name] = whole.params[tensor.name] = values;
    }
    step::RunOptions<double> options;
    options.keep_history = true;
    const auto truth = run_forward(cell, sizes, whole, options);
    ASSERT_TRUE(truth) << truth.error().message;
    for (std::size_t id = 0; id < known->tensors.size(); ++id) {
      const auto [of, before] = known->tensors[id];
      if (!before) continue;
      const step::Tensor& input = known->cell.tensors[id];
      const std::vector<double>& output = truth->outputs.at(cell.tensor(of).name);
      std::vector<double>& moved = left.inputs[input.name];
      const auto unit = static_cast<std::size_t>(input.rows * sizes.dim);
      moved.assign(output.size(), 0);
      for (std::size_t at = 0; at < output.size(); ++at)
        if (at / unit % 9 > 0) moved[at] = output[at - unit];
    }
    const auto again = run_forward(known->cell, sizes, left, options);
    ASSERT_TRUE(again) << again.error().message;
    for (const TensorId id : known->cell.of_kind(TensorKind::State)) {
      const std::string& state = known->cell.tensor(id).name;
      EXPECT_EQ(again->history.at(state), truth->history.at(state)) << cell.name << ": " << state;
    }
  }
  EXPECT_GT(compared, 3);
}

// A cell without outputs whose products are made of inputs: stream walks c, and one launch multiplies.
TEST(KnownOutputs, AreWalkedBesideOneProduct) {
  int number = 0;
  for (const char* name : {"lstm", "peephole", "lnlstm"})
    for (const Storage storage : {Storage::BF16, Storage::F16, Storage::F32}) {
      if (!rondo::testing::has_turn(number++, 3)) continue;
      Case c{find_strategy("stream"), with_known_outputs(simple_cell_of(name)).value().cell, {}, {}, {}};
      c.problem.sizes = {3, 21, 1, 40};
      c.problem.storage = storage;
      c.problem.math = default_math(storage);
      c.problem.pass = Pass::ForwardSave;
      ASSERT_TRUE(c.strategy->legal(c.task()).legal) << name;
      c.parameters = first_point(*c.strategy, c.cell, c.problem);
      SCOPED_TRACE(c.name());
      Comparison(std::move(c)).run();
    }
}

}  // namespace
}  // namespace rondo::schedule
