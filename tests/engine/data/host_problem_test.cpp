// Test data and storage conversion: what every verification stands on.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <span>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "compiler/step/forms.h"
#include "engine/data/host_problem.h"
#include "tests/engine/plan/cells.h"

namespace rondo::engine {
namespace {

std::vector<ReferenceResult> perturbed_results(const schedule::Task& task, const HostProblem& data,
                                               const ReferenceResult& exact,
                                               std::span<const step::Perturbation> perturbations) {
  std::vector<ReferenceResult> results;
  const Status status =
      run_perturbed(task, data, exact, perturbations, [&](std::size_t run, const ReferenceResult& result) {
        EXPECT_EQ(run, results.size());
        results.push_back(result);
      });
  EXPECT_TRUE(status) << status.error().message;
  return results;
}

using kernel::Storage;
using schedule::Pass;

TEST(StorageCodec, Bf16RoundsToNearestEven) {
  EXPECT_EQ(half_bits(Storage::BF16, 1.0f), 0x3F80);
  EXPECT_EQ(half_bits(Storage::BF16, 1.0f + 0x1p-8f), 0x3F80) << "a tie goes to even";
  EXPECT_EQ(half_bits(Storage::BF16, 1.0f + 0x3p-8f), 0x3F82) << "a tie goes to even";
  EXPECT_EQ(half_bits(Storage::BF16, 1.0f + 0x1p-8f + 0x1p-20f), 0x3F81);
  EXPECT_EQ(half_bits(Storage::BF16, std::numeric_limits<float>::max()), 0x7F80) << "rounds to infinity";
  EXPECT_TRUE(std::isnan(half_value(Storage::BF16, half_bits(Storage::BF16, std::nanf("")))));
}

TEST(StorageCodec, Fp16KnownValues) {
  EXPECT_EQ(half_bits(Storage::F16, 1.0f), 0x3C00);
  EXPECT_EQ(half_bits(Storage::F16, -2.0f), 0xC000);
  EXPECT_EQ(half_bits(Storage::F16, 65504.0f), 0x7BFF);
  EXPECT_EQ(half_bits(Storage::F16, 65519.9f), 0x7BFF);
  EXPECT_EQ(half_bits(Storage::F16, 65520.0f), 0x7C00);
  EXPECT_EQ(half_bits(Storage::F16, 0x1p-24f), 0x0001);
  EXPECT_EQ(half_bits(Storage::F16, 0x1p-25f), 0x0000) << "a tie goes to even";
  EXPECT_EQ(half_bits(Storage::F16, 0x1.8p-24f), 0x0002) << "a tie goes to even";
  EXPECT_EQ(half_bits(Storage::F16, 0x1.ff8p-15f), 0x03FF);
  EXPECT_EQ(half_bits(Storage::F16, 0x1p-14f), 0x0400);
  EXPECT_EQ(half_bits(Storage::F16, -0.0f), 0x8000);
  EXPECT_EQ(half_bits(Storage::F16, 1.0f + 0x1p-11f), 0x3C00) << "a tie goes to even";
}

TEST(StorageCodec, EveryFp16AndBf16SurvivesTheTrip) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const float half = half_value(Storage::F16, pattern);
    const float brain = half_value(Storage::BF16, pattern);
    if (!std::isnan(half)) {
      ASSERT_EQ(half_bits(Storage::F16, half), pattern);
    }
    if (!std::isnan(brain)) {
      ASSERT_EQ(half_bits(Storage::BF16, brain), pattern);
    }
  }
}

// Halfway points and their neighbours, against a search for the nearest of all fp16 values.
TEST(StorageCodec, Fp16IsTheNearestValue) {
  for (std::uint16_t bits = 0; bits + 1 < 0x7C00; bits = static_cast<std::uint16_t>(bits + 7)) {
    const float below = half_value(Storage::F16, bits);
    const float above = half_value(Storage::F16, static_cast<std::uint16_t>(bits + 1));
    const float middle = below + (above - below) / 2;
    ASSERT_EQ(half_bits(Storage::F16, std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(half_bits(Storage::F16, std::nextafter(middle, 1e9f)), bits + 1);
    ASSERT_EQ(half_bits(Storage::F16, middle), bits % 2 == 0 ? bits : bits + 1);
  }
}

TEST(StorageCodec, PoisonIsNanInEveryType) {
  const std::byte poison[4] = {std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}};
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16}) {
    EXPECT_TRUE(is_poison(storage, poison));
    EXPECT_TRUE(std::isnan(decode(storage, poison)));
  }
}

