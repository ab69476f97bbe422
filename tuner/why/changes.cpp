#include "tuner/why/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "compiler/schedule/strategies.h"
#include "engine/choice/candidates.h"
#include "engine/request/problem_text.h"

namespace rondo::tuner {

using schedule::Problem;
using schedule::Task;

namespace {

// Of the model's best kernel; none where no strategy computes the problem.
std::optional<double> best_seconds(const Task& task, const Problem& problem,
                                   const std::string& strategy = "") {
  const Task other = task.with(problem);
  if (strategy.empty()) {
    const Result<engine::Candidate> best = engine::best_candidate(other);
    return best ? std::optional(best->estimate.seconds) : std::nullopt;
  }
  const auto best = engine::best_candidate(other, engine::kFullAlignment, strategy,
                                           [](const engine::Candidate&) { return true; });
  return best && *best ? std::optional((*best)->estimate.seconds) : std::nullopt;
}

class Changes {
 public:
  Changes(const Task& task, double now) : task_(task), now_(now) {}

  void add(bool other, const std::string& what, const Problem& problem, const std::string& strategy = "") {
    const std::optional<double> then = best_seconds(task_, problem, strategy);
    if (!then) return;
    const double rows =
        static_cast<double>(problem.sizes.batch) / static_cast<double>(task_.problem.sizes.batch);
    list_.push_back({what, other, *then / now_, *then / now_ / rows});
  }
  void add(bool other, const std::string& what, void (*change)(Problem&)) {
    Problem problem = task_.problem;
    change(problem);
    add(other, what, problem);
  }
  std::vector<Change> take() { return std::move(list_); }

 private:
  const Task& task_;
  double now_;
  std::vector<Change> list_;
};

bool has_matrices(const Task& task) {
  return std::ranges::any_of(task.cell.tensors,
                             [](const step::Tensor& tensor) { return tensor.tail == step::Tail::Matrix; });
}

}  // namespace

std::vector<Change> changes(const Task& task, const std::string& strategy) {
  const Problem& problem = task.problem;
  const std::optional<double> now = best_seconds(task, problem);
  if (!now || problem.sizes.batch < 1) return {};
  Changes all(task, *now);
  all.add(true, fmt::format("B={}", 2 * problem.sizes.batch), [](Problem& p) { p.sizes.batch *= 2; });
  if (problem.sizes.batch > 1)
    all.add(true, fmt::format("B={}", problem.sizes.batch / 2), [](Problem& p) { p.sizes.batch /= 2; });
  if (has_matrices(task) && problem.sizes.dim % 2 == 0)
    all.add(true, fmt::format("H={},D={}", 2 * problem.sizes.heads, problem.sizes.dim / 2),
            [](Problem& p) { p.sizes.heads *= 2, p.sizes.dim /= 2; });
  if (problem.pass != schedule::Pass::Forward && engine::can_save_products(task.written))
    all.add(false, problem.save_products ? "--save states" : "--save products",
            [](Problem& p) { p.save_products = !p.save_products; });
  if (problem.storage == kernel::Storage::F32)
    all.add(true, "--dtype bf16",
            [](Problem& p) { p.storage = kernel::Storage::BF16, p.math = kernel::Math::Fast; });
  for (const schedule::Strategy* other : schedule::strategies())
    if (other->name() != strategy && other->serves(task.profile).legal && other->legal(task).legal)
      all.add(false, "--strategy " + other->name(), problem, other->name());
  return all.take();
}

}  // namespace rondo::tuner
