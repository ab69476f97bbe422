#include "tests/points/values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/step/simplify.h"
#include "tests/schedule/comparison.h"

namespace rondo::points {

using scalar::Storage;
using schedule::Pass;
using schedule::Role;
using schedule::TensorRef;
using step::Cell;
using step::Tail;
using step::TensorId;
using step::TensorKind;

namespace {

// How often a drawn integer is not 0.
struct Densities {
  double inputs, params, per_line, loss;  // `per_line`: elements of a row of a matrix
};

// The largest numbers that matrices multiply, or that come out, in the run of the reference.
thread_local double largest_factor = 0;
double watch_factor(double value) {
  largest_factor = std::max(largest_factor, std::abs(value));
  return value;
}

struct Arguments {
  step::ForwardArguments<double> forward;
  step::LossGradients<double> loss;
  schedule::TensorValues given;
  double line_sum = 0;  // the most that the elements of a matrices' line add up to, all rows of all matrices
};

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

// Integers up to here are numbers of the type, with room for sums of them.
double exact_up_to(Storage storage) {
  return storage == Storage::BF16 ? 256 : storage == Storage::F16 ? 2048 : 4096;
}

// Tensors of a point, drawn one after the other.
class Draw {
 public:
  Draw(const Point& point, std::uint64_t salt) : point_(point), random_(point.seed * 1000 + salt) {}

  Arguments integers(const Densities& d) {
    return all([&](const step::Tensor& tensor, TensorKind kind, bool gradient) {
      const std::int64_t count = step::element_count(tensor, point_.call);
      if (gradient) return sparse(count, d.loss);
      if (kind == TensorKind::State) return signs(count);
      if (tensor.tail == Tail::Matrix) return matrix(tensor, d.per_line);
      return sparse(count, kind == TensorKind::Input ? d.inputs : d.params);
    });
  }

  Arguments reals() {
    std::mt19937 rng(static_cast<std::mt19937::result_type>(random_()));
    const Storage storage = point_.problem.storage;
    return all([&](const step::Tensor& tensor, TensorKind kind, bool gradient) {
      const std::int64_t count = step::element_count(tensor, point_.call);
      if (gradient) return schedule::draw(rng, count, 1, kind == TensorKind::State ? Storage::F32 : storage);
      if (kind == TensorKind::State) return schedule::draw(rng, count, 0.5, Storage::F32);
      if (kind == TensorKind::Input) return schedule::draw(rng, count, 1.5, storage);
      if (tensor.tail != Tail::Matrix) return schedule::draw(rng, count, 0.5, Storage::F32);
      return schedule::draw(rng, count, 1 / std::sqrt(static_cast<double>(point_.call.dim)), storage);
    });
  }