TEST(HostProblem, NumbersLieInTheirRange) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Storage storage : {Storage::F32, Storage::BF16, Storage::F16})
    for (const step::Interval& range :
         {step::Interval{0, 1}, step::Interval{-3, -2.9, true, true}, step::Interval{0, 1e-3},
          step::Interval{0, infinity}, step::Interval{-infinity, -100}, step::Interval{-infinity, infinity},
          step::Interval{7, 7, true, true}, step::Interval{0.999, 1, false, true}}) {
      const std::vector<double> values = random_values_in(range, storage, 4096, 3);
      double least = infinity, most = -infinity;
      for (const double value : values) {
        ASSERT_TRUE(range.contains(value)) << value << " is not in " << range.text();
        ASSERT_EQ(value, static_cast<double>(round_to(storage, static_cast<float>(value))));
        least = std::min(least, value);
        most = std::max(most, value);
      }
      if (range.bounded() && range.high - range.low > 0.05) {
        EXPECT_LT(least, range.low + 0.1 * (range.high - range.low)) << range.text();
        EXPECT_GT(most, range.low + 0.9 * (range.high - range.low)) << range.text();
      }
    }
}

TEST(HostProblem, IsSeededScaledAndRounded) {
  const step::Cell cell = testing::library_cell("lstm");
  const schedule::Problem problem = testing::problem_of(Pass::Backward, 16);
  const step::Sizes sizes{2, 5, 2, 16};
  const auto a = random_problem({cell, problem, {}}, sizes, {7, true}).value();
  const auto b = random_problem({cell, problem, {}}, sizes, {7, true}).value();
  const auto c = random_problem({cell, problem, {}}, sizes, {8, true}).value();
  EXPECT_EQ(a.forward.inputs, b.forward.inputs);
  EXPECT_NE(a.forward.inputs, c.forward.inputs);
  EXPECT_EQ(a.forward.inputs.at("x").size(), 2u * 5 * 2 * 4 * 16);
  double largest = 0;
  for (const double value : a.forward.inputs.at("x")) {
    EXPECT_EQ(value, static_cast<double>(round_to(Storage::BF16, static_cast<float>(value))));
    largest = std::max(largest, std::abs(value));
  }
  EXPECT_GT(largest, 0.9);
  for (const double value : a.forward.params.at("R")) EXPECT_LE(std::abs(value), 0.25);
  EXPECT_EQ(a.loss.last_states.size(), 2u);
  EXPECT_EQ(a.forward.initial_states.at("c").size(), 2u * 2 * 16);
}

// Of slstm the cell reaches normalisers of at least 0; arbitrary ones are whatever they are.
TEST(StorageCodec, IntegersKeepTheirValue) {
  std::byte bytes[4] = {};
  for (const double value : {0.0, 1.0, 255.0}) {
    scalar::encode(Storage::U8, value, bytes);
    EXPECT_EQ(scalar::decode(Storage::U8, bytes), value);
  }
  EXPECT_EQ(bytes[1], std::byte{0}) << "one byte each";
  for (const double value : {0.0, -7.0, 2147483647.0, -2147483648.0, 16777217.0}) {
    scalar::encode(Storage::I32, value, bytes);
    EXPECT_EQ(scalar::decode(Storage::I32, bytes), value);
  }
}

TEST(HostProblem, FlagsAreOfEveryKind) {
  const step::Cell cell = step::with_forms(rondo::testing::library_cell("lstm"), {true, true, false}).value();
  schedule::Problem problem;
  problem.sizes = {64, 40, 1, 4};
  const auto data = random_problem({cell, problem, {}}, problem.sizes, {7});
  ASSERT_TRUE(data.ok()) << data.error().message;
  const std::vector<double>& resets = data->forward.flags.at("resets");
  const std::vector<double>& lengths = data->forward.flags.at("lengths");
  ASSERT_EQ(resets.size(), 64U * 40U);
  ASSERT_EQ(lengths.size(), 64U);
  const auto set = std::count(resets.begin(), resets.end(), 1.0);
  EXPECT_EQ(std::count(resets.begin(), resets.end(), 0.0), 64 * 40 - set);
  EXPECT_GT(set, 200);
  EXPECT_LT(set, 450);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    EXPECT_EQ(lengths[row], std::floor(lengths[row]));
    EXPECT_GE(lengths[row], 0);
    EXPECT_LE(lengths[row], 40);
  }
  EXPECT_EQ(lengths[0], 40);
  EXPECT_LT(std::count(lengths.begin(), lengths.end(), 40.0), 8) << "tiles of eight rows end before T";
  EXPECT_GT(std::set<double>(lengths.begin(), lengths.end()).size(), 20U);
  for (const auto& [name, values] : data->forward.initial_states)
    EXPECT_TRUE(std::all_of(values.begin(), values.end(), [](double value) { return value != 0; }))
        << "every row walks to its initial state";
  EXPECT_EQ(given_values({schedule::Role::Resets, *cell.first_of_kind(step::TensorKind::Reset)}, cell,
                         schedule::Pass::Forward, *data, {}),
            &resets);
}

