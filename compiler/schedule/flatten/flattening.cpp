#include "compiler/schedule/flatten/flattening.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "compiler/schedule/analysis/history.h"
#include "compiler/schedule/analysis/saved_products.h"
#include "compiler/schedule/flatten/row_copies.h"
#include "compiler/schedule/plan/signature.h"
#include "compiler/schedule/plan/wide_tensors.h"
#include "compiler/support/index.h"

namespace rondo::schedule {

namespace {

bool is_state_end(Role role) {
  return role == Role::InitialState || role == Role::LastState || role == Role::LastStateGradient ||
         role == Role::InitialStateGradient;
}

// Values that a result has for each row of the call's batch, where a strategy adds up so many rows itself.
int summands(const Task& walked, TensorRef ref, int rows_added) {
  return walked.batch_rows.count / (walked.cell.is_head_value(ref.tensor) ? 1 : rows_added);
}

class AroundFlatWalk {
 public:
  AroundFlatWalk(const Task& task, const Task& walked, int rows_added, KernelPlan plan)
      : task_(in_order_of_time(task)), walked_(walked), rows_added_(rows_added), plan_(std::move(plan)) {}

  KernelPlan run() {
    // Scratch of the walk has more rows than a result of the caller's, so it cannot lie in one.
    plan_.in_result.reset();
    plan_.batch_rows = walked_.batch_rows.count;
    std::vector<Launch> walk = std::exchange(plan_.launches, {});
    WideTensors wide(plan_);
    for (Launch& launch : walk) {
      launch.batch_rows = walked_.batch_rows.count;
      wide.name_in(launch, [&](TensorRef ref, int number) { return of_rows(ref, number); });
    }
    for (const WideTensors::Used& used : wide.used())  // now that all are known, so that none moves
      if (!used.written) plan_.launches.push_back(state_to_rows(task_, walked_, used.of, wide.tensor(used)));
    for (Launch& launch : walk) plan_.launches.push_back(std::move(launch));
    for (const WideTensors::Used& used : wide.used())
      if (used.written) plan_.launches.push_back(result_of(used.of, wide.tensor(used)));
    return std::move(plan_);
  }

 private:
  Launch result_of(TensorRef ref, const WideTensor& of_rows) const {
    return is_state_end(ref.role) ? state_from_rows(task_, walked_, ref, of_rows)
                                  : sum_over_rows(task_, walked_, ref, of_rows);
  }
  std::optional<WideTensor> of_rows(TensorRef ref, int number) const {
    if (!is_state_end(ref.role) && !is_summed_over_batch_rows(ref, walked_)) return std::nullopt;
    const bool timed = executable::has_time_axis(ref.role);
    return WideTensor{{timed ? Role::Scratch : Role::Carries, number},
                      storage_of(ref, walked_),
                      {0, elements_of_row(walked_, ref), 1, timed ? 1 : 0,
                       timed ? summands(walked_, ref, rows_added_) : walked_.batch_rows.count}};
  }

  const Task task_;
  const Task& walked_;
  const int rows_added_;
  KernelPlan plan_;
};

// Launches beside the walk: copies of states, which have no time, and sums. What rows add to a result is
// written and read again.
double seconds_beside_walk(const Task& task, const Task& walked, int rows_added) {
  const step::Sizes& sizes = task.problem.sizes;
  const bool backward = task.problem.pass == Pass::Backward;
  const kernel::Storage summand = scalar::computed_in(task.problem.storage);
  const auto states = static_cast<int>(walked.cell.of_kind(step::TensorKind::State).size());
  double bytes = 0;
  int launches = states * (backward ? 3 : 2);  // backward also from first states
  for (const step::TensorId id :
       walked.cell.of_kind(backward ? step::TensorKind::Input : step::TensorKind::Output)) {
    const TensorRef ref{backward ? Role::InputGradient : Role::Output, id};
    if (!is_summed_over_batch_rows(ref, walked)) continue;
    ++launches;
    bytes += static_cast<double>(elements_of_row(walked, ref)) *
             static_cast<double>(sizes.batch * sizes.time) *
             (2.0 * summands(walked, ref, rows_added) * kernel::storage_bytes(summand) +
              kernel::storage_bytes(task.problem.storage));
  }
  const target::Speeds& speeds = task.profile.speeds;
  return launches * speeds.graph_launch_s + bytes / speeds.copy_bytes_per_s;
}

// Whether the passes of the cell and of a row of it leave each other the same, in the same types: a pass that
// is not walked by rows may have the other one's.
bool keeps_histories(const Task& task, const Task& walked) {
  const std::vector<step::TensorId> kept = stored_histories(task.cell);
  return kept == stored_histories(walked.cell) && std::ranges::all_of(kept, [&](step::TensorId state) {
           return task.beyond_half[at(state)] == walked.beyond_half[at(state)];
         });
}

}  // namespace

std::optional<Task> Flattening::flat_of(const Task& task) const {
  if (passes_products(task.problem)) return std::nullopt;  // they are saved as rows of a step
  const auto flat =
      task.fact<std::optional<Task>>("the cell of one row of its states", [&]() -> std::optional<Task> {
        std::optional<FlattenedCell> cell = flattened(task.cell);
        if (!cell) return std::nullopt;
        Task walked(std::move(cell->cell), task.problem, task.profile, task.watcher);
        walked.batch_rows = std::move(cell->rows);
        return keeps_histories(task, walked) ? std::optional(std::move(walked)) : std::nullopt;
      });
  if (!*flat) return std::nullopt;
  Problem problem = task.problem;
  problem.sizes.batch *= (*flat)->batch_rows.count;
  Task walked = (*flat)->with(std::move(problem));
  return walk_.legal(walked).legal ? std::optional(std::move(walked)) : std::nullopt;
}

Legality Flattening::legal(const Task& task) const { return flat_of(task) ? Legality{} : walk_.legal(task); }

std::optional<Wrapping::Walk> Flattening::walk_of(const Task& task) const {
  std::optional<Task> walked = flat_of(task);
  if (!walked) return std::nullopt;
  const double seconds = seconds_beside_walk(task, *walked, walk_.rows_added(walked->batch_rows.count));
  return Walk{std::move(*walked), seconds, "copies of states, and sums over their rows"};
}

KernelPlan Flattening::build_kernels(const Task& task, const Parameters& parameters) const {
  const std::optional<Task> walked = flat_of(task);
  if (!walked) return walk_.build_kernels(task, parameters);
  return AroundFlatWalk(task, *walked, walk_.rows_added(walked->batch_rows.count),
                        walk_.build_kernels(*walked, parameters))
      .run();
}

}  // namespace rondo::schedule
