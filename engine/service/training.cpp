#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "compiler/schedule/strategies.h"
#include "engine/request/problem_text.h"
#include "engine/service/saving.h"
#include "engine/service/service.h"

namespace rondo::engine {

namespace {

Result<TrainingAnswer> training(Request request, const Machine& machine, Save save) {
  request.problem.save_products = save == Save::Products;
  request.problem.pass = schedule::Pass::ForwardSave;
  Result<Answer> forward = answer(request, machine);
  if (!forward) return forward.error();
  request.problem.pass = schedule::Pass::Backward;
  Result<Answer> backward = answer(request, machine);
  if (!backward) return backward.error();
  const std::int64_t time = request.problem.sizes.time;
  return TrainingAnswer{
      save,
      std::move(forward).value(),
      std::move(backward).value(),
      {},
      {time, std::max(time, std::int64_t{1}), request.cell->direction == step::Direction::Reversed}};
}

// Of two kernels, or none: the reference takes longer than any.
std::optional<TrainingTime> time_of(const step::Cell& cell, const TrainingAnswer& training) {
  if (!training.forward.kernel || !training.backward.kernel) return std::nullopt;
  return training_time(cell, training);
}

PassTime time_of(const step::Cell& cell, const Answer& answer) {
  const Choice& choice = answer.kernel->choice;
  const bool measured = choice.origin == ChoiceOrigin::Tuned || choice.origin == ChoiceOrigin::Shipped;
  return PassTime{measured ? choice.expected_ms * 1e-3 : 0,
                  schedule::find_strategy(choice.strategy)
                      ->cost({cell, answer.problem, answer.machine.profile}, choice.parameters)
                      .seconds};
}

PassTime times(const PassTime& time, double count) { return {time.measured * count, time.by_model * count}; }

bool products_are_faster(const step::Cell& cell, const TrainingAnswer& states,
                         const TrainingAnswer& products) {
  const auto with_products = time_of(cell, products);
  const auto with_states = time_of(cell, states);
  if (!with_products || !with_states) return with_products.has_value();
  return compare_saving(*with_states, *with_products).products_are_faster();
}

// Both ways to save, each made when it is first asked for.
class Ways {
 public:
  Ways(Request request, const Machine& machine) : request_(std::move(request)), machine_(machine) {}

  Result<TrainingAnswer>& of(Save save) {
    std::optional<Result<TrainingAnswer>>& way = save == Save::Products ? products_ : states_;
    if (!way) way = training(request_, machine_, save);
    return *way;
  }

  Result<TrainingAnswer> faster() {
    Result<TrainingAnswer>& states = of(Save::States);
    if (!states && !leaves_the_other(states.error())) return std::move(states);
    // Where there are no kernels at all, nothing is to be compared.
    if (states && !states->forward.kernel && !states->backward.kernel) return std::move(states);
    Result<TrainingAnswer>& products = of(Save::Products);
    if (!products) return std::move(states && leaves_the_other(products.error()) ? states : products);
    return std::move(!states || products_are_faster(*request_.cell, *states, *products) ? products : states);
  }

 private:
  bool leaves_the_other(const Error& error) const {
    return error.kind == ErrorKind::Unsupported ||
           (request_.trust.pinned != nullptr && error.kind == ErrorKind::Missing);
  }

