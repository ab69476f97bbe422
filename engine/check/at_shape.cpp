#include "engine/check/at_shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "compiler/scalar/storage.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/support/split_mix.h"
#include "engine/check/plain.h"
#include "engine/check/rows_apart.h"
#include "engine/measure/measure.h"

namespace rondo::engine {

using schedule::Axis;
using schedule::Role;
using schedule::TensorRef;
using Side = ShapeRuns::Side;

namespace {

constexpr std::int64_t kWarmUpSteps = 8;      // as of a verification's data (host_problem.cpp)
constexpr std::int64_t kPattern = 1'048'573;  // a prime, so that batch rows and steps differ
constexpr int kShapeRuns = 4, kFarShapeRuns = 2, kFarShapeRunsOfDecisions = 8;

// In [-1, 1), by the number of the draw.
double draw(std::uint64_t seed, std::uint64_t counter) {
  return static_cast<double>(static_cast<std::int64_t>(split_mix((seed + counter + 1) * kSplitMixStep))) *
         0x1p-63;
}

// A perturbed run.
struct Run {
  RunKind kind;
  bool steady;
  double amplitude;
  bool turned = false;  // with the draws of the run before
};

std::vector<Run> perturbed_shape_runs(bool decisions) {
  std::vector<Run> runs;
  for (int i = 0; i < kShapeRuns; ++i) runs.push_back({RunKind::Random, false, 1});
  for (int i = 0; i < kShapeRuns; ++i) runs.push_back({RunKind::Steady, true, 1});
  for (int i = 0; !decisions && i < kFarShapeRuns; ++i) runs.push_back({RunKind::Far, i % 2 == 1, kFar});
  // What rounds to nearest: a sum of rounded numbers may be exactly zero, which no error that is drawn
  // leaves.
  if (decisions) runs.push_back({RunKind::Far, false, 0});
  for (int i = 0; decisions && i < kFarShapeRunsOfDecisions; ++i)
    runs.push_back({RunKind::Far, i % 4 >= 2, i % 2 == 1 ? -kFar : kFar, i % 2 == 1});
  return runs;
}

// What is given to a side, and by how much a perturbed run may change it.
struct GivenTensor {
  TensorRef ref;
  bool timed = false, matrix = false;
  double scale = 1;
  std::vector<double> values;  // repeated from the first element on
  std::optional<step::Interval> range = {};
};

// A result with its runs.
struct Compared {
  const ShapeTensor* tensor;
  std::vector<std::int64_t> rows;  // that are compared
  std::vector<double> kernel, plain;
  Spread spread;
};

class AtShape {
 public:
  AtShape(const schedule::Task& task, ShapeRuns& runs, std::uint64_t seed, const Given& own)
      : task_(task),
        runs_(runs),
        seed_(seed),
        own_(own),
        unit_(rounding_inside(task)),
        decisions_(has_decisions(task.written, task.problem.pass)) {}

  Result<Verification> run() {
    if (Status status = give(); !status) return status.error();
    if (task_.problem.pass == schedule::Pass::Backward)
      if (Status status = runs_.save(); !status) return status.error();
    for (const Side side : {Side::Kernel, Side::Plain})
      if (Status status = runs_.run(side); !status) return status.error();
    for (const ShapeTensor& tensor : runs_.tensors())
      if (tensor.computed)
        if (Status status = look_at(tensor); !status) return status.error();
    std::uint64_t number = 0;
    for (const Run& run : perturbed_shape_runs(decisions_))
      if (Status status = perturbed(run, run.turned ? number : ++number); !status) return status.error();
    return verdict();
  }