TEST(HostProblem, InitialStatesAreReachedUnlessArbitraryOnesAreAskedFor) {
  const step::Cell cell = testing::library_cell("slstm");
  const schedule::Problem problem = testing::problem_of(Pass::Forward, 16);
  const auto smallest_normaliser = [&](const RandomOptions& options) {
    const auto states = random_problem({cell, problem, {}}, {3, 5, 1, 16}, options)->forward.initial_states;
    for (const auto& [name, values] : states)
      for (const double value : values)
        EXPECT_LE(std::abs(value), options.arbitrary_states ? 1 : 100) << name;
    return *std::min_element(states.at("n").begin(), states.at("n").end());
  };
  EXPECT_GT(smallest_normaliser({}), 0);
  EXPECT_LT(smallest_normaliser({.arbitrary_states = true}), -0.5);
  EXPECT_TRUE(
      random_problem({cell, problem, {}}, {3, 5, 1, 16}, {.initial_states = false, .arbitrary_states = true})
          ->forward.initial_states.empty());
}

TEST(HostProblem, EveryLibraryCellHasFiniteReferenceResults) {
  for (const EmbeddedCell& embedded : embedded_cells()) {
    const step::Cell cell = testing::library_cell(embedded.name);
    const schedule::Problem problem = testing::problem_of(Pass::Backward, 8);
    const auto data = random_problem({cell, problem, {}}, {2, 33, 1, 8});
    ASSERT_TRUE(data.ok()) << embedded.name << ": " << data.error().message;
    const auto exact = run_reference({cell, problem, {}}, *data);
    ASSERT_TRUE(exact.ok()) << embedded.name << ": " << exact.error().message;
    step::Perturbation perturbation;
    perturbation.stored = Storage::BF16;
    perturbation.fast_math = true;
    const auto perturbed = perturbed_results({cell, problem, {}}, *data, *exact, {&perturbation, 1});
    ASSERT_EQ(perturbed.size(), 1U) << embedded.name;
    for (const auto* results : {&exact->forward.outputs, &exact->forward.last_states, &exact->backward.inputs,
                                &exact->backward.params})
      for (const auto& [name, values] : *results)
        for (const double value : values) ASSERT_TRUE(std::isfinite(value)) << embedded.name << " " << name;
  }
}

