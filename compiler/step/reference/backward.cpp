#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "compiler/step/derive.h"
#include "compiler/step/reference/binding.h"
#include "compiler/step/reference/executor.h"
#include "compiler/step/reference/flags.h"
#include "compiler/step/reference/interpreter.h"
#include "compiler/step/reference/matrix_sums.h"
#include "compiler/step/reference/state.h"
#include "compiler/support/index.h"
#include "compiler/support/parallel_for.h"

namespace rondo::step {

namespace {

using namespace detail;

// Place of steady errors that is no node's (Noise::add).
constexpr std::uint64_t kParamSums = std::uint64_t{3} << 40;

std::vector<NodeId> roots_of(const BackwardStep& step) {
  std::vector<NodeId> roots;
  for (const std::vector<Row>* rows : {&step.previous_states, &step.inputs, &step.params})
    for (const Row& row : *rows) roots.push_back(row.value);
  for (const MatrixGradient& matrix : step.matrices) roots.insert(roots.end(), {matrix.left, matrix.right});
  return roots;
}

template <class Real>
struct BackwardRun {
  const Program& program;
  const BackwardStep& step;
  std::vector<const Real*> inputs, params, initial, history, loss_outputs, loss_states;
  std::vector<Real*> input_gradients, initial_gradients;
  std::vector<std::vector<Real*>> param_gradients;  // by part of the batch, then TensorId; but of matrices
  std::vector<Real> zeros;                          // as long as the longest block
  const RunOptions<Real>& options;
  std::vector<const Real*> flags = {};  // by TensorId
  MatrixSums<Real>* matrix_sums = nullptr;
};

// All steps, last to first, of the batch elements of one part for one head.
template <class Real>
class BackwardWorker {
 public:
  explicit BackwardWorker(const BackwardRun<Real>& run)
      : run_(run),
        interpreter_(run.program, run.options),
        sources_(cell().tensors.size()),
        carried_(cell(), sizes()),
        previous_(cell(), sizes()),
        flags_(cell(), sizes(), run.flags) {}

  void operator()(std::int64_t item) {
    const auto parts = static_cast<std::int64_t>(run_.param_gradients.size());
    const std::int64_t part = item / sizes().heads, head = item % sizes().heads;
    sources_.head = head;
    for (const TensorId id : run_.program.params)
      sources_.leaf[at(id)] = run_.params[at(id)] + head * block_of(id);
    interpreter_.noise().begin(item);
    interpreter_.run_once(sources_);
    const std::int64_t end = (part + 1) * sizes().batch / parts;
    factors_ = &run_.matrix_sums->begin(part, head);
    for (std::int64_t batch = part * sizes().batch / parts; batch < end; ++batch) sweep(batch, head, part);
    factors_->end(interpreter_.noise());
    run_.matrix_sums->end(part, head);
  }

 private:
  const Cell& cell() const { return run_.program.cell; }
  const Sizes& sizes() const { return run_.program.sizes; }
  std::int64_t block_of(TensorId id) const { return block(cell().tensor(id), sizes()); }
  std::int64_t width_of(const Row& row) const { return width(cell().tensor(row.tensor), sizes()); }

  void sweep(std::int64_t batch, std::int64_t head, std::int64_t part) {
    const std::int64_t item = batch * sizes().heads + head;
    for (const TensorId id : run_.program.states) {
      const Real* loss = run_.loss_states[at(id)];
      carried_.assign(id, loss == nullptr ? nullptr : loss + item * block_of(id));
    }
    for (std::int64_t done = sizes().time - 1; done >= 0; --done) {
      const std::int64_t t = Flags<Real>::step_of(cell(), sizes(), head, done);
      locate(batch, t, head, done == 0);
      interpreter_.run_step(sources_);
      store((batch * sizes().time + t) * sizes().heads + head, head, part);
      carried_.swap(previous_);
    }
    for (const TensorId id : run_.program.states)
      std::copy_n(carried_.of(id), carried_.size(id), run_.initial_gradients[at(id)] + item * block_of(id));
  }

  // Points the sources at what step t reads; the states before it are those after the step before, if it is
  // not the first of the walk.
  void locate(std::int64_t batch, std::int64_t t, std::int64_t head, bool first) {
    const std::int64_t place = (batch * sizes().time + t) * sizes().heads + head;
    const std::int64_t item = batch * sizes().heads + head;
    const bool back = cell().walks_back(head, sizes().heads);
    flags_.locate(batch, t, sources_);
    sources_.row = batch;
    sources_.step = Flags<Real>::step_of(cell(), sizes(), head, t);  // of the walk
    for (const TensorId id : run_.program.inputs)
      sources_.leaf[at(id)] = run_.inputs[at(id)] + place * block_of(id);
    for (const TensorId id : run_.program.states) {
      const std::size_t index = at(id);
      const std::int64_t before = back ? place + sizes().heads : place - sizes().heads;
      if (!first)
        sources_.leaf[index] = run_.history[index] + before * block_of(id);
      else
        sources_.leaf[index] =
            run_.initial[index] == nullptr ? run_.zeros.data() : run_.initial[index] + item * block_of(id);
      sources_.next_gradient[index] = carried_.of(id);
    }
    for (const TensorId id : run_.program.outputs) {
      const Real* loss = run_.loss_outputs[at(id)];
      sources_.output_gradient[at(id)] = loss == nullptr ? run_.zeros.data() : loss + place * block_of(id);
    }
  }