 private:
  Status give() {
    for (const ShapeTensor& tensor : runs_.tensors()) {
      if (!tensor.random) continue;
      const step::Tensor& declared = task_.written.tensor(tensor.ref.tensor);
      if (step::is_flag(declared.kind)) {
        if (Status status = give_flags(tensor.ref, declared); !status) return status;
        continue;
      }
      GivenTensor given{tensor.ref,
                        executable::has_time_axis(tensor.ref.role),
                        tensor.ref.role == Role::Param && declared.tail == step::Tail::Matrix,
                        random_scale(declared, task_.problem.sizes),
                        {},
                        range_of(tensor.ref, declared)};
      if (auto own = own_values(tensor.ref)) {
        given.values = std::move(*own);
        given.scale = largest_of(given.values);
      } else {
        given.values = random_numbers(task_, tensor.ref, std::min(tensor.rows * tensor.unit, kPattern),
                                      given.scale, seed_ + 1000 * (given_.size() + 1));
      }
      if (given.range) given.scale = largest_of(given.values);
      for (const Side side : {Side::Kernel, Side::Plain})
        if (Status status = runs_.fill(side, given.ref, given.values); !status) return status;
      given_.push_back(std::move(given));
    }
    if (Status status = runs_.reach_initial_states(std::min(kWarmUpSteps, task_.problem.sizes.time)); !status)
      return status;
    for (const ShapeTensor& tensor : runs_.tensors()) {
      if (tensor.ref.role != Role::InitialState) continue;
      if (const auto own = own_values(tensor.ref))
        for (const Side side : {Side::Kernel, Side::Plain})
          if (Status status = runs_.fill(side, tensor.ref, *own); !status) return status;
      GivenTensor given{tensor.ref, false, false, 0, {}};
      std::vector<double> values(static_cast<std::size_t>(tensor.rows * tensor.unit));
      const std::vector<std::int64_t> rows = all_rows(tensor);
      if (Status status = runs_.read(Side::Plain, tensor.ref, rows, values); !status) return status;
      given.values = std::move(values);
      given.scale = largest_of(given.values);
      if (!std::isfinite(given.scale)) return not_finite(tensor);
      given_.push_back(std::move(given));
    }
    return success();
  }

  std::optional<std::vector<double>> own_values(TensorRef ref) const {
    return given_values(own_.get(), ref.role, task_.written.tensor(ref.tensor), task_.problem.sizes);
  }

  std::optional<step::Interval> range_of(TensorRef ref, const step::Tensor& declared) const {
    if (ref.role != Role::Input && ref.role != Role::Param) return std::nullopt;
    return step::range_of(task_.written, declared, task_.problem.constants);
  }

  static double largest_of(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest;
  }

  // No perturbed run changes them.
  Status give_flags(TensorRef ref, const step::Tensor& declared) {
    const std::vector<double> values = random_flags(declared, task_.problem.sizes, seed_);
    for (const Side side : {Side::Kernel, Side::Plain})
      if (Status status = runs_.fill(side, ref, values); !status) return status;
    return success();
  }

  // Compares all of it, and takes the rows that the perturbed runs are looked at in.
  Status look_at(const ShapeTensor& tensor) {
    const Result<RowsApart> apart = rows_apart(runs_, tensor);
    if (!apart) return apart.error();
    if (apart->plain_not_finite > 0) return not_finite(tensor);
    not_finite_[tensor.ref] = apart->kernel_not_finite;
    Compared result{&tensor,
                    rows_to_compare(tensor, *apart, task_.problem.sizes, seed_),
                    {},
                    {},
                    Spread(axes_of(tensor, {}))};
    result.spread = Spread(axes_of(tensor, result.rows));
    for (const Side side : {Side::Kernel, Side::Plain}) {
      Result<std::vector<double>> values = read(side, result);
      if (!values) return values.error();
      (side == Side::Kernel ? result.kernel : result.plain) = std::move(values).value();
    }
    results_.push_back(std::move(result));
    return success();
  }

  // What an error is relative to: about the value itself, or, where a sum rounds, what the value is added to.
  // A steady error of a gradient is relative to the gradient, sign and all: a backward pass is linear in
  // gradients, and a shift of all of them alike would add up over the sequence, where they themselves, being
  // of either sign, do not.
  static double rounded_size(const GivenTensor& given, double value, bool steady) {
    const Role role = given.ref.role;
    if (steady && (role == Role::OutputGradient || role == Role::LastStateGradient)) return value;
    return given.matrix ? std::abs(value) : (std::abs(value) + given.scale) / 2;
  }

