// Resets and lengths: by hand, against runs of the parts by themselves, and against central differences.
#include "compiler/step/forms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compiler/step/clip.h"
#include "compiler/step/derive.h"
#include "compiler/step/serialise.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/cell_runs.h"
#include "tests/step/gradient_check.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

constexpr Forms kResets{true, false, false}, kLengths{false, true, false}, kBoth{true, true, false};
constexpr Forms kGiven{true, false, false, true}, kAllGiven{true, true, true, true};
constexpr Forms kReversed{false, false, true}, kAll{true, true, true};
constexpr Forms kDirections{false, false, false, false, true}, kAllDirections{true, true, false, true, true};

// next h = a h + x, output h.
Cell leaky_sum(double a) {
  CellBuilder b("leaky");
  const TensorId x = b.input("x"), h = b.state("h");
  const Value next = a * b.read(h) + b.read(x);
  b.next(h, 0, next);
  b.publish("h", next);
  return b.cell();
}

Cell formed(const Cell& cell, const Forms& forms) { return with_forms(cell, forms).value(); }

using Numbers = std::vector<double>;

// Steps [first, first + count) of a tensor [1, T, ...].
Numbers some_steps(const Numbers& all, std::int64_t time, std::int64_t first, std::int64_t count) {
  const auto unit = static_cast<std::ptrdiff_t>(all.size()) / time;
  return {all.begin() + first * unit, all.begin() + (first + count) * unit};
}

TEST(Forms, AResetStandsBeforeItsStep) {
  const Cell cell = formed(leaky_sum(1), kResets);
  EXPECT_TRUE(verify(cell).empty());
  EXPECT_TRUE(verify(cell, backward_step(cell)).empty());
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 2, 4, 8, 16};
  arguments.initial_states["h"] = {100};
  arguments.flags["resets"] = {0, 0, 1, 0, 255};
  const auto run = run_forward(cell, {1, 5, 1, 1}, arguments);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->outputs.at("h"), (Numbers{101, 103, 4, 12, 16}));
  EXPECT_EQ(run->last_states.at("h"), Numbers{16});
  LossGradients<double> loss;
  loss.outputs["h"] = {1, 10, 100, 1000, 10000};
  loss.last_states["h"] = {100000};
  const auto back = run_backward(cell, {1, 5, 1, 1}, arguments, loss);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->inputs.at("x"), (Numbers{11, 10, 1100, 1000, 110000}));
  EXPECT_EQ(back->initial_states.at("h"), Numbers{11});
}

// A row of given states, and the gradient that flows there: what two resets of three say.
TEST(Forms, AResetToAGivenState) {
  const Cell cell = formed(leaky_sum(1), kGiven);
  EXPECT_TRUE(verify(cell).empty());
  EXPECT_TRUE(verify(cell, backward_step(cell)).empty());
  EXPECT_TRUE(forms_of(cell).reset_states && analyze(cell).affine);
  EXPECT_FALSE(forms_of(formed(leaky_sum(1), kAll)).reset_states);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 2, 4, 8, 16};
  arguments.initial_states["h"] = {100};
  arguments.initial_states["h_reset"] = {1000};
  arguments.flags["resets"] = {0, 0, 1, 0, 255};
  const auto run = run_forward(cell, {1, 5, 1, 1}, arguments);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->outputs.at("h"), (Numbers{101, 103, 1004, 1012, 1016}));
  EXPECT_EQ(run->last_states.at("h_reset"), Numbers{1000});
  LossGradients<double> loss;
  loss.outputs["h"] = {1, 10, 100, 1000, 10000};
  loss.last_states["h"] = {100000};
  const auto back = run_backward(cell, {1, 5, 1, 1}, arguments, loss);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->initial_states.at("h"), Numbers{11});
  EXPECT_EQ(back->initial_states.at("h_reset"), Numbers{111100});
  // A bound of the recurrence's gradient bounds no sum over resets.
  const Cell bounded = formed(clipped(leaky_sum(1), {{}, 0.5}).value(), kGiven);
  EXPECT_GT(run_backward(bounded, {1, 5, 1, 1}, arguments, loss)->initial_states.at("h_reset")[0], 10000);
}