  void store(std::int64_t place, std::int64_t head, std::int64_t part) {
    for (const Row& row : run_.step.previous_states)
      std::copy_n(interpreter_.value(row.value), width_of(row),
                  previous_.of(row.tensor) + row.row * width_of(row));
    for (const Row& row : run_.step.inputs) {
      Real* to =
          run_.input_gradients[at(row.tensor)] + place * block_of(row.tensor) + row.row * width_of(row);
      std::copy_n(interpreter_.value(row.value), width_of(row), to);
    }
    const std::vector<Real*>& sums = run_.param_gradients[at(part)];
    for (const Row& row : run_.step.params) {
      Real* sum = sums[at(row.tensor)] + head * block_of(row.tensor) + row.row * width_of(row);
      const Real* value = interpreter_.value(row.value);
      for (std::int64_t i = 0; i < width_of(row); ++i) sum[i] += value[i];
      if (Noise& noise = interpreter_.noise())
        noise.store(sum, at(width_of(row)), kParamSums + static_cast<std::uint64_t>(row.value),
                    scalar::Storage::F32);
    }
    for (std::size_t k = 0; k < run_.step.matrices.size(); ++k) {
      const MatrixGradient& matrix = run_.step.matrices[k];
      factors_->add(k, interpreter_.value(matrix.left), interpreter_.value(matrix.right),
                    interpreter_.noise());
    }
  }