double largest_difference(const step::TensorMap<double>& a, const step::TensorMap<double>& b) {
  double worst = 0;
  for (const auto& [tensor, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i)
      worst = std::max(worst, std::abs(b.at(tensor)[i] - values[i]));
  return worst;
}

// Each unit of a perturbation has the size of its type, and errs only where something is rounded to it.
TEST(HostProblem, PerturbationsHaveTheSizeOfTheirUnits) {
  for (const char* name : {"lstm", "mingru"}) {
    const step::Cell cell = testing::library_cell(name);
    const schedule::Problem problem = testing::problem_of(Pass::Backward, 64, Storage::F32);
    schedule::Problem forward = problem;
    forward.pass = Pass::Forward;
    const auto data = random_problem({cell, problem, {}}, {3, 9, 1, 64}, {});
    ASSERT_TRUE(data.ok()) << data.error().message;
    const auto exact = run_reference({cell, problem, {}}, *data);
    ASSERT_TRUE(exact.ok());
    const auto errors = [&](const step::Perturbation& perturbation) {
      const std::span one(&perturbation, 1);
      return std::pair(
          largest_difference(
              exact->forward.outputs,
              perturbed_results({cell, forward, {}}, *data, *exact, one).front().forward.outputs),
          largest_difference(
              exact->backward.inputs,
              perturbed_results({cell, problem, {}}, *data, *exact, one).front().backward.inputs));
    };
    const auto fp32 = errors({});
    const auto tf32 = errors({.product = 0x1p-11});
    const auto bf16 = errors({.stored = Storage::BF16});
    EXPECT_LT(errors({.amplitude = 0}).first, fp32.first) << "rounding to fp32 alone";
    EXPECT_GT(fp32.first, 0x1p-26);
    EXPECT_LT(fp32.first, 0x1p-18);
    EXPECT_LT(fp32.second, 0x1p-18);
    if (std::string(name) == "mingru") {
      EXPECT_EQ(tf32, fp32) << "it has no product";
      EXPECT_EQ(bf16.first, fp32.first) << "nothing is stored between its steps";
      EXPECT_GT(bf16.second, 64 * fp32.second) << "the states that a backward pass reads";
      continue;
    }
    EXPECT_GT(tf32.first, 16 * fp32.first);
    EXPECT_GT(tf32.second, 16 * fp32.second);
    EXPECT_GT(bf16.first, 4 * tf32.first);
    EXPECT_GT(bf16.second, 4 * tf32.second);
    EXPECT_LT(bf16.first, 0x1p-4);
  }
}

// The same errors for a seed, other ones for another, and turned round with the amplitude.
TEST(HostProblem, PerturbationsFollowTheirSeed) {
  const step::Cell cell = testing::library_cell("mingru");
  const schedule::Problem problem = testing::problem_of(Pass::Forward, 16);
  const auto data = random_problem({cell, problem, {}}, {2, 9, 1, 16}, {});
  ASSERT_TRUE(data.ok());
  const auto reference = run_reference({cell, problem, {}}, *data);
  const auto& exact = reference->forward.outputs;
  const auto run = [&](std::uint64_t seed, double amplitude, bool steady) {
    const step::Perturbation one{.seed = seed, .amplitude = amplitude, .steady = steady};
    return perturbed_results({cell, problem, {}}, *data, *reference, {&one, 1}).front().forward.outputs;
  };
  for (const bool steady : {false, true}) {
    const auto plus = run(7, 1, steady), minus = run(7, -1, steady);
    EXPECT_EQ(plus, run(7, 1, steady));
    EXPECT_NE(plus, run(8, 1, steady));
    const double size = largest_difference(exact, plus);
    ASSERT_GT(size, 0);
    for (const auto& [name, values] : exact)
      for (std::size_t i = 0; i < values.size(); ++i)
        EXPECT_NEAR(plus.at(name)[i] - values[i], values[i] - minus.at(name)[i], size * 0.5)
            << "but for fp32";
  }
}

// Of every pass, with the products that a forward pass hands on: side by side each run is what it is alone.
TEST(HostProblem, PerturbedRunsTogetherAreThoseAlone) {
  const step::Cell cell = testing::library_cell("lstm");
  std::vector<step::Perturbation> perturbations;
  for (const bool steady : {false, true})
    for (const std::uint64_t seed : {1, 2, 3})
      perturbations.push_back({.seed = seed, .stored = Storage::BF16, .steady = steady});
  for (const Pass pass : {Pass::Forward, Pass::ForwardSave, Pass::Backward}) {
    const schedule::Problem problem = testing::problem_of(pass, 24);
    const auto data = random_problem({cell, problem, {}}, {3, 9, 1, 24}, {});
    ASSERT_TRUE(data.ok());
    const auto exact = run_reference({cell, problem, {}}, *data);
    ASSERT_TRUE(exact.ok());
    const auto together = perturbed_results({cell, problem, {}}, *data, *exact, perturbations);
    ASSERT_EQ(together.size(), perturbations.size());
    for (std::size_t i = 0; i < perturbations.size(); ++i) {
      const auto alone = perturbed_results({cell, problem, {}}, *data, *exact, {&perturbations[i], 1});
      ASSERT_EQ(alone.size(), 1U);
      const ReferenceResult &one = alone.front(), &other = together[i];
      EXPECT_EQ(other.forward.outputs, one.forward.outputs) << i;
      EXPECT_EQ(other.forward.last_states, one.forward.last_states) << i;
      EXPECT_EQ(other.forward.history, one.forward.history) << i;
      EXPECT_EQ(other.backward.inputs, one.backward.inputs) << i;
      EXPECT_EQ(other.backward.params, one.backward.params) << i;
      EXPECT_EQ(other.backward.initial_states, one.backward.initial_states) << i;
      for (std::size_t k = 0; k < i; ++k)
        EXPECT_TRUE(other.forward.outputs != together[k].forward.outputs ||
                    other.backward.params != together[k].backward.params)
            << i << " errs as " << k;
    }
  }
}

TEST(TensorLayout, SizesFollowTheLayouts) {
  const step::Cell cell = testing::library_cell("lstm");
  const step::Sizes sizes{3, 5, 2, 16};
  using schedule::Role;
  const int x = *cell.find("x"), r = *cell.find("R"), h = cell.of_kind(step::TensorKind::State).at(0);
  EXPECT_EQ(schedule::unit_elements({Role::Input, x}, cell, sizes), 2 * 4 * 16);
  EXPECT_EQ(schedule::total_elements({Role::Input, x}, cell, sizes), 3 * 5 * 2 * 4 * 16);
  EXPECT_EQ(schedule::total_elements({Role::ParamGradient, r}, cell, sizes), 2 * 4 * 16 * 16);
  EXPECT_EQ(schedule::total_elements({Role::LastState, h}, cell, sizes), 3 * 2 * 16);
  EXPECT_EQ(schedule::shape_of({Role::Input, x}, cell), "[B, T, H, 4, D]");
  EXPECT_EQ(schedule::shape_of({Role::Param, r}, cell), "[H, 4, D, D]");
  EXPECT_EQ(schedule::shape_of({Role::InitialState, h}, cell), "[B, H, 1, D]");
}

}  // namespace
}  // namespace rondo::engine