TEST(Forms, GivenStatesNeedResetsAndNames) {
  EXPECT_EQ(with_forms(leaky_sum(1), {false, true, false, true}).error().kind, ErrorKind::Input);
  CellBuilder b("taken");
  const TensorId h = b.state("h"), other = b.state("h_reset");
  b.next(h, 0, b.read(h) + b.read(other));
  b.next(other, 0, b.read(other));
  b.publish("y", b.read(h));
  const auto formed_cell = with_forms(b.cell(), kGiven);
  ASSERT_FALSE(formed_cell.ok());
  EXPECT_NE(formed_cell.error().message.find("h_reset"), std::string::npos);
  EXPECT_FALSE(forms_of(formed(b.cell(), kResets)).reset_states);
}

// Zero states given are resets, to the bit; and gradients are those of central differences.
TEST(Forms, GivenStatesOfEveryKind) {
  const Sizes sizes{2, 6, 1, 3};
  for (const Cell& plain : {lstm(), mingru()})
    for (const Forms& forms : {kGiven, kAllGiven}) {
      const Cell cell = formed(plain, forms);
      Random random(29);
      ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
      const LossGradients<double> loss = random_loss(cell, sizes, random);
      EXPECT_EQ(check_gradients(cell, sizes, arguments, loss).mismatch, "") << plain.name;
      for (const TensorId state : plain.of_kind(TensorKind::State))
        arguments.initial_states[reset_state_name(cell.tensors[static_cast<std::size_t>(state)].name)].assign(
            6, 0);
      ForwardArguments<double> zero = arguments;
      std::erase_if(zero.initial_states, [](const auto& entry) { return entry.first.ends_with("_reset"); });
      Forms without = forms;
      without.reset_states = false;
      EXPECT_EQ(run_forward(cell, sizes, arguments)->outputs,
                run_forward(formed(plain, without), sizes, zero)->outputs);
    }
}

TEST(Forms, StepsPastTheLengthDoNothing) {
  const Cell cell = formed(leaky_sum(2), kLengths);
  EXPECT_TRUE(verify(cell).empty());
  EXPECT_TRUE(verify(cell, backward_step(cell)).empty());
  const double nan = std::nan("");
  ForwardArguments<double> arguments;  // three rows, of length 0, 2 and 3
  arguments.inputs["x"] = {nan, nan, nan, 1, 1, nan, 1, 1, 1};
  arguments.initial_states["h"] = {5, 1, 0};
  arguments.flags["lengths"] = {0, 2, 7};
  const auto run = run_forward(cell, {3, 3, 1, 1}, arguments);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->outputs.at("h"), (Numbers{0, 0, 0, 3, 7, 0, 1, 3, 7}));
  EXPECT_EQ(run->last_states.at("h"), (Numbers{5, 7, 7}));
  LossGradients<double> loss;
  loss.outputs["h"] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  loss.last_states["h"] = {9, 9, 9};
  const auto back = run_backward(cell, {3, 3, 1, 1}, arguments, loss);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->inputs.at("x"), (Numbers{0, 0, 0, 21, 10, 0, 43, 21, 10}));
  EXPECT_EQ(back->initial_states.at("h"), (Numbers{9, 42, 86}));
}

// A reset forgets even what is not finite.
TEST(Forms, NothingCrossesAReset) {
  CellBuilder b("matrix");
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h");
  b.next(h, 0, b.matvec(r, 0, b.read(h)) + b.read(x));
  b.publish("y", 2.0 * b.read(h));
  const Cell cell = formed(b.cell(), kResets);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {std::numeric_limits<double>::infinity(), 1, 1};
  arguments.params["R"] = {3};
  arguments.flags["resets"] = {0, 1, 0};
  const auto run = run_forward(cell, {1, 3, 1, 1}, arguments);
  EXPECT_EQ(run->last_states.at("h"), Numbers{4});
  LossGradients<double> loss;
  loss.last_states["h"] = {1};
  const auto back = run_backward(cell, {1, 3, 1, 1}, arguments, loss);
  EXPECT_EQ(back->inputs.at("x"), (Numbers{0, 3, 1}));
  EXPECT_EQ(back->params.at("R"), Numbers{1});
}

// A matrix times an input: what stands past the end of a row must not reach the matrix's gradient.
TEST(Forms, InputsPastTheLengthReachNoMatrixGradient) {
  CellBuilder b("projected");
  const TensorId x = b.input("x"), r = b.matrix("R"), h = b.state("h");
  b.next(h, 0, b.matvec(r, 0, b.read(x)) + b.read(h));
  b.publish("y", b.read(h));
  const Cell cell = formed(b.cell(), kLengths);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {2, std::nan("")};
  arguments.params["R"] = {3};
  arguments.flags["lengths"] = {1};
  LossGradients<double> loss;
  loss.last_states["h"] = {1};
  const auto back = run_backward(cell, {1, 2, 1, 1}, arguments, loss);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->inputs.at("x"), (Numbers{3, 0}));
  EXPECT_EQ(back->params.at("R"), Numbers{2});
}

