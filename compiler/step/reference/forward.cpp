#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "compiler/step/declared.h"
#include "compiler/step/extents.h"
#include "compiler/step/reference/binding.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/reference/flags.h"
#include "compiler/step/reference/interpreter.h"
#include "compiler/step/reference/state.h"
#include "compiler/support/index.h"
#include "compiler/support/parallel_for.h"

namespace rondo::step {

namespace {

using namespace detail;

std::vector<NodeId> roots_of(const Cell& cell) {
  std::vector<NodeId> roots;
  for (const std::vector<Row>* rows : {&cell.next, &cell.outputs})
    for (const Row& row : *rows) roots.push_back(row.value);
  return roots;
}

template <class Real>
struct ForwardRun {
  const Program& program;
  std::vector<const Real*> inputs, params, initial;
  std::vector<Real*> outputs, last, history;      // history empty if it is not kept
  std::vector<std::optional<Row>> output_states;  // the state an output row publishes, if it does
  const RunOptions<Real>& options;
  std::vector<const Real*> flags;  // by TensorId
};

// One of the runs at work on a (batch, head).
template <class Real>
class ForwardLane {
 public:
  explicit ForwardLane(const ForwardRun<Real>& run)
      : run_(run),
        sources_(cell().tensors.size()),
        interpreter_(run.program, run.options, sources_),
        before_(cell(), sizes()),
        after_(cell(), sizes()),
        flags_(cell(), sizes(), run.flags) {}

  Interpreter<Real>& interpreter() { return interpreter_; }

  void begin(std::int64_t item) {
    item_ = item;
    sources_.row = batch();
    sources_.head = head();
    for (const TensorId id : run_.program.params)
      sources_.leaf[at(id)] = run_.params[at(id)] + head() * block_of(id);
    for (const TensorId id : run_.program.states) {
      const Real* initial = run_.initial[at(id)];
      before_.assign(id, initial == nullptr ? nullptr : initial + item * block_of(id));
    }
    interpreter_.noise().begin(item);
  }
  // Points the sources at what the step reads that comes after `done` others.
  void locate(std::int64_t done) {
    const std::int64_t t = Flags<Real>::step_of(cell(), sizes(), head(), done);
    flags_.locate(batch(), t, sources_);
    sources_.step = done;
    place_ = (batch() * sizes().time + t) * sizes().heads + head();
    for (const TensorId id : run_.program.inputs)
      sources_.leaf[at(id)] = run_.inputs[at(id)] + place_ * block_of(id);
    for (const TensorId id : run_.program.states) sources_.leaf[at(id)] = before_.of(id);
  }
  // Takes the results of that step.
  void store() {
    for (const Row& row : cell().next) {
      Real* to = after_.of(row.tensor) + row.row * width_of(row);
      std::copy_n(interpreter_.value(row.value), width_of(row), to);
      if (run_.options.round_state != nullptr)
        std::transform(to, to + width_of(row), to, run_.options.round_state);
    }
    for (std::size_t k = 0; k < cell().outputs.size(); ++k) {
      const Row& row = cell().outputs[k];
      Real* to = run_.outputs[at(row.tensor)] + place_ * block_of(row.tensor) + row.row * width_of(row);
      std::copy_n(output_value(k), width_of(row), to);
    }
    before_.swap(after_);
    if (run_.history.empty()) return;
    for (const TensorId id : run_.program.states)
      std::copy_n(before_.of(id), before_.size(id), run_.history[at(id)] + place_ * block_of(id));
  }
  void end() {
    for (const TensorId id : run_.program.states)
      std::copy_n(before_.of(id), before_.size(id), run_.last[at(id)] + item_ * block_of(id));
  }

 private:
  const Cell& cell() const { return run_.program.cell; }
  const Sizes& sizes() const { return run_.program.sizes; }
  std::int64_t batch() const { return item_ / sizes().heads; }
  std::int64_t head() const { return item_ % sizes().heads; }
  std::int64_t block_of(TensorId id) const { return block(cell().tensor(id), sizes()); }
  std::int64_t width_of(const Row& row) const { return width(cell().tensor(row.tensor), sizes()); }

  // An output that publishes a state publishes it as stored, rounding included.
  const Real* output_value(std::size_t k) {
    const std::optional<Row>& state = run_.output_states[k];
    const Row& output = cell().outputs[k];
    if (run_.options.round_state == nullptr || !state || width_of(*state) != width_of(output))
      return interpreter_.value(output.value);
    return after_.of(state->tensor) + state->row * width_of(*state);
  }

  const ForwardRun<Real>& run_;
  Sources<Real> sources_;
  Interpreter<Real> interpreter_;
  StateBlock<Real> before_, after_;
  Flags<Real> flags_;
  std::int64_t item_ = 0, place_ = 0;  // place_ counts (batch, step, head)
};

// All steps of one (batch, head), of all runs together.
template <class Real>
class ForwardWorker {
 public:
  explicit ForwardWorker(const std::vector<ForwardRun<Real>>& runs)
      : time_(runs.front().program.sizes.time),
        lanes_(runs.begin(), runs.end()),
        together_(interpreters_of<Real>(lanes_)) {}