 private:
  // A few resets; lengths from 0 to T, and of the first row T.
  void put_flags(Arguments& into, TensorRef ref, const step::Tensor& tensor) {
    std::mt19937_64 own(point_.seed);
    std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, point_.call)));
    for (double& value : values)
      value = ref.role == Role::Resets
                  ? (own() % 5 == 0 ? 1 : 0)
                  : static_cast<double>(own() % static_cast<std::uint64_t>(point_.call.time + 1));
    if (ref.role == Role::Lengths) values.front() = static_cast<double>(point_.call.time);
    into.forward.flags[tensor.name] = values;
    into.given[ref] = std::move(values);
  }

  // Past the end of a row inputs and gradients of outputs may be anything.
  void spoil_past_ends(Arguments& into) {
    if (!point_.cell.first_of_kind(TensorKind::Length)) return;
    step::fill_past_ends(point_.cell, point_.call, std::numeric_limits<double>::quiet_NaN(), into.forward,
                         into.loss);
    for (auto& [ref, values] : into.given) {
      const std::string& name = point_.cell.tensors[static_cast<std::size_t>(ref.tensor)].name;
      if (ref.role == Role::Input) values = into.forward.inputs.at(name);
      if (ref.role == Role::OutputGradient) values = into.loss.outputs.at(name);
    }
  }

  template <class Make>
  Arguments all(const Make& make) {
    Arguments result;
    for (TensorId id = 0; id < static_cast<TensorId>(point_.cell.tensors.size()); ++id) {
      const step::Tensor& tensor = point_.cell.tensors[static_cast<std::size_t>(id)];
      const auto put = [&](step::TensorMap<double>& map, Role role, bool gradient, bool optional) {
        std::vector<double> values = make(tensor, tensor.kind, gradient);
        if (optional && chance(random_, point_.missing)) return;  // not given: it counts as zero
        map[tensor.name] = values;
        result.given[{role, id}] = std::move(values);
      };
      switch (tensor.kind) {
        case TensorKind::Input: put(result.forward.inputs, Role::Input, false, false); break;
        case TensorKind::Param: put(result.forward.params, Role::Param, false, false); break;
        case TensorKind::State:
          put(result.forward.initial_states, Role::InitialState, false, true);
          put(result.loss.last_states, Role::LastStateGradient, true, true);
          break;
        case TensorKind::Output: put(result.loss.outputs, Role::OutputGradient, true, true); break;
        case TensorKind::Reset: put_flags(result, {Role::Resets, id}, tensor); break;
        case TensorKind::Length: put_flags(result, {Role::Lengths, id}, tensor); break;
      }
    }
    spoil_past_ends(result);
    result.line_sum = line_sum_;
    return result;
  }

  double sign() { return chance(random_, 0.5) ? 1 : -1; }
  std::vector<double> signs(std::int64_t count) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& v : values) v = sign() * (chance(random_, 0.2) ? 2 : 1);
    return values;
  }
  std::vector<double> sparse(std::int64_t count, double density) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& v : values) v = chance(random_, density) ? sign() : 0;
    return values;
  }
  // `per_line` elements of each row, more or less, and not many more of any column.
  std::vector<double> matrix(const step::Tensor& tensor, double per_line) {
    const std::int64_t dim = point_.call.dim;
    std::vector<double> values(static_cast<std::size_t>(step::element_count(tensor, point_.call)), 0);
    std::vector<double> columns(static_cast<std::size_t>(dim), 0);
    double most = 0;
    for (std::size_t row = 0; row * static_cast<std::size_t>(dim) < values.size(); ++row) {
      double own = 0;
      for (double left = per_line; left > 0 && chance(random_, left); --left) {
        const auto column = static_cast<std::size_t>(pick(random_, 0, static_cast<int>(dim) - 1));
        values[row * static_cast<std::size_t>(dim) + column] = sign();
        columns[column] += 1;
        own += 1;
      }
      most = std::max(most, own);
    }
    line_sum_ += std::max(most, *std::max_element(columns.begin(), columns.end()));
    return values;
  }

  const Point& point_;
  Random random_;
  double line_sum_ = 0;
};

// The reference's results of both passes.
template <class Real>
struct Results {
  step::ForwardResult<Real> forward;
  step::TensorMap<Real> products;
  step::BackwardResult<Real> backward;
};

template <class Real>
Results<Real> run_reference(const Point& point, const step::ForwardArguments<Real>& arguments,
                            const step::LossGradients<Real>& loss, step::RunOptions<Real> options) {
  options.threads = 1;
  options.keep_history = true;
  Results<Real> results;
  const auto need = [](auto result) {
    if (!result) throw std::logic_error(result.error().message);
    return std::move(*result);
  };
  results.forward = need(run_forward(point.cell, point.call, arguments, options));
  if (schedule::passes_products(point.problem) && !schedule::product_tensors(point.cell).empty())
    results.products = need(run_forward(schedule::with_product_outputs(step::simplify(point.cell)),
                                        point.call, arguments, options))
                           .outputs;
  if (point.problem.pass == Pass::Backward)
    results.backward = need(run_backward(point.cell, point.call, arguments, loss, options));
  return results;
}