  Status perturbed(const Run& run, std::uint64_t number) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const GivenTensor& given = given_[i];
      const std::uint64_t own = (seed_ ^ (number << 32)) + (static_cast<std::uint64_t>(i) << 48);
      std::vector<double> values = given.values;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double sign = draw(own, run.steady && given.timed ? 0 : k);
        const double moved = run.amplitude * unit_ * rounded_size(given, values[k], run.steady) * sign;
        // No caller's number lies outside of its range.
        if (!given.range || given.range->contains(values[k] + moved)) values[k] += moved;
      }
      if (Status status = runs_.fill(Side::Plain, given.ref, values); !status) return status;
    }
    if (Status status = runs_.run_perturbed(static_cast<double>(number), run.amplitude); !status)
      return status;
    for (Compared& result : results_) {
      const Result<std::vector<double>> values = read(Side::Plain, result);
      if (!values) return values.error();
      result.spread.add(run.kind, *values, result.plain);
    }
    return success();
  }

  Result<Verification> verdict() const {
    Verification verification;
    std::string compared;
    for (const Compared& result : results_) {
      const std::string name = schedule::name_of(result.tensor->ref, task_.written);
      if (!result.spread.finite())
        return Error{
            ErrorKind::Input,
            fmt::format("cell {}: rounding alone makes '{}' infinite or no number at all at the full "
                        "shape",
                        task_.written.name, name)};
      const Tolerance tolerance{&result.spread, decisions_, schedule::storage_of(result.tensor->ref, task_),
                                task_.problem.storage};
      TensorCheck check = compare(name, tolerance, result.kernel, result.plain);
      check.where = fmt::format("B={},T={}, beside a plain kernel", task_.problem.sizes.batch,
                                task_.problem.sizes.time);
      check.steps = task_.problem.sizes.time;
      check.worst = named(result, check.worst);
      check.not_finite = std::max(check.not_finite, not_finite_.at(result.tensor->ref));
      check.passed = check.passed && check.not_finite == 0;
      verification.checks.push_back(std::move(check));
      const auto rows = static_cast<std::int64_t>(result.rows.size());
      compared += fmt::format("{}{}", compared.empty() ? "" : ", ",
                              rows == result.tensor->rows
                                  ? name
                                  : fmt::format("{} of {} rows of {}", rows, result.tensor->rows, name));
    }
    verification.covered.push_back(
        fmt::format("B={},T={}: every element beside a plain kernel in {}; by its conditioning {}",
                    task_.problem.sizes.batch, task_.problem.sizes.time,
                    kernel::storage_name(scalar::computed_in(task_.problem.storage)), compared));
    verification.finish();
    return verification;
  }

  Result<std::vector<double>> read(Side side, const Compared& result) const {
    std::vector<double> values(result.rows.size() * static_cast<std::size_t>(result.tensor->unit));
    if (Status status = runs_.read(side, result.tensor->ref, result.rows, values); !status)
      return status.error();
    return values;
  }

  static std::vector<std::int64_t> all_rows(const ShapeTensor& tensor) {
    std::vector<std::int64_t> rows(static_cast<std::size_t>(tensor.rows));
    std::iota(rows.begin(), rows.end(), 0);
    return rows;
  }

  // Of what is compared: those of the tensor, or, of a part of its rows, one that counts these.
  std::vector<Axis> axes_of(const ShapeTensor& tensor, const std::vector<std::int64_t>& rows) const {
    std::vector<Axis> axes = schedule::axes_of(tensor.ref, task_.cell, task_.problem.sizes);
    if (static_cast<std::int64_t>(rows.size()) == tensor.rows || rows.empty()) return axes;
    std::int64_t leading = 1;
    std::size_t first = 0;
    while (leading < tensor.rows) leading *= axes[first++].extent;
    axes.erase(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(first));
    axes.insert(axes.begin(), Axis{kSampled, static_cast<std::int64_t>(rows.size())});
    return axes;
  }

  // "sampled=17" by what it is of the tensor: "B=3 T=4095".
  std::string named(const Compared& result, const std::string& worst) const {
    const std::string label = std::string(kSampled) + "=";
    const std::size_t at = worst.find(label);
    if (at == std::string::npos) return worst;
    const std::size_t end = std::min(worst.find(' ', at), worst.size());
    const std::size_t index = std::stoul(worst.substr(at + label.size(), end - at - label.size()));
    std::vector<Axis> leading = schedule::axes_of(result.tensor->ref, task_.cell, task_.problem.sizes);
    std::int64_t elements = 1;
    std::size_t count = 0;
    while (elements < result.tensor->rows) elements *= leading[count++].extent;
    leading.resize(count);
    return worst.substr(0, at) + element_name(leading, static_cast<std::size_t>(result.rows.at(index))) +
           worst.substr(end);
  }

  Error not_finite(const ShapeTensor& tensor) const {
    return {ErrorKind::Input,
            fmt::format("cell {}: '{}' of the plain kernel is not finite at B={},T={}", task_.written.name,
                        schedule::name_of(tensor.ref, task_.written), task_.problem.sizes.batch,
                        task_.problem.sizes.time),
            fmt::format("nothing can be compared at the full shape: {}", kOtherData)};
  }

  static constexpr const char* kSampled = "sampled";

  const schedule::Task& task_;
  ShapeRuns& runs_;
  std::uint64_t seed_;
  const Given& own_;
  double unit_;
  bool decisions_;
  std::vector<GivenTensor> given_;
  std::vector<Compared> results_;
  std::map<TensorRef, std::int64_t, schedule::TensorRefLess> not_finite_;  // of the kernel's results
};

}  // namespace