// Sequences of 4, 1 and 3 steps side by side, and two steps past the end, against each by itself.
TEST(Forms, PackedSequencesAreThoseByThemselves) {
  const std::int64_t time = 10;
  const Sizes whole{1, time, 2, 3};
  for (const Cell& plain : {lstm(), mingru(), diagonal_gru()}) {
    const Cell cell = formed(plain, kBoth);
    Random random(11);
    ForwardArguments<double> arguments = random_arguments(cell, whole, random);
    arguments.flags["resets"] = {1, 0, 0, 0, 1, 1, 0, 0, 1, 1};
    arguments.flags["lengths"] = {8};
    const LossGradients<double> loss = random_loss(cell, whole, random);
    const auto run = run_forward(cell, whole, arguments);
    const auto back = run_backward(cell, whole, arguments, loss);
    ASSERT_TRUE(run.ok() && back.ok()) << plain.name;
    TensorMap<double> params;
    for (const auto& [first, count] : {std::pair(0, 4), std::pair(4, 1), std::pair(5, 3)}) {
      const Sizes part{1, count, 2, 3};
      ForwardArguments<double> own = arguments;
      LossGradients<double> own_loss = loss;
      own.flags.clear();
      own.initial_states.clear();
      if (first != 5) own_loss.last_states.clear();
      for (auto& [name, values] : own.inputs) values = some_steps(values, time, first, count);
      for (auto& [name, values] : own_loss.outputs) values = some_steps(values, time, first, count);
      const auto alone = run_forward(plain, part, own);
      const auto alone_back = run_backward(plain, part, own, own_loss);
      for (const auto& [name, values] : alone->outputs)
        EXPECT_EQ(some_steps(run->outputs.at(name), time, first, count), values) << plain.name;
      for (const auto& [name, values] : alone_back->inputs)
        EXPECT_LE(
            largest_difference({{"", some_steps(back->inputs.at(name), time, first, count)}}, {{"", values}}),
            1e-14)
            << plain.name;
      if (first == 5) {
        EXPECT_EQ(run->last_states, alone->last_states);
      }
      for (const auto& [name, values] : alone_back->params) {
        Numbers& sum = params[name];
        sum.resize(values.size());
        for (std::size_t i = 0; i < values.size(); ++i) sum[i] += values[i];
      }
    }
    EXPECT_LE(largest_difference(back->params, params), 1e-13) << plain.name;
    for (const auto* past : {&run->outputs, &back->inputs})
      for (const auto& [name, values] : *past)
        for (const double value : some_steps(values, time, 8, 2))
          EXPECT_EQ(value, 0) << plain.name << " " << name;
    for (const auto& [name, values] : back->initial_states)
      for (const double value : values) EXPECT_EQ(value, 0) << "the first step is a reset";
  }
}

// The bound of the gradient acts between steps that there are, and not on what only passes by.
TEST(Forms, ClippingLeavesStepsPastTheLengthAlone) {
  const Clip clip{2.5, 1.5};
  for (const Cell& plain : {lstm(), mingru()}) {
    const Cell cell = formed(clipped(plain, clip).value(), kLengths);
    const Sizes whole{1, 5, 1, 3}, part{1, 3, 1, 3};
    Random random(3);
    ForwardArguments<double> arguments = random_arguments(cell, whole, random);
    LossGradients<double> loss = random_loss(cell, whole, random);
    for (auto* states : {&arguments.initial_states, &loss.last_states})
      for (auto& [name, values] : *states)
        for (double& value : values) value *= 10;
    for (const std::int64_t length : {std::int64_t{0}, part.time}) {
      arguments.flags["lengths"] = {static_cast<double>(length)};
      const auto run = run_forward(cell, whole, arguments);
      const auto back = run_backward(cell, whole, arguments, loss);
      if (length == 0) {
        EXPECT_EQ(run->last_states, arguments.initial_states);
        EXPECT_EQ(back->initial_states, loss.last_states);
        continue;
      }
      ForwardArguments<double> own = arguments;
      LossGradients<double> own_loss = loss;
      own.flags.clear();
      for (auto* tensors : {&own.inputs, &own_loss.outputs})
        for (auto& [name, values] : *tensors) values = some_steps(values, whole.time, 0, part.time);
      const Cell bounded = clipped(plain, clip).value();
      EXPECT_EQ(run->last_states, run_forward(bounded, part, own)->last_states);
      EXPECT_EQ(back->initial_states, run_backward(bounded, part, own, own_loss)->initial_states);
    }
  }
}

