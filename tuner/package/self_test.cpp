#include "tuner/package/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/tensor_layout.h"
#include "engine/check/compare.h"
#include "engine/check/spread.h"
#include "engine/measure/measure.h"

namespace rondo::tuner {

using package::SelfTest;
using schedule::Role;
using schedule::TensorRef;

namespace {

constexpr std::uint64_t kSeed = 18;
constexpr std::size_t kSamples = 16;      // elements of a result that are compared
constexpr std::int64_t kLargeDim = 1024;  // from here on one batch row and two steps must do
constexpr double kIllConditioned = 0.25;  // of the spread, by the norm: kTorn of engine/check/compare.cpp

step::Sizes test_sizes(const schedule::Problem& problem) {
  step::Sizes sizes = problem.sizes;
  sizes.batch = sizes.dim < kLargeDim ? 2 : 1;
  sizes.time = sizes.dim < kLargeDim ? 3 : 2;
  return sizes;
}

// As random_problem() scales them.
double scale_of(TensorRef ref, const step::Cell& cell, const step::Sizes& sizes) {
  if (ref.role != Role::Param) return 1;
  const step::Tensor& tensor = cell.tensor(ref.tensor);
  const bool matrix = tensor.tail == step::Tail::Matrix;
  return matrix ? 1 / std::sqrt(static_cast<double>(step::columns(tensor, sizes))) : 0.5;
}

bool is_drawn(Role role) {
  return role == Role::Input || role == Role::Param || role == Role::OutputGradient ||
         role == Role::LastStateGradient;
}

class Maker {
 public:
  Maker(const schedule::Task& task) : task_(task), sizes_(test_sizes(task.problem)) {
    task_.problem.sizes = sizes_;
  }

  Result<SelfTest> run() {
    SelfTest test;
    test.batch = sizes_.batch;
    test.time = sizes_.time;
    draw_inputs();
    const auto exact = engine::run_reference(task_, data_);
    if (!exact) return exact.error();
    const Result<engine::Spreads> spreads = engine::measure_spreads(task_, data_, *exact, kSeed);
    if (!spreads) return spreads.error();
    for (const TensorRef ref : engine::tensors_of_pass(task_)) {
      if (const auto* given =
              engine::given_values(ref, task_.written, task_.problem.pass, data_, exact->forward))
        test.given.push_back(given_of(ref, *given));
      else if (const auto* computed = engine::computed_values(ref, task_.written, task_.problem.pass, *exact))
        add_expected(ref, *computed, spreads->at(ref), test);
    }
    if (test.expected.empty())
      return Error{ErrorKind::Input, fmt::format("all results of {} are too ill-conditioned for a self-test",
                                                 task_.written.name)};
    return test;
  }

 private:
  SelfTest::Given drawn(TensorRef ref) const {
    const std::uint64_t number =
        static_cast<std::uint64_t>(ref.role) * 1000 + static_cast<std::uint64_t>(ref.tensor);
    SelfTest::Given given{ref, scale_of(ref, task_.written, sizes_), kSeed * 1'000'003 + number, {}};
    const step::Tensor& tensor = task_.written.tensor(ref.tensor);
    if (!tensor.range || (ref.role != Role::Input && ref.role != Role::Param)) return given;
    // Who runs the test knows no ranges.
    const std::int64_t count = schedule::total_elements(ref, task_.cell, sizes_);
    return {ref, 0, 0, engine::random_numbers(task_, ref, count, given.scale, given.seed)};
  }

  void draw_inputs() {
    data_.sizes = sizes_;
    data_.forward.constants = task_.problem.constants;
    const auto fill = [&](step::TensorKind kind, Role role, step::TensorMap<double>& into) {
      for (const step::TensorId id : task_.written.of_kind(kind)) {
        const TensorRef ref{role, id};
        into[task_.written.tensor(id).name] = values_of(drawn(ref), schedule::storage_of(ref, task_),
                                                        schedule::total_elements(ref, task_.cell, sizes_));
      }
    };
    for (const step::Tensor& tensor : task_.written.tensors)
      if (step::is_flag(tensor.kind))
        data_.forward.flags[tensor.name] = engine::random_flags(tensor, sizes_, kSeed);
    fill(step::TensorKind::Input, Role::Input, data_.forward.inputs);
    fill(step::TensorKind::Param, Role::Param, data_.forward.params);
    fill(step::TensorKind::Output, Role::OutputGradient, data_.loss.outputs);
    fill(step::TensorKind::State, Role::LastStateGradient, data_.loss.last_states);
  }

  SelfTest::Given given_of(TensorRef ref, const std::vector<double>& values) const {
    if (is_drawn(ref.role)) return drawn(ref);
    SelfTest::Given given{ref, 0, 0, values};
    const kernel::Storage storage = schedule::storage_of(ref, task_);
    for (double& value : given.values) value = scalar::nearest(storage, value);
    return given;
  }

  void add_expected(TensorRef ref, const std::vector<double>& exact, const engine::Spread& spread,
                    SelfTest& test) const {
    const engine::Tolerance tolerance{&spread, engine::has_decisions(task_.written, task_.problem.pass),
                                      schedule::storage_of(ref, task_), task_.problem.storage};
    SelfTest::Expected expected;
    expected.tensor = ref;
    expected.elements = static_cast<std::int64_t>(exact.size());
    double sum = 0;
    for (const double value : exact) sum += value * value;
    expected.norm = std::sqrt(sum);
    if (spread.norm() > kIllConditioned * (expected.norm > 0 ? expected.norm : 1)) return;
    expected.norm_limit = engine::norm_limit(tolerance, exact);
    for (const std::size_t element : samples_of(exact.size()))
      expected.samples.push_back({static_cast<std::int64_t>(element), exact[element],
                                  engine::element_limit(tolerance, element, exact)});
    test.expected.push_back(std::move(expected));
  }

  // The first, the last, and others far apart.
  static std::set<std::size_t> samples_of(std::size_t count) {
    const std::size_t wanted = std::min(kSamples, count);
    std::set<std::size_t> samples = {0, count - 1};
    for (std::size_t i = 1; i <= 2 * kSamples && samples.size() < wanted; ++i)
      samples.insert(i * 0x9E3779B9U % count);
    // Multiples of a number that has a divisor in common with the count are few.
    for (std::size_t i = 1; samples.size() < wanted; ++i) samples.insert(i);
    return samples;
  }

  schedule::Task task_;
  step::Sizes sizes_;
  engine::HostProblem data_;
};

}  // namespace

Result<SelfTest> make_self_test(const schedule::Task& task) { return Maker(task).run(); }

}  // namespace rondo::tuner