  const Request request_;
  const Machine& machine_;
  std::optional<Result<TrainingAnswer>> states_, products_;
};

// What would be faster, by choices alone: nothing is compiled.
Result<TrainingAnswer> training_outline(Request request, const Machine& machine) {
  request.outline = true;
  request.trust.note = nullptr;  // the plans tell it
  return Ways(std::move(request), machine).faster();
}

// Whether a kernel became what its outline was compared as.
bool is_as_outlined(const Answer& made, const Answer& outline) {
  if (!made.kernel || !outline.kernel) return made.kernel.has_value() == outline.kernel.has_value();
  const auto of = [](const Answer& answer) {
    const Choice& choice = answer.kernel->choice;
    return std::tie(choice.strategy, choice.parameters, choice.origin, choice.expected_ms);
  };
  return of(made) == of(outline);
}

const std::unique_ptr<runtime::LoadedPlan>& loaded(const Answer& answer) { return answer.kernel->plan; }

bool is_saved(const executable::Tensor& tensor) { return executable::is_saved(tensor.ref.role); }

const std::vector<executable::Tensor>& tensors_of(const Answer& answer) {
  return answer.kernel->compiled.executable.tensors;
}

// Whether the backward pass finds the same saved tensors as after `saving`, and outputs serve as inputs.
bool saves_the_same(const Answer& again, const Answer& saving, const schedule::KnownOutputs& known) {
  const auto has_its_like = [&](const executable::Tensor& tensor) {
    if (schedule::is_internal(tensor.ref.role)) return true;
    const auto [id, before] = known.tensors[static_cast<std::size_t>(tensor.ref.tensor)];
    const bool is_output = before && tensor.ref.role == schedule::Role::Input;
    const schedule::TensorRef ref{is_output ? schedule::Role::Output : tensor.ref.role, id};
    return std::ranges::any_of(tensors_of(saving), [&](const executable::Tensor& other) {
      return other.ref == ref && other.storage == tensor.storage && other.unit == tensor.unit;
    });
  };
  return std::ranges::all_of(tensors_of(again), has_its_like) &&
         std::ranges::count_if(tensors_of(again), is_saved) ==
             std::ranges::count_if(tensors_of(saving), is_saved);
}

// The pass beside `saving`, a kernel's, whose problem it has. None where outputs hold no state or every one,
// where it would save something else, and where the model says that it is no faster, unless a strategy is
// asked for.
Result<std::optional<AgainAnswer>> again_of(Request request, const Answer& saving) {
  std::optional<AgainAnswer> none;
  std::optional<schedule::KnownOutputs> found = schedule::with_known_outputs(
      schedule::Task(*request.cell, saving.problem, saving.machine.profile).cell);
  if (!found) return none;
  const double limit = time_of(*request.cell, saving).by_model;
  const auto known = std::make_shared<const schedule::KnownOutputs>(std::move(*found));
  request.cell = &known->cell;
  request.problem = saving.problem;
  request.stand_in = StandIn::None;
  request.trust.given = nullptr;  // of the tensors of the whole cell
  const bool outlines = std::exchange(request.outline, true);
  const Machine& machine = saving.machine;  // not another one, that stands in
  const Result<Answer> outline = answer(request, machine);
  if (request.overrides.empty() && (!outline || time_of(known->cell, *outline).by_model >= limit))
    return none;
  request.outline = outlines;
  Result<Answer> again = answer(request, machine);
  if (!again) return again.error();
  if (!saves_the_same(*again, saving, *known)) return none;
  return std::optional(AgainAnswer{std::move(again).value(), known});
}

// Of so many parts' steps passes of the kind.
void add(PassTime& to, const PassTime& one, double parts) {
  if (one.measured == 0) to.measured = 0;
  if (to.measured > 0) to.measured += one.measured * parts;
  to.by_model += one.by_model * parts;
}

}  // namespace

bool TrainingAnswer::has_kernels() const {
  const auto is_kernel = [&](const Answer& answer) {
    return answer.kernel && answer.machine.profile.key == backward.machine.profile.key;
  };
  return is_kernel(forward) && is_kernel(backward) && (!walk || is_kernel(*walk)) &&
         (!again || is_kernel(*again));
}

TrainingTime training_time(const step::Cell& cell, const TrainingAnswer& training) {
  const TimeParts& parts = training.parts;
  const auto every = static_cast<double>(parts.every);
  const double count = static_cast<double>(parts.time) / every;
  TrainingTime time{times(time_of(cell, training.forward), count),
                    times(time_of(cell, training.backward), count)};
  if (!training.walk) return time;
  const double last = static_cast<double>(parts.part(parts.count() - 1).steps) / every;
  add(time.forward, time_of(cell, *training.walk), count - last);
  // What is not the cell's own pass that saves: of all parts but the last one, and where outputs are given
  // but the first.
  if (std::ranges::none_of(tensors_of(training.forward), is_saved)) {
    add(time.forward, time_of(cell, training.forward), last - count);
  } else if (training.again) {
    add(time.forward, time_of(cell, training.forward), 1 + last - count);
    add(time.forward, time_of(training.known->cell, *training.again), count - 1 - last);
  }
  return time;
}

TrainingPlans TrainingAnswer::plans() const {
  TrainingPlans plans{walk ? loaded(*walk).get() : nullptr, loaded(forward).get(), loaded(backward).get()};
  if (!again) return plans;
  plans.again = loaded(*again).get();
  plans.again_of = known->tensors;
  return plans;
}

Result<TrainingAnswer> answer_training_in_parts(const Request& request, const Machine& machine,
                                                std::int64_t every) {
  Request of_part = request;
  if (request.problem.sizes.time <= every) return training(std::move(of_part), machine, Save::States);
  if (Status status = check_parts_of_time(*request.cell); !status) return status.error();
  of_part.problem.sizes.time = every;
  Result<TrainingAnswer> found = training(of_part, machine, Save::States);
  if (!found) return found;
  of_part.problem.save_products = false;
  of_part.problem.pass = schedule::Pass::Forward;
  Result<Answer> walk = answer(of_part, machine);
  if (!walk) return walk.error();
  found->walk = std::move(walk).value();
  found->parts = {request.problem.sizes.time, every, found->parts.reversed};
  of_part.problem.pass = schedule::Pass::ForwardSave;
  if (Status status = add_again(std::move(of_part), *found); !status) return status.error();
  return found;
}

Result<TrainingAnswer> answer_training(const Request& request, const Machine& machine, Save save) {
  if (save != Save::Faster) return training(request, machine, save);
  if (!can_save_products(*request.cell)) return training(request, machine, Save::States);
  Ways ways(request, machine);
  if (request.outline || request.tune) return ways.faster();
  if (const Result<TrainingAnswer> outline = training_outline(request, machine)) {
    Result<TrainingAnswer>& made = ways.of(outline->save);
    if (made && is_as_outlined(made->forward, outline->forward) &&
        is_as_outlined(made->backward, outline->backward))
      return std::move(made);
  }
  return ways.faster();
}

// Of parts behind the first, before which there are no outputs, and before the last, which is saved as it is
// walked. Not where kernels of the cell itself were asked for.
Status add_again(Request of_part, TrainingAnswer& training) {
  if (training.parts.count() < 3 || of_part.wants_kernel() || !training.has_kernels()) return success();
  of_part.tune = nullptr;
  Result<std::optional<AgainAnswer>> again = again_of(std::move(of_part), training.forward);
  if (!again) return again.error();
  if (!*again) return success();
  training.again = std::move((*again)->answer);
  training.known = std::move((*again)->known);
  return success();
}

Result<AgainAnswer> answer_again(const Request& request, const Machine& machine) {
  const Error none{ErrorKind::Unsupported,
                   fmt::format("cell {} has no pass that makes states again of outputs in less time than its "
                               "forward pass takes",
                               request.cell->name),
                   "run the forward pass again"};
  if (request.only_recorded || request.trust.pinned != nullptr) return none;
  Request of_saving = request;
  of_saving.outline = true;
  of_saving.overrides = {};
  of_saving.tune = nullptr;
  of_saving.trust.note = nullptr;
  const Result<Answer> saving = answer(of_saving, machine);
  if (!saving) return saving.error();
  if (!saving->kernel) return none;
  Result<std::optional<AgainAnswer>> again = again_of(request, *saving);
  if (!again) return again.error();
  if (!*again) return none;
  return std::move(**again);
}

}  // namespace rondo::engine