// Each row of its own steps alone, turned round, by the cell as it is.
TEST(Forms, ReversedTimeIsTheWalkOfWhatIsTurnedRound) {
  const Sizes whole{3, 5, 2, 2};
  const std::vector<std::int64_t> lengths{5, 0, 3};
  for (const Cell& plain : {lstm(), mingru()})
    for (const bool with_lengths : {false, true}) {
      const Cell cell = formed(plain, {true, with_lengths, true});
      EXPECT_TRUE(verify(cell).empty());
      Random random(23);
      ForwardArguments<double> arguments = random_arguments(cell, whole, random);
      if (with_lengths) arguments.flags["lengths"] = {5, 0, 3};
      const LossGradients<double> loss = random_loss(cell, whole, random);
      RunOptions<double> options;
      options.keep_history = true;
      const auto run = run_forward(cell, whole, arguments, options);
      const auto back = run_backward(cell, whole, arguments, loss);
      const auto from = run_backward_from(cell, whole, arguments, loss, run->history);
      ASSERT_TRUE(run.ok() && back.ok() && from.ok()) << plain.name;
      EXPECT_EQ(from->inputs, back->inputs);
      for (std::int64_t row = 0; row < whole.batch; ++row) {
        const std::int64_t own = with_lengths ? lengths[static_cast<std::size_t>(row)] : whole.time;
        // The first `own` steps of a row, turned round.
        const auto turned = [&](const Numbers& all) {
          const auto unit = static_cast<std::ptrdiff_t>(all.size()) / (whole.batch * whole.time);
          Numbers result;
          for (std::int64_t t = own; t-- > 0;) {
            const auto first = all.begin() + (row * whole.time + t) * unit;
            result.insert(result.end(), first, first + unit);
          }
          return result;
        };
        const auto of_row = [&](const Numbers& all) { return some_steps(all, whole.batch, row, 1); };
        if (own == 0) {
          for (const auto& [name, values] : run->last_states)
            EXPECT_EQ(of_row(values), of_row(arguments.initial_states.at(name)));
          continue;
        }
        ForwardArguments<double> alone = arguments;
        LossGradients<double> alone_loss = loss;
        alone.flags = {{"resets", turned(arguments.flags.at("resets"))}};
        for (auto* tensors : {&alone.inputs, &alone_loss.outputs})
          for (auto& [name, values] : *tensors) values = turned(values);
        for (auto* states : {&alone.initial_states, &alone_loss.last_states})
          for (auto& [name, values] : *states) values = of_row(values);
        const Sizes part{1, own, 2, 2};
        const Cell straight = formed(plain, kResets);
        const auto wanted = run_forward(straight, part, alone);
        const auto wanted_back = run_backward(straight, part, alone, alone_loss);
        ASSERT_TRUE(wanted.ok() && wanted_back.ok());
        for (const auto& [name, values] : wanted->outputs) EXPECT_EQ(turned(run->outputs.at(name)), values);
        for (const auto& [name, values] : wanted->last_states)
          EXPECT_EQ(of_row(run->last_states.at(name)), values);
        for (const auto& [name, values] : wanted_back->inputs)
          EXPECT_EQ(turned(back->inputs.at(name)), values);
        for (const auto& [name, values] : wanted_back->initial_states)
          EXPECT_EQ(of_row(back->initial_states.at(name)), values);
      }
    }
}

