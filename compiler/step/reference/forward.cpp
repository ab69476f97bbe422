#include <algorithm>
#include <cstddef>
#include <memory>

#include "compiler/step/declared.h"
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

// All steps of one (batch, head).
template <class Real>
class ForwardWorker {
 public:
  explicit ForwardWorker(const ForwardRun<Real>& run)
      : run_(run),
        interpreter_(run.program, run.options),
        sources_(cell().tensors.size()),
        before_(cell(), sizes()),
        after_(cell(), sizes()),
        flags_(cell(), sizes(), run.flags) {}

  void operator()(std::int64_t item) {
    const std::int64_t batch = item / sizes().heads, head = item % sizes().heads;
    sources_.row = batch;
    sources_.head = head;
    for (const TensorId id : run_.program.params)
      sources_.leaf[at(id)] = run_.params[at(id)] + head * block_of(id);
    for (const TensorId id : run_.program.states) {
      const Real* initial = run_.initial[at(id)];
      before_.assign(id, initial == nullptr ? nullptr : initial + item * block_of(id));
    }
    interpreter_.noise().begin(item);
    interpreter_.run_once(sources_);
    for (std::int64_t done = 0; done < sizes().time; ++done) {
      const std::int64_t t = Flags<Real>::step_of(cell(), sizes(), head, done);
      flags_.locate(batch, t, sources_);
      sources_.step = done;
      step((batch * sizes().time + t) * sizes().heads + head);
    }
    for (const TensorId id : run_.program.states)
      std::copy_n(before_.of(id), before_.size(id), run_.last[at(id)] + item * block_of(id));
  }

 private:
  const Cell& cell() const { return run_.program.cell; }
  const Sizes& sizes() const { return run_.program.sizes; }
  std::int64_t block_of(TensorId id) const { return block(cell().tensor(id), sizes()); }
  std::int64_t width_of(const Row& row) const { return width(cell().tensor(row.tensor), sizes()); }

  // `place` counts (batch, step, head).
  void step(std::int64_t place) {
    for (const TensorId id : run_.program.inputs)
      sources_.leaf[at(id)] = run_.inputs[at(id)] + place * block_of(id);
    for (const TensorId id : run_.program.states) sources_.leaf[at(id)] = before_.of(id);
    interpreter_.run_step(sources_);
    for (const Row& row : cell().next) {
      Real* to = after_.of(row.tensor) + row.row * width_of(row);
      std::copy_n(interpreter_.value(row.value), width_of(row), to);
      if (run_.options.round_state != nullptr)
        std::transform(to, to + width_of(row), to, run_.options.round_state);
    }
    for (std::size_t k = 0; k < cell().outputs.size(); ++k) {
      const Row& row = cell().outputs[k];
      Real* to = run_.outputs[at(row.tensor)] + place * block_of(row.tensor) + row.row * width_of(row);
      std::copy_n(output_value(k), width_of(row), to);
    }
    before_.swap(after_);
    if (run_.history.empty()) return;
    for (const TensorId id : run_.program.states)
      std::copy_n(before_.of(id), before_.size(id), run_.history[at(id)] + place * block_of(id));
  }

  // An output that publishes a state publishes it as stored, rounding included.
  const Real* output_value(std::size_t k) {
    const std::optional<Row>& state = run_.output_states[k];
    const Row& output = cell().outputs[k];
    if (run_.options.round_state == nullptr || !state || width_of(*state) != width_of(output))
      return interpreter_.value(output.value);
    return after_.of(state->tensor) + state->row * width_of(*state);
  }

  const ForwardRun<Real>& run_;
  Interpreter<Real> interpreter_;
  Sources<Real> sources_;
  StateBlock<Real> before_, after_;
  Flags<Real> flags_;
};

// Of a cell whose next states and outputs are values_only().
template <class Real>
Result<ForwardResult<Real>> run_values(const Cell& cell, const Sizes& sizes,
                                       const ForwardArguments<Real>& arguments,
                                       const RunOptions<Real>& options) {
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
  const RunOptions<Real> ready = with_matrices(options, cell, sizes, arguments.params, own);
  ForwardResult<Real> result;
  result.outputs = allocate<Real>(cell, sizes, TensorKind::Output);
  result.last_states = allocate<Real>(cell, sizes, TensorKind::State);
  const Program program(cell, cell.graph, sizes, constant_values(cell, arguments.constants), roots_of(cell));
  ForwardRun<Real> run{program,
                       *inputs,
                       *params,
                       *initial,
                       pointers(cell, TensorKind::Output, result.outputs),
                       pointers(cell, TensorKind::State, result.last_states),
                       {},
                       {},
                       ready,
                       *flags};
  if (options.keep_history) {
    for (const TensorId id : cell.of_kind(TensorKind::State))
      result.history[cell.tensor(id).name].resize(at(history_count(cell.tensor(id), sizes)));
    run.history = pointers(cell, TensorKind::State, result.history);
  }
  for (const Row& output : cell.outputs) run.output_states.push_back(cell.state_behind(output));
  parallel_for(sizes.batch * sizes.heads, options.threads, [&]() -> Worker {
    return [worker = std::make_shared<ForwardWorker<Real>>(run)](std::int64_t item) { (*worker)(item); };
  });
  return result;
}

}  // namespace

template <class Real>
Result<ForwardResult<Real>> run_forward(const Cell& cell, const Sizes& sizes,
                                        const ForwardArguments<Real>& arguments,
                                        const RunOptions<Real>& options) {
  if (!declares_derivatives(cell.graph)) return run_values(cell, sizes, arguments, options);
  return run_values(values_only(cell), sizes, arguments, options);
}

template Result<ForwardResult<float>> run_forward(const Cell&, const Sizes&, const ForwardArguments<float>&,
                                                  const RunOptions<float>&);
template Result<ForwardResult<double>> run_forward(const Cell&, const Sizes&, const ForwardArguments<double>&,
                                                   const RunOptions<double>&);

}  // namespace rondo::step