Result<Verification> check_at_shape(const schedule::Task& task, ShapeRuns& runs, std::uint64_t seed,
                                    const Given& given) {
  return AtShape(task, runs, seed, given).run();
}

ShapeTensor shape_tensor(TensorRef ref, const schedule::Task& task) {
  ShapeTensor tensor;
  tensor.ref = ref;
  switch (ref.role) {
    case Role::Input:
    case Role::Param:
    case Role::Resets:
    case Role::Lengths:
    case Role::OutputGradient:
    case Role::LastStateGradient: tensor.random = true; break;
    case Role::InitialState: break;
    case Role::Output:
    case Role::History:
    case Role::Products: tensor.computed = task.problem.pass != schedule::Pass::Backward; break;
    default: tensor.computed = true;
  }
  const std::vector<Axis> axes = schedule::axes_of(ref, task.cell, task.problem.sizes);
  tensor.unit = 1;
  for (const Axis& axis : axes) tensor.unit *= axis.extent;
  // Steps, or, of what has none and is large, vectors.
  const std::size_t leading = executable::has_time_axis(ref.role) ? 2
                              : tensor.unit > kMostWhole          ? axes.size() - 1
                                                                  : 0;
  for (std::size_t a = 0; a < leading; ++a) {
    tensor.rows *= axes[a].extent;
    tensor.unit /= axes[a].extent;
  }
  return tensor;
}

std::vector<ShapeTensor> shape_tensors(const schedule::Task& task,
                                       const std::vector<executable::Tensor>& kernel,
                                       const std::vector<executable::Tensor>& plain) {
  const auto has = [](const std::vector<executable::Tensor>& tensors, TensorRef ref) {
    return std::ranges::any_of(tensors, [&](const executable::Tensor& tensor) { return tensor.ref == ref; });
  };
  std::vector<ShapeTensor> result;
  for (const TensorRef ref : tensors_of_pass(task)) {
    const ShapeTensor tensor = shape_tensor(ref, task);
    if (!tensor.computed || (has(kernel, ref) && has(plain, ref))) result.push_back(tensor);
  }
  return result;
}

int plain_runs(bool decisions) { return 1 + static_cast<int>(perturbed_shape_runs(decisions).size()); }

}  // namespace rondo::engine