// A head of the first half walks as without the form, one of the second half as if reversed.
TEST(Forms, TwoDirectionsAreHalvesOfTheHeads) {
  const Sizes both{3, 5, 4, 2}, half{3, 5, 2, 2};
  // Heads 0 and 1, or 2 and 3, of [outer, H, ...].
  const auto of_half = [](const Numbers& all, std::int64_t outer, std::int64_t which) {
    const auto each = static_cast<std::ptrdiff_t>(all.size()) / (2 * outer);
    Numbers result;
    for (std::int64_t i = 0; i < outer; ++i) {
      const auto first = all.begin() + (2 * i + which) * each;
      result.insert(result.end(), first, first + each);
    }
    return result;
  };
  for (const Cell& plain : {lstm(), mingru()}) {
    const Cell cell = formed(plain, kAllDirections);
    EXPECT_TRUE(verify(cell).empty());
    Random random(29);
    ForwardArguments<double> arguments = random_arguments(cell, both, random);
    arguments.flags["lengths"] = {5, 0, 3};
    const LossGradients<double> loss = random_loss(cell, both, random);
    const auto run = run_forward(cell, both, arguments);
    const auto back = run_backward(cell, both, arguments, loss);
    ASSERT_TRUE(run.ok() && back.ok()) << plain.name;
    const std::int64_t steps = both.batch * both.time;
    for (const std::int64_t which : {0, 1}) {
      ForwardArguments<double> own = arguments;
      LossGradients<double> own_loss = loss;
      for (auto* tensors : {&own.inputs, &own_loss.outputs})
        for (auto& [name, values] : *tensors) values = of_half(values, steps, which);
      for (auto* tensors : {&own.initial_states, &own_loss.last_states})
        for (auto& [name, values] : *tensors) values = of_half(values, both.batch, which);
      for (auto& [name, values] : own.params) values = of_half(values, 1, which);
      const Cell alone = formed(plain, {true, true, which == 1, true});
      const auto wanted = run_forward(alone, half, own);
      const auto wanted_back = run_backward(alone, half, own, own_loss);
      ASSERT_TRUE(wanted.ok() && wanted_back.ok());
      const auto compare = [&](const TensorMap<double>& of_both, const TensorMap<double>& of_one,
                               std::int64_t outer) {
        for (const auto& [name, values] : of_one)
          EXPECT_EQ(of_half(of_both.at(name), outer, which), values) << name;
      };
      compare(run->outputs, wanted->outputs, steps);
      compare(run->last_states, wanted->last_states, both.batch);
      compare(back->inputs, wanted_back->inputs, steps);
      compare(back->initial_states, wanted_back->initial_states, both.batch);
      compare(back->params, wanted_back->params, 1);
    }
  }
}

TEST(Forms, GradientsOfRandomCellsAgreeWithCentralDifferences) {
  long nonzero = 0, compared = 0;
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    constexpr Forms kDrawn[] = {kResets, kLengths,  kBoth,       kReversed,     kAll,
                                kGiven,  kAllGiven, kDirections, kAllDirections};
    const Forms& forms = kDrawn[seed % 9];
    const Cell cell = formed(random_cell_of_seed(static_cast<std::uint64_t>(seed)), forms);
    ASSERT_TRUE(verify(cell).empty()) << verify(cell).front() << "\n" << provenance(seed, cell);
    const Sizes sizes{2, 3, forms.directions ? 2 : 1, 2};
    Random random(static_cast<std::uint64_t>(seed) + 5000000);
    const ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
    const LossGradients<double> loss = random_loss(cell, sizes, random);
    const GradientReport report = check_gradients(cell, sizes, arguments, loss);
    ASSERT_EQ(report.mismatch, "") << provenance(seed, cell) << print(cell, backward_step(cell));
    nonzero += report.nonzero;
    compared += report.compared;
  }
  EXPECT_GT(static_cast<double>(nonzero), 0.15 * static_cast<double>(compared));
}

// Padding may be anything: no result of any cell depends on it, not by a product with zero either.
TEST(Forms, WhatStandsPastTheLengthReachesNothing) {
  for (int seed = 0; seed < random_cell_count(); ++seed) {
    constexpr Forms kDrawn[] = {kLengths, kBoth, kAll, kAllGiven, kAllDirections};
    Cell plain = random_cell_of_seed(static_cast<std::uint64_t>(seed));
    if (seed % 3 == 0) plain = clipped(plain, {0.5, 0.25}).value();
    const Cell cell = formed(plain, kDrawn[seed % 5]);
    const Sizes sizes{3, 4, forms_of(cell).directions ? 2 : 1, 2};
    Random random(static_cast<std::uint64_t>(seed) + 6000000);
    ForwardArguments<double> arguments = random_arguments(cell, sizes, random);
    arguments.flags["lengths"] = {2, 0, 4};
    LossGradients<double> loss = random_loss(cell, sizes, random);
    const auto results = [&](double padding) {
      fill_past_ends(cell, sizes, padding, arguments, loss);
      const auto run = run_forward(cell, sizes, arguments);
      const auto back = run_backward(cell, sizes, arguments, loss);
      EXPECT_TRUE(run.ok() && back.ok());
      return std::vector{run->outputs, run->last_states, back->inputs, back->params, back->initial_states};
    };
    const auto wanted = results(0.5);
    for (const double padding : {std::nan(""), std::numeric_limits<double>::infinity()})
      ASSERT_EQ(results(padding), wanted) << provenance(seed, cell) << print(cell, backward_step(cell));
  }
}

