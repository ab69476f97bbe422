// The tangent cell: its forward pass against central differences and against the backward pass of the cell,
// and its backward pass against central differences of gradients.
#include "compiler/step/tangent.h"

#include <gtest/gtest.h>

#include <cmath>

#include "compiler/step/clip.h"
#include "compiler/step/derive.h"
#include "compiler/step/forms.h"
#include "compiler/step/serialise.h"
#include "compiler/step/simplify.h"
#include "compiler/step/structure.h"
#include "compiler/step/verify.h"
#include "tests/step/cell_builder.h"
#include "tests/step/central_difference.h"
#include "tests/step/random_cell.h"

namespace rondo::step::testing {
namespace {

constexpr Sizes kSizes{2, 3, 2, 3};
using Numbers = std::vector<double>;
using Maps = std::vector<TensorMap<double>*>;

Cell tangents_of(const Cell& cell, Forms forms = {}) {
  forms.tangents = true;
  return with_forms(cell, forms).value();
}

Maps maps_of(ForwardArguments<double>& all) { return {&all.inputs, &all.params, &all.initial_states}; }
Maps maps_of(BackwardResult<double>& all) { return {&all.inputs, &all.params, &all.initial_states}; }
Maps maps_of(ForwardResult<double>& all) { return {&all.outputs, &all.last_states}; }
Maps maps_of(LossGradients<double>& all) { return {&all.outputs, &all.last_states}; }

// What a tangent state is reset to is the tangent of what its state is reset to.
bool names_tangent(const std::string& name) {
  return name.ends_with("_tangent") || name.ends_with("_tangent_reset");
}
std::string tangent_of(const std::string& name) {
  const bool reset = name.ends_with("_reset");
  return reset ? reset_state_name(tangent_name(name.substr(0, name.size() - 6))) : tangent_name(name);
}

// The tensors of `all` that hold tangents, or those that do not, one behind the other.
Numbers joined(const Maps& all, bool tangents) {
  Numbers numbers;
  for (const TensorMap<double>* map : all)
    for (const auto& [name, values] : *map)
      if (names_tangent(name) == tangents) numbers.insert(numbers.end(), values.begin(), values.end());
  return numbers;
}

double dot(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double magnitude(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] * b[i]);
  return sum;
}

// A cell with a point, a direction and a loss.
struct Setting {
  Setting(const Cell& written, const Forms& forms, std::uint64_t seed)
      : plain(with_forms(written, forms).value()), both(tangents_of(written, forms)) {
    Random random(seed + 2000000);
    at_point = random_arguments(both, kSizes, random);
    weights = random_loss(both, kSizes, random);
    fill_past_ends(both, kSizes, 0, at_point, weights);
  }

  // Arguments of the plain cell, `dx` times the direction away from the point.
  ForwardArguments<double> moved(double dx) const {
    ForwardArguments<double> from = at_point, to;
    to.flags = at_point.flags;
    const Maps sources = maps_of(from), targets = maps_of(to);
    for (std::size_t i = 0; i < sources.size(); ++i)
      for (const auto& [name, values] : *sources[i]) {
        if (names_tangent(name)) continue;
        Numbers& target = (*targets[i])[name] = values;
        const auto direction = sources[i]->find(tangent_of(name));
        if (direction == sources[i]->end()) continue;
        for (std::size_t k = 0; k < target.size(); ++k) target[k] += dx * direction->second[k];
      }
    return to;
  }

  // The loss of values alone as the plain cell has it, or of tangents alone, by the same weights.
  LossGradients<double> loss(bool of_tangents) const {
    LossGradients<double> from = weights, to;
    const Maps sources = maps_of(from), targets = maps_of(to);
    for (std::size_t i = 0; i < sources.size(); ++i)
      for (const auto& [name, values] : *sources[i])
        if (!names_tangent(name)) (*targets[i])[of_tangents ? tangent_of(name) : name] = values;
    return to;
  }

  std::string text(std::uint64_t seed) const { return provenance(seed, plain) + print(both); }