template <class Real>
const std::vector<Real>& result_of(const Point& point, const Results<Real>& results, TensorRef ref) {
  const std::string name = schedule::tensor_in_role(ref, point.cell).name;
  switch (ref.role) {
    case Role::Output: return results.forward.outputs.at(name);
    case Role::LastState: return results.forward.last_states.at(name);
    case Role::History: return results.forward.history.at(name);
    case Role::Products: return results.products.at(name);
    case Role::InputGradient: return results.backward.inputs.at(name);
    case Role::ParamGradient: return results.backward.params.at(name);
    case Role::InitialStateGradient: return results.backward.initial_states.at(name);
    default: throw std::logic_error("no result of a pass");
  }
}

// All that the pass writes.
std::vector<TensorRef> written_by(const Point& point) {
  const Cell& cell = point.cell;
  std::vector<TensorRef> refs;
  const auto add = [&](Role role, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) refs.push_back({role, id});
  };
  if (point.problem.pass == Pass::Backward) {
    add(Role::InputGradient, cell.of_kind(TensorKind::Input));
    add(Role::ParamGradient, cell.of_kind(TensorKind::Param));
    add(Role::InitialStateGradient, cell.of_kind(TensorKind::State));
    return refs;
  }
  add(Role::Output, cell.of_kind(TensorKind::Output));
  add(Role::LastState, cell.of_kind(TensorKind::State));
  if (point.problem.pass == Pass::ForwardSave)
    add(Role::History, schedule::stored_histories(step::simplify(cell)));
  if (schedule::passes_products(point.problem)) add(Role::Products, schedule::product_tensors(cell));
  return refs;
}

// What the forward pass left for the backward pass.
template <class Real>
void give_saved(const Point& point, const Results<Real>& results, schedule::TensorValues& given) {
  const auto give = [&](Role role, const std::vector<TensorId>& ids) {
    for (const TensorId id : ids) {
      const std::vector<Real>& values = result_of(point, results, {role, id});
      given[{role, id}] = {values.begin(), values.end()};
    }
  };
  give(Role::Output, point.cell.of_kind(TensorKind::Output));
  give(Role::History, schedule::stored_histories(step::simplify(point.cell)));
  if (schedule::passes_products(point.problem)) give(Role::Products, schedule::product_tensors(point.cell));
}

// Whether no number of the run can have been rounded anywhere.
bool stays_exact(const Point& point, const Arguments& arguments, const Results<double>& results) {
  const double limit = exact_up_to(point.problem.storage);
  if (largest_factor * std::max(1.0, arguments.line_sum) > limit) return false;
  double most = 0;
  for (const TensorRef& ref : written_by(point))
    if (ref.role != Role::ParamGradient) most = std::max(most, largest(result_of(point, results, ref)));
  for (const auto& [name, values] : results.forward.history) most = std::max(most, largest(values));
  if (most > limit) return false;
  for (const TensorRef& ref : written_by(point))
    if (ref.role == Role::ParamGradient && largest(result_of(point, results, ref)) > 1 << 20) return false;
  return true;
}

std::optional<Values> exact_values(const Point& point) {
  Densities d{0.4, 0.6, 1.5, 0.4};
  for (std::uint64_t attempt = 0; attempt < 8; ++attempt) {
    Arguments arguments = Draw(point, attempt).integers(d);
    largest_factor = 0;
    step::RunOptions<double> options;
    options.round_product = watch_factor;
    const Results<double> results = run_reference(point, arguments.forward, arguments.loss, options);
    if (stays_exact(point, arguments, results)) {
      Values values{std::move(arguments.given), {}};
      if (point.problem.pass == Pass::Backward) give_saved(point, results, values.given);
      for (const TensorRef& ref : written_by(point))
        values.expected.push_back(
            {ref, schedule::name_of(ref, point.cell), result_of(point, results, ref), std::nullopt});
      return values;
    }
    d = {d.inputs * 0.6, d.params * 0.8, std::max(0.9, d.per_line * 0.85), d.loss * 0.6};
  }
  return std::nullopt;
}