  void operator()(std::int64_t item) {
    for (ForwardLane<Real>& lane : lanes_) lane.begin(item);
    together_.run_once();
    for (std::int64_t done = 0; done < time_; ++done) {
      for (ForwardLane<Real>& lane : lanes_) lane.locate(done);
      together_.run_step();
      for (ForwardLane<Real>& lane : lanes_) lane.store();
    }
    for (ForwardLane<Real>& lane : lanes_) lane.end();
  }

 private:
  std::int64_t time_;
  std::deque<ForwardLane<Real>> lanes_;  // which stay where they are
  Together<Real> together_;
};

template <class Real>
ForwardResult<Real> allocate_results(const Cell& cell, const Sizes& sizes, bool history) {
  ForwardResult<Real> result;
  result.outputs = allocate<Real>(cell, sizes, TensorKind::Output);
  result.last_states = allocate<Real>(cell, sizes, TensorKind::State);
  if (history)
    for (const TensorId id : cell.of_kind(TensorKind::State))
      result.history[cell.tensor(id).name].resize(at(history_count(cell.tensor(id), sizes)));
  return result;
}

// Of a cell whose next states and outputs are values_only(). The runs differ in their perturbation alone.
template <class Real>
Result<std::vector<ForwardResult<Real>>> run_values(const Cell& cell, const Sizes& sizes,
                                                    const ForwardArguments<Real>& arguments,
                                                    std::vector<RunOptions<Real>> options) {
  if (const Status status = check_run(cell, sizes, arguments.constants); !status) return status.error();
  const auto inputs = bind(cell, sizes, TensorKind::Input, arguments.inputs, "input", Absent::Error);
  if (!inputs) return inputs.error();
  const auto params = bind(cell, sizes, TensorKind::Param, arguments.params, "param", Absent::Error);
  if (!params) return params.error();
  auto initial =
      bind(cell, sizes, TensorKind::State, arguments.initial_states, "initial state", Absent::Zero);
  if (!initial) return initial.error();
  const TensorMap<Real> filled = fill_first(cell, sizes, arguments.constants, *initial);
  const auto flags = bind_flags(cell, sizes, arguments.flags);
  if (!flags) return flags.error();

  std::optional<Matrices<Real>> own;
  share_matrices(options, cell, sizes, arguments.params, own);
  const Program program(cell, cell.graph, sizes, constant_values(cell, arguments.constants), roots_of(cell));
  std::vector<std::optional<Row>> output_states;
  for (const Row& output : cell.outputs) output_states.push_back(cell.state_behind(output));
  std::vector<ForwardResult<Real>> results;
  results.reserve(options.size());
  std::vector<ForwardRun<Real>> runs;
  for (const RunOptions<Real>& one : options) {
    ForwardResult<Real>& result = results.emplace_back(allocate_results<Real>(cell, sizes, one.keep_history));
    runs.push_back(
        {program, *inputs, *params, *initial, pointers(cell, TensorKind::Output, result.outputs),
         pointers(cell, TensorKind::State, result.last_states),
         one.keep_history ? pointers(cell, TensorKind::State, result.history) : std::vector<Real*>(),
         output_states, one, *flags});
  }
  parallel_for(sizes.batch * sizes.heads, options.front().threads, [&]() -> Worker {
    return [worker = std::make_shared<ForwardWorker<Real>>(runs)](std::int64_t item) { (*worker)(item); };
  });
  return results;
}

template <class Real>
Result<std::vector<ForwardResult<Real>>> run_together(const Cell& cell, const Sizes& sizes,
                                                      const ForwardArguments<Real>& arguments,
                                                      std::vector<RunOptions<Real>> options) {
  const Cell sized = with_extents(cell, arguments.constants);
  if (!declares_derivatives(sized.graph)) return run_values(sized, sizes, arguments, std::move(options));
  return run_values(values_only(sized), sizes, arguments, std::move(options));
}

}  // namespace

template <class Real>
Result<ForwardResult<Real>> run_forward(const Cell& cell, const Sizes& sizes,
                                        const ForwardArguments<Real>& arguments,
                                        const RunOptions<Real>& options) {
  auto results = run_together(cell, sizes, arguments, {options});
  if (!results) return results.error();
  return std::move(results->front());
}

template <class Real>
Result<std::vector<ForwardResult<Real>>> run_forward_perturbed(const Cell& cell, const Sizes& sizes,
                                                               const ForwardArguments<Real>& arguments,
                                                               std::span<const Perturbation> perturbations,
                                                               const RunOptions<Real>& options) {
  return run_together(cell, sizes, arguments, options_of(options, perturbations));
}

template Result<ForwardResult<float>> run_forward(const Cell&, const Sizes&, const ForwardArguments<float>&,
                                                  const RunOptions<float>&);
template Result<ForwardResult<double>> run_forward(const Cell&, const Sizes&, const ForwardArguments<double>&,
                                                   const RunOptions<double>&);
template Result<std::vector<ForwardResult<float>>> run_forward_perturbed(const Cell&, const Sizes&,
                                                                         const ForwardArguments<float>&,
                                                                         std::span<const Perturbation>,
                                                                         const RunOptions<float>&);
template Result<std::vector<ForwardResult<double>>> run_forward_perturbed(const Cell&, const Sizes&,
                                                                          const ForwardArguments<double>&,
                                                                          std::span<const Perturbation>,
                                                                          const RunOptions<double>&);

}  // namespace rondo::step