  Cell plain, both;
  ForwardArguments<double> at_point;
  LossGradients<double> weights;
};

struct Counts {
  long compared = 0, unusable = 0, nonzero = 0;
};

// `derived` against the derivative of `evaluate` along the direction. "" or the first that is off.
std::string compare(const Numbers& derived, const std::function<Numbers(double)>& evaluate, Counts& counts) {
  Numbers magnitude = evaluate(0);
  for (double& value : magnitude) value = 1 + std::abs(value);
  const std::vector<Measured> measured = central_differences(evaluate, magnitude);
  if (measured.size() != derived.size()) return "there are other numbers of them";
  for (std::size_t i = 0; i < derived.size(); ++i) {
    if (!measured[i].usable) {
      ++counts.unusable;
      continue;
    }
    ++counts.compared;
    counts.nonzero += derived[i] != 0 ? 1 : 0;
    if (!(std::abs(derived[i] - measured[i].value) <= measured[i].error))
      return "number " + std::to_string(i) + ": " + std::to_string(derived[i]) + " derived, " +
             std::to_string(measured[i].value) + " measured, within " + std::to_string(measured[i].error);
  }
  return "";
}

const RunOptions<double> kTangentRun{.threads = 1};

Numbers tangents_forward(const Setting& s) {
  auto run = run_forward(s.both, kSizes, s.at_point, kTangentRun);
  EXPECT_TRUE(run.ok()) << run.error().message;
  return joined(maps_of(*run), true);
}

std::string check_forward(const Setting& s, Counts& counts) {
  const auto evaluate = [&](double dx) {
    auto run = run_forward(s.plain, kSizes, s.moved(dx), kTangentRun);
    return joined(maps_of(*run), false);
  };
  return compare(tangents_forward(s), evaluate, counts);
}

// A vector times the second derivative: gradients for the tangents of results alone, read at the values.
std::string check_second(const Setting& s, Counts& counts) {
  auto back = run_backward(s.both, kSizes, s.at_point, s.loss(true), kTangentRun);
  if (!back) return back.error().message;
  const auto evaluate = [&](double dx) {
    auto gradients = run_backward(s.plain, kSizes, s.moved(dx), s.loss(false), kTangentRun);
    return joined(maps_of(*gradients), false);
  };
  return compare(joined(maps_of(*back), false), evaluate, counts);
}

// <w, J v> by the tangent cell, <J^T w, v> by the backward pass of the cell. Each term is rounded some
// hundred times.
std::string check_adjoint(const Setting& s) {
  LossGradients<double> loss = s.loss(false);
  auto back = run_backward(s.plain, kSizes, s.moved(0), loss, kTangentRun);
  if (!back) return back.error().message;
  const Numbers w = joined(maps_of(loss), false), forward = tangents_forward(s);
  ForwardArguments<double> point = s.at_point;
  Numbers gradient, direction;
  const Maps gradients = maps_of(*back), arguments = maps_of(point);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    for (const auto& [name, values] : *gradients[i]) {
      const auto found = arguments[i]->find(tangent_of(name));
      for (std::size_t k = 0; k < values.size(); ++k) {
        gradient.push_back(values[k]);
        direction.push_back(found == arguments[i]->end() ? 0 : found->second[k]);
      }
    }
  const double left = dot(w, forward), right = dot(gradient, direction);
  const double bound = 1000 * std::numeric_limits<double>::epsilon() *
                       (1 + magnitude(w, forward) + magnitude(gradient, direction));
  if (std::abs(left - right) <= bound) return "";
  return "<w, J v> = " + std::to_string(left) + ", <J^T w, v> = " + std::to_string(right);
}

// A quarter of the cells have some.
Forms forms_of_seed(std::uint64_t seed) {
  const std::uint64_t turn = seed / 2 / 4;  // odd seeds are diagonal cells
  Forms forms;
  if (seed / 2 % 4 != 3) return forms;
  forms.resets = turn % 2 == 0;
  forms.lengths = turn % 3 != 0 || !forms.resets;
  forms.reversed = turn % 5 == 0;
  forms.directions = turn % 5 == 1;
  forms.reset_states = forms.resets && turn % 7 < 3;
  return forms;
}

TEST(Tangent, OfRandomCells) {
  Counts forward, second;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(random_cell_count()) / 2; ++seed) {
    const Setting s(random_cell_of_seed(seed), forms_of_seed(seed), seed);
    ASSERT_TRUE(verify(s.both).empty()) << verify(s.both).front() << s.text(seed);
    ASSERT_TRUE(verify(s.both, backward_step(s.both)).empty()) << s.text(seed);
    ASSERT_EQ(check_forward(s, forward), "") << s.text(seed);
    ASSERT_EQ(check_adjoint(s), "") << s.text(seed);
    ASSERT_EQ(check_second(s, second), "") << s.text(seed);
  }
  for (const Counts& counts : {forward, second}) {
    EXPECT_LT(static_cast<double>(counts.unusable), 0.02 * static_cast<double>(counts.compared));
    EXPECT_GT(static_cast<double>(counts.nonzero), 0.2 * static_cast<double>(counts.compared));
  }
}

