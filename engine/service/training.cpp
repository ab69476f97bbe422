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
  return TrainingAnswer{save, std::move(forward).value(), std::move(backward).value()};
}

// Of two kernels, or none: the reference takes longer than any.
std::optional<TrainingTime> time_of(const step::Cell& cell, const TrainingAnswer& training) {
  const auto of = [&](const Answer& answer) {
    const Choice& choice = answer.kernel->choice;
    const bool measured = choice.origin == ChoiceOrigin::Tuned || choice.origin == ChoiceOrigin::Shipped;
    return PassTime{measured ? choice.expected_ms * 1e-3 : 0,
                    schedule::find_strategy(choice.strategy)
                        ->cost({cell, answer.problem, answer.machine.profile}, choice.parameters)
                        .seconds};
  };
  if (!training.forward.kernel || !training.backward.kernel) return std::nullopt;
  return TrainingTime{of(training.forward), of(training.backward)};
}

bool products_are_faster(const step::Cell& cell, const TrainingAnswer& states,
                         const TrainingAnswer& products) {
  const auto with_products = time_of(cell, products);
  const auto with_states = time_of(cell, states);
  if (!with_products || !with_states) return with_products.has_value();
  return compare_saving(*with_states, *with_products).products_are_faster();
}

}  // namespace

Result<TrainingAnswer> answer_training(const Request& request, const Machine& machine, Save save) {
  if (save != Save::Faster) return training(request, machine, save);
  if (!can_save_products(*request.cell)) return training(request, machine, Save::States);
  const auto leaves_the_other = [&](const Error& error) {
    return error.kind == ErrorKind::Unsupported ||
           (request.trust.pinned != nullptr && error.kind == ErrorKind::Missing);
  };
  Result<TrainingAnswer> states = training(request, machine, Save::States);
  if (!states && !leaves_the_other(states.error())) return states;
  // Where there are no kernels at all, nothing is to be compared.
  if (states && !states->forward.kernel && !states->backward.kernel) return states;
  Result<TrainingAnswer> products = training(request, machine, Save::Products);
  if (!products)
    return states && leaves_the_other(products.error()) ? std::move(states) : std::move(products);
  if (!states || products_are_faster(*request.cell, *states, *products)) return products;
  return states;
}

}  // namespace rondo::engine