TEST(Forms, WhatIsAffineOrDiagonalStaysSo) {
  for (const Forms& forms : {kResets, kLengths, kBoth, kAll, kAllDirections}) {
    EXPECT_TRUE(analyze(formed(mingru(), forms)).affine);
    EXPECT_TRUE(analyze(formed(diagonal_gru(), forms)).all_diagonal);
    EXPECT_FALSE(analyze(formed(lstm(), forms)).all_diagonal);
  }
}

TEST(Forms, AreOfTheCellsMeaning) {
  const std::string plain = canonical_hash(mingru());
  EXPECT_EQ(canonical_hash(formed(mingru(), {})), plain);
  EXPECT_NE(canonical_hash(formed(mingru(), kResets)), plain);
  EXPECT_NE(canonical_hash(formed(mingru(), kBoth)), canonical_hash(formed(mingru(), kResets)));
  EXPECT_NE(canonical_hash(formed(mingru(), kReversed)), plain);
  EXPECT_NE(canonical_hash(formed(mingru(), kDirections)), plain);
  EXPECT_NE(canonical_hash(formed(mingru(), kDirections)), canonical_hash(formed(mingru(), kReversed)));
  for (const Forms& forms : {kAll, kAllDirections}) {
    const Cell written = formed(lstm(), forms);
    ByteWriter writer;
    write_cell(writer, written);
    const std::string bytes = writer.bytes();
    ByteReader reader(bytes);
    EXPECT_EQ(canonical_text(read_cell(reader)), canonical_text(written));
  }
  EXPECT_EQ(form_names(forms_of(formed(lstm(), kDirections))), std::vector<std::string>{"directions"});
  EXPECT_NE(describe_forms(formed(lstm(), kDirections)).find("second half of the heads"), std::string::npos);
  const Cell cell = formed(lstm(), kAll);
  EXPECT_NE(describe_forms(cell).find("last step to the first"), std::string::npos);
  EXPECT_NE(describe_forms(cell).find("resets [B, T]"), std::string::npos);
  EXPECT_EQ(describe_forms(lstm()), "");
}

TEST(Forms, WhatCannotBeIsRefused) {
  CellBuilder b("taken");
  const TensorId x = b.input("lengths"), h = b.state("h");
  b.next(h, 0, b.read(h) + b.read(x));
  b.publish("h", b.read(h));
  const Result<Cell> taken = with_forms(b.cell(), kLengths);
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().kind, ErrorKind::Input);
  EXPECT_NE(taken.error().message.find("lengths"), std::string::npos);
  EXPECT_TRUE(with_forms(b.cell(), kResets).ok());
  EXPECT_FALSE(with_forms(formed(lstm(), kResets), kLengths).ok()) << "twice";
  const Result<Cell> twice = with_forms(lstm(), {false, false, true, false, true});
  ASSERT_FALSE(twice.ok());
  EXPECT_EQ(twice.error().message, "cell lstm is to walk both reversed and in two directions");
  EXPECT_EQ(run_forward(formed(leaky_sum(1), kDirections), {1, 1, 3, 1}, ForwardArguments<double>{})
                .error()
                .message,
            "H is 3, but the heads are halves that walk in two directions");

  const Cell cell = formed(leaky_sum(1), kBoth);
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 1};
  const auto message = [&] { return run_forward(cell, {1, 2, 1, 1}, arguments).error().message; };
  EXPECT_NE(message().find("resets"), std::string::npos);
  arguments.flags["resets"] = {1, 1};
  EXPECT_NE(message().find("lengths"), std::string::npos);
  arguments.flags["lengths"] = {1, 1};
  EXPECT_NE(message().find("2 elements, 1 are needed"), std::string::npos);
  arguments.flags["lengths"] = {1};
  EXPECT_TRUE(run_forward(cell, {1, 2, 1, 1}, arguments).ok());
  EXPECT_FALSE(run_forward(leaky_sum(1), {1, 2, 1, 1}, arguments).ok()) << "a cell that has no forms";
}

}  // namespace
}  // namespace rondo::step::testing