TEST(Tangent, OfCellsAlongTheHead) {
  Counts forward, second;
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(random_cell_count()) / 5; ++seed) {
    Random random(seed + 7000000);
    const bool dense = seed % 2 == 0;
    const Cell cell = random_cell(random, {.matrices = dense, .reductions = dense, .along = true});
    const Setting s(cell, forms_of_seed(seed), seed);
    ASSERT_TRUE(verify(s.both).empty()) << verify(s.both).front() << s.text(seed);
    ASSERT_EQ(check_forward(s, forward), "") << s.text(seed);
    ASSERT_EQ(check_adjoint(s), "") << s.text(seed);
    ASSERT_EQ(check_second(s, second), "") << s.text(seed);
  }
  EXPECT_GT(static_cast<double>(second.nonzero), 0.2 * static_cast<double>(second.compared));
}

TEST(Tangent, KeepsTheStructure) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Cell cell = random_cell_of_seed(seed);
    const Structure plain = analyze(cell), both = analyze(tangents_of(cell));
    EXPECT_EQ(both.states, 2 * plain.states);
    EXPECT_EQ(both.all_diagonal, plain.all_diagonal) << provenance(seed, cell);
    // Of a step that is affine in its values, a declared derivative need not be the same in all states.
    EXPECT_TRUE(both.affine || !plain.affine || plain.declares_derivatives) << provenance(seed, cell);
    for (int next = 0; next < plain.states; ++next)
      for (int previous = 0; previous < plain.states; ++previous) {
        EXPECT_EQ(both.at(next, previous), plain.at(next, previous));
        EXPECT_EQ(both.at(next, plain.states + previous), Coupling::None) << "a value follows a tangent";
      }
  }
}

TEST(Tangent, LeavesTheValuesAsTheyAre) {
  for (const Cell& cell : {lstm(), mingru(), diagonal_gru(), normalised()}) {
    const Setting s(cell, {}, 7);
    auto plain = run_forward(s.plain, kSizes, s.moved(0));
    auto both = run_forward(s.both, kSizes, s.at_point);
    EXPECT_EQ(joined(maps_of(*plain), false), joined(maps_of(*both), false)) << cell.name;
  }
}

TEST(Tangent, OfAProduct) {
  CellBuilder b("linear");
  const TensorId r = b.tensor(TensorKind::Param, "R", Tail::Matrix), h = b.state("h"), x = b.input("x");
  const Value product = b.matvec(r, 0, b.read(h));
  const Value next = product + b.read(x);
  b.next(h, 0, next);
  b.publish("h", next);
  const Cell cell = tangents_of(b.cell());
  EXPECT_EQ(print(cell), R"(step linear(D)
  param R[D, D]
  state h[D]
  input x[D]
  output h[D]
  param R_tangent[D, D]
  state h_tangent[D]
  input x_tangent[D]
  output h_tangent[D]
  %0 = h                                     [D]
  %1 = R @ %0                                [D]
  %2 = x                                     [D]
  %3 = add %1, %2                            [D]
  %4 = h_tangent                             [D]
  %5 = R @ %4                                [D]
  %6 = R_tangent @ %0                        [D]
  %7 = add %5, %6                            [D]
  %8 = x_tangent                             [D]
  %9 = add %7, %8                            [D]
  next h = %3
  next h_tangent = %9
  output h = %3
  output h_tangent = %9
)");
}