  const BackwardRun<Real>& run_;
  Interpreter<Real> interpreter_;
  Sources<Real> sources_;
  StateBlock<Real> carried_, previous_;
  Flags<Real> flags_;
  Factors<Real>* factors_ = nullptr;  // of the part and head at work
};

template <class Real>
void reduce_parts(std::vector<TensorMap<Real>>& parts) {
  for (std::size_t part = 1; part < parts.size(); ++part)
    for (auto& [name, sums] : parts[part])
      std::transform(sums.begin(), sums.end(), parts[0][name].begin(), parts[0][name].begin(),
                     [](Real a, Real b) { return b + a; });
}

// What a kernel reads of the history is as it was stored.
template <class Real>
void round_history(TensorMap<Real>& history, const Perturbation* perturbation) {
  if (perturbation == nullptr || perturbation->exact_history) return;
  Noise noise(perturbation);
  std::int64_t item = -1;  // no item of the sweep
  for (auto& [name, values] : history) {
    noise.begin(item--);
    const bool kept = perturbation->kept_in_fp32.count(name) != 0;
    noise.store(values.data(), values.size(), 0, kept ? scalar::Storage::F32 : perturbation->stored);
  }
}

// A run with all it reads but the history; pointers into `arguments` and `loss`.
template <class Real>
Result<BackwardRun<Real>> bind_run(const Program& program, const BackwardStep& step,
                                   const ForwardArguments<Real>& arguments, const LossGradients<Real>& loss,
                                   const RunOptions<Real>& options) {
  const Cell& cell = program.cell;
  BackwardRun<Real> run{program, step, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, options};
  const auto take = [&](std::vector<const Real*>& to, TensorKind kind, const TensorMap<Real>& from,
                        const char* what, Absent absent) -> Status {
    auto bound = bind(cell, program.sizes, kind, from, what, absent);
    if (!bound) return bound.error();
    to = std::move(*bound);
    return success();
  };
  const std::vector<Status> statuses{
      take(run.inputs, TensorKind::Input, arguments.inputs, "input", Absent::Error),
      take(run.params, TensorKind::Param, arguments.params, "param", Absent::Error),
      take(run.initial, TensorKind::State, arguments.initial_states, "initial state", Absent::Zero),
      take(run.loss_outputs, TensorKind::Output, loss.outputs, "loss gradient of output", Absent::Zero),
      take(run.loss_states, TensorKind::State, loss.last_states, "loss gradient of last state",
           Absent::Zero)};
  for (const Status& status : statuses)
    if (!status) return status.error();
  auto flags = bind_flags(cell, program.sizes, arguments.flags);
  if (!flags) return flags.error();
  run.flags = std::move(*flags);
  std::int64_t longest = 0;
  for (const Tensor& tensor : cell.tensors) {
    if (tensor.tail != Tail::Matrix) longest = std::max(longest, block(tensor, program.sizes));
  }
  run.zeros.assign(at(longest), Real{0});
  return run;
}

// The sweep over the states of a history, which is checked.
template <class Real>
Result<BackwardResult<Real>> sweep_back(const Cell& cell, const Sizes& sizes,
                                        const ForwardArguments<Real>& arguments,
                                        const LossGradients<Real>& loss, TensorMap<Real>& history,
                                        const RunOptions<Real>& options) {
  const BackwardStep step = backward_step(cell);
  const Program program(cell, step.graph, sizes, constant_values(cell, arguments.constants), roots_of(step));
  std::optional<Matrices<Real>> own;
  const RunOptions<Real> ready = with_matrices(options, cell, sizes, arguments.params, own);
  auto run = bind_run(program, step, arguments, loss, ready);
  if (!run) return run.error();
  const TensorMap<Real> filled = fill_first(cell, sizes, arguments.constants, run->initial);
  round_history(history, options.perturbation);
  const std::vector<Real*> states = pointers(cell, TensorKind::State, history);
  run->history.assign(states.begin(), states.end());

  BackwardResult<Real> result;
  result.inputs = allocate<Real>(cell, sizes, TensorKind::Input);
  result.initial_states = allocate<Real>(cell, sizes, TensorKind::State);
  run->input_gradients = pointers(cell, TensorKind::Input, result.inputs);
  run->initial_gradients = pointers(cell, TensorKind::State, result.initial_states);
  std::vector<TensorMap<Real>> parts(at(std::min(sizes.batch, kBatchParts)));
  for (TensorMap<Real>& part : parts) {
    part = allocate<Real>(cell, sizes, TensorKind::Param, &part == &parts.front());
    run->param_gradients.push_back(pointers(cell, TensorKind::Param, part));
  }
  const auto count = static_cast<std::int64_t>(parts.size());
  MatrixSums<Real> matrix_sums(cell, step, sizes, ready, count, run->param_gradients.front());
  run->matrix_sums = &matrix_sums;
  parallel_for(count * sizes.heads, options.threads, [&]() -> Worker {
    return [worker = std::make_shared<BackwardWorker<Real>>(*run)](std::int64_t item) { (*worker)(item); };
  });
  matrix_sums.finish();
  reduce_parts(parts);
  result.params = std::move(parts[0]);
  return result;
}

}  // namespace

template <class Real>
Result<BackwardResult<Real>> run_backward(const Cell& cell, const Sizes& sizes,
                                          const ForwardArguments<Real>& arguments,
                                          const LossGradients<Real>& loss, const RunOptions<Real>& options) {
  RunOptions<Real> forward_options = options;
  forward_options.keep_history = true;
  forward_options.perturbation = nullptr;  // a backward pass is given the states of the forward pass
  auto forward = run_forward(cell, sizes, arguments, forward_options);
  if (!forward) return forward.error();
  return sweep_back(cell, sizes, arguments, loss, forward->history, options);
}

template <class Real>
Result<BackwardResult<Real>> run_backward_from(const Cell& cell, const Sizes& sizes,
                                               const ForwardArguments<Real>& arguments,
                                               const LossGradients<Real>& loss, TensorMap<Real> history,
                                               const RunOptions<Real>& options) {
  if (const Status status = check_run(cell, sizes, arguments.constants); !status) return status.error();
  for (const TensorId id : cell.of_kind(TensorKind::State)) {
    const Tensor& state = cell.tensor(id);
    const std::size_t given = history[state.name].size(), wanted = at(history_count(state, sizes));
    if (given != wanted)
      return Error{
          ErrorKind::Input,
          fmt::format("the history of state {} has {} elements, {} are needed", state.name, given, wanted),
          "pass the state after each step, [B, T, H, rows, D]"};
  }
  return sweep_back(cell, sizes, arguments, loss, history, options);
}

template Result<BackwardResult<float>> run_backward(const Cell&, const Sizes&, const ForwardArguments<float>&,
                                                    const LossGradients<float>&, const RunOptions<float>&);
template Result<BackwardResult<double>> run_backward(const Cell&, const Sizes&,
                                                     const ForwardArguments<double>&,
                                                     const LossGradients<double>&, const RunOptions<double>&);
template Result<BackwardResult<float>> run_backward_from(const Cell&, const Sizes&,
                                                         const ForwardArguments<float>&,
                                                         const LossGradients<float>&, TensorMap<float>,
                                                         const RunOptions<float>&);
template Result<BackwardResult<double>> run_backward_from(const Cell&, const Sizes&,
                                                          const ForwardArguments<double>&,
                                                          const LossGradients<double>&, TensorMap<double>,
                                                          const RunOptions<double>&);

}  // namespace rondo::step
