#include "engine/service/within.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "compiler/executable/launcher.h"
#include "engine/request/problem_text.h"

namespace rondo::engine {

namespace {

using executable::Executable;

// The largest power of two below.
std::int64_t power_below(std::int64_t time) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(time - 1)));
}

Result<TrainingAnswer> answer_way(const Request& request, const Machine& machine, Save save,
                                  std::int64_t every) {
  return every > 0 ? answer_training_in_parts(request, machine, every)
                   : answer_training(request, machine, save);
}

// The pass that makes states again of outputs has a workspace of its own: where it is too much, the cell's
// own pass makes them.
Result<PartsMemory> memory_within(TrainingAnswer& training, std::int64_t most) {
  Result<PartsMemory> memory = training_memory(training);
  if (!memory || !training.again || memory->saved_bytes + memory->workspace_bytes <= most) return memory;
  training.again.reset();
  training.known.reset();
  return training_memory(training);
}

// Looks at one way after the other.
class Search {
 public:
  Search(const Request& request, const Machine& machine, std::int64_t most)
      : request_(request), machine_(machine), most_(most) {
    request_.outline = true;
    request_.trust.note = nullptr;  // the plans tell it
    request_.tune = nullptr;
  }

  Result<FittingWays> run() {
    Result<bool> states = look(Save::States, 0);
    if (!states && !is_left_out(states.error())) return states.error();
    if (can_save_products(*request_.cell))
      if (const Result<bool> products = look(Save::Products, 0); !products && !is_left_out(products.error()))
        return products.error();
    if (!(states && *states) && may_be_cut())
      if (Status status = look_at_parts(); !status) return status.error();
    if (!least_ && !states) return states.error();
    if (least_ && found_.ways.empty()) return none_fits();
    choose();
    return found_;
  }

 private:
  bool may_be_cut() const { return check_parts_of_time(*request_.cell) && request_.problem.sizes.time > 1; }

  bool is_left_out(const Error& error) const {
    return error.kind == ErrorKind::Unsupported ||
           (request_.trust.pinned != nullptr && error.kind == ErrorKind::Missing);
  }

  Status look_at_parts() {
    for (std::int64_t every = power_below(request_.problem.sizes.time); every > 0; every /= 2) {
      const Result<bool> fits = look(Save::States, every);
      if (!fits && !is_left_out(fits.error())) return fits.error();
      if (fits && *fits) break;
    }
    return success();
  }

  // Whether it fits. A way without kernels has no memory to speak of, and does not.
  Result<bool> look(Save save, std::int64_t every) {
    Result<TrainingAnswer> training = answer_way(request_, machine_, save, every);
    if (!training) return training.error();
    if (!training->has_kernels()) return false;
    const Result<PartsMemory> memory = memory_within(*training, most_);
    if (!memory) return memory.error();
    const SavingWay way{save, every, *memory, training_time(*request_.cell, *training)};
    if (!least_ || way.bytes() < least_->bytes()) least_ = way;
    if (way.bytes() > most_) return false;
    found_.ways.push_back(way);
    return true;
  }

  Error none_fits() const {
    const step::Sizes& sizes = request_.problem.sizes;
    const Status parts = check_parts_of_time(*request_.cell);
    return {ErrorKind::Unsupported,
            fmt::format("a training step of cell {} at {} needs {} bytes beside its tensors at the least "
                        "({} saved and {} of workspace, with {}), and {} are allowed",
                        request_.cell->name, shape_text(sizes), least_->bytes(), least_->memory.saved_bytes,
                        least_->memory.workspace_bytes, least_->text(), most_),
            parts ? "allow more, or take fewer rows at once" : "allow more: " + parts.error().message};
  }

  void choose() {
    for (std::size_t i = 1; i < found_.ways.size(); ++i)
      if (compare_saving(found_.ways[found_.fastest].time, found_.ways[i].time).products_are_faster())
        found_.fastest = i;
  }

  Request request_;
  const Machine& machine_;
  std::int64_t most_;
  std::optional<SavingWay> least_;
  FittingWays found_;
};

const Executable& executable_of(const Answer& answer) { return answer.kernel->compiled.executable; }

}  // namespace

std::string SavingWay::text() const {
  return every > 0 ? fmt::format("every={}", every) : save == Save::Products ? "products" : "states";
}

Result<PartsMemory> training_memory(const TrainingAnswer& training) {
  const std::int64_t batch = training.backward.problem.sizes.batch;
  const TimeParts& parts = training.parts;
  const Answer& walk = training.walk ? *training.walk : training.forward;
  PartsMemory memory{
      parts.count(),
      PartBindings(parts, batch, executable_of(walk).tensors, executable_of(training.forward).tensors,
                   executable_of(training.backward).tensors)
          .region_bytes(),
      0};
  std::vector<const Answer*> answers{&walk, &training.forward, &training.backward};
  if (training.again) answers.push_back(&*training.again);
  for (const Answer* answer : answers) {
    const Result<executable::Launcher> launcher = executable::Launcher::make(executable_of(*answer));
    if (!launcher) return launcher.error();
    for (const std::int64_t number : {std::int64_t{0}, parts.count() - 1})
      memory.workspace_bytes =
          std::max(memory.workspace_bytes, launcher->workspace_bytes(batch, parts.part(number).steps));
  }
  return memory;
}

Result<FittingWays> ways_within(const Request& request, const Machine& machine, std::int64_t most) {
  return Search(request, machine, most).run();
}

Result<TrainingAnswer> answer_training_within(const Request& request, const Machine& machine,
                                              std::int64_t most) {
  const Result<FittingWays> ways = ways_within(request, machine, most);
  if (!ways) return ways.error();
  const SavingWay* best = ways->best();
  if (best == nullptr) return answer_training(request, machine, Save::States);
  Result<TrainingAnswer> made = answer_way(request, machine, best->save, best->every);
  if (!made || !made->has_kernels()) return made;
  const Result<PartsMemory> memory = memory_within(*made, most);
  if (!memory) return memory.error();
  const std::int64_t bytes = memory->saved_bytes + memory->workspace_bytes;
  if (bytes <= most) return made;
  return Error{ErrorKind::Unsupported,
               fmt::format("with {} a training step of cell {} was to need {} bytes beside its tensors; its "
                           "plans became others, which need {}, and {} are allowed",
                           best->text(), request.cell->name, best->bytes(), bytes, most),
               "try again, which takes what is recorded now, or allow more"};
}

}  // namespace rondo::engine