TEST(Tangent, OfTensorsThatHaveOne) {
  CellBuilder b("drawing");
  const TensorId x = b.input("x"), gate = b.input("gate"), h = b.state("h");
  const TensorId seed = b.tensor(TensorKind::Param, "seed", Tail::Scalar);
  const Value drawn = b.uniform("drop", b.read(seed)) > b.read(gate);
  const Value next = drawn * b.read(x) + b.read(h);
  b.next(h, 0, next);
  b.publish("y", next);
  const Cell cell = tangents_of(b.cell());
  EXPECT_TRUE(cell.find("x_tangent") && cell.find("h_tangent") && cell.find("y_tangent"));
  EXPECT_FALSE(cell.find("seed_tangent") || cell.find("gate_tangent"));
  EXPECT_TRUE(is_tangent(cell, *cell.find("x_tangent")));
  EXPECT_FALSE(is_tangent(cell, *cell.find("x")));
}

// Which a maximum of some channels shares evenly, and at which a state begins.
TEST(Tangent, OfATieAndOfAFirstValue) {
  CellBuilder b("tied");
  const TensorId x = b.input("x"), h = b.state("h");
  b.next(h, 0, b.read(h) + b.maximum(b.read(x)));
  b.publish("y", b.read(h));
  b.cell().tensors[static_cast<std::size_t>(h)].first.value = 5;
  const Cell cell = tangents_of(b.cell());
  ForwardArguments<double> arguments;
  arguments.inputs["x"] = {1, 3, 3};
  arguments.inputs["x_tangent"] = {7, 10, 30};
  const auto run = run_forward(cell, {1, 1, 1, 3}, arguments);
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_EQ(run->last_states.at("h"), (Numbers{8, 8, 8}));
  EXPECT_EQ(run->last_states.at("h_tangent"), (Numbers{20, 20, 20}));
}

TEST(Tangent, IsAForm) {
  const Cell cell = tangents_of(lstm(), {.resets = true});
  EXPECT_EQ(form_names(forms_of(cell)), (std::vector<std::string>{"resets", "tangents"}));
  ByteWriter writer;
  write_cell(writer, cell);
  ByteReader reader(writer.bytes());
  EXPECT_TRUE(forms_of(read_cell(reader)).tangents);
  EXPECT_NE(describe_forms(cell).find("NAME_tangent"), std::string::npos);
  EXPECT_EQ(with_forms(cell, {.tangents = true}).error().kind, ErrorKind::Input);
}

TEST(Tangent, OfAClippedCell) {
  const Cell bounded = clipped(lstm(), {.forward = 0.1, .gradient = {}}).value();
  const Setting s(bounded, {}, 3);
  Counts counts;
  EXPECT_EQ(check_forward(s, counts), "");
  EXPECT_EQ(check_adjoint(s), "");
  EXPECT_GT(counts.compared, 0);
  EXPECT_EQ(describe_clip(s.both), describe_clip(bounded));
  EXPECT_FALSE(clipped(tangents_of(lstm()), {.forward = 0.1, .gradient = {}}).ok());
}

TEST(Tangent, SaysWhatItLacks) {
  const Cell bounded = clipped(lstm(), {.forward = {}, .gradient = 1}).value();
  EXPECT_NE(tangent(bounded).error().message.find("bounds its gradient"), std::string::npos);
  EXPECT_NE(tangent(tangents_of(lstm())).error().message.find("tangent cell already"), std::string::npos);
  const Cell formed = with_forms(lstm(), {.lengths = true}).value();
  EXPECT_NE(tangent(formed).error().message.find("forms already"), std::string::npos);
  CellBuilder b("taken");
  const TensorId h = b.state("h"), x = b.input("h_tangent");
  b.next(h, 0, b.read(h) + b.read(x));
  b.publish("y", b.read(h));
  const auto taken = tangent(b.cell());
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message.find("h_tangent"), std::string::npos);
}

}  // namespace
}  // namespace rondo::step::testing