step::TensorMap<float> narrowed(const step::TensorMap<double>& map) {
  step::TensorMap<float> result;
  for (const auto& [name, values] : map) result[name] = {values.begin(), values.end()};
  return result;
}

// Initial states that some steps reach from zero, not any numbers: a state of the library's cells may be a
// normaliser, which nothing near zero is.
void reach_states(const Point& point, Arguments& arguments) {
  Point before = point;
  before.call.time = 4;
  before.missing = 0;
  step::ForwardArguments<double> start = Draw(before, 1).reals().forward;
  start.params = arguments.forward.params;
  start.initial_states.clear();
  const auto reached = run_forward(point.cell, before.call, start, {1, false, nullptr, nullptr, nullptr});
  if (!reached) throw std::logic_error(reached.error().message);
  for (auto& [name, values] : arguments.forward.initial_states) {
    values = reached->last_states.at(name);
    for (double& v : values) v = static_cast<double>(static_cast<float>(v));
    arguments.given[{Role::InitialState, point.cell.find(name).value()}] = values;
  }
}

// Numbers, what they give without rounding, and in a plain loop in the storage type.
struct Compared {
  Arguments arguments;
  Results<double> truth;
  Results<float> loop;
};

Compared compared(const Point& point, std::uint64_t salt) {
  const schedule::Problem& problem = point.problem;
  Compared result{Draw(point, salt).reals(), {}, {}};
  if (point.from_library) reach_states(point, result.arguments);
  const Arguments& arguments = result.arguments;
  step::ForwardArguments<float> plain{narrowed(arguments.forward.inputs),
                                      narrowed(arguments.forward.params),
                                      narrowed(arguments.forward.initial_states),
                                      {},
                                      narrowed(arguments.forward.flags)};
  if (problem.math == kernel::Math::Tf32)
    for (const TensorId id : point.cell.of_kind(TensorKind::Param)) {
      const step::Tensor& tensor = point.cell.tensors[static_cast<std::size_t>(id)];
      if (tensor.tail != Tail::Matrix) continue;
      for (float& value : plain.params.at(tensor.name)) value = scalar::round_tf32(value);
    }
  const step::LossGradients<float> loss{narrowed(arguments.loss.outputs),
                                        narrowed(arguments.loss.last_states)};
  result.truth = run_reference(point, arguments.forward, arguments.loss, {});
  result.loop = run_reference(point, plain, loss, schedule::plain_loop(problem.storage, problem.math));
  return result;
}

// What a plain loop in the storage type is off by, in a result.
double loop_error(const Point& point, const Compared& run, TensorRef ref) {
  const std::vector<float>& looped = result_of(point, run.loop, ref);
  std::vector<double> stored(looped.begin(), looped.end());
  if (schedule::has_time_axis(ref.role))
    for (double& v : stored) v = scalar::round_to(point.problem.storage, static_cast<float>(v));
  return schedule::norm_error(stored, result_of(point, run.truth, ref));
}

// The limit is that of tests/schedule/comparison.h: 1.5 times the error of a plain loop, and a few units of
// roundoff. One loop may be right by luck where a result has few elements, so the error is the largest of
// loops over several draws.
Values real_values(const Point& point) {
  constexpr std::uint64_t kDraws = 4;
  std::vector<Compared> runs;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) runs.push_back(compared(point, 2 * draw));
  const Compared& run = runs.front();
  Values values{run.arguments.given, {}};
  if (point.problem.pass == Pass::Backward) give_saved(point, run.loop, values.given);
  for (const TensorRef& ref : written_by(point)) {
    double error = 0;
    for (const Compared& each : runs) error = std::max(error, loop_error(point, each, ref));
    const double allowed = 1.5 * error + scalar::unit_roundoff(point.problem.storage) + 65 * std::exp2(-24);
    values.expected.push_back(
        {ref, schedule::name_of(ref, point.cell), result_of(point, run.truth, ref), allowed});
  }
  return values;
}

}  // namespace

std::optional<Values> draw_values(const Point& point) {
  if (point.exact) return exact_values(point);
  return real_values(point);
}

}  // namespace rondo::points
