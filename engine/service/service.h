// One service for every way in: a request becomes a plan that may be trusted, or the reference in its place.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/choice/overrides.h"
#include "engine/plan/parts_of_time.h"
#include "engine/plan/ready_plan.h"
#include "engine/service/saving.h"
#include "engine/trust/trust.h"

namespace rondo::engine {

// What may compute in the place of a kernel on the machine that is asked for.
enum class StandIn {
  None,
  Reference,  // the reference executor, in the place of the CPUs
  Cpus        // this machine's CPUs in the place of a GPU, and the reference in theirs
};
// The name by which the reference executor is asked for, as a strategy is.
inline constexpr const char* kReference = "reference";

// What a search has found for a request.
struct Tuned {
  Choice choice;
  CompiledCode code;
};

struct Request {
  const step::Cell* cell = nullptr;
  schedule::Problem problem;
  Overrides overrides{};
  TrustOptions trust{};        // where choices come from, what proof they need, and whom remarks go to
  bool only_recorded = false;  // what only the model would choose is an error (Missing)
  // Set: the kernel of the answer is an outline, of what would be chosen now. Nothing is compiled, run or
  // verified, so what is recorded keeps its origin only if it is found right later; strict is not read.
  bool outline = false;
  StandIn stand_in = StandIn::None;
  // Set: the plan is tuned now, by the tuner, which lies above the engine (tuner/tune/tune.h).
  std::function<Result<Tuned>(const Request&, const Machine&)> tune{};

  // Must it be a kernel? Then nothing stands in for one.
  bool wants_kernel() const { return !overrides.empty() || trust.pinned != nullptr || only_recorded; }
};

struct Answer {
  Machine machine;                  // that it runs on; the reference needs no device of it
  schedule::Problem problem;        // that was asked for
  std::optional<ReadyPlan> kernel;  // none: the reference executor, on this machine's CPUs
  std::string where() const;        // "NVIDIA H200, stream channels=64 ... (tuned)"
};

// The plan of the request on the machine: of a tune, recorded and shipped choices or the model, verified
// where its record has no proof here. A GPU that no strategy can use, and one that is not there, gives way to
// the CPUs; CPUs without a compiler, or for which no strategy computes the cell, to the reference; `note`
// hears why. Errors: those of trusted_plan() and of the tune; Input (a strategy that does not compute on
// CPUs, a reference with parameters, a wish for what is recorded without a database); Missing (nothing
// recorded, where only that is wanted).
Result<Answer> answer(const Request& request, const Machine& machine);

// What a forward pass is to save for the backward pass.
enum class Save { States, Products, Faster };

struct TrainingAnswer {
  Save save = Save::States;  // or Products
  Answer forward, backward;
  std::optional<Answer> walk = {};  // of several parts of time: a forward pass that saves nothing
  TimeParts parts = {};             // of all steps
  // Of several parts, too: a pass that saves as `forward` does and is given the outputs, and its cell. None
  // where there is no such pass, or it is not faster.
  std::optional<Answer> again = {};
  std::shared_ptr<const schedule::KnownOutputs> known = {};

  // Whether kernels compute all of it, on one machine; else the reference has to. Of these the plans.
  bool has_kernels() const;
  TrainingPlans plans() const;
};
// Of kernels for both passes: of all steps, of several parts with the passes that walk.
TrainingTime training_time(const step::Cell& cell, const TrainingAnswer& training);
// Both passes of training; the pass of the request's problem does not matter. Of two ways to save the faster
// one (compare_saving); one that no strategy computes, or that a lock file does not pin, leaves the other.
// Which is faster choices say, and only its plans are made; where these become others than were chosen (a
// record is found wrong, or has no proof yet), those of both ways are made and compared.
// Errors: those of answer().
Result<TrainingAnswer> answer_training(const Request& request, const Machine& machine, Save save);
// The same in parts of time (engine/plan/parts_of_time.h), whose steps plans are made for. What a part saves
// is states. Errors also: those of check_parts_of_time(), where there are several parts.
Result<TrainingAnswer> answer_training_in_parts(const Request& request, const Machine& machine,
                                                std::int64_t every);

// Adds `again` to an answer for the passes of a part, whose request it is, on the same machine; nothing where
// none of its parts needs it, where there is no such pass, or it is not faster. Errors: those of answer().
Status add_again(Request of_part, TrainingAnswer& training);

// That pass alone, beside the ForwardSave pass of the request: `known` says what its tensors stand for.
struct AgainAnswer {
  Answer answer;
  std::shared_ptr<const schedule::KnownOutputs> known;
};
// Of a strategy that is asked for whether it is faster or not. Errors: Unsupported (there is no such pass, or
// it is not faster; choices that are recorded are those of a cell's own passes), and those of answer().
Result<AgainAnswer> answer_again(const Request& request, const Machine& machine);

}  // namespace rondo::engine
